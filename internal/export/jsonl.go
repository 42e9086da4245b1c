package export

import (
	"bytes"
	"context"

	"gatherkit/internal/feedback"
	"gatherkit/internal/params"
	"gatherkit/internal/store"
)

// head is the first part of a line. The lists follow it, and are written in parts
// because they may not fit into memory.
type head struct {
	Request feedback.Request `json:"request"`
	Box     feedback.Box     `json:"box"`
	Merged  *merge           `json:"merged"`
}

// merge is what an import needs to be able to unmerge a request.
type merge struct {
	ParentID *feedback.ID     `json:"parent_id"`
	Status   *feedback.Status `json:"status"`
}

// vote is a vote with the key that identifies the person.
type vote struct {
	Key string `json:"person"`
	feedback.Vote
}

// writeJSONL writes requests as JSON Lines. It halves the size of chunks if one has too many
// votes, comments or events to read them together.
func (e *exporter) writeJSONL(ctx context.Context, requests []feedback.Request) error {
	size := chunk
	for len(requests) > 0 {
		n := min(size, len(requests))
		var complete bool
		exported, err := read(ctx, e.Writer, func(ctx context.Context) (exported []store.Exported, err error) {
			exported, complete, err = e.Store.Export(ctx, e.AccountID, e.Filter.Box, requests[:n], limit)
			return exported, err
		})
		if err != nil {
			return err
		}
		if !complete && n > 1 {
			size = n / 2
			continue
		}
		for _, r := range exported {
			if err := e.writeRequest(ctx, r); err != nil {
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

// writeRequest writes one line of JSON Lines.
func (e *exporter) writeRequest(ctx context.Context, r store.Exported) error {
	head := head{Request: e.WithLinks(e.AccountID, r.Request)[0], Box: r.Box}
	if r.MergedParentID != nil {
		head.Merged = &merge{r.MergedParentID, r.MergedStatus}
	}
	var text bytes.Buffer
	if err := params.WriteJSON(&text, head); err != nil {
		return err
	}
	e.writeText(string(bytes.TrimSuffix(text.Bytes(), []byte("}"))))
	err := writeList(ctx, e, "votes", r.Votes, func(v store.Voter) any { return vote{v.Key, v.Vote} },
		func(ctx context.Context, last store.Voter) ([]store.Voter, error) {
			return e.Store.ExportVotes(ctx, e.AccountID, r.ID, last.Key, limit)
		})
	if err != nil {
		return err
	}
	err = writeList(ctx, e, "comments", r.Comments, func(c feedback.Comment) any { return c },
		func(ctx context.Context, last feedback.Comment) ([]feedback.Comment, error) {
			return e.Store.ExportComments(ctx, e.AccountID, r.ID, last.ID, limit)
		})
	if err != nil {
		return err
	}
	err = writeList(ctx, e, "history", r.Events, func(v feedback.Event) any { return v },
		func(ctx context.Context, last feedback.Event) ([]feedback.Event, error) {
			return e.Store.ExportEvents(ctx, e.AccountID, r.ID, last.Number, limit)
		})
	e.writeText("}\n")
	return err
}

// writeList writes a member of a line that is a list. part is its first part, and next
// returns the part after a record; a part with fewer than limit records is the last.
func writeList[T any](
	ctx context.Context, e *exporter, name string, part []T, toJSON func(T) any, next func(ctx context.Context, last T) ([]T, error),
) error {
	e.writeText(`,"` + name + `":[`)
	for first := true; len(part) > 0; {
		var text bytes.Buffer
		for _, record := range part {
			if !first {
				text.WriteByte(',')
			}
			first = false
			if err := params.WriteJSON(&text, toJSON(record)); err != nil {
				return err
			}
		}
		e.writeText(text.String())
		if len(part) < limit {
			break
		}
		last := part[len(part)-1]
		var err error
		if part, err = read(ctx, e.Writer, func(ctx context.Context) ([]T, error) { return next(ctx, last) }); err != nil {
			return err
		}
	}
	e.writeText("]")
	return nil
}
