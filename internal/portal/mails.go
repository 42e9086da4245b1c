package portal

import (
	"cmp"
	"strconv"

	"gatherkit/internal/feedback"
)

// ConfirmMail asks somebody whether they want mail about what they asked for. Strangers can enter any address,
// so it has no text of theirs: it would carry their advertisements.
type ConfirmMail struct {
	App, Color string
	Confirm    string // address of the page that confirms
	Stop       string // address of the page that stops all mail of the app
}

// Render returns the mail in a language of the widget, or in English.
func (m ConfirmMail) Render(lang string) (Message, error) {
	l := match(lang)
	t := l.Mail
	return letter{
		T: l, From: m.App, Color: m.Color, Subject: fill(t.ConfirmSubject, "app", m.App), Heading: t.ConfirmHeading,
		Blocks: []block{
			{Text: fill(t.ConfirmText, "app", m.App)},
			{Text: t.ConfirmButton, Link: m.Confirm, Main: true},
		},
		Foot: []block{{Text: t.ConfirmIgnore}, {Text: fill(t.StopAll, "app", m.App), Link: m.Stop}},
	}.message()
}

// UpdateMail tells a person the news of their requests and votes.
type UpdateMail struct {
	App, Color string
	Requests   []Update
	Stop       string // address of the page that stops all mail of the app, or makes it rarer
}

// Update is what is new about a request.
type Update struct {
	Title       string
	Status, Was feedback.Status // equal if the status is not new
	// Label and WasLabel are the app's own names of Status and Was, or "".
	Label, WasLabel string
	Merged          bool     // whether it was merged
	Comments        []string // new comments of the team, oldest first
	Stop            string   // address of the page that stops mail about the request
}

// Render returns the mail in a language of the widget, or in English.
func (m UpdateMail) Render(lang string) (Message, error) {
	l := match(lang)
	t := l.Mail
	subject := fill(t.UpdateMany, "count", len(m.Requests))
	if len(m.Requests) == 1 {
		const most = 50 // so that the rest of the subject is shown, too
		subject = fill(t.UpdateOne, "title", feedback.Shorten(feedback.ToSingleLine(m.Requests[0].Title), most))
	}
	blocks := []block{{Text: fill(t.UpdateText, "app", m.App)}}
	for _, u := range m.Requests {
		c := &item{Title: u.Title, Quotes: u.Comments, Stop: &block{Text: t.StopOne, Link: u.Stop}}
		if u.Status == u.Was {
			c.Facts = append(c.Facts, fill(t.Status, "status", cmp.Or(u.Label, l.Status[u.Status])))
		} else {
			c.Facts = append(c.Facts, fill(fill(t.Moved, "was", cmp.Or(u.WasLabel, l.Status[u.Was])), "status", cmp.Or(u.Label, l.Status[u.Status])))
		}
		if u.Merged {
			c.Facts = append(c.Facts, l.Merged)
		}
		if len(u.Comments) > 0 {
			c.Facts = append(c.Facts, fill(t.Wrote, "app", m.App))
		}
		blocks = append(blocks, block{Item: c})
	}
	return letter{
		T: l, From: m.App, Color: m.Color, Subject: subject, Heading: t.UpdateHeading, Blocks: blocks,
		Foot: []block{{Text: t.Why}, {Text: fill(t.StopAll, "app", m.App), Link: m.Stop}},
	}.message()
}

// The mails to the team are in English, as the dashboard is.

const product = "Gatherkit"

func teamLetter(heading string, blocks, foot []block) (Message, error) {
	return letter{
		T: locales[0], From: product, Color: defaultColor, Subject: heading, Heading: heading, Blocks: blocks, Foot: foot,
	}.message()
}

// InviteMail invites somebody to a team.
type InviteMail struct {
	Team, By string // names of the account and of the user who invites
	Link     string
	Until    feedback.Time
}

// Render returns the mail.
func (m InviteMail) Render() (Message, error) {
	return teamLetter("Join "+m.Team+" on "+product, []block{
		{Text: m.By + " invites you to the team of " + m.Team + ". They use " + product + " to collect feature requests."},
		{Text: "Accept the invitation", Link: m.Link, Main: true},
	}, []block{
		{Text: "The link works once, until " + locales[0].Day(m.Until) + "."},
		{Text: "If you do not know " + m.By + ", ignore this mail."},
	})
}

// RecoveryMail lets a user choose a new password.
type RecoveryMail struct {
	By    string // name of the user who has created the link
	Link  string
	Until feedback.Time
}

// Render returns the mail.
func (m RecoveryMail) Render() (Message, error) {
	return teamLetter("Choose a new password for "+product, []block{
		{Text: m.By + " has created a link with which you can choose a new password."},
		{Text: "Choose a password", Link: m.Link, Main: true},
	}, []block{
		{Text: "The link works once, until " + locales[0].Day(m.Until) + ". Until you use it, your password stays as it is."},
	})
}

// DigestMail tells a user what came in and what moved.
type DigestMail struct {
	Name     string // of the user
	Home     string // address of the dashboard
	Weekly   bool
	New      int64           // requests that came in
	Requests []DigestRequest // the latest of them
	Moved    []DigestMove    // requests with another status
	MoreNew  int64           // requests that came in and are not listed
	// MoreMoved are requests with another status that are not listed.
	MoreMoved int64
	Settings  string // address of the page on which the user turns the digest off
}

// DigestRequest is a request that came in.
type DigestRequest struct {
	App, Title, Link string
	Votes            int64
}

// DigestMove is a request with another status.
type DigestMove struct {
	App, Title, Link string
	From, To         string // the names of the statuses
}

// Render returns the mail.
func (m DigestMail) Render() (Message, error) {
	when := "Since yesterday"
	if m.Weekly {
		when = "Since last week"
	}
	moved := int64(len(m.Moved)) + m.MoreMoved
	heading := when + ": " + count(m.New, "new request") + ", " + strconv.FormatInt(moved, 10) + " moved"
	var blocks []block
	if m.New > 0 {
		blocks = append(blocks, block{Text: "New"})
	}
	for _, r := range m.Requests {
		blocks = append(blocks, block{Item: &item{Title: r.Title, Link: r.Link, Facts: []string{r.App + " · " + count(r.Votes, "vote")}}})
	}
	if m.MoreNew > 0 {
		blocks = append(blocks, block{Text: "And " + strconv.FormatInt(m.MoreNew, 10) + " more."})
	}
	if moved > 0 {
		blocks = append(blocks, block{Text: "Moved"})
	}
	for _, r := range m.Moved {
		facts := []string{r.App + " · " + r.From + " → " + r.To}
		blocks = append(blocks, block{Item: &item{Title: r.Title, Link: r.Link, Facts: facts}})
	}
	if m.MoreMoved > 0 {
		blocks = append(blocks, block{Text: "And " + strconv.FormatInt(m.MoreMoved, 10) + " more."})
	}
	blocks = append(blocks, block{Text: "Open the inbox", Link: m.Home, Main: true})
	return teamLetter(heading, blocks, []block{
		{Text: "You get this because " + m.Name + " asked for it in " + product + "."}, {Text: "Change or stop it", Link: m.Settings},
	})
}

// count returns a number with its noun.
func count(n int64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.FormatInt(n, 10) + " " + noun
}
