package mail_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"gatherkit/internal/mail/mailtest"
	"gatherkit/internal/store/storetest"
)

// TestMetrics: the metrics say whether the server takes mail, how many mails wait, and how old the oldest is.
func TestMetrics(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		says := func(when, want string) {
			t.Helper()
			registry := prometheus.NewRegistry()
			registry.MustRegister(r.sender.Metrics())
			families, err := registry.Gather()
			r.must(err)
			got := ""
			for _, f := range families { // they are sorted
				name := strings.NewReplacer("gatherkit_mail_", "", "gatherkit_mails_", "").Replace(f.GetName())
				got += fmt.Sprintf("%s %g\n", name, f.GetMetric()[0].GetGauge().GetValue())
			}
			if got != want {
				t.Errorf("%s:\n%swant\n%s", when, got, want)
			}
		}
		id := r.wants("ada@example.com", true)
		says("at first", "up 1\ngiven_up 0\noldest_seconds 0\nwaiting 0\n")
		r.refuseAt("MAIL", mailtest.Answer(553, [3]int{5, 7, 1}, "Not your address"))
		r.status(r.by, id, "planned")
		r.none(settled, "the sender is refused")
		r.Clock.Move(90 * time.Second)
		says("while it is refused", "up 0\ngiven_up 0\noldest_seconds 90\nwaiting 1\n")
		r.Exec("UPDATE mails SET attempts = 3")
		says("after attempts", "up 0\ngiven_up 0\noldest_seconds 0\nwaiting 1\n")
		r.Exec("UPDATE mails SET due_at = 9223372036854775807")
		says("given up", "up 0\ngiven_up 1\noldest_seconds 0\nwaiting 0\n")
	})
}
