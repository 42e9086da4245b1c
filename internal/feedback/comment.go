package feedback

// Comment is a comment on a request, by a user or by the person who asked for it.
type Comment struct {
	ID         ID         `json:"id" format:"uuid"`
	RequestID  ID         `json:"request_id" format:"uuid"`
	Author     Author     `json:"author"`
	Visibility Visibility `json:"visibility" enum:"internal,public" doc:"Who may read it: only the account's users, or also people outside the account."`
	Body       string     `json:"body"`
	CreatedAt  Time       `json:"created_at" format:"date-time"`
	UpdatedAt  Time       `json:"updated_at" format:"date-time"`
}

// Author is the user who wrote a comment, the service token, or the submitter of the request.
type Author struct {
	ID   *ID        `json:"id" format:"uuid" doc:"The user or the token; null for the submitter."`
	Name *string    `json:"name" doc:"Null if the user was removed, or the submitter gave no name."`
	Kind AuthorKind `json:"kind" enum:"team,submitter"`
}

// AuthorKind says on which side an author is.
type AuthorKind string

// The two sides of a conversation: the account's users and programs, and the person who asked.
const (
	ByTeam      AuthorKind = "team"
	BySubmitter AuthorKind = "submitter"
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

// RowID returns the id under which the author is stored, which is zero for the submitter.
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
