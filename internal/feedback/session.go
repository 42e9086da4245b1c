package feedback

// OpenSession is a login session as its user sees it.
type OpenSession struct {
	ID        ID     `json:"id" format:"uuid"`
	CreatedAt Time   `json:"created_at" format:"date-time" doc:"When the user logged in."`
	UsedAt    Time   `json:"used_at" format:"date-time" doc:"When tokens were last issued for the session, at login or by auth-refresh."`
	UserAgent string `json:"user_agent" doc:"User-Agent header of the program that logged in; empty if it sent none."`
}
