package feedback

// Comment is a comment on a request, by a user, by the person who asked for it, or by a visitor of the portal.
type Comment struct {
	ID         ID         `json:"id" format:"uuid"`
	RequestID  ID         `json:"request_id" format:"uuid"`
	Author     Author     `json:"author"`
	Visibility Visibility `json:"visibility" enum:"internal,public" doc:"Who may read it: only the account's users, or also people outside the account."`
	Body       string     `json:"body"`
	CreatedAt  Time       `json:"created_at" format:"date-time"`
	UpdatedAt  Time       `json:"updated_at" format:"date-time"`

	// Person is who wrote it on the portal.
	Person *Person `json:"person" doc:"Who wrote it on the portal; null for comments of the team and of submitters."`
}

// HeldComment is a comment on the portal that waits until the team releases it.
type HeldComment struct {
	ID        ID     `json:"id" format:"uuid"`
	AppID     ID     `json:"app_id" format:"uuid"`
	RequestID ID     `json:"request_id" format:"uuid"`
	Title     string `json:"title" doc:"Of the request."`
	Person    Person `json:"person" doc:"Who wrote it."`
	Body      string `json:"body"`
	CreatedAt Time   `json:"created_at" format:"date-time"`
}

// Author is the user who wrote a comment, the service token, the submitter of the request, or a visitor of the
// portal.
type Author struct {
	ID   *ID        `json:"id" format:"uuid" doc:"The user or the token; null for others."`
	Name *string    `json:"name" doc:"Null if the user was removed, or the person gave no name."`
	Kind AuthorKind `json:"kind" enum:"team,submitter,visitor"`
}

// AuthorKind says on which side an author is.
type AuthorKind string

// The sides of a conversation: the account's users and programs, the person who asked, and visitors of the portal.
const (
	ByTeam      AuthorKind = "team"
	BySubmitter AuthorKind = "submitter"
	ByVisitor   AuthorKind = "visitor"
)

// AuthorOf returns the author of a row: the user or token with the id and the name, or the submitter, for
// whom the id is zero.
func AuthorOf(id ID, name, submitter *string) Author {
	if id == (ID{}) {
		return Author{nil, submitter, BySubmitter}
	}
	return Author{&id, name, ByTeam}
}

// Is reports whether the author is the user or token with the id.
func (a Author) Is(id ID) bool { return a.ID != nil && *a.ID == id }

// RowID returns the id under which the author is stored, which is zero for the submitter and for visitors.
func (a Author) RowID() ID {
	if a.ID == nil {
		return ID{}
	}
	return *a.ID
}

// Visibility says who may read a comment. Callers with an API key never see internal
// comments.
type Visibility string

// The two kinds of comments.
const (
	Internal Visibility = "internal"
	Public   Visibility = "public"
)

// MaxCountedComments is the highest number of comments that lists of a portal count. Its pages show it as 100+.
const MaxCountedComments = 100

// CommentChange is a partial change of a comment. Nil fields keep their values.
type CommentChange struct {
	Body       *string
	Visibility *Visibility
}

// Edit applies a change made by a user. It returns ErrForbidden if the user is not the
// author: nobody may put words into the author's mouth or change who reads them.
func (c *Comment) Edit(by ID, change CommentChange) error {
	if !c.Author.Is(by) {
		return ErrForbidden.With("Only the author of a comment may change it.")
	}
	set(&c.Body, change.Body)
	set(&c.Visibility, change.Visibility)
	return nil
}

// CheckRemoval returns ErrForbidden if a user with the given role may not delete the
// comment. Users may delete their own comments, and admins may delete all comments.
func (c *Comment) CheckRemoval(by ID, role Role) error {
	if !c.Author.Is(by) && !role.Allows(RoleAdmin) {
		return ErrForbidden.With("Only the author of a comment or an admin may delete it.")
	}
	return nil
}
