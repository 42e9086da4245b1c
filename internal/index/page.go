package index

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// Page reads a page of the requests that match.
func (s Scope) Page(ctx context.Context, q database.Queryer, page Page) ([]feedback.Request, error) {
	switch {
	case s.n == 0:
		return []feedback.Request{}, nil
	case s.found == nil:
		return listing{s, page}.rows(ctx, q)
	}
	switch page.Sort {
	case Newest, Oldest:
		rows := []feedback.Request{}
		// Again if some of the requests have changed since the list began, or do not match.
		for at, again := page, maxAgain; ; again-- {
			ids, err := s.found.byID(ctx, q, at)
			if err != nil {
				return nil, err
			}
			some, err := s.rows(ctx, q, ids, at.without(len(rows)))
			if err != nil {
				return nil, err
			}
			if rows = append(rows, some...); len(rows) == page.Limit || len(ids) < page.Limit || s.found.loose && again == 0 {
				return rows, nil
			}
			at.After = &Place{ID: ids[len(ids)-1]}
		}
	}
	// Of few matches, all are read and sorted; of many, enough are soon met in the order of
	// the list.
	if n := s.found.total().N; n*n <= s.n*int64(page.Limit) && (!s.filter.Public || n <= maxSorted) {
		ids, err := s.found.byID(ctx, q, Page{Sort: Newest, Limit: int(n)})
		if err != nil {
			return nil, err
		}
		return s.rows(ctx, q, ids, page)
	}
	return s.walk(ctx, q, page)
}

// maxAgain is how often a page is read again to be full when many requests do not match.
const maxAgain = 1

// byID returns the ids of a page in the order of ids.
func (f *found) byID(ctx context.Context, q database.Queryer, page Page) ([]feedback.ID, error) {
	up := page.Sort == Oldest
	order := func(a, b feedback.ID) int {
		if up {
			return a.Compare(b)
		}
		return b.Compare(a)
	}
	wanted := func(id feedback.ID) bool { return page.After == nil || order(page.After.ID, id) < 0 }
	var ids []feedback.ID
	for _, d := range f.tail {
		ids = append(ids, d.id)
	}
	finish := func() {
		ids = slices.DeleteFunc(ids, func(id feedback.ID) bool { return !wanted(id) })
		slices.SortFunc(ids, order)
	}
	if f.total().N <= fewHits {
		for _, part := range f.byApp() {
			more, err := f.ids(ctx, q, part[0].appID, ordinalsOf(part))
			if err != nil {
				return nil, err
			}
			ids = slices.AppendSeq(ids, maps.Values(more))
		}
		finish()
		return ids[:min(len(ids), page.Limit)], nil
	}
	nearest := func(h *hits) feedback.ID { // bounds the ids of a block
		if up {
			return h.lowest
		}
		return h.highest
	}
	blocks := make([]*hits, len(f.blocks))
	for i := range blocks {
		blocks[i] = &f.blocks[i]
	}
	slices.SortStableFunc(blocks, func(a, b *hits) int { return order(nearest(a), nearest(b)) })
	finish()
	for _, h := range blocks {
		if len(ids) >= page.Limit && order(ids[page.Limit-1], nearest(h)) < 0 {
			break
		}
		if !wanted(h.lowest) && !wanted(h.highest) {
			continue
		}
		ordinals, err := h.page(ctx, q, f.accountID, page, up)
		if err != nil {
			return nil, err
		}
		more, err := f.ids(ctx, q, h.appID, ordinals)
		if err != nil {
			return nil, err
		}
		ids = slices.AppendSeq(ids, maps.Values(more))
		finish()
	}
	return ids[:min(len(ids), page.Limit)], nil
}

// fewHits is how many matches are read at once, whatever the page.
const fewHits = 256

// byApp returns the blocks with matches of each app.
func (f *found) byApp() (apps [][]hits) {
	for from := 0; from < len(f.blocks); {
		until := from + 1
		for until < len(f.blocks) && f.blocks[until].appID == f.blocks[from].appID {
			until++
		}
		apps = append(apps, f.blocks[from:until])
		from = until
	}
	return apps
}

