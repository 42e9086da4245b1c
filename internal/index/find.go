package index

import (
	"context"
	"slices"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// found is what matches a filter: in each block the ordinals, and the documents of the
// log's tail, which the index has not followed yet.
type found struct {
	reading
	conditions []condition
	blocks     []hits
	tail       []*document
	// loose says that the total is not exact: a beginning has more words than are read, and
	// blocks have ordinals that do not match; or a person voted for more requests than are read.
	loose bool
}

// hits are the ordinals of a block that match.
type hits struct {
	*block
	set
}

func (f *found) total() Total {
	t := Total{N: int64(len(f.tail)), Exact: f.tailRead && !f.loose}
	for i := range f.blocks {
		t.N += int64(f.blocks[i].count())
	}
	return t
}

// reading is an account's index at one moment.
type reading struct {
	accountID feedback.ID
	blocks    []block     // of the apps that are searched
	tail      []*document // the requests of the log's tail as they are now, sorted by id
	tailRead  bool        // whether the tail is all that the index has not followed
	replaced  []*document // what the index has of the requests in the tail
	// stale has the ordinals of the requests in the tail, by block.
	stale map[blockKey][]int
}

// open reads the state of an account's index for some apps. The order of its statements
// matters where each of them sees the database at another moment: an indexer may work
// beside them. What it has added since the log was read is in the tail, and in stale if its
// ordinals are in the blocks.
//
// Documents of the tail have words only if these are asked for, as they take most of the time.
func open(ctx context.Context, q database.Queryer, accountID feedback.ID, apps []feedback.ID, words bool) (r reading, err error) {
	r.accountID = accountID
	ids, all, err := touched(ctx, q, accountID)
	if err != nil {
		return r, err
	}
	r.tailRead = all
	if r.blocks, err = blocksOf(ctx, q, accountID, apps); err != nil {
		return r, err
	}
	err = r.addTail(ctx, q, ids, apps, words)
	return r, err
}

// of returns the part of a reading that is about one app.
func (r *reading) of(appID feedback.ID) reading {
	one := *r
	one.blocks = slices.DeleteFunc(slices.Clone(r.blocks), func(b block) bool { return b.appID != appID })
	other := func(d *document) bool { return d.appID != appID }
	one.tail = slices.DeleteFunc(slices.Clone(r.tail), other)
	one.replaced = slices.DeleteFunc(slices.Clone(r.replaced), other)
	return one
}

// find finds what matches a filter in some apps.
func find(ctx context.Context, q database.Queryer, accountID feedback.ID, apps []feedback.ID, f Filter) (*found, error) {
	r, err := open(ctx, q, accountID, apps, f.Query != "")
	if err != nil {
		return nil, err
	}
	return r.find(ctx, q, f)
}

// find is find in the apps of a reading.
func (r *reading) find(ctx context.Context, q database.Queryer, f Filter) (result *found, err error) {
	within := periodOf(f)
	conditions, all, err := r.conditions(ctx, q, f)
	if err != nil {
		return nil, err
	}
	result = &found{reading: *r, conditions: conditions, loose: !all}
	if result.blocks, err = r.within(ctx, q, within); err != nil {
		return nil, err
	}
	for i := range conditions {
		sets, loose, err := r.lists(ctx, q, result.blocks, &conditions[i])
		if err != nil {
			return nil, err
		}
		result.loose = result.loose || loose
		left := result.blocks[:0]
		for at, h := range result.blocks {
			h.and(&sets[at])
			if h.count() > 0 {
				left = append(left, h)
			}
		}
		result.blocks = left
	}
	for _, d := range r.tail {
		if within.contains(d.id) && !slices.ContainsFunc(conditions, func(c condition) bool { return !c.matches(d) }) {
			result.tail = append(result.tail, d)
		}
	}
	return result, nil
}

// within returns the blocks with their ordinals in a period, without those of the tail.
func (r *reading) within(ctx context.Context, q database.Queryer, p period) (all []hits, err error) {
	for i := range r.blocks {
		b := &r.blocks[i]
		if b.highest.Compare(p.from) < 0 || b.lowest.Compare(p.until) >= 0 {
			continue
		}
		h := hits{block: b}
		h.fill(b.n)
		for _, edge := range []struct {
			id    feedback.ID
			lower bool // whether ids below it are kept
		}{{p.from, false}, {p.until, true}} {
			if err := h.cut(ctx, q, r.accountID, edge.id, edge.lower); err != nil {
				return nil, err
			}
		}
		for _, ordinal := range r.stale[blockKey{b.appID, b.number}] {
			h.remove(ordinal)
		}
		all = append(all, h)
	}
	return all, nil
}

// cut keeps the ordinals whose ids are lower than id, or those whose ids are not.
func (h *hits) cut(ctx context.Context, q database.Queryer, accountID, id feedback.ID, lower bool) error {
	from, until, err := h.around(ctx, q, accountID, id)
	if err != nil {
		return err
	}
	edge := h.set
	if lower {
		h.keep(0, from)
	} else {
		h.keep(until, blockSize)
	}
	ids, start, err := h.ids(ctx, q, accountID, from, until)
	if err != nil {
		return err
	}
	for i := from; i < until; i++ {
		if edge.has(i) && ids[i-start].Compare(id) < 0 == lower {
			h.add(i)
		}
	}
	return nil
}

// maxWords is how many words with the same beginning are read in a block, on average. People
// use fewer.
const maxWords = 256

// lists returns for each block the ordinals of the documents that match a condition. If it
// is loose, some of them may not: there are more than maxWords words with a beginning.
func (r *reading) lists(ctx context.Context, q database.Queryer, blocks []hits, c *condition) (sets []set, loose bool, err error) {
	sets = make([]set, len(blocks))
	add := func(at int, _ string, stored []byte) error { return sets[at].addStored(stored) }
	terms := func(terms ...string) error { return r.each(ctx, q, blocks, isOneOf(terms), add) }
	if len(c.terms) > 0 {
		if err := terms(c.terms...); err != nil {
			return nil, false, err
		}
	}
	if len(c.also) > 0 {
		if err := r.addRequests(ctx, q, sets, blocks, c.also); err != nil {
			return nil, false, err
		}
	}
	if c.part == byTag {
		return sets, false, r.each(ctx, q, blocks, isOneOf([]string{tagsTerm}), func(at int, _ string, packed []byte) error {
			return eachTag(packed, func(term string, stored []byte) error {
				if !slices.ContainsFunc(c.ranges, func(in termRange) bool { return in.has(term) }) {
					return nil
				}
				return sets[at].addStored(stored)
			})
		})
	}
	for i, in := range c.ranges {
		left := maxWords * len(blocks)
		limit := left + 1
		err := r.each(ctx, q, blocks, func(p *database.Parameters) string {
			return in.where(p) + " LIMIT CAST(" + p.Add(limit) + " AS BIGINT)"
		}, func(at int, term string, stored []byte) error {
			left--
			return add(at, term, stored)
		})
		if err == nil && left < 0 {
			if loose = true; i == 0 && c.wider != "" {
				err = terms(c.wider)
			}
		}
		if err != nil {
			return nil, false, err
		}
	}
	return sets, loose, nil
}

// matches reports whether a request that was found matches after all, which it does unless f is loose.
func (f *found) matches(r feedback.Request) bool {
	d := document{terms: withBeginnings(wordTerms(r.Title, r.Description, r.Submitter.Name, r.Submitter.Email))}
	return !slices.ContainsFunc(f.conditions, func(c condition) bool { return c.part == byWords && !c.matches(&d) })
}

// each calls visit for the posting lists of some blocks. Blocks are sorted by app; where
// gives the condition for the terms.
func (r *reading) each(
	ctx context.Context, q database.Queryer, blocks []hits, where func(*database.Parameters) string,
	visit func(at int, term string, stored []byte) error,
) error {
	for _, part := range together(blocks) {
		p := database.Parameters{r.accountID}
		at := make(map[blockKey]int, len(part))
		var apps []feedback.ID
		var numbers []int64
		for _, i := range part {
			b := blocks[i].block
			at[blockKey{b.appID, b.number}] = i
			if !slices.Contains(apps, b.appID) {
				apps = append(apps, b.appID)
			}
			if !slices.Contains(numbers, b.number) {
				numbers = append(numbers, b.number)
			}
		}
		err := database.Each(ctx, q, func(row database.Row) error {
			var key blockKey
			var term string
			var stored []byte
			if err := row.Scan(&key.appID, &key.number, &term, &stored); err != nil {
				return err
			}
			if i, wanted := at[key]; wanted {
				return visit(i, term, stored)
			}
			return nil
		}, "SELECT app_id, block, term, bits FROM index_postings WHERE account_id = $1"+
			" AND app_id IN ("+database.List(&p, database.Padded(apps))+")"+
			" AND block IN ("+database.List(&p, database.Padded(numbers))+")"+where(&p), p...)
		if err != nil {
			return err
		}
	}
	return nil
}

// maxBlocks is how many blocks of one app a statement reads.
const maxBlocks = 256

// together divides blocks among statements: the blocks of an app, and of all apps that have
// only their first block.
func together(blocks []hits) (parts [][]int) {
	var first []int
	for from := 0; from < len(blocks); {
		until := from + 1
		for until < len(blocks) && until-from < maxBlocks && blocks[until].appID == blocks[from].appID {
			until++
		}
		if until == from+1 && blocks[from].number == 0 {
			first = append(first, from)
		} else {
			part := make([]int, 0, until-from)
			for i := from; i < until; i++ {
				part = append(part, i)
			}
			parts = append(parts, part)
		}
		from = until
	}
	return append(parts, slices.Collect(slices.Chunk(first, maxBlocks))...)
}
