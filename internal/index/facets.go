package index

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"math"
	"slices"
	"strings"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

const (
	facetTags      = 30
	facetAssignees = 200
)

// tallies are how many requests have each value of each part.
type tallies map[facet]map[string]int64

// Facets counts, for each value of each part of the filter, how many requests the list
// would have if that value were chosen. It refuses with ErrAppNotFound when the filter names
// an app that the account does not have.
func (x *Index) Facets(ctx context.Context, accountID feedback.ID, f Filter) (feedback.Facets, error) {
	n, exact, err := x.counts(ctx, accountID, f)
	if err != nil {
		return feedback.Facets{}, err
	}
	return n.facets(f, exact), nil
}

// Tags returns the tags of the account's live requests by their folded form, and reports whether the numbers
// of requests are exact.
func (x *Index) Tags(ctx context.Context, accountID feedback.ID) (tags map[string]feedback.Tag, exact bool, err error) {
	n, exact, err := x.counts(ctx, accountID, Filter{Box: feedback.Live})
	return labels(n[byTag]), exact, err
}

// counts counts by the values of each part, and reports whether the counts are exact.
func (x *Index) counts(ctx context.Context, accountID feedback.ID, f Filter) (n tallies, exact bool, err error) {
	if err := x.counting.Acquire(ctx, accountID, 1); err != nil {
		return nil, false, err
	}
	defer x.counting.Release(accountID, 1)
	err = x.db.Read(ctx, func(tx *sql.Tx) error {
		if f.AppID != nil {
			if _, err := resolveApps(ctx, tx, accountID, f); err != nil {
				return err
			}
		}
		every, err := resolveApps(ctx, tx, accountID, Filter{Box: f.Box})
		if err != nil {
			return err
		}
		r, err := open(ctx, tx, accountID, every.live, f.Query != "")
		if err != nil {
			return err
		}
		n, exact, err = r.count(ctx, tx, x.memory, f)
		return err
	})
	return n, exact, err
}

// count counts by the values of each part, and reports whether the counts are exact.
func (r *reading) count(ctx context.Context, q database.Queryer, memory blockMemory, f Filter) (n tallies, exact bool, err error) {
	n, exact = tallies{byApp: {}, byStatus: {}, byAssignee: {}, bySource: {}, byTag: {}, byBox: {}}, r.tailRead
	within := periodOf(f)
	conditions, all, err := r.conditions(ctx, q, f)
	if err != nil {
		return n, exact, err
	}
	exact = exact && all
	blocks, err := r.within(ctx, q, within)
	if err != nil {
		return n, exact, err
	}
	// What matches if a part is left out, for each block.
	without := map[facet][]hits{}
	for part := range n {
		without[part] = slices.Clone(blocks)
	}
	for i := range conditions {
		sets, loose, err := r.lists(ctx, q, blocks, &conditions[i])
		if err != nil {
			return n, exact, err
		}
		exact = exact && !loose
		for part, left := range without {
			for at := range left {
				if conditions[i].part != part {
					left[at].and(&sets[at])
				}
			}
		}
	}
	inApp := func(appID feedback.ID, part facet) bool { return f.AppID == nil || *f.AppID == appID || part == byApp }
	for at := range blocks {
		n[byApp][blocks[at].appID.String()] += int64(without[byApp][at].count())
	}
	err = r.eachValue(ctx, q, memory, blocks, func(at int, l list) {
		part, value := valueOf(l.term)
		if n[part] != nil && inApp(blocks[at].appID, part) {
			n[part][value] += int64(l.among(&without[part][at].set))
		}
	})
	for _, d := range r.tail {
		if within.contains(d.id) {
			n.add(d, f, conditions)
		}
	}
	return n, exact, err
}

// add counts one document. It counts for all parts if it matches, and for one if it fails by
// that one alone.
func (n tallies) add(d *document, f Filter, conditions []condition) {
	failing := map[facet]bool{}
	for i := range conditions {
		if !conditions[i].matches(d) {
			failing[conditions[i].part] = true
		}
	}
	if f.AppID != nil && *f.AppID != d.appID {
		failing[byApp] = true
	}
	counts := func(part facet) bool { return len(failing) == 0 || len(failing) == 1 && failing[part] }
	if counts(byApp) {
		n[byApp][d.appID.String()]++
	}
	for _, term := range d.terms {
		if part, value := valueOf(term); n[part] != nil && counts(part) {
			n[part][value]++
		}
	}
}