// ordinalsOf returns the ordinals in blocks of one app.
func ordinalsOf(blocks []hits) (ordinals []int64) {
	for b := range blocks {
		h := &blocks[b]
		for i := h.next(0); i >= 0; i = h.after(i) {
			ordinals = append(ordinals, h.number*blockSize+int64(i))
		}
	}
	return ordinals
}

// page returns the ordinals of a block's matches that may be on a page, and maybe some
// more. Ids are sorted but for the block's disorder: when there are enough for a page, so
// many more ordinals may have an id that belongs on it.
func (h *hits) page(ctx context.Context, q database.Queryer, accountID feedback.ID, page Page, up bool) (ordinals []int64, err error) {
	first, last, need := 0, h.n-1, page.Limit
	if page.After != nil {
		from, until, err := h.around(ctx, q, accountID, page.After.ID)
		if err != nil {
			return nil, err
		}
		need += until - from // these may be before the cursor
		if up {
			first = from
		} else {
			last = until - 1
		}
	}
	i, step := h.next(first), h.after
	if !up {
		i, step = -1, h.before
		if last >= 0 {
			i = h.prev(last)
		}
	}
	for end := -1; i >= first && i <= last; i = step(i) {
		if need > 0 {
			need--
			end = i
		} else if max(i-end, end-i) > h.disorder {
			break
		}
		ordinals = append(ordinals, h.number*blockSize+int64(i))
	}
	return ordinals, nil
}

