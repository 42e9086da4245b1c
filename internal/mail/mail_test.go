package mail_test

import (
	netmail "net/mail"
	"strings"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/mail"
	"gatherkit/internal/readers"
	"gatherkit/internal/signed"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// TestUpdate: a verified person hears of a change ten minutes later, once.
func TestUpdate(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		id := r.wants("ada@example.com", true)
		r.none(time.Hour, "nothing has changed")
		r.status(r.by, id, "planned")
		r.none(settled-time.Minute, "the change can still be undone")
		m := r.one(time.Minute, "ada@example.com")
		if m.From != "feedback@example.com" || !strings.Contains(m.text, "Dark mode") || !strings.Contains(m.html, "Dark mode") {
			t.Errorf("%+v", m)
		}
		for name, want := range map[string]string{
			"From": `"App" <feedback@example.com>`, "To": "<ada@example.com>", "Auto-Submitted": "auto-generated",
			"List-Unsubscribe-Post": "List-Unsubscribe=One-Click", "Date": r.Clock.Now().Format(time.RFC1123Z),
			"References": "<" + id.String() + "@feedback.example.com>", "In-Reply-To": "<" + id.String() + "@feedback.example.com>",
		} {
			if got := m.header.Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		if got := m.header.Get("Message-Id"); !strings.HasSuffix(got, "@feedback.example.com>") {
			t.Errorf("Message-ID is %q", got)
		}
		stop := m.header.Get("List-Unsubscribe")
		if !strings.HasPrefix(stop, "<https://feedback.example.com/ideas/mail/stop?t=") || !strings.Contains(m.text, stop[1:len(stop)-1]) {
			t.Errorf("List-Unsubscribe is %q", stop)
		}
		if links := r.links(m, signed.ForStop); len(links) != 2 || links[0].RequestID == links[1].RequestID {
			t.Errorf("links to stop: %+v", links)
		}
		r.none(time.Hour, "it was told already")
		r.comment(r.by, id, "We **began**.")
		conversation := m.header.Get("References")
		if m := r.one(settled, "ada@example.com"); !strings.Contains(m.text, "We **began**.") || m.header.Get("References") != conversation {
			t.Errorf("%v %s", m.header, m.text)
		}
		r.none(time.Hour, "it was told already")
		r.status(r.by, id, "completed")
		if m := r.one(settled, "ada@example.com"); strings.Contains(m.text, "We **began**.") {
			t.Errorf("a comment is told twice: %s", m.text)
		}
	})
}

// TestConfirm: others are asked first, and hear what has happened since when they confirm.
func TestConfirm(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		id := r.wants("Ada@Example.com", false)
		asked := r.one(0, "Ada@Example.com")
		if strings.Contains(asked.Body, "Dark mode") || asked.header.Get("List-Unsubscribe") == "" {
			t.Error(asked.text)
		}
		r.status(r.by, id, "planned")
		r.none(time.Hour, "it is not confirmed")
		r.confirm(asked)
		r.confirm(asked) // twice is no fault
		r.one(0, "Ada@Example.com")
		r.none(time.Hour, "it was told already")
		r.wants("ADA@example.com", false, titled("Maps"))
		r.none(time.Hour, "the same address needs no other confirmation")
	})
}

// TestAsking: an address that does not confirm is asked once a day, and three times at most.
func TestAsking(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		mails := 0
		for range 20 {
			r.wants("ada@example.com", false)
			mails += len(r.after(0))
			r.wants("ada@example.com", false)
			mails += len(r.after(5 * time.Hour))
			if mails > 1+int(r.Clock.Now().Sub(storetest.NewClock().Now())/(24*time.Hour)) {
				t.Fatalf("%d mails until %s", mails, r.Clock.Now())
			}
		}
		if mails != 3 {
			t.Errorf("%d mails, want 3", mails)
		}
	})
}

// TestUndo: a change that was undone sends nothing.
func TestUndo(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		id := r.wants("ada@example.com", true)
		r.status(r.by, id, "completed")
		r.none(5*time.Minute, "it can still be undone")
		r.status(r.quietly(), id, feedback.Opened)
		r.none(2*time.Hour, "it was undone")
		r.status(r.by, id, "declined")
		r.one(settled, "ada@example.com")
	})
}

