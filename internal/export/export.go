// Package export writes all requests of an export link, as CSV or as JSON Lines.
package export

import (
	"bufio"
	"context"
	"io"
	"time"

	"gatherkit/internal/fair"
	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
)

const (
	// Page is how many requests are read at once.
	Page     = 256
	chunk    = 64       // requests whose votes, comments and events are read together
	limit    = 512      // maximum number of votes, of comments or of events that are read together
	sendSize = 32 << 10 // of the buffer
)

// Writer writes exports.
type Writer struct {
	Store *store.Store
	// WithLinks returns requests with links to their files.
	WithLinks func(accountID feedback.ID, requests ...feedback.Request) []feedback.Request
	ReadTime  time.Duration // limits each read; a whole export has no limit
	Places    fair.Claims   // of each read, which waits for its turn
}

// Write writes an export to a buffer of to. It calls send whenever it has written some requests.
func (w Writer) Write(ctx context.Context, x store.Export, to io.Writer, send func() error) error {
	e := &exporter{w, x, bufio.NewWriterSize(to, sendSize), send}
	return e.write(ctx)
}

// exporter writes an export.
type exporter struct {
	Writer
	store.Export
	to   *bufio.Writer
	send func() error // sends what to has written
}

// write writes all requests of the export, one page after the other, newest first. Requests
// that are created meanwhile are not included, so it always ends.
func (e *exporter) write(ctx context.Context) error {
	if e.BOM {
		e.writeText("\ufeff")
	}
	if e.Format == feedback.CSV {
		e.writeRow(Columns)
	}
	var after *feedback.ID
	for n := Page; n == Page; {
		requests, err := read(ctx, e.Writer, func(ctx context.Context) ([]feedback.Request, error) {
			return e.Store.ExportPage(ctx, e.AccountID, e.Filter, after, Page)
		})
		if err != nil {
			return err
		}
		if n = len(requests); n == 0 {
			break
		}
		after = &requests[n-1].ID
		if e.Format == feedback.CSV {
			err = e.writeCSV(ctx, requests)
		} else {
			err = e.writeJSONL(ctx, requests)
		}
		if err != nil {
			return err
		}
	}
	return e.flush()
}

func (e *exporter) flush() error {
	if err := e.to.Flush(); err != nil {
		return err
	}
	return e.send()
}

// writeText writes s. The next flush returns its error.
func (e *exporter) writeText(s string) { _, _ = e.to.WriteString(s) }

// read calls fn with a timeout, on a place to read. A reader that is slow holds none between reads.
func read[T any](ctx context.Context, w Writer, fn func(context.Context) (T, error)) (result T, err error) {
	ctx, cancel := context.WithTimeout(ctx, w.ReadTime)
	defer cancel()
	ctx, leave, err := w.Places.Enter(ctx)
	if err != nil {
		return result, err
	}
	defer leave()
	return fn(ctx)
}
