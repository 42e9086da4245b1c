package feedback

// Comment is a user's comment on a request.
type Comment struct {
	ID         ID         `json:"id" format:"uuid"`
	RequestID  ID         `json:"request_id" format:"uuid"`
	Author     Author     `json:"author"`
	Visibility Visibility `json:"visibility" enum:"internal,public" doc:"Who may read it: only the account's users, or also people outside the account."`
	Body       string     `json:"body"`
	CreatedAt  Time       `json:"created_at" format:"date-time"`
	UpdatedAt  Time       `json:"updated_at" format:"date-time"`
}

// Author is the user who wrote a comment, or the service token.
type Author struct {
	ID   ID      `json:"id" format:"uuid"`
	Name *string `json:"name" doc:"Null if the user was removed."`
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
	if by != c.Author.ID {
		return ErrForbidden.With("Only the author of a comment may change it.")
	}
	set(&c.Body, change.Body)
	set(&c.Visibility, change.Visibility)
	return nil
}

// CheckRemoval returns ErrForbidden if a user with the given role may not delete the
// comment. Users may delete their own comments, and admins may delete all comments.
func (c *Comment) CheckRemoval(by ID, role Role) error {
	if by != c.Author.ID && !role.Allows(RoleAdmin) {
		return ErrForbidden.With("Only the author of a comment or an admin may delete it.")
	}
	return nil
}