// TestTogether: several changes become one mail, when the last has settled, but at most an hour after the first.
func TestTogether(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		one, two := r.wants("ada@example.com", true), r.wants("ada@example.com", true, titled("Maps"))
		r.status(r.by, one, "under_review")
		r.none(5*time.Minute, "it has not settled")
		r.status(r.by, two, "planned")
		r.comment(r.by, two, "Soon.")
		r.none(6*time.Minute, "the second has not settled")
		m := r.one(5*time.Minute, "ada@example.com")
		if m.header.Get("References") != "" || m.header.Get("In-Reply-To") != "" {
			t.Errorf("a mail about two requests is part of a conversation: %v", m.header)
		}
		for _, text := range []string{"Dark mode", "Maps", "Soon."} {
			if !strings.Contains(m.text, text) {
				t.Errorf("%q is missing: %s", text, m.text)
			}
		}
		began := r.Clock.Now()
		for n := 0; ; n++ {
			if n == 20 {
				t.Fatal("no mail, although the first change is old")
			}
			r.comment(r.by, one, "And another.")
			if len(r.after(5*time.Minute)) > 0 {
				break
			}
		}
		if took := r.Clock.Now().Sub(began); took < 55*time.Minute || took > 66*time.Minute {
			t.Errorf("the mail came %s after the first change", took)
		}
	})
}

// TestFirstOfAll: further changes, also of other ideas, delay a mail by an hour at most.
func TestFirstOfAll(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		one, two := r.wants("ada@example.com", true), r.wants("ada@example.com", true, titled("Maps"))
		r.status(r.by, one, "planned")
		began := r.Clock.Now()
		for {
			list := r.after(5 * time.Minute)
			if len(list) > 0 {
				break
			}
			r.comment(r.by, two, "And another.")
		}
		if took := r.Clock.Now().Sub(began); took > 61*time.Minute {
			t.Errorf("the mail came %s after the first change", took)
		}
	})
}

// TestOwnReply: people are not told what they have written themselves.
func TestOwnReply(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		who := readers.Person{App: r.app, Reader: feedback.ReaderOfPerson(r.app.ID, "ada")}
		id := r.wants("ada@example.com", true, func(s *store.Submission) { s.Reader = who.Reader })
		r.comment(r.by, id, "Which page?")
		r.one(settled, "ada@example.com")
		r.Clock.Move(time.Second)
		_, err := r.Reply(ctx, who, id, "All of them.")
		r.must(err)
		r.none(time.Hour, "it is their own")
		r.status(r.by, id, "planned")
		if m := r.one(settled, "ada@example.com"); strings.Contains(m.text, "All of them.") || strings.Contains(m.text, "Which page?") {
			t.Error(m.text)
		}
	})
}

// TestQuiet: of quiet changes nobody hears, nor of what is not for people outside.
func TestQuiet(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		id := r.wants("ada@example.com", true)
		r.status(r.quietly(), id, "planned")
		r.comment(r.quietly(), id, "Quiet.")
		r.say(r.by, id, feedback.Internal, "Internal.")
		_, err := r.ChangeRequest(ctx, r.account.ID, id, r.by, func(q *feedback.Request) error {
			q.Tags = []string{"secret"}
			return nil
		})
		r.must(err)
		r.none(2*time.Hour, "all of it is quiet")
		r.status(r.by, id, "in_progress")
		m := r.one(settled, "ada@example.com")
		if strings.Contains(m.Body, "Internal.") || strings.Contains(m.Body, "secret") {
			t.Error(m.text)
		}
	})
}

// TestQuarantine: nobody gets mail about a request in quarantine, until it is released; nor about one in the bin.
func TestQuarantine(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		id := r.wants("ada@example.com", false, func(s *store.Submission) { s.Request.Box = feedback.Quarantine })
		r.none(time.Hour, "it may be spam")
		r.box(id, feedback.Live)
		r.confirm(r.one(time.Minute, "ada@example.com"))
		r.status(r.by, id, "planned")
		r.box(id, feedback.Bin)
		r.none(2*time.Hour, "it is in the bin")
		r.box(id, feedback.Live)
		r.one(settled, "ada@example.com")
	})
}

