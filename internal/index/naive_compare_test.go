package index_test

import (
	"encoding/json"
	"errors"
	"reflect"

	"github.com/google/go-cmp/cmp"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
)

// tester is a test, or a case of one that rapid tries.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
}

// shown is a value as a failure shows it.
func shown(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// compareAll compares a list from a page on, the facets and the export of a filter.
func (n naive) compareAll(t tester, f index.Filter, page index.Page) {
	t.Helper()
	if !n.has(f.AppID) {
		n.compareUnknown(t, f, page)
		return
	}
	n.compareList(t, f, page)
	n.compareExport(t, f, page.Limit)
	facets, err := n.Index.Facets(ctx, n.accountID, f)
	if err != nil {
		t.Fatalf("the facets of %s: %v", shown(f), err)
	}
	if want := n.facets(f); !reflect.DeepEqual(want, facets) {
		t.Fatalf("the facets of %s (-want +got):\n%s", shown(f), cmp.Diff(want, facets))
	}
}

// compareUnknown holds that an app that the account does not have is refused.
func (n naive) compareUnknown(t tester, f index.Filter, page index.Page) {
	t.Helper()
	if _, _, err := n.Index.List(ctx, n.accountID, f, page); !errors.Is(err, feedback.ErrAppNotFound) {
		t.Fatalf("the list of %s, which has an unknown app: %v", shown(f), err)
	}
	if _, err := n.Index.Facets(ctx, n.accountID, f); !errors.Is(err, feedback.ErrAppNotFound) {
		t.Fatalf("the facets of %s, which has an unknown app: %v", shown(f), err)
	}
	if exported, err := n.ExportPage(ctx, n.accountID, f, nil, page.Limit); err != nil || len(exported) > 0 {
		t.Fatalf("the export of %s, which has an unknown app: %d requests, %v", shown(f), len(exported), err)
	}
}

// compareList compares a page and all pages that follow it, each with its total.
func (n naive) compareList(t tester, f index.Filter, page index.Page) {
	t.Helper()
	want, total := n.list(f, page), index.Total{N: int64(len(n.matching(f))), Exact: true}
	for {
		requests, counted, err := n.Index.List(ctx, n.accountID, f, page)
		if err != nil || counted != total {
			t.Fatalf("the total of %s: %+v, want %+v, %v", shown(f), counted, total, err)
		}
		expected := want[:min(page.Limit, len(want))]
		n.comparePage(t, shown(f)+", "+shown(page), expected, requests)
		if want = want[len(expected):]; len(expected) < page.Limit {
			return
		}
		page.After = place(expected[len(expected)-1])
	}
}

// compareExport compares all pages that an export reads.
func (n naive) compareExport(t tester, f index.Filter, limit int) {
	t.Helper()
	want := n.list(f, index.Page{Sort: index.Newest})
	for after := (*feedback.ID)(nil); ; {
		exported, err := n.ExportPage(ctx, n.accountID, f, after, limit)
		if err != nil {
			t.Fatalf("the export of %s: %v", shown(f), err)
		}
		expected := want[:min(limit, len(want))]
		n.comparePage(t, "the export of "+shown(f), expected, exported)
		if want = want[len(expected):]; len(expected) < limit {
			return
		}
		after = &expected[len(expected)-1].ID
	}
}

func (naive) comparePage(t tester, what string, want, got []feedback.Request) {
	t.Helper()
	if len(want)+len(got) > 0 && !reflect.DeepEqual(want, got) {
		t.Fatalf("%s (-want +got):\n%s", what, cmp.Diff(want, got))
	}
}

// compareStats compares the statistics of a range of times.
func (n naive) compareStats(t tester, appID *feedback.ID, from, to feedback.Time) {
	t.Helper()
	stats, err := n.Index.Stats(ctx, n.accountID, appID, from, to)
	if !n.has(appID) {
		if !errors.Is(err, feedback.ErrAppNotFound) {
			t.Fatalf("the stats of an unknown app: %v", err)
		}
		return
	}
	if want := n.stats(appID, from, to); err != nil || !reflect.DeepEqual(want, stats) {
		t.Fatalf("the stats of app %v from %v to %v: %v (-want +got):\n%s", appID, from.Std(), to.Std(), err, cmp.Diff(want, stats))
	}
}
