package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/mail"
	"gatherkit/internal/readers"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
	"gatherkit/internal/webhook"
)

// searched is all that the store finds of a person.
func searched(t rapid.TB, s *store.Store, accountID feedback.ID, who feedback.Subject, name string) (all store.Found) {
	t.Helper()
	for at := (&store.PersonPlace{}); at != nil; at = all.Next {
		f, err := s.FindPerson(ctx, accountID, who, name, *at)
		if err != nil {
			t.Fatal(err)
		}
		all = all.With(f)
	}
	return all
}

// erased erases a person, and returns what was done in all parts.
func erased(s *store.Store, accountID feedback.ID, by feedback.Actor, e store.Erasure, expected int64) (all store.Part, err error) {
	at := &store.PersonPlace{}
	for at != nil {
		part, err := s.ErasePerson(ctx, accountID, by, e, *at, all.PersonCounts, expected-all.Total())
		if err != nil {
			return all, err
		}
		all.PersonCounts = all.Plus(part.PersonCounts)
		all.Kept = append(all.Kept, part.Kept...)
		all.Deleted += part.Deleted
		at = part.Next
	}
	return all, nil
}

// rectified corrects what is stored about a person.
func rectified(t rapid.TB, s *store.Store, accountID feedback.ID, by feedback.Actor, c store.Rectification) (all store.Part) {
	t.Helper()
	at := &store.PersonPlace{}
	for at != nil {
		part, err := s.RectifyPerson(ctx, accountID, by, c, *at, all.PersonCounts)
		if err != nil {
			t.Fatal(err)
		}
		all.PersonCounts = all.Plus(part.PersonCounts)
		at = part.Next
	}
	return all
}

// What the person of traceable wrote is in texts with this word. Nothing else that is stored about them is.
const written = "orinoco"

// known is an account with everything that can be stored about a person.
type known struct {
	*storetest.Rig
	account feedback.Account
	app     feedback.App
	by      feedback.Actor
	subject feedback.Subject
	own     feedback.Request // with a vote of somebody else
	alone   feedback.Request // nobody else is behind it
	merged  feedback.Request // of the person, merged into other
	other   feedback.Request // of somebody else
	file    feedback.ID
	readers []feedback.Reader // of the person
}

func (k *known) must(err error) {
	k.T.Helper()
	if err != nil {
		k.T.Fatal(err)
	}
}

func (k *known) submit(title string, who feedback.Submitter, s store.Submission) feedback.Request {
	k.T.Helper()
	s.App, s.Request = k.app, feedback.NewRequest(title, "About "+written)
	s.Request.Submitter = who
	s.Request.Metadata = feedback.Metadata{"page": "https://" + personal + ".example"}
	r, err := k.Submit(ctx, s)
	k.must(err)
	return r
}

