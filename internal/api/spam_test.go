package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store/storetest"
)

// from sends a submission with a form from an address.
func (s *service) from(address, title, form string) answer {
	r := s.request("widget-submit-request", "key", fmt.Sprintf(`{"title":%q,"description":"","form":%s}`, title, form))
	r.RemoteAddr = address + ":5000"
	return serve(s.api, r)
}

const human = `{"website":"","seconds":12.5}`

// in counts the requests in a box.
func (s *service) in(box string) int {
	s.t.Helper()
	return int(s.must("requests-list", "owner", `{"box":"`+box+`"}`)["total_count"].(float64))
}

func TestWhatLooksLikeSpam(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	for name, test := range map[string]struct {
		form string
		spam int
	}{
		"a person":         {human, 0},
		"quick, but human": {`{"website":"","seconds":2}`, 0},
		"trap":             {`{"website":"https://buy.example","seconds":12.5}`, 1},
		"too quick":        {`{"website":"","seconds":1.9}`, 1},
		"nothing judged":   {`null`, 0},
	} {
		before := s.in("quarantine")
		got := s.from("203.0.113.1", "A title of "+name, test.form)
		if got.status != http.StatusOK || s.in("quarantine")-before != test.spam {
			t.Errorf("%s: %d more in quarantine, %s", name, s.in("quarantine")-before, got.body)
		}
	}
	for _, form := range []string{`{}`, `{"website":""}`, `{"seconds":1}`, `{"website":"","seconds":-1}`, `{"website":1,"seconds":1}`, `{"website":"","seconds":1,"more":1}`, `[]`} {
		if got := s.from("203.0.113.1", "T", form); got.code(t) != "widget.invalid_form" {
			t.Errorf("%s: %s", form, got.body)
		}
	}
}

func TestBursts(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	send := func(address, title string) (spam bool) {
		t.Helper()
		before := s.in("quarantine")
		if got := s.from(address, title, human); got.status != http.StatusOK {
			t.Fatal(string(got.body))
		}
		return s.in("quarantine") > before
	}
	for i, test := range []struct {
		address, title string
		spam           bool
	}{
		{"203.0.113.1", "Buy cheap watches at watches.example today 1", false},
		{"203.0.113.1", "Dark mode for the calendar", false},
		{"203.0.113.1", "Buy cheap watches at watches.example today 2", false},
		{"203.0.113.2", "Buy cheap watches at watches.example today 3", false},
		{"203.0.113.1", "Buy cheap watches at watches.example today 3", true},
		{"203.0.113.1", "BUY CHEAP WATCHES at watches.example today!", true},
		{"203.0.113.1", "Export of invoices as a spreadsheet", false},
		{"127.0.0.1", "Buy cheap watches", false},
		{"127.0.0.1", "Buy cheap watches", false},
		{"127.0.0.1", "Buy cheap watches", false},
		{"2001:db8:1:2::1", "Buy cheap watches", false},
		{"2001:db8:1:2::2", "Buy cheap watches", false},
		{"2001:db8:1:2::3", "Buy cheap watches", true},
	} {
		if got := send(test.address, test.title); got != test.spam {
			t.Errorf("%d: %s from %s: %v", i, test.title, test.address, got)
		}
	}
	s.clock.Move(burstTime)
	if send("203.0.113.1", "Buy cheap watches at watches.example today 4") {
		t.Error("remembered for too long")
	}
}

// TestBurstsInGeneral draws senders and texts: whoever writes something else each time is
// never taken for a machine, and memory has its bounds.
func TestBurstsInGeneral(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b bursts
		now := time.Unix(1e9, 0)
		words := []string{"calendar", "invoice", "dark mode", "export", "shortcuts", "webhooks", "printing", "languages", "offline", "roles"}
		for i := range rapid.IntRange(1, 50).Draw(t, "calls") {
			who := netip.PrefixFrom(netip.AddrFrom4([4]byte{203, 0, 113, rapid.Byte().Draw(t, "address")}), 32)
			now = now.Add(time.Duration(rapid.IntRange(0, 300).Draw(t, "seconds")) * time.Second)
			text := fmt.Sprintf("%s %d%d", words[i%len(words)], i*7919, i)
			if b.again(who, feedback.ID{1}, text, now) {
				t.Fatalf("%q is called spam", text)
			}
			if n := len(b.senders[sender{who, feedback.ID{1}}]); n > burstTexts {
				t.Fatalf("%d texts of one sender", n)
			}
		}
	})
}

