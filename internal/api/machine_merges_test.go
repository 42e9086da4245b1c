package api

import (
	"cmp"
	"slices"
	"time"
)

// What the model says to merges. Merged requests are a tree: parent is what each was
// merged into, and root where its votes count.

func (m *model) older(a, b *request) int {
	return cmp.Compare(slices.Index(m.requests, a), slices.Index(m.requests, b))
}

// emptyBin removes for good what has been in an account's bin since before a time.
func (m *model) emptyBin(a *account, until time.Time) {
	var gone []*request
	ids := map[string]bool{}
	for _, r := range m.requests {
		if r.account == a && r.binned && !r.deleted && !r.gone && r.updated.Before(until) {
			gone = append(gone, r)
			r.gone, ids[r.id] = true, true
		}
	}
	a.forget(ids)
	for _, r := range gone {
		m.record(a, "request.purged", "service", "", r.app.id, "")
	}
}