// traceable is an account in which all tables that can have rows about a person have some.
func traceable(t *testing.T, at storetest.Place, change ...func(*store.Options)) *known {
	r := storetest.NewRig(t, at, change...)
	k := &known{Rig: r, account: r.NewAccount("Acme")}
	k.app, k.by = r.NewApp(k.account), feedback.ByUserID(*r.UserOf(k.account))
	var err error
	k.app, err = r.ChangeApp(ctx, k.account.ID, k.app.ID, k.by, func(a *feedback.App) error {
		a.Settings.Sharing = "all"
		a.Settings.Portal.Access, a.Settings.Portal.Slug = feedback.AccessPublic, "acme"
		a.Settings.Portal.Comments, a.Settings.Portal.Voting = feedback.FromAnyone, feedback.FromAnyone
		return nil
	})
	k.must(err)
	k.subject = feedback.Subject{Email: "Ada@" + personal + ".example", ExternalID: personal + "-42"}
	email, name, id := "ada@"+strings.ToUpper(personal)+".example", "Ada "+personal, k.subject.ExternalID
	verified := feedback.Person{Email: &email, Name: &name, ExternalID: &id, Verified: true}
	unverified := feedback.Person{Email: &email, Name: &name}
	submitter := feedback.Submitter{Email: &email, Name: &name, ExternalID: &id, Verified: true}
	secret := strings.Repeat("1", feedback.MaxReader)
	reader, _ := feedback.ReaderOfSecret(k.app.ID, secret)
	k.file, k.readers = addUpload(r, k.app), []feedback.Reader{reader, feedback.ReaderOfPerson(k.app.ID, id)}

	k.own = k.submit("Own of "+personal, feedback.Submitter{Email: &email, Name: &name}, store.Submission{
		Attachments: []feedback.ID{k.file}, IdempotencyKey: personal, Reader: reader, Notify: "en",
	})
	_, err = r.ChangeRequest(ctx, k.account.ID, k.own.ID, k.by, func(r *feedback.Request) error {
		r.Title = "Own"
		return nil
	})
	k.must(err)
	k.alone = k.submit("Alone", submitter, store.Submission{Reader: feedback.ReaderOfPerson(k.app.ID, id)})
	k.merged = k.submit("Merged", submitter, store.Submission{Reader: feedback.ReaderOfPerson(k.app.ID, id)})
	somebody := feedback.Submitter{Email: new("bob@example.com")}
	k.other = k.submit("Other", somebody, store.Submission{})
	r.Exec("UPDATE requests SET metadata = '{}' WHERE id = $1", k.other.ID)
	_, err = r.MergeRequest(ctx, k.account.ID, k.merged.ID, k.other.ID, k.by)
	k.must(err)
	k.vote(k.own.ID, feedback.Person{Email: new("bob@example.com")}, nil)
	k.vote(k.other.ID, unverified, reader)
	k.vote(k.other.ID, verified, nil)
	k.talk(unverified)
	hearsBack(r, readers.Person{App: k.app, Reader: reader}, k.own.ID)
	_, err = r.StatusLink(ctx, k.account.ID, k.other.ID, *k.by.ID)
	k.must(err)

	k.must(r.Block(ctx, k.account.ID, k.app.ID, k.by, unverified))
	k.must(r.Block(ctx, k.account.ID, k.app.ID, k.by, verified))
	k.must(r.Unblock(ctx, k.account.ID, k.app.ID, k.by, verified.Key()))
	_, err = r.Visitors.Ticket(ctx, k.app, verified)
	k.must(err)
	k.must(r.Block(ctx, k.account.ID, k.app.ID, k.by, feedback.Person{Email: new("eve@example.com")}))
	hook, err := r.Webhooks.Add(ctx, k.account.ID, k.by, webhook.Webhook{
		Name: "W", URL: "https://a.example", Kinds: []string{}, State: webhook.On,
	})
	k.must(err)
	for n, request := range []*feedback.ID{&k.own.ID, &k.other.ID, nil} {
		r.Exec("INSERT INTO webhook_attempts (account_id, webhook_id, id, seq, events, event_id, kind, request_id, attempt, outcome, took,"+
			" payload, response) VALUES ($1, $2, $3, 1, $4, 'evt', 'request.updated', $5, 1, 'refused', 1, $6, $6)",
			k.account.ID, hook.ID, feedback.ID{15: byte(n)}, n+1, request, personal)
	}
	server, err := mail.ParseServer("smtp://127.0.0.1:1?from=a@b.example") // nobody listens, so mails wait
	k.must(err)
	k.must(mail.NewSender(r.Mail, server, &url.URL{Scheme: "https", Host: "a.example"}, nil).Round(ctx))
	r.IndexAll()
	return k
}

func (k *known) vote(id feedback.ID, p feedback.Person, reader feedback.Reader) {
	k.T.Helper()
	var why *string
	if *p.Email != "bob@example.com" {
		why = new("Because of " + written)
	}
	_, err := k.Vote(ctx, k.account.ID, k.by, store.Ballot{
		RequestID: id, Person: p, Source: "widget", Reader: reader, Why: why,
	})
	k.must(err)
}

// talk lets the person write comments: on the portal, one that waits, two that the team has deleted, and an answer to the
// team.
func (k *known) talk(p feedback.Person) {
	k.T.Helper()
	for _, hold := range []bool{false, true, true} {
		k.Clock.Move(time.Second)
		_, err := k.PortalComment(ctx, k.app, k.other.ID, p, fmt.Sprint(written, hold, k.Clock.Now()), hold)
		k.must(err)
	}
	held, _, err := k.Held(ctx, k.account.ID, nil, feedback.ID{}, 1)
	k.must(err)
	k.must(k.BlockComment(ctx, k.account.ID, held[0].ID, k.by, false))
	gone, err := k.PortalComment(ctx, k.app, k.own.ID, p, "Gone: "+written, false)
	k.must(err)
	k.must(k.DeleteComment(ctx, k.account.ID, k.own.ID, gone.ID, k.by, func(feedback.Comment) error { return nil }))
	team := feedback.Author{ID: k.by.ID, Kind: feedback.ByTeam}
	for _, body := range []string{"A colleague's", "Which one?"} {
		c, err := k.AddComment(ctx, k.account.ID, k.by, feedback.Comment{
			RequestID: k.own.ID, Author: team, Visibility: feedback.Public, Body: body,
		})
		k.must(err)
		if body != "Which one?" {
			k.must(k.DeleteComment(ctx, k.account.ID, k.own.ID, c.ID, k.by, func(feedback.Comment) error { return nil }))
		}
	}
	secret := strings.Repeat("1", feedback.MaxReader)
	reader, _ := feedback.ReaderOfSecret(k.app.ID, secret)
	_, err = k.Reply(ctx, readers.Person{App: k.app, Reader: reader}, k.own.ID, "The "+written)
	k.must(err)
}

