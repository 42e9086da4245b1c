package feedback

// Stats count the live requests of an account that were created in a period.
type Stats struct {
	From     Time          `json:"from" format:"date-time" doc:"Start of the period."`
	To       Time          `json:"to" format:"date-time" doc:"End of the period, not included."`
	Total    int64         `json:"total"`
	ByStatus []StatusCount `json:"by_status" doc:"Every status, in the order of a request's life cycle."`
	ByDay    []DayCount    `json:"by_day" doc:"Every day of the period, in UTC."`
	ByApp    []AppCount    `json:"by_app" doc:"Sorted by number of requests, most first; apps without requests are omitted."`
	ByAnswer []AnswerCount `json:"by_answer" doc:"By the time until the first answer, which is a public comment, a change of status or a merge by a user: within an hour, a day, a week or 30 days (month), longer, or not yet. Each request counts once."`
	ByTag    []Tag         `json:"by_tag" doc:"The 100 most frequent tags."`
	Exact    bool          `json:"exact" doc:"False while the index is more than 2,048 changes behind. The counts then leave out some of the latest changes."`
}

// StatusCount counts the requests with one status.
type StatusCount struct {
	Status   Status `json:"status" enum:"opened,under_review,planned,in_progress,completed,declined,duplicate"`
	Requests int64  `json:"requests"`
}

// AnswerCount counts the requests that were first answered within a certain time.
type AnswerCount struct {
	Within   string `json:"within" enum:"hour,day,week,month,longer,not_yet"`
	Requests int64  `json:"requests"`
}

// DayCount counts the requests that were created on one day.
type DayCount struct {
	Day      string `json:"day" format:"date"`
	Requests int64  `json:"requests"`
}

// AppCount counts the requests of one app.
type AppCount struct {
	AppID    ID    `json:"app_id" format:"uuid"`
	Requests int64 `json:"requests"`
}