// valueOf returns the part and the value of a term, if it is one of a field.
func valueOf(term string) (facet, string) {
	i := strings.IndexByte(term, ' ')
	if i < 0 { // no other term has a space
		return byWords, ""
	}
	return facet(term[:i+1]), term[i+1:]
}

// facets returns the counts as the interface has them.
func (n tallies) facets(f Filter, exact bool) (found feedback.Facets) {
	tally := func(part facet, value string) feedback.Tally {
		return feedback.Tally{Count: n[part][value], Exact: exact}
	}
	found.Apps, found.Sources, found.Tags = []feedback.AppFacet{}, []feedback.SourceFacet{}, []feedback.TagFacet{}
	var chosen []string
	if f.AppID != nil {
		chosen = []string{f.AppID.String()}
	}
	for _, value := range n.most(byApp, math.MaxInt, chosen...) {
		if id, err := feedback.ParseID(value); err == nil {
			found.Apps = append(found.Apps, feedback.AppFacet{AppID: id, Tally: tally(byApp, value)})
		}
	}
	for _, status := range feedback.Statuses() {
		found.Statuses = append(found.Statuses, feedback.StatusFacet{Status: status, Tally: tally(byStatus, string(status))})
	}
	for _, box := range []feedback.Box{feedback.Live, feedback.Quarantine, feedback.Bin} {
		found.Boxes = append(found.Boxes, feedback.BoxFacet{Box: box, Tally: tally(byBox, string(box))})
	}
	chosen = []string{feedback.Nobody}
	if f.AssigneeID != nil {
		chosen = append(chosen, f.AssigneeID.String())
	}
	for _, value := range n.most(byAssignee, facetAssignees, chosen...) {
		found.Assignees = append(found.Assignees, feedback.AssigneeFacet{AssigneeID: value, Tally: tally(byAssignee, value)})
	}
	chosen = nil
	if f.Source != "" {
		chosen = []string{f.Source}
	}
	for _, value := range n.most(bySource, math.MaxInt, chosen...) {
		found.Sources = append(found.Sources, feedback.SourceFacet{Source: value, Tally: tally(bySource, value)})
	}
	tags, isChosen := labels(n[byTag]), false
	add := func(tag feedback.Tag) {
		found.Tags = append(found.Tags, feedback.TagFacet{Tag: tag.Tag, Tally: feedback.Tally{Count: tag.Requests, Exact: exact}})
	}
	for _, tag := range mostUsed(tags, facetTags) {
		isChosen = isChosen || feedback.Fold(tag.Tag) == f.Tag
		add(tag)
	}
	if tag, used := tags[f.Tag]; f.Tag != "" && !isChosen {
		if !used {
			tag.Tag = f.Tag
		}
		add(tag)
	}
	return found
}

// most returns up to most values that have requests, the most frequent first, and always
// the given ones.
func (n tallies) most(part facet, most int, always ...string) []string {
	counts := n[part]
	for _, value := range always {
		counts[value] += 0
	}
	values := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	shown := values[:0]
	for i, value := range values {
		if counts[value] > 0 && i < most || slices.Contains(always, value) {
			shown = append(shown, value)
		}
	}
	return shown
}

// labels adds up the spellings of tags, by the folded tag. Of several spellings in use, the
// first in byte order stands for all.
func labels(spellings map[string]int64) map[string]feedback.Tag {
	tags := map[string]feedback.Tag{}
	for value, n := range spellings {
		folded, label, _ := strings.Cut(value, spelled)
		if n == 0 {
			continue
		}
		tag, there := tags[folded]
		if !there || label < tag.Tag {
			tag.Tag = label
		}
		tag.Requests += n
		tags[folded] = tag
	}
	return tags
}

// mostUsed returns at most so many tags, those with the most requests first.
func mostUsed(byTag map[string]feedback.Tag, most int) []feedback.Tag {
	order := slices.SortedFunc(maps.Keys(byTag), func(a, b string) int {
		return cmp.Or(cmp.Compare(byTag[b].Requests, byTag[a].Requests), cmp.Compare(a, b))
	})
	tags := make([]feedback.Tag, 0, most)
	for _, folded := range order[:min(len(order), most)] {
		tags = append(tags, byTag[folded])
	}
	return tags
}
