package feedback

// Comment is what a user says about a request.
type Comment struct {
	ID         ID         `json:"id" format:"uuid"`
	RequestID  ID         `json:"request_id" format:"uuid"`
	Author     Author     `json:"author"`
	Visibility Visibility `json:"visibility" enum:"internal,public" doc:"Who may read it: the account's users only, or also people outside."`
	Body       string     `json:"body"`
	CreatedAt  Time       `json:"created_at" format:"date-time"`
	UpdatedAt  Time       `json:"updated_at" format:"date-time"`
}

// Author is the user who wrote a comment.
type Author struct {
	ID   ID      `json:"id" format:"uuid"`
	Name *string `json:"name" doc:"Null when the user is gone."`
}

// Visibility says who may read a comment. No caller with an API key ever gets to see an
// internal one.
type Visibility string

// The two kinds of comments.
const (
	Internal Visibility = "internal"
	Public   Visibility = "public"
)

// CommentChange is a partial change of a comment: nil keeps what is there.
type CommentChange struct {
	Body       *string
	Visibility *Visibility
}

// Edit makes a change for a user. A comment is its author's word: nobody else may put
// other words, or other readers, to that name.
func (c *Comment) Edit(by ID, change CommentChange) error {
	if by != c.Author.ID {
		return ErrForbidden.With("Only its author may change a comment.")
	}
	set(&c.Body, change.Body)
	set(&c.Visibility, change.Visibility)
	return nil
}

// CheckRemoval refuses to let a user with a role remove the comment, unless it is their
// own or they may moderate those of others.
func (c *Comment) CheckRemoval(by ID, role Role) error {
	if by != c.Author.ID && !role.Allows(RoleAdmin) {
		return ErrForbidden.With("Only its author, or an admin, may delete a comment.")
	}
	return nil
}
