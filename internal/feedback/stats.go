package feedback

// Stats are how many of an account's live requests were created in a range of times.
type Stats struct {
	From     Time          `json:"from" format:"date-time" doc:"From this time on."`
	To       Time          `json:"to" format:"date-time" doc:"Up to this time, which is not included."`
	Total    int64         `json:"total"`
	ByStatus []StatusCount `json:"by_status" doc:"In the order of a request's life, every status."`
	ByDay    []DayCount    `json:"by_day" doc:"By the days of UTC, every day of the range."`
	ByApp    []AppCount    `json:"by_app" doc:"The most requests first; apps without any are left out."`
	ByAnswer []AnswerCount `json:"by_answer" doc:"By how long the first answer took: a public comment, a status or a merge by a user. The first that fits: within an hour, a day, a week or 30 days, longer, or not yet."`
	ByTag    []Tag         `json:"by_tag" doc:"The 100 tags that the most of them have."`
	// TagsExact is false when there was no time to count all of the tags.
	TagsExact bool `json:"tags_exact" doc:"False when counting the tags needs more than a quarter of a second: then by_tag is about the newest requests of the range."`
}

// StatusCount is how many requests are in a status.
type StatusCount struct {
	Status   Status `json:"status" enum:"opened,under_review,planned,in_progress,completed,declined,duplicate"`
	Requests int64  `json:"requests"`
}

// AnswerCount is how many requests were first answered within a time.
type AnswerCount struct {
	Within   string `json:"within" enum:"hour,day,week,month,longer,not_yet"`
	Requests int64  `json:"requests"`
}

// DayCount is how many requests were created on a day.
type DayCount struct {
	Day      string `json:"day" format:"date"`
	Requests int64  `json:"requests"`
}

// AppCount is how many requests an app has.
type AppCount struct {
	AppID    ID    `json:"app_id" format:"uuid"`
	Requests int64 `json:"requests"`
}
