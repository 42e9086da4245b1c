package index

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// Facets and statistics need the posting lists of all values in all blocks: in an app of a million requests, thousands of
// rows. The lists of a block change rarely, so they stay in memory, together with the revision of the block that they are
// from. Every transaction that changes posting lists of a block gives it another revision.

const (
	// valueBytes is how many bytes of values are kept at most. Those of a block of 7,168 requests take about 100,000.
	valueBytes = 32 << 20
	// dayBytes is the same of days. Those of a block take a few hundred, unless its requests are not in the order of time.
	dayBytes = 4 << 20
)

// list is the posting list of a value of a field. Short ones are lists of ordinals, which are counted sooner than they are
// read from their stored form, and take not much more memory.
type list struct {
	term     string
	ordinals []uint16 // at most maxOrdinals
	set      *set     // nil for a short list
}

// maxOrdinals is how many ordinals take as much memory as a set.
const maxOrdinals = blockSize / 16

// newList returns a list that was stored.
func newList(term string, stored []byte) (list, error) {
	var s set
	if err := s.addStored(stored); err != nil {
		return list{}, err
	}
	n := s.count()
	if n > maxOrdinals {
		return list{term: term, set: &s}, nil
	}
	l := list{term: term, ordinals: make([]uint16, 0, n)}
	for i := s.next(0); i >= 0; i = s.after(i) {
		l.ordinals = append(l.ordinals, uint16(i)) //nolint:gosec // it is less than blockSize
	}
	return l, nil
}

// among returns how many ordinals of a list are in a set.
func (l list) among(s *set) (n int) {
	if l.set != nil {
		return l.set.common(s)
	}
	for _, i := range l.ordinals {
		n += int(s[i/64] >> (i % 64) & 1)
	}
	return n
}

// bytes returns how much memory a list takes.
func (l list) bytes() int {
	bytes := listOverhead + len(l.term) + 2*len(l.ordinals)
	if l.set != nil {
		bytes += blockSize / 8
	}
	return bytes
}

// run says that a block's ordinals from one on were created on a day, up to the next run.
type run struct {
	from int
	day  int64 // since 1970
}

// blockMemory is what is known of blocks.
type blockMemory struct {
	values *kept[[]list]
	days   *kept[[]run]
}

func newBlockMemory() blockMemory {
	return blockMemory{values: newKept[[]list](valueBytes), days: newKept[[]run](dayBytes)}
}

// kept keeps what was read of blocks. It is safe for concurrent use.
type kept[V any] struct {
	mu          sync.Mutex
	of          map[keptKey]keptValue[V]
	bytes, most int
}

func newKept[V any](most int) *kept[V] { return &kept[V]{of: map[keptKey]keptValue[V]{}, most: most} }

type keptKey struct {
	accountID feedback.ID
	blockKey
}

type keptValue[V any] struct {
	revision int64
	value    V
	bytes    int
}

func keyOf(accountID feedback.ID, b *block) keptKey {
	return keptKey{accountID, blockKey{b.appID, b.number}}
}

// get returns what was read of a block, if the block has not changed since.
func (k *kept[V]) get(accountID feedback.ID, b *block) (value V, known bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	of, there := k.of[keyOf(accountID, b)]
	if !there || of.revision != b.revision {
		return value, false
	}
	return of.value, true
}

// put keeps what was read of a block. If there is too much, it forgets any others: if it forgot the oldest, an app with
// more blocks than are kept would never find any.
func (k *kept[V]) put(accountID feedback.ID, b *block, value V, bytes int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key := keyOf(accountID, b)
	k.bytes += bytes - k.of[key].bytes
	k.of[key] = keptValue[V]{b.revision, value, bytes}
	for other, of := range k.of {
		if k.bytes <= k.most {
			return
		}
		if other != key {
			delete(k.of, other)
			k.bytes -= of.bytes
		}
	}
}

// eachValue calls visit for the posting lists of all values of fields in some blocks.
func (r *reading) eachValue(
	ctx context.Context, q database.Queryer, memory blockMemory, blocks []hits, visit func(at int, l list),
) error {
	lists := make([][]list, len(blocks))
	var unread []hits
	var places []int
	for at, h := range blocks {
		known := false
		if lists[at], known = memory.values.get(r.accountID, h.block); !known {
			unread, places = append(unread, hits{block: h.block}), append(places, at)
		}
	}
	if err := r.each(ctx, q, unread, termRange{firstValue, lastValue}.where, func(i int, term string, stored []byte) error {
		into := &lists[places[i]]
		add := func(term string, stored []byte) error {
			l, err := newList(term, stored)
			*into = append(*into, l)
			return err
		}
		if term == tagsTerm {
			return eachTag(stored, add)
		}
		return add(term, stored)
	}); err != nil {
		return err
	}
	for i, h := range unread {
		bytes := keptOverhead
		for _, l := range lists[places[i]] {
			bytes += l.bytes()
		}
		memory.values.put(r.accountID, h.block, slices.Clip(lists[places[i]]), bytes)
	}
	for at := range lists {
		for _, l := range lists[at] {
			visit(at, l)
		}
	}
	return nil
}

const (
	keptOverhead = 150 // bytes of an entry of a map
	listOverhead = 48  // bytes of a list without its term and its ordinals
)

// eachDay calls visit with the days on which the requests of some blocks were created.
func (r *reading) eachDay(
	ctx context.Context, q database.Queryer, memory blockMemory, blocks []hits, visit func(at int, runs []run),
) error {
	runs := make([][]run, len(blocks))
	var unread []int
	for at, h := range blocks {
		known := false
		if only := dayOf(h.lowest); only == dayOf(h.highest) {
			runs[at] = []run{{0, only}}
		} else if runs[at], known = memory.days.get(r.accountID, h.block); !known {
			unread = append(unread, at)
		}
	}
	if err := readTogether(ctx, q, unread, one, func(at int, p *database.Parameters, place string) string {
		return blocks[at].selectParts(p, r.accountID, 0, blocks[at].n, place)
	}, scanPart, func(at int, part idsPart) error {
		from, last := int(part.number-blocks[at].firstPart())*partSize, int64(-1)
		for i, id := range appendPacked(nil, part.ids) {
			if on := dayOf(id); on != last {
				runs[at], last = append(runs[at], run{from + i, on}), on
			}
		}
		return nil
	}); err != nil {
		return err
	}
	for _, at := range unread {
		slices.SortFunc(runs[at], func(a, b run) int { return cmp.Compare(a.from, b.from) })
		runs[at] = slices.Clip(slices.CompactFunc(runs[at], func(a, b run) bool { return a.day == b.day }))
		memory.days.put(r.accountID, blocks[at].block, runs[at], keptOverhead+16*len(runs[at]))
	}
	for at := range runs {
		visit(at, runs[at])
	}
	return nil
}
