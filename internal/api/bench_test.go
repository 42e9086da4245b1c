package api

import (
	"context"
	"net/http"
	"testing"

	"gatherkit/internal/store/storetest"
)

// These benchmarks are for profiling the operations without a network; bench/ measures the
// whole program.

const benchSubmission = `{"title":"Dark mode for the invoice list","description":"At night it is too bright.","email":"grace@example.org"}`

func BenchmarkSubmit(b *testing.B) {
	benchmark(b, "widget-submit-request", "key", benchSubmission)
}

func BenchmarkList(b *testing.B) { benchmark(b, "requests-list", "owner", `{}`) }

// BenchmarkDecode decodes a submission of the widget.
func BenchmarkDecode(b *testing.B) {
	body := []byte(`{"title":"Dark mode for the invoice list","description":"At night it is too bright.","email":"grace@example.org",` +
		`"metadata":{"url":"https://shop.example/invoices?page=2","locale":"en-GB","plan":{"name":"pro","seats":12}},` +
		`"idempotency_key":"5f0c6f0e-6ae6-4b0e-a4b0-9f8a1b6d3c2e","form":{"website":"","seconds":14.2}}`)
	submit := decoders()["widget-submit-request"].params
	b.ReportAllocs()
	for b.Loop() {
		if _, err := submit.Decode(body); err != nil {
			b.Fatal(err)
		}
	}
}

// benchmark repeats a call with 32 concurrent callers per processor.
func benchmark(b *testing.B, operation, who, body string) {
	for _, name := range []string{"sqlite", "postgres"} {
		b.Run(name, func(b *testing.B) {
			at := storetest.SQLite(b)
			if name == "postgres" {
				at = storetest.Place{Name: name, Database: storetest.Postgres(b)}
			}
			s := newService(b, at, func(o *Options) { o.SubmitRate = 0 })
			for range 200 {
				s.must("widget-submit-request", "key", benchSubmission)
			}
			b.SetParallelism(32)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					r := s.request(operation, who, body).WithContext(cancellable(b))
					if got := serve(s.api, r); got.status != http.StatusOK {
						b.Errorf("%d %s", got.status, got.body)
						return
					}
				}
			})
		})
	}
}

// cancellable returns a context that can be canceled, like that of a call over HTTP.
func cancellable(b *testing.B) context.Context {
	ctx, cancel := context.WithCancel(b.Context())
	b.Cleanup(cancel)
	return ctx
}
