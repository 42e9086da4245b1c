package usage_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
	"gatherkit/internal/usage"
)

var ctx = context.Background()

// TestProcesses: the counts of several processes add up, for each account and day, whatever the order in which they
// count and add, and what cannot be added now is not lost.
func TestProcesses(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		clock := storetest.NewClock()
		processes := []*store.Store{at.Open(t, clock.Now), at.Open(t, clock.Now)}
		ended, cancel := context.WithCancel(ctx)
		cancel()
		rapid.Check(t, func(t *rapid.T) {
			accounts := []feedback.ID{processes[0].NewID(), processes[0].NewID(), processes[0].NewID()}
			want := map[feedback.ID]map[feedback.Day]usage.DayUsage{}
			for _, id := range accounts {
				want[id] = map[feedback.Day]usage.DayUsage{}
			}
			t.Repeat(map[string]func(*rapid.T){
				"count": func(t *rapid.T) {
					id := rapid.SampledFrom(accounts).Draw(t, "account")
					small := rapid.Int64Range(0, 1e6)
					used := usage.Use{
						Calls: small.Draw(t, "calls"), Busy: time.Duration(small.Draw(t, "busy")) * time.Microsecond,
						Submissions: small.Draw(t, "submissions"),
						Files:       small.Draw(t, "files"), FileBytes: small.Draw(t, "bytes"), Mails: small.Draw(t, "mails"),
					}
					rapid.SampledFrom(processes).Draw(t, "process").Usage.Count(id, used)
					day := feedback.DayOf(clock.Now())
					all := want[id][day]
					all.Day = day
					all.Calls += used.Calls
					all.Busy += used.Busy
					all.Submissions += used.Submissions
					all.Files += used.Files
					all.FileBytes += used.FileBytes
					all.Mails += used.Mails
					all.Seconds = all.Busy.Seconds()
					want[id][day] = all
				},
				"add": func(t *rapid.T) {
					if err := rapid.SampledFrom(processes).Draw(t, "process").Usage.Add(ctx); err != nil {
						t.Fatal(err)
					}
				},
				"add in vain": func(t *rapid.T) {
					_ = rapid.SampledFrom(processes).Draw(t, "process").Usage.Add(ended) // fails if there is something to add
				},
				"later": func(t *rapid.T) {
					clock.Move(time.Duration(rapid.Int64Range(0, int64(36*time.Hour)).Draw(t, "duration")))
				},
			})
			for _, p := range processes {
				if err := p.Usage.Add(ctx); err != nil {
					t.Fatal(err)
				}
			}
			for _, id := range accounts {
				got, err := processes[1].Usage.Days(ctx, id, 0)
				if err != nil {
					t.Fatal(err)
				}
				latest := feedback.Day(1 << 40)
				for _, day := range got {
					if day.Day >= latest {
						t.Fatalf("%v is after %v", day.Day, latest)
					}
					latest = day.Day
					if diff := cmp.Diff(want[id][day.Day], day); diff != "" {
						t.Fatalf("%v (-want +got):\n%s", day.Day, diff)
					}
				}
				if len(got) != len(want[id]) {
					t.Fatalf("%d days, want %d", len(got), len(want[id]))
				}
			}
		})
	})
}

// TestKept: days are kept for KeptFor days, and the time of the latest call is that of any process.
func TestKept(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme").ID
		r.Clock.Move(time.Hour) // of that day
		r.Usage.Call(account, time.Second)
		latest := feedback.At(r.Clock.Now())
		must(t, r.Usage.Add(ctx))
		r.Clock.Move(-time.Minute) // the clock of another machine
		r.Usage.Call(account, time.Second)
		must(t, r.Usage.Add(ctx))
		size, err := r.AccountSize(ctx, account)
		must(t, err)
		if size.Calls != 2 || size.LastUse == nil || *size.LastUse != latest {
			t.Errorf("%d calls, the last one at %v", size.Calls, size.LastUse)
		}
		for _, step := range []struct {
			after       time.Duration
			days, calls int64
		}{{29 * 24 * time.Hour, 1, 2}, {24 * time.Hour, 1, 0}, {(usage.KeptFor - 30) * 24 * time.Hour, 1, 0}, {24 * time.Hour, 0, 0}} {
			r.Clock.Move(step.after)
			must(t, r.Sweep(ctx))
			size, err := r.AccountSize(ctx, account)
			must(t, err)
			days, err := r.Usage.Days(ctx, account, 0)
			must(t, err)
			if int64(len(days)) != step.days || size.Calls != step.calls {
				t.Errorf("%v later: %d days, %d calls in 30 days, want %d and %d", step.after, len(days), size.Calls, step.days, step.calls)
			}
		}
	})
}

// TestTop: the busiest accounts are first, whatever is in the database.
func TestTop(t *testing.T) {
	r := storetest.NewRig(t, storetest.SQLite(t))
	want := []usage.Top{}
	for i := range 12 {
		id := r.NewID()
		r.Usage.Call(id, time.Duration(12-i)*time.Second)
		if i == 6 {
			must(t, r.Usage.Add(ctx))
		}
		want = append(want, usage.Top{AccountID: id, Use: usage.Use{Calls: 1, Busy: time.Duration(12-i) * time.Second}})
	}
	if diff := cmp.Diff(want[:10], r.Usage.Top(10)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := r.Usage.Top(20); len(got) != 12 {
		t.Errorf("%d accounts", len(got))
	}
}

// TestLast: what a process has counted is in the database when it has ended.
func TestLast(t *testing.T) {
	r := storetest.NewRig(t, storetest.SQLite(t))
	id := r.NewID()
	r.Usage.Call(id, time.Second)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	r.Usage.Run(ended)
	days, err := r.Usage.Days(ctx, id, 0)
	must(t, err)
	if len(days) != 1 || days[0].Calls != 1 || days[0].Seconds != 1 {
		t.Errorf("%+v", days)
	}
}

// TestLost: if the last counts of a process cannot be added, the log says so.
func TestLost(t *testing.T) {
	var log bytes.Buffer
	r := storetest.NewRig(t, storetest.SQLite(t), func(o *store.Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	ended, cancel := context.WithCancel(ctx)
	cancel()
	r.Exec("DROP TABLE usage_days")
	r.Usage.Run(ended)
	if log.Len() != 0 {
		t.Errorf("without counts: %s", &log)
	}
	r.Usage.Call(r.NewID(), time.Second)
	r.Usage.Run(ended)
	if n := strings.Count(log.String(), "usage of the accounts is lost"); n != 1 {
		t.Errorf("%d lines: %s", n, &log)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