// TestFindPerson: everything about a person is found, and where others mention them, however small the parts are.
func TestFindPerson(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		k := traceable(t, at)
		k.Clock.Move(time.Second)
		mention, err := k.AddComment(ctx, k.account.ID, k.by, feedback.Comment{
			RequestID: k.other.ID, Author: feedback.Author{ID: k.by.ID, Kind: feedback.ByTeam}, Visibility: feedback.Internal,
			Body: "Mail ADA@" + personal + ".example first",
		})
		k.must(err)
		for _, rows := range []int{1, 2, 3, 1000} {
			k.SmallParts(rows)
			all := searched(t, k.Store, k.account.ID, k.subject, "")
			var requests []string
			for _, r := range all.Requests {
				requests = append(requests, r.Title)
			}
			var kinds []string
			for _, r := range all.Records {
				kinds = append(kinds, r.Kind)
			}
			got := fmt.Sprint(requests, len(all.Votes), len(all.Comments), len(all.HeldComments), kinds, all.Count())
			if want := "[Own Alone Merged] 4 2 1 [session block mail] 12"; got != want {
				t.Errorf("in parts of %d rows: %s, want %s", rows, got, want)
			}
			want := []feedback.PersonMention{{RequestID: k.other.ID, Title: "Other", CommentID: &mention.ID, Field: "comment"}}
			if !cmp.Equal(all.Mentions, want) {
				t.Errorf("in parts of %d rows, it is mentioned in %+v", rows, all.Mentions)
			}
		}
		for who, want := range map[feedback.Subject]string{
			{Email: k.subject.Email}:               "3 4 2 1",
			{ExternalID: k.subject.ExternalID}:     "2 2 0 0",
			{Email: "da@" + personal + ".example"}: "0 0 0 0",
			{ExternalID: "42"}:                     "0 0 0 0",
		} {
			all := searched(t, k.Store, k.account.ID, who, "")
			if got := fmt.Sprint(len(all.Requests), len(all.Votes), len(all.Comments), len(all.HeldComments)); got != want {
				t.Errorf("%+v: %s, want %s", who, got, want)
			}
		}
		if all := searched(t, k.Store, k.account.ID, feedback.Subject{ExternalID: "42"}, "ORINOCO"); len(all.Mentions) != 9 {
			t.Errorf("a name is in %d texts: %+v", len(all.Mentions), all.Mentions)
		}
		if all := searched(t, k.Store, k.NewAccount("Globex").ID, k.subject, written); all.Count() != 0 || len(all.Mentions) != 0 {
			t.Errorf("another account finds %+v", all)
		}
	})
}

// TestErasePerson: of a person who is erased, no table keeps a word that says who it was, and after deletion none that they
// wrote except the texts of requests that others are behind. Counts fit the rows.
func TestErasePerson(t *testing.T) {
	for _, c := range []struct {
		name   string
		delete bool
		rows   int
		votes  int
		want   string
	}{
		{"anonymise", false, 1000, 4, "deleted 0: Own 2, Alone 1, Merged 1, Other 3"},
		{"anonymise in parts", false, 1, 3, "deleted 0: Own 2, Alone 1, Merged 1, Other 3"},
		{"delete", true, 1000, 4, "deleted 2: Own 1, Other 1"},
		{"delete in parts", true, 1, 3, "deleted 2: Own 1, Other 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, at storetest.Place) {
				var removed []feedback.ID
				k := traceable(t, at, func(o *store.Options) {
					o.RemoveFile = func(_ context.Context, id feedback.ID) error {
						removed = append(removed, id)
						return nil
					}
				})
				k.SmallParts(c.rows)
				if tables := holding(k.Rig, personal); len(tables) < 12 {
					t.Errorf("only %d tables know the person", len(tables))
				}
				expected := searched(t, k.Store, k.account.ID, k.subject, "")
				erasure := store.Erasure{Of: k.subject, Delete: c.delete, Salt: k.NewID()}
				if _, err := erased(k.Store, k.account.ID, k.by, erasure, int64(min(1, c.rows-1))); !errors.Is(err, feedback.ErrMoreThanExpected) {
					t.Errorf("more than expected: %v", err)
				}
				part, err := erased(k.Store, k.account.ID, k.by, erasure, expected.Count())
				k.must(err)
				if counts := (store.PersonCounts{Requests: 3, Votes: int64(c.votes), Comments: 3, Records: 2}); part.PersonCounts != counts {
					t.Errorf("it counts %+v, want %+v", part.PersonCounts, counts)
				}
				if c.delete != (len(part.Kept) == 1 && part.Kept[0] == k.own.ID) {
					t.Errorf("it kept %v", part.Kept)
				}
				k.Clock.Move(48 * time.Hour)
				k.must(k.Sweep(ctx))
				k.IndexAll()
				k.leavesNothing(c.delete)
				k.fileHasNothing()
				if !slices.Equal(removed, []feedback.ID{k.file}) {
					t.Errorf("it removed the files %v", removed)
				}
				var titles []string
				for _, id := range []feedback.ID{k.own.ID, k.alone.ID, k.merged.ID, k.other.ID} {
					r, err := k.Request(ctx, k.account.ID, id)
					if errors.Is(err, feedback.ErrRequestNotFound) {
						continue
					}
					k.must(err)
					titles = append(titles, fmt.Sprint(r.Title, " ", r.Votes))
				}
				if left := fmt.Sprintf("deleted %d: %s", part.Deleted, strings.Join(titles, ", ")); left != c.want {
					t.Errorf("%s, want %s", left, c.want)
				}
				k.counts()
			})
		})
	}
}

