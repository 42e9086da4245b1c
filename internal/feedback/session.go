package feedback

// OpenSession is one of a user's logins, as the user sees it.
type OpenSession struct {
	ID        ID     `json:"id" format:"uuid"`
	CreatedAt Time   `json:"created_at" format:"date-time" doc:"When the user logged in."`
	UsedAt    Time   `json:"used_at" format:"date-time" doc:"When it got its tokens last: at the login, or by auth-refresh."`
	UserAgent string `json:"user_agent" doc:"What the program that logged in calls itself; empty when it has not said."`
}