// TestMerge: the submitter of a merged request hears of the merge and of later changes of the other request, but
// not of changes before a quiet merge.
func TestMerge(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		root := r.wants("root@example.com", true, titled("Root"))
		r.none(0, "nothing has changed")
		id, quiet := r.wants("ada@example.com", true), r.wants("eve@example.com", true)
		r.status(r.by, root, "planned")
		r.one(settled, "root@example.com")
		r.merge(r.by, id, root)
		r.merge(r.quietly(), quiet, root)
		if m := r.one(settled, "ada@example.com"); !strings.Contains(m.text, "Dark mode") || strings.Contains(m.text, "Root") {
			t.Error(m.text)
		}
		r.status(r.by, root, "completed")
		to := map[string]bool{}
		for _, m := range r.after(settled) {
			if to[m.To] = true; strings.Contains(m.text, "Someone else had the same idea") != (m.To == "eve@example.com") {
				t.Errorf("whom a merge is told: %s: %s", m.To, m.text)
			}
		}
		if len(to) != 3 {
			t.Errorf("mails to %v, want three people", to)
		}
		told := r.wants("told@example.com", true)
		r.status(r.by, told, "declined")
		r.one(settled, "told@example.com")
		another := r.wants("another@example.com", true)
		r.status(r.by, another, "planned")
		r.one(settled, "another@example.com")
		r.merge(r.quietly(), told, another)
		r.none(2*time.Hour, "the merge was quiet")
	})
}

// TestNames: mails use the app's own names of statuses. Those to people outside use its public name, too.
func TestNames(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at) // it is Thursday, midnight
		_, err := r.ChangeApp(ctx, r.account.ID, r.app.ID, r.by, func(app *feedback.App) error {
			return app.Configure(feedback.SettingsChange{PublicName: new("Acme"), Statuses: &feedback.StatusesChange{
				Opened: &feedback.StatusChange{Label: new("Heard")}, Planned: &feedback.StatusChange{Label: new("On the list")},
			}})
		})
		r.must(err)
		id := r.wants("ada@example.com", true)
		r.must(r.Mail.SetDigest(ctx, r.account.ID, *r.by.ID, mail.EachDay))
		r.status(r.by, id, "planned")
		m := r.one(settled, "ada@example.com")
		if !strings.Contains(m.text, "On the list") || !strings.Contains(m.text, "Heard") {
			t.Error(m.text)
		}
		if from := m.header.Get("From"); !strings.HasPrefix(from, `"Acme" <`) || !strings.Contains(m.html, "Acme") {
			t.Errorf("from %s: %s", from, m.html)
		}
		r.wants("grace@example.com", false) // who is asked first
		if m := r.one(0, "grace@example.com"); !strings.HasPrefix(m.header.Get("From"), `"Acme" <`) || !strings.Contains(m.text, "Acme") {
			t.Errorf("%s: %s", m.header.Get("From"), m.text)
		}
		if m := r.one(7*time.Hour-settled, "acme@example.com"); !strings.Contains(m.text, "Heard → On the list") {
			t.Error(m.text)
		}
	})
}

// TestAnyName: an app can be called anything, and its name arrives as it is.
func TestAnyName(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		id := r.wants("ada@example.com", true)
		for n, name := range []string{
			`x\`, `Acme "Pro"`, `Acme <sales@example.com>, "x"`, "=?utf-8?q?Acme?=", "Ünï • 日本", strings.Repeat("é", 100), "a@b.example",
			"()[]:;@\\,.",
		} {
			_, err := r.ChangeApp(ctx, r.account.ID, r.app.ID, r.by, func(app *feedback.App) error {
				app.Rename(name)
				return nil
			})
			r.must(err)
			r.status(r.by, id, []feedback.Status{"planned", "in_progress"}[n%2])
			m := r.one(settled, "ada@example.com")
			from, err := netmail.ParseAddress(m.header.Get("From"))
			if err != nil || from.Name != name || from.Address != "feedback@example.com" {
				t.Errorf("%s: from %v, %v: %s", name, from, err, m.header.Get("From"))
			}
			if !strings.Contains(m.subject, "Dark mode") {
				t.Errorf("%s: %s", name, m.subject)
			}
		}
	})
}