// ids reads the ids of ordinals of an app.
func (r *reading) ids(ctx context.Context, q database.Queryer, appID feedback.ID, ordinals []int64) (map[int64]feedback.ID, error) {
	byPart := map[int64][]int64{}
	for _, ordinal := range ordinals {
		byPart[ordinal/partSize] = append(byPart[ordinal/partSize], ordinal)
	}
	ids := make(map[int64]feedback.ID, len(ordinals))
	const size = len(feedback.ID{})
	for piece := range slices.Chunk(slices.Sorted(maps.Keys(byPart)), maxTerms) {
		p := database.Parameters{r.accountID, appID}
		err := database.Each(ctx, q, func(row database.Row) error {
			var part int64
			var packed []byte
			err := row.Scan(&part, &packed)
			for _, ordinal := range byPart[part] {
				ids[ordinal] = feedback.ID(packed[int(ordinal%partSize)*size:][:size])
			}
			return err
		}, "SELECT part, ids FROM index_ids WHERE account_id = $1 AND app_id = $2 AND part IN ("+
			database.List(&p, database.Padded(piece))+")", p...)
		if err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// compare compares two requests in the order of the page.
func (p Page) compare(a, b feedback.Request) int { return p.Sort.compare(placeOf(a), placeOf(b)) }

func placeOf(r feedback.Request) Place {
	return Place{ID: r.ID, Votes: r.Votes, Heat: r.Heat, UpdatedAt: r.UpdatedAt}
}

func (s Sort) compare(a, b Place) int {
	switch s {
	case Oldest:
		return a.ID.Compare(b.ID)
	case MostVoted:
		return cmp.Or(cmp.Compare(b.Votes, a.Votes), b.ID.Compare(a.ID))
	case Trending:
		return cmp.Or(cmp.Compare(b.Heat, a.Heat), b.ID.Compare(a.ID))
	case RecentlyUpdated:
		return cmp.Or(cmp.Compare(b.UpdatedAt, a.UpdatedAt), b.ID.Compare(a.ID))
	}
	return b.ID.Compare(a.ID)
}

// Has reports whether a request is after the page's cursor and not changed since the list
// began.
func (p Page) Has(r feedback.Request) bool {
	return (p.After == nil || p.Sort.compare(*p.After, placeOf(r)) < 0) && (p.Unchanged == nil || r.UpdatedAt <= *p.Unchanged)
}

// walkChunk is how many requests of a list are compared with the filter at once, after smaller chunks: where most
// match, the first one has enough.
const walkChunk = 256

// For people outside, at most maxSorted matches are read to be sorted. Of more, a walk ends after maxWalked requests,
// and the page is then filled from the latest maxLate that match.
const (
	maxSorted = 1024
	maxWalked = 400
	maxLate   = 256
)

// walk reads the list without the filter's other conditions in its order, and keeps the
// requests that match.
func (s Scope) walk(ctx context.Context, q database.Queryer, page Page) ([]feedback.Request, error) {
	matched := map[blockKey]*hits{}
	for i := range s.found.blocks {
		h := &s.found.blocks[i]
		matched[blockKey{h.appID, h.number}] = h
	}
	all := s
	all.found = nil
	all.filter = Filter{AppID: s.filter.AppID, Statuses: s.filter.Statuses, Box: s.filter.Box}
	chunk := page
	chunk.Brief = true
	rows, walked := []feedback.Request{}, 0
	for ; ; chunk.Limit = min(2*chunk.Limit, walkChunk) {
		read, err := listing{all, chunk}.rows(ctx, q)
		if err != nil {
			return nil, err
		}
		ids, appOf := make([]feedback.ID, 0, len(read)), make(map[feedback.ID]feedback.ID, len(read))
		for _, r := range read {
			ids, appOf[r.ID] = append(ids, r.ID), r.AppID
		}
		known, err := ordinals(ctx, q, s.accountID, ids)
		if err != nil {
			return nil, err
		}
		ids = slices.DeleteFunc(ids, func(id feedback.ID) bool {
			at, indexed := known[id]
			h := matched[blockKey{appOf[id], at / blockSize}]
			return !s.found.inTail(id) && (!indexed || h == nil || !h.has(int(at%blockSize)))
		})
		for len(ids) > 0 {
			some := ids[:min(len(ids), page.Limit)]
			if !s.loose() { // all match
				some = some[:min(len(some), page.Limit-len(rows))]
			}
			ids = ids[len(some):]
			full, err := s.rows(ctx, q, some, page.without(len(rows)))
			if err != nil {
				return nil, err
			}
			if rows = append(rows, full...); len(rows) == page.Limit {
				return rows, nil
			}
		}
		if len(read) < chunk.Limit {
			return rows, nil
		}
		last := placeOf(read[len(read)-1])
		chunk.After = &last
		if walked += len(read); s.filter.Public && walked >= maxWalked {
			return s.late(ctx, q, rows, chunk.After, page)
		}
	}
}

// late fills a page, of which the first rows were found, with the latest requests that match and come after a place.
func (s Scope) late(ctx context.Context, q database.Queryer, rows []feedback.Request, after *Place, page Page) ([]feedback.Request, error) {
	ids, err := s.found.byID(ctx, q, Page{Sort: Newest, Limit: maxLate})
	if err != nil {
		return nil, err
	}
	page.After = after
	more, err := s.rows(ctx, q, ids, page.without(len(rows)))
	return append(rows, more...), err
}

// inTail reports whether a request in the log's tail matches.
func (f *found) inTail(id feedback.ID) bool {
	_, in := slices.BinarySearchFunc(f.tail, id, func(d *document, id feedback.ID) int { return d.id.Compare(id) })
	return in
}

// ordinals reads the ordinals of requests.
func ordinals(ctx context.Context, q database.Queryer, accountID feedback.ID, ids []feedback.ID) (map[feedback.ID]int64, error) {
	byID := make(map[feedback.ID]int64, len(ids))
	if len(ids) == 0 {
		return byID, nil
	}
	p := database.Parameters{accountID}
	err := database.Each(ctx, q, func(r database.Row) error {
		var id feedback.ID
		var ordinal int64
		err := r.Scan(&id, &ordinal)
		byID[id] = ordinal
		return err
	}, "SELECT request_id, ordinal FROM index_documents"+
		" WHERE account_id = $1 AND request_id IN ("+database.List(&p, database.Padded(ids))+")", p...)
	return byID, err
}