// leavesNothing checks that no table keeps anything of the person.
func (k *known) leavesNothing(deleted bool) {
	k.T.Helper()
	who := []string{personal, strings.ToUpper(personal), k.subject.ExternalID}
	for table, rows := range holding(k.Rig, who...) {
		for _, row := range rows {
			k.T.Errorf("%s still knows the person: %v", table, row)
		}
	}
	for table, rows := range holding(k.Rig, written) {
		for _, row := range rows {
			// The description of the requests that stay, and its words in the index.
			text := table == "requests" || strings.HasPrefix(table, "index_")
			said := !deleted && (table == "votes" || table == "comments" || table == "held_comments" || table == "changes")
			if !text && !said {
				k.T.Errorf("%s still has what the person wrote: %v", table, row)
			}
		}
	}
	for _, reader := range k.readers {
		for _, table := range []string{"requests", "votes", "readers", "status_links"} {
			if n := k.Count(table+" WHERE reader = $1", reader); n > 0 {
				k.T.Errorf("%s still has %d rows of a browser of the person", table, n)
			}
		}
	}
	for id, want := range map[feedback.ID]int{k.own.ID: 0, k.other.ID: 1} {
		if n := k.Count("status_links WHERE account_id = $1 AND request_id = $2", k.account.ID, id); n != want {
			k.T.Errorf("%s has %d links of the team, want %d", id, n, want)
		}
	}
	if n := k.Count("requests WHERE account_id = $1 AND notify IS NOT NULL", k.account.ID); n > 0 {
		k.T.Errorf("%d requests still ask for mail", n)
	}
	if n := k.Count("changes WHERE account_id = $1 AND (before LIKE '%colleague%' OR after LIKE '%colleague%')", k.account.ID); n != 2 {
		k.T.Errorf("the log has %d times what the team wrote, want it when it was written and deleted", n)
	}
	comments, _, err := k.Comments(ctx, k.account.ID, k.own.ID, feedback.ID{}, 10)
	k.must(err)
	kinds := ""
	for _, c := range comments {
		kinds += string(c.Author.Kind) + " "
	}
	if want := map[bool]string{true: "team ", false: "team submitter "}[deleted]; kinds != want {
		k.T.Errorf("the comments are of %s, want %s", kinds, want)
	}
	all := searched(k.T, k.Store, k.account.ID, k.subject, "")
	if all.Count() != 0 || len(all.Records) != 0 || len(all.Mentions) != 0 {
		k.T.Errorf("a search still finds %+v", all)
	}
}

// fileHasNothing checks the bytes of the database on SQLite: pages that are free have none of the person either.
func (k *known) fileHasNothing() {
	k.T.Helper()
	if k.At.Name != "sqlite" {
		return
	}
	k.Exec("VACUUM")
	k.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
	files, err := os.ReadDir(k.At.Folder)
	k.must(err)
	for _, file := range files {
		if file.IsDir() {
			continue
		}
		content, err := os.ReadFile(filepath.Join(k.At.Folder, file.Name()))
		k.must(err)
		if bytes.Contains(bytes.ToLower(content), []byte(personal)) {
			k.T.Errorf("%s still has the person, of %d bytes", file.Name(), len(content))
		}
	}
}

// counts checks all counters and the index.
func (k *known) counts() {
	k.T.Helper()
	checkReaders(k.T, k.Rig, k.app)
	checkHeat(k.T, k.Rig, k.app)
	if wrong, err := k.Recount(ctx); err != nil || len(wrong) > 0 {
		k.T.Errorf("miscounted: %+v, %v", wrong, err)
	}
	k.CheckIndex(k.T)
}

