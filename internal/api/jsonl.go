package api

import (
	"bytes"
	"context"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
)

// exportedHead is the beginning of a line of JSON Lines; the lists follow it, as none of
// them need fit into memory.
type exportedHead struct {
	Request feedback.Request `json:"request"`
	Box     feedback.Box     `json:"box"`
	Merged  *exportedMerge   `json:"merged"`
}

// exportedMerge is what is needed to take a request out of another one again.
type exportedMerge struct {
	ParentID *feedback.ID     `json:"parent_id"`
	Status   *feedback.Status `json:"status"`
}

// exportedVote is a vote with what tells its person from others.
type exportedVote struct {
	Key string `json:"person"`
	feedback.Vote
}

// lines writes requests as JSON Lines. A chunk to which too much belongs is halved.
func (e *exporter) lines(ctx context.Context, requests []feedback.Request) error {
	size := exportChunk
	for len(requests) > 0 {
		n := min(size, len(requests))
		var whole bool
		exported, err := inTime(ctx, func(ctx context.Context) (exported []store.Exported, err error) {
			exported, whole, err = e.Store.Export(ctx, e.AccountID, e.Filter.Box, requests[:n], exportLimit)
			return exported, err
		})
		if err != nil {
			return err
		}
		if !whole && n > 1 {
			size = n / 2
			continue
		}
		for _, r := range exported {
			if err := e.line(ctx, r); err != nil {
				return err
			}
		}
		if err := e.flush(); err != nil {
			return err
		}
		requests = requests[n:]
	}
	return nil
}

// line writes one request.
func (e *exporter) line(ctx context.Context, r store.Exported) error {
	head := exportedHead{Request: e.linked(e.AccountID, r.Request)[0], Box: r.Box}
	if r.MergedParentID != nil {
		head.Merged = &exportedMerge{r.MergedParentID, r.MergedStatus}
	}
	var text bytes.Buffer
	if err := write(&text, head); err != nil {
		return err
	}
	e.text(string(bytes.TrimSuffix(text.Bytes(), []byte("}"))))
	err := array(ctx, e, "votes", r.Votes, func(v store.Voter) any { return exportedVote{v.Key, v.Vote} }, func(ctx context.Context, last store.Voter) ([]store.Voter, error) {
		return e.Store.ExportVotes(ctx, e.AccountID, r.ID, last.Key, exportLimit)
	})
	if err != nil {
		return err
	}
	err = array(ctx, e, "comments", r.Comments, func(c feedback.Comment) any { return c }, func(ctx context.Context, last feedback.Comment) ([]feedback.Comment, error) {
		return e.Store.ExportComments(ctx, e.AccountID, r.ID, last.ID, exportLimit)
	})
	if err != nil {
		return err
	}
	err = array(ctx, e, "history", r.Events, func(v feedback.Event) any { return v }, func(ctx context.Context, last feedback.Event) ([]feedback.Event, error) {
		return e.Store.ExportEvents(ctx, e.AccountID, r.ID, last.Number, exportLimit)
	})
	e.text("}\n")
	return err
}

// array writes a list of a line. One that has come to the limit goes on in more parts.
func array[T any](ctx context.Context, e *exporter, name string, part []T, shown func(T) any, more func(context.Context, T) ([]T, error)) error {
	e.text(`,"` + name + `":[`)
	for first := true; len(part) > 0; {
		var text bytes.Buffer
		for _, one := range part {
			if !first {
				text.WriteByte(',')
			}
			first = false
			if err := write(&text, shown(one)); err != nil {
				return err
			}
		}
		e.text(text.String())
		if len(part) < exportLimit {
			break
		}
		last := part[len(part)-1]
		var err error
		if part, err = inTime(ctx, func(ctx context.Context) ([]T, error) { return more(ctx, last) }); err != nil {
			return err
		}
	}
	e.text("]")
	return nil
}
