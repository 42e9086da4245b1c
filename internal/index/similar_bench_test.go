package index_test

import (
	"slices"
	"testing"
	"time"

	"gatherkit/internal/index"
	"gatherkit/internal/store/storetest"
)

// BenchmarkSimilar asks an app of 12,000 requests among 100,000.
func BenchmarkSimilar(b *testing.B) {
	for _, at := range []storetest.Place{storetest.SQLite(b), {Name: "postgres", Database: storetest.Postgres(b)}} {
		b.Run(at.Name, func(b *testing.B) {
			const size, others = 12_000, 7
			r := storetest.NewRig(b, at)
			account := r.NewAccount("Acme")
			app := r.NewApp(account)
			pairs := readPairs(b, "similar.tsv")
			r.InsertRequests(app, corpus(b, size-len(pairs), pairs))
			for range others {
				other := r.NewApp(account)
				r.InsertRequests(other, distractors(b, size))
			}
			r.IndexAll()
			r.Analyze()
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