// TestEraseKeepsWhatOthersDid: a request is deleted with its submitter only if nobody else is behind it, wherever in a tree of
// merged requests it is.
func TestEraseKeepsWhatOthersDid(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		k := traceable(t, at)
		person := feedback.Submitter{Email: new("ada@example.org")}
		bob := feedback.Person{Email: new("bob@example.com")}
		submit := func(title string) feedback.ID { return k.submit(title, person, store.Submission{}).ID }
		merge := func(id, into feedback.ID) {
			t.Helper()
			_, err := k.MergeRequest(ctx, k.account.ID, id, into, k.by)
			k.must(err)
		}
		want := map[string]bool{
			"commented": true, "held": true, "with another": true, "another": true, "above": true, "below": true,
			"older": false, "newer": false, "root": false, "merged": false, "between": false,
		}
		ids := map[string]feedback.ID{}
		for _, title := range []string{"commented", "held", "with another", "older", "newer", "root", "merged", "between"} {
			ids[title] = submit(title)
		}
		for _, title := range []string{"another", "above", "below"} {
			ids[title] = k.submit(title, feedback.Submitter{Email: bob.Email}, store.Submission{}).ID
		}
		for title, hold := range map[string]bool{"commented": false, "held": true} {
			_, err := k.PortalComment(ctx, k.app, ids[title], bob, "Yes", hold)
			k.must(err)
		}
		merge(ids["another"], ids["with another"])
		merge(ids["older"], ids["newer"]) // what is merged is deleted first
		merge(ids["merged"], ids["root"])
		merge(ids["below"], ids["between"])
		merge(ids["between"], ids["above"])
		who := feedback.Subject{Email: *person.Email}
		part, err := erased(k.Store, k.account.ID, k.by, store.Erasure{Of: who, Delete: true, Salt: k.NewID()}, 100)
		k.must(err)
		if part.Deleted != 5 || len(part.Kept) != 3 {
			t.Errorf("it deleted %d and kept %d", part.Deleted, len(part.Kept))
		}
		for title, id := range ids {
			r, err := k.Request(ctx, k.account.ID, id)
			if (err == nil) != want[title] {
				t.Errorf("%s: %v", title, err)
			}
			if err == nil && r.Submitter.Email != nil && *r.Submitter.Email != *bob.Email {
				t.Errorf("%s has %+v", title, r.Submitter)
			}
		}
		if n := k.Count("requests WHERE id = $1 AND merged_parent_id = $2", ids["below"], ids["above"]); n != 1 {
			t.Error("what was merged into a deleted request is not merged into the one above it")
		}
		if n := k.Count("changes WHERE account_id = $1 AND request_id = $2", k.account.ID, ids["root"]); n != 0 {
			t.Errorf("the log has %d entries about a request that is gone", n)
		}
		k.IndexAll()
		k.counts()
	})
}

// TestEraseMail: mail about requests ends however the person is found, and an address that takes no mail stays known by its
// hash.
func TestEraseMail(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		k := traceable(t, at)
		person := feedback.Submitter{Email: new("ada@example.org"), ExternalID: new("7")}
		k.submit("T", person, store.Submission{Notify: "en"})
		server, err := mail.ParseServer("smtp://127.0.0.1:1?from=a@b.example")
		k.must(err)
		k.must(mail.NewSender(k.Mail, server, &url.URL{Scheme: "https", Host: "a.example"}, nil).Round(ctx))
		known := func() (n int) {
			records, err := k.Mail.Known(ctx, k.account.ID, *person.Email)
			k.must(err)
			return len(records)
		}
		if known() != 1 {
			t.Fatal("nobody wants mail")
		}
		erase := func(who feedback.Subject) {
			t.Helper()
			_, err := erased(k.Store, k.account.ID, k.by, store.Erasure{Of: who, Salt: k.NewID()}, 10)
			k.must(err)
		}
		erase(feedback.Subject{ExternalID: "7"})
		if known() != 0 || k.Count("mails WHERE recipient = $1", *person.Email) != 0 {
			t.Error("a person who was found by their id still gets mail")
		}
		for state, want := range map[string]int{"confirmed": 0, "stopped": 1, "bounced": 1} {
			k.Exec("DELETE FROM mail_people WHERE account_id = $1", k.account.ID)
			k.submit("T", person, store.Submission{Notify: "en"})
			k.must(mail.NewSender(k.Mail, server, &url.URL{Scheme: "https", Host: "a.example"}, nil).Round(ctx))
			k.Exec("UPDATE requests SET submitter_email = NULL WHERE submitter_email = $1", *person.Email) // only mail knows them
			k.Exec("UPDATE mail_people SET state = $2 WHERE account_id = $1", k.account.ID, state)
			erase(feedback.Subject{Email: *person.Email})
			if n := known(); n != want {
				t.Errorf("an address that is %s is known %d times, want %d", state, n, want)
			}
			if n := k.Count("mails WHERE recipient = $1", *person.Email); n != 0 {
				t.Errorf("an address that is %s gets %d mails", state, n)
			}
		}
	})
}

