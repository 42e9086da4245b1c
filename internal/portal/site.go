package portal

import (
	"strings"

	"gatherkit/internal/feedback"
)

// Site is what the pages of an app's portal have in common.
type Site struct {
	ID       feedback.ID // of the app, which names its feed
	App      string      // its name
	Color    string      // #RRGGBB
	Home     string      // path of the board, which ends with a slash, such as /p/acme/, or / on a host of its own
	Files    string      // prefix of the paths of static files, such as /portal/
	Address  string      // Home as an address, for feeds, search engines and other sites; "" if the service does not know it
	Theme    string      // auto, light or dark
	Locale   string      // language of the pages; "" for that of the browser
	Intro    string      // plain text above the board
	Logo     string      // page with a picture, such as logo-1a2b3c4d.png, or "" for the initial
	Statuses feedback.StatusSettings
	Indexed  bool // search engines may list the pages

	Roadmap   bool // whether there are statuses on the roadmap
	Changelog bool // whether an entry is published
	Submits   bool // whether visitors can send ideas
	Moderated bool // whether the ideas of this visitor wait until the team approves them
	Votes     feedback.Taking
	Comments  feedback.Taking

	Visitor *Visitor // who is signed in, or nil
	SignIn  bool     // whether visitors can sign in: the app has a page for it
}

// VisitorName is the name of who is signed in, or "".
func (s Site) VisitorName() string {
	if s.Visitor == nil {
		return ""
	}
	return s.Visitor.Name
}

// Visitor is a person who is signed in.
type Visitor struct {
	Name string // "" if it is not known
}

// Path returns the path of a page, such as roadmap.
func (s Site) Path(page string) string { return s.Home + page }

// URL returns the address of a page, or its path if the service does not know its address.
func (s Site) URL(page string) string {
	if s.Address == "" {
		return s.Path(page)
	}
	return strings.TrimSuffix(s.Address, "/") + "/" + page
}

// Idea is a request as visitors see it in lists.
type Idea struct {
	ID          feedback.ID
	Title       string
	Description string // "" if the portal does not show it; lists show its beginning
	Status      feedback.Status
	Votes       int64
	Comments    int64 // at most feedback.MaxCountedComments
	Voted       bool  // by this visitor
	Fixed       bool  // the visitor cannot take the vote back
	Unseen      bool  // the portal does not show it to others and has no page of it
	CreatedAt   feedback.Time

	// Only the roadmap has ChangedAt, and only it and the changelog the others.
	ChangedAt feedback.Time // when the status was changed; 0 if that is not known
	Asked     bool          // the visitor has asked for it, and not only voted
	Since     feedback.Time // when the visitor has asked or voted; 0 for neither
}

// Order is the order of a board.
type Order string

// The orders of a board.
const (
	Top      Order = "top" // most votes first
	Trending Order = "trending"
	New      Order = "new"
)

// Board is the list of ideas.
type Board struct {
	Site
	Query    string
	Status   feedback.Status // "" for all
	Tag      string          // "" for all
	Order    Order
	Statuses []StatusCount // those that the portal shows, in their order
	Tags     []string      // those that the portal shows
	Total    int64         // ideas that match
	Ideas    []Idea
	After    string // cursor of this page; "" for the first
	Next     string // cursor of the next page; "" if there is none
}

// StatusCount is how many ideas of a portal have a status.
type StatusCount struct {
	Status feedback.Status
	Count  int64
}

// IdeaPage is the page of one idea.
type IdeaPage struct {
	Site
	Idea     Idea
	Tags     []string
	Author   string // "" if the portal does not say who it was
	Files    []File
	Remarks  []Remark // oldest first
	Earlier  string   // cursor of the page with earlier comments; "" if there are none
	Draft    Draft    // what the visitor typed, if it was refused
	Held     bool     // a comment of the visitor has just arrived, and waits until the team releases it
	Sent     bool     // a comment of the visitor has just been published
	New      bool     // the idea is the visitor's and has just arrived
	NotTaken *Refusal // why a vote was refused; nil unless one was
	Why      string   // what the visitor typed before the vote that was refused
}

// File is an image or another file of an idea.
type File struct {
	Path, Name string
	Image      bool
}

// Remark is a comment on an idea.
type Remark struct {
	ID     feedback.ID
	Author string // "" if the portal does not say who it was
	Team   bool   // Body is Markdown; otherwise, it is plain text of a visitor
	Own    bool   // of this visitor
	Body   string
	At     feedback.Time
}

// Draft is what a visitor typed in a form that was refused.
type Draft struct {
	Title, Body, Name, Email string
	Refusal                  *Refusal
}

// Refusal is why something was refused.
type Refusal struct {
	// Field is the name of the field that is wrong, or "".
	Field string
	// Error is what the operation answered.
	Error *feedback.Error
	// SignIn says that a visitor who is signed in would not have been refused.
	SignIn bool
}

// Roadmap is the page with the statuses of the roadmap.
type Roadmap struct {
	Site
	Columns []Column
}

// Column is a status of the roadmap with its ideas, those with most votes first.
type Column struct {
	Status feedback.Status
	Count  int64
	Ideas  []Idea
}

// Changelog is the list of what is new.
type Changelog struct {
	Site
	Entries []Entry // latest first
	After   string  // cursor of this page; "" for the first
	Next    string  // cursor of the next page; "" if there is none
}

// EntryPage is the page of one entry.
type EntryPage struct {
	Site
	Entry Entry
}

// Entry is something that is new in the product.
type Entry struct {
	ID        feedback.ID
	Title     string
	Body      string // Markdown
	Labels    []string
	At        feedback.Time
	UpdatedAt feedback.Time
	Ideas     []Idea // that it completes, as far as visitors see them
}

// NewIdea is the page with the form for an idea.
type NewIdea struct {
	Site
	Draft   Draft
	Similar []Idea // what is similar to Draft.Title
	Email   bool   // whether the form asks for an e-mail address
	Needed  bool   // whether the address is required
}

// Me is the page of what the visitor asked and voted for.
type Me struct {
	Site
	Asked, Voted []Idea
	Sent         bool // an idea of the visitor has just arrived
}

// SignInPage asks a visitor to sign in: because the portal is not for everyone, or because they want to.
type SignInPage struct {
	Site
	To      string // where the visitor goes to sign in, outside the portal; "" if the app has no such page
	Private bool   // the portal is only for people who are signed in
	Ended   bool   // the one-time address has expired or was used
}

// Missing is the page of an address where there is nothing, or nothing that visitors may see.
type Missing struct{ Site }

// Problem is the page of a call that failed.
type Problem struct {
	Site
	Error *feedback.Error
}