func TestBurstsAreForgotten(t *testing.T) {
	var b bursts
	now := time.Unix(1e9, 0)
	for i := range 3 * maxSenders {
		b.again(netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 32), feedback.ID{}, "text", now)
		if len(b.senders) > maxSenders {
			t.Fatalf("%d senders", len(b.senders))
		}
	}
	b.again(netip.MustParsePrefix("203.0.113.1/32"), feedback.ID{}, "text", now.Add(burstTime))
	if len(b.senders) != 1 {
		t.Errorf("%d senders are left after their time", len(b.senders))
	}
}

// TestQuarantine says that what lies there is nobody's business but the team's.
func TestQuarantine(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		s.must("apps-update-settings", "owner", `{"id":"`+s.names["app"]+`","settings":{"sharing":"all"}}`)
		body := `{"title":"Cheap watches","description":"","idempotency_key":"k","form":{"website":"x","seconds":9}}`
		spam := requestID(t, s.call("widget-submit-request", "key", body))
		if again := requestID(t, s.call("widget-submit-request", "key", body)); again != spam {
			t.Errorf("sent again, it is another one: %s", again)
		}
		s.must("requests-update", "owner", `{"id":"`+spam+`","tags":["watches"]}`)
		s.index()
		seen := func() (all string) {
			t.Helper()
			all += fmt.Sprint(s.must("widget-similar-requests", "key", `{"text":"Cheap watches"}`)["requests"])
			all += fmt.Sprint(s.must("requests-similar", "owner", `{"app_id":"`+s.names["app"]+`","text":"Cheap watches"}`)["requests"])
			all += fmt.Sprint(s.must("requests-list", "owner", `{}`)["requests"], s.must("requests-list", "owner", `{"query":"watches"}`)["requests"])
			all += fmt.Sprint(s.must("tags-list", "owner", `{}`)["tags"], s.must("requests-stats", "owner", `{}`)["total"])
			vote := s.call("widget-vote", "key", `{"request_id":"`+spam+`","voter":"0c9f5e9a-6d0c-4f53-9f0a-3b1f0f6f5a11"}`)
			return all + vote.code(t)
		}
		if got := seen(); got != "[][][] [][] 0requests.not_found" {
			t.Errorf("in quarantine: %s", got)
		}
		if got := s.call("requests-release", "viewer", `{"id":"`+spam+`"}`); got.code(t) != "auth.forbidden" {
			t.Errorf("%s", got.body)
		}
		for range 2 {
			released := s.must("requests-release", "member", `{"id":"`+spam+`"}`)["request"].(map[string]any)
			if released["version"] != 3.0 {
				t.Errorf("%v", released)
			}
		}
		s.index()
		if got := seen(); got == "[][][] [][] 0requests.not_found" {
			t.Error("released, and not seen")
		}
		if got := s.call("requests-block", "member", `{"id":"`+spam+`"}`); got.code(t) != "requests.not_quarantined" {
			t.Errorf("%s", got.body)
		}
		other := requestID(t, s.call("widget-submit-request", "key", `{"title":"More watches","description":"","form":{"website":"x","seconds":9}}`))
		s.must("requests-block", "member", `{"id":"`+other+`"}`)
		for _, operation := range []string{"requests-block", "requests-release", "requests-get"} {
			if got := s.call(operation, "member", `{"id":"`+other+`"}`); got.code(t) != "requests.not_found" {
				t.Errorf("%s: %s", operation, got.body)
			}
		}
		if s.in("quarantine") != 0 || s.in("bin") != 1 || s.in("live") != 1 {
			t.Errorf("%d, %d, %d", s.in("quarantine"), s.in("bin"), s.in("live"))
		}
		s.must("requests-restore", "member", `{"id":"`+other+`"}`)
		history, err := json.Marshal(s.must("requests-history", "owner", `{"request_id":"`+other+`"}`)["events"])
		if err != nil {
			t.Fatal(err)
		}
		var events []struct{ Summary string }
		if err := json.Unmarshal(history, &events); err != nil || len(events) != 3 || events[1].Summary != "Member blocked the request as spam." {
			t.Errorf("%v %s", err, history)
		}
		if wrong, err := s.store.Recount(t.Context()); err != nil || len(wrong) > 0 {
			t.Errorf("%v %v", wrong, err)
		}
	})
}