// TestEraseByAVote: if only a vote of the submitter has the id, the request goes with it, but was not found and is not counted.
func TestEraseByAVote(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		k := traceable(t, at)
		email, id := "ada@example.org", "7"
		r := k.submit("T", feedback.Submitter{Email: &email}, store.Submission{})
		withdrawn := store.Ballot{RequestID: r.ID, Person: feedback.Person{Email: &email}, Source: "widget", Remove: true}
		_, err := k.Vote(ctx, k.account.ID, k.by, withdrawn)
		k.must(err)
		k.vote(r.ID, feedback.Person{Email: &email, ExternalID: &id}, nil)
		who := feedback.Subject{ExternalID: id}
		if found := searched(t, k.Store, k.account.ID, who, ""); found.Count() != 1 {
			t.Fatalf("found %+v", found)
		}
		part, err := erased(k.Store, k.account.ID, k.by, store.Erasure{Of: who, Salt: k.NewID()}, 1)
		k.must(err)
		if now, err := k.Request(ctx, k.account.ID, r.ID); err != nil || now.Submitter.Email != nil || part.Total() != 1 {
			t.Errorf("it changed %+v: %+v, %v", part, now.Submitter, err)
		}
	})
}

// TestRectifyPerson: the right name and address are everywhere, and what somebody did under both counts once.
func TestRectifyPerson(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		k := traceable(t, at)
		email, name := "augusta@example.org", "Augusta"
		k.must(k.Block(ctx, k.account.ID, k.app.ID, k.by, feedback.Person{Email: &email}))
		k.vote(k.own.ID, feedback.Person{Email: &email}, nil)
		before := searched(t, k.Store, k.account.ID, k.subject, "")
		counts := rectified(t, k.Store, k.account.ID, k.by, store.Rectification{Of: k.subject, Email: &email, Name: &name}).PersonCounts
		if want := (store.PersonCounts{Requests: 3, Votes: 4, Comments: 3, Records: 2}); counts != want {
			t.Errorf("it corrected %+v, want %+v", counts, want)
		}
		if left := searched(t, k.Store, k.account.ID, feedback.Subject{Email: k.subject.Email}, ""); left.Count() != 0 || len(left.Records) != 0 {
			t.Errorf("the old address is left: %+v", left)
		}
		after := searched(t, k.Store, k.account.ID, feedback.Subject{Email: email}, "")
		for _, r := range after.Records { // not the block of the right address, which had no name
			if r.Kind == feedback.SessionRecord && *r.Name != name {
				t.Errorf("a session has %+v", r)
			}
		}
		// One of four votes was for a request for which the right address had voted.
		if len(after.Requests) != 3 || len(after.Votes) != len(before.Votes) || len(after.Comments) != 2 || len(after.Records) != 2 {
			t.Errorf("afterwards there are %d requests, %d votes, %d comments, %d records", len(after.Requests), len(after.Votes),
				len(after.Comments), len(after.Records))
		}
		if r, err := k.Request(ctx, k.account.ID, k.own.ID); err != nil || r.Votes != 2 || *r.Submitter.Name != name {
			t.Errorf("%+v, %v", r, err)
		}
		k.IndexAll()
		k.counts()
	})
}

// TestEraseInParts: however much a person did, a call changes a few records, and counts what is changed once.
func TestEraseInParts(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		k := traceable(t, at)
		const votes = 2*store.MatchesAtOnce + 1
		person := feedback.Person{Email: new("ada@example.org")}
		k.Fill(k.app, votes)
		for _, id := range k.IDs(k.app)[:votes] {
			k.vote(id, person, nil)
		}
		var done, calls int64
		erasure := store.Erasure{Of: feedback.Subject{Email: *person.Email}, Salt: k.NewID()}
		for at := (&store.PersonPlace{}); at != nil; calls++ {
			part, err := k.ErasePerson(ctx, k.account.ID, k.by, erasure, *at, store.PersonCounts{}, votes)
			k.must(err)
			if done += part.Votes; part.Votes > store.MatchesAtOnce {
				t.Errorf("a call changed %d votes", part.Votes)
			}
			at = part.Next
		}
		if done != votes || calls != 3 {
			t.Errorf("%d calls changed %d votes, want 3 and %d", calls, done, votes)
		}
		k.IndexAll()
		k.counts()
	})
}

// gathering is an app in which a few people with several names submit, vote, comment and are merged.
type gathering struct {
	*storetest.Rig
	app feedback.App
	ids []feedback.ID
}

// somebody draws a person. Several of them share an address or an id.
func somebody(t *rapid.T) (p feedback.Person) {
	draw := func(name string, values ...string) *string {
		if v := rapid.SampledFrom(append(values, "")).Draw(t, name); v != "" {
			return &v
		}
		return nil
	}
	p.Name = draw("name", "Ada")
	p.Email = draw("email", "a@example.com", "A@EXAMPLE.com", "b@example.com", "new@example.com")
	p.ExternalID = draw("id", "1", "2")
	p.Verified = p.ExternalID != nil && rapid.Bool().Draw(t, "verified")
	if p.Key() == "" {
		p.BrowserID = &feedback.ID{15: 1}
	}
	return p
}

