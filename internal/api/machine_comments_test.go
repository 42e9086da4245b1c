package api

import "time"

// What the model says to comments.

type comment struct {
	id               string
	author           *user
	visibility, body string
	created, updated time.Time
	deleted          bool
}

// spoken are the comments that were not deleted.
func (r *request) spoken() []*comment {
	var spoken []*comment
	for _, c := range r.comments {
		if !c.deleted {
			spoken = append(spoken, c)
		}
	}
	return spoken
}
