package store_test

import (
	"slices"
	"testing"
	"time"

	"gatherkit/internal/store/storetest"
)

// BenchmarkSimilar asks an app of 12,000 requests among 100,000.
func BenchmarkSimilar(b *testing.B) {
	for _, at := range []storetest.Place{storetest.SQLite(b), {Name: "postgres", Database: storetest.Postgres(b)}} {
		b.Run(at.Name, func(b *testing.B) {
			const size, others = 12_000, 7
			r := newRig(b, at)
			account := r.account("Acme")
			app := r.app(account)
			pairs := readPairs(b)
			r.stored(app, corpus(b, size-len(pairs)))
			r.index()
			for range others {
				other := r.app(account)
				r.stored(other, distractors(b, size))
				r.copyWords(app, other)
			}
			if _, err := r.raw.ExecContext(ctx, "ANALYZE"); err != nil {
				b.Fatal(err)
			}
			var took []time.Duration
			for i := 0; b.Loop(); i++ {
				began := time.Now()
				if _, err := r.Index.Similar(ctx, account.ID, index.Likeness{AppID: app.ID, Text: pairs[i%len(pairs)].question, Limit: 5}); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}