func (c *gathering) step(t *rapid.T) {
	c.Clock.Move(time.Second)
	p, by := somebody(t), feedback.Command()
	var reader feedback.Reader
	if id := rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "reader"); id != "" {
		reader = feedback.ReaderOfPerson(c.app.ID, id)
	}
	var err error
	action := rapid.SampledFrom([]string{"submit", "vote", "vote", "comment", "merge", "unmerge", "bin"}).Draw(t, "action")
	if len(c.ids) == 0 || action == "submit" && len(c.ids) < 6 {
		request := feedback.NewRequest("T", "")
		request.Submitter = feedback.Submitter{Email: p.Email, Name: p.Name, ExternalID: p.ExternalID, Verified: p.Verified}
		request, err = c.Submit(ctx, store.Submission{App: c.app, Request: request, Reader: reader})
		if err != nil {
			t.Fatal(err)
		}
		c.ids = append(c.ids, request.ID)
		return
	}
	id, other := c.ids[rapid.IntRange(0, len(c.ids)-1).Draw(t, "request")], c.ids[rapid.IntRange(0, len(c.ids)-1).Draw(t, "other")]
	switch action {
	case "vote":
		_, err = c.Vote(ctx, c.app.AccountID, by, store.Ballot{
			RequestID: id, Person: p, Source: "widget", Reader: reader, Remove: rapid.IntRange(0, 4).Draw(t, "remove") == 0,
		})
	case "comment":
		_, err = c.PortalComment(ctx, c.app, id, p, c.Clock.Now().String(), rapid.Bool().Draw(t, "held"))
	case "merge":
		_, err = c.MergeRequest(ctx, c.app.AccountID, id, other, by)
	case "unmerge":
		_, err = c.UnmergeRequest(ctx, c.app.AccountID, id, by)
	case "bin":
		box := rapid.SampledFrom([]feedback.Box{feedback.Live, feedback.Bin}).Draw(t, "box")
		_, err = c.ChangeRequest(ctx, c.app.AccountID, id, by, func(r *feedback.Request) error {
			r.Box = box
			return nil
		})
	}
	var refused *feedback.Error
	if err != nil && (!errors.As(err, &refused) || refused.Status >= 500) {
		t.Fatal(err)
	}
}

// votes are how many people are behind each request that exists.
func (c *gathering) votes(t *rapid.T) map[feedback.ID]int64 {
	found := map[feedback.ID]int64{}
	requests, err := database.All(ctx, c.Raw, func(row database.Row) (r feedback.Request, err error) {
		err = row.Scan(&r.ID, &r.Votes)
		return r, err
	}, "SELECT id, votes FROM requests WHERE account_id = $1", c.app.AccountID)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range requests {
		found[r.ID] = r.Votes
	}
	return found
}

// change erases or corrects somebody, and checks what is left of them.
func (c *gathering) change(t *rapid.T) {
	who := rapid.SampledFrom([]feedback.Subject{
		{Email: "a@example.com"}, {ExternalID: "1"}, {Email: "b@example.com", ExternalID: "1"}, {Email: "a@example.com", ExternalID: "2"},
	}).Draw(t, "who")
	account, before := c.app.AccountID, c.votes(t)
	c.SmallParts(rapid.SampledFrom([]int{1, 2, 1000}).Draw(t, "rows"))
	found := searched(t, c.Store, account, who, "")
	switch action := rapid.SampledFrom([]string{"anonymise", "delete", "rectify", "expire"}).Draw(t, "change"); action {
	case "expire":
		c.expire(t)
		if now := c.votes(t); !cmp.Equal(now, before) {
			t.Fatalf("votes became %v, and were %v", now, before)
		}
	case "rectify":
		email := "new@example.com"
		rectified(t, c.Store, account, feedback.Command(), store.Rectification{Of: who, Email: &email, Name: new("Augusta")})
		after := searched(t, c.Store, account, feedback.Subject{Email: who.Email}, "")
		if after.Count() != 0 && who.Email != "" {
			t.Fatalf("the old address is still in %+v", after)
		}
	default:
		erasure := store.Erasure{Of: who, Delete: action == "delete", Salt: c.NewID()}
		part, err := erased(c.Store, account, feedback.Command(), erasure, found.Count())
		if err != nil {
			t.Fatal(err)
		}
		if part.Total() > found.Count() || part.Total() == 0 && found.Count() > 0 {
			t.Fatalf("it erased %+v, but a search had found %d: %+v", part, found.Count(), found)
		}
		if after := searched(t, c.Store, account, who, ""); after.Count() != 0 {
			t.Fatalf("it left %+v", after)
		}
		if now := c.votes(t); action == "anonymise" && !cmp.Equal(now, before) {
			t.Fatalf("votes became %v, and were %v", now, before)
		}
	}
	c.ids = slices.DeleteFunc(c.ids, func(id feedback.ID) bool { return c.votes(t)[id] == 0 && c.Count("requests WHERE id = $1", id) == 0 })
}

// expire erases those who did something some time ago, and checks that others stay.
func (c *gathering) expire(t *rapid.T) {
	kept := time.Duration(rapid.IntRange(1, 60).Draw(t, "kept")) * time.Second
	until := feedback.At(c.Clock.Now().Add(-kept))
	older, younger := c.given(t, until)
	if err := c.Retain(ctx, store.Retention{People: kept}); err != nil {
		t.Fatal(err)
	}
	left, now := c.given(t, until)
	if !cmp.Equal(now, younger) {
		t.Fatalf("it changed what is later than %v: %v instead of %v", until, now, younger)
	}
	later, err := database.All(ctx, c.Raw, database.One[string],
		"SELECT DISTINCT person FROM votes WHERE account_id = $1 AND created_at > $2", c.app.AccountID, until)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range left {
		if !slices.ContainsFunc(later, func(key string) bool { return strings.HasSuffix(one, " "+key) }) {
			t.Fatalf("it left %s of %v, which is not later than %v", one, older, until)
		}
	}
	version, entries := c.Count("requests WHERE version > 1"), c.Count("changes")
	if err := c.Retain(ctx, store.Retention{People: kept}); err != nil {
		t.Fatal(err)
	}
	if c.Count("requests WHERE version > 1") != version || c.Count("changes") != entries {
		t.Fatal("a second walk changed something")
	}
}

// given returns who submitted, voted and commented until a time, and later, for rows that still say it.
func (c *gathering) given(t *rapid.T, until feedback.Time) (older, younger []string) {
	for table, columns := range map[string]string{
		"requests":      "id, created_at, submitter_email, submitter_name, submitter_external_id, submitter_verified",
		"votes":         "request_id, created_at, email, name, external_id, verified",
		"comments":      "id, created_at, person_email, person_name, person_external_id, COALESCE(person_verified, FALSE)",
		"held_comments": "id, 0, email, name, external_id, verified", // the id has its time
	} {
		err := database.Each(ctx, c.Raw, func(r database.Row) error {
			var id feedback.ID
			var at feedback.Time
			var p feedback.Person
			if err := r.Scan(&id, &at, &p.Email, &p.Name, &p.ExternalID, &p.Verified); err != nil || !p.Known() {
				return err
			}
			if at == 0 {
				at = id.Time()
			}
			if one := fmt.Sprint(table, " ", id, " ", at, " ", p.Key()); at > until {
				younger = append(younger, one)
			} else {
				older = append(older, one)
			}
			return nil
		}, "SELECT "+columns+" FROM "+table+" WHERE account_id = $1", c.app.AccountID)
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(older)
	slices.Sort(younger)
	return older, younger
}

// TestPeopleProperty: whatever people with shared names have done, and whoever is erased or corrected meanwhile, all counters
// are what the rows give, and nothing is found of the person afterwards.
func TestPeopleProperty(t *testing.T) {
	storetest.FewerChecks(t)
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		n := 0
		rapid.Check(t, func(t *rapid.T) {
			n++
			account := r.NewAccount(fmt.Sprint("Acme", n))
			c := &gathering{Rig: r, app: r.NewApp(account)}
			var err error
			c.app, err = r.ChangeApp(ctx, account.ID, c.app.ID, feedback.ByUserID(*r.UserOf(account)), func(a *feedback.App) error {
				a.Settings.Sharing = "all"
				a.Settings.Portal.Access, a.Settings.Portal.Slug = feedback.AccessPublic, fmt.Sprint("acme-", n)
				a.Settings.Portal.Comments = feedback.FromAnyone
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			for range rapid.IntRange(1, 6).Draw(t, "changes") {
				for range rapid.IntRange(10, 30).Draw(t, "steps") {
					c.step(t)
				}
				c.change(t)
				checkReaders(t, r, c.app)
				checkHeat(t, r, c.app)
				for _, reference := range []string{
					"changes WHERE account_id = $1 AND request_id IS NOT NULL AND request_id", "requests WHERE account_id = $1 AND merged_parent_id",
				} {
					if n := r.Count(reference+" NOT IN (SELECT id FROM requests WHERE account_id = $1)", account.ID); n > 0 {
						t.Fatalf("%d rows are about requests that are gone: %s", n, reference)
					}
				}
				wrong, err := r.Recount(ctx)
				wrong = slices.DeleteFunc(wrong, func(m store.Miscount) bool { return m.AccountID != account.ID }) // of a failure before
				if err != nil || len(wrong) > 0 {
					t.Fatalf("miscounted: %+v, %v", wrong, err)
				}
				r.IndexAll()
				r.CheckIndex(t)
			}
		})
	})
}
