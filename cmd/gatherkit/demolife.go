package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/store"
)

// tagsOf are the tags of each wish. duplicateTitles are titles of duplicates, submitted by
// people who did not find the existing request.
var (
	tagsOf = [][]string{
		{"design"},
		{"reporting", "integrations"},
		{"power users"},
		{"collaboration"},
		{"safety"},
		{"search"},
		{"collaboration", "e-mail"},
		{"performance"},
		{"usability"},
		{"collaboration", "audit"},
		{"audit", "printing"},
		{"languages"},
		{"usability"},
		{"integrations"},
		{"accessibility", "design"},
		{"usability"},
	}
	duplicateTitles = map[int]string{
		0: "Night theme for %s", 1: "Download %s as a spreadsheet", 5: "Find things in %s", 7: "%s takes forever to load",
		11: "%s in Spanish, please",
	}
)

// remarks are comments of the team.
var remarks = []struct {
	visibility feedback.Visibility
	text       string
}{
	{feedback.Internal, "Two of our largest customers have asked for this on the phone, too."},
	{feedback.Public, "Thank you! Could you tell us how many entries you usually have?"},
	{feedback.Internal, "A week of work, if we do it after the new navigation."},
	{feedback.Public, "We are working on it and will write here when it is ready to try."},
	{feedback.Internal, "Not before we know whether the old browsers must be supported."},
	{feedback.Public, "It is out with version 4.2. Please tell us if anything is missing."},
}

// demoLife simulates what people do with the requests over demoDays days. It is the same
// in every example.
type demoLife struct {
	*store.Store
	account feedback.Account
	team    []feedback.User
	random  *rand.Rand
	stored  []feedback.Request
	// decisions are the team's decisions, by the index of the idea after which they are made.
	decisions map[int][]func(context.Context) error
}

func newDemoLife(s *store.Store) *demoLife {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a fixed seed creates the same example each time
	return &demoLife{Store: s, random: random, decisions: map[int][]func(context.Context) error{}}
}

func (l *demoLife) someone() feedback.User { return l.team[l.random.IntN(len(l.team))] }

// day submits an idea and simulates votes, decisions and comments on the existing requests.
func (l *demoLife) day(ctx context.Context, i int, app feedback.App, idea idea) error {
	r := feedback.NewRequest(idea.title, idea.description)
	r.Source, r.Submitter, r.Metadata = "widget", idea.submitter, idea.metadata
	r, err := l.Submit(ctx, store.Submission{App: app, Request: r})
	if err != nil {
		return err
	}
	l.stored = append(l.stored, r)
	steps := []error{l.vote(ctx, 1+l.random.IntN(5))}
	if idea.status != feedback.Opened {
		due := i + l.random.IntN(6)*l.random.IntN(12) // mostly within days, sometimes after weeks
		decide := func(ctx context.Context) error { return l.decide(ctx, r, idea.wish, idea.status) }
		l.decisions[due] = append(l.decisions[due], decide)
	}
	for _, decide := range l.decisions[i] {
		steps = append(steps, decide(ctx))
	}
	if i%4 == 0 {
		steps = append(steps, l.remark(ctx, i/4))
	}
	if title, often := duplicateTitles[idea.wish]; often && i%3 == 0 {
		steps = append(steps, l.addDuplicate(ctx, app, r, upperFirst(fill(title, idea.part))))
	}
	if i%60 == 30 {
		steps = append(steps, l.addTest(ctx, app))
	}
	return errors.Join(steps...)
}

// decide sets the status and the tags of a request, and its assignee and ETA if it has any.
func (l *demoLife) decide(ctx context.Context, r feedback.Request, wish int, status feedback.Status) error {
	member := l.someone()
	change := feedback.RequestChange{Status: &status, Tags: &tagsOf[wish]}
	if status == "in_progress" || status == "planned" {
		assignee := &member.ID
		change.AssigneeID = &assignee
	}
	if status == "planned" {
		eta := new(r.CreatedAt.Std().AddDate(0, 5, 0).Format("2006-01-02"))
		change.ETA = &eta
	}
	_, err := l.ChangeRequest(ctx, l.account.ID, r.ID, feedback.ByUserID(member.ID), func(r *feedback.Request) error {
		r.Apply(change)
		return nil
	})
	return err
}

// vote adds votes for requests of other people. Half of the votes go to popular requests,
// every ninth one, and mostly to the latest of these. The others go mostly to the oldest
// requests.
func (l *demoLife) vote(ctx context.Context, people int) error {
	for range people {
		at := int(l.random.Float64() * l.random.Float64() * l.random.Float64() * float64(len(l.stored)))
		if popular := (len(l.stored) - 1) / 9; l.random.IntN(2) == 0 {
			at = 9 * (popular - int(l.random.Float64()*l.random.Float64()*float64(popular)))
		}
		first := strings.Fields(voters[l.random.IntN(len(voters))])[0]
		last := strings.Fields(voters[l.random.IntN(len(voters))])[1]
		name, email := first+" "+last, strings.ToLower(first+"."+last)+"@example.org"
		_, err := l.Vote(ctx, l.account.ID, feedback.ByUserID(l.someone().ID), store.Ballot{
			RequestID: l.stored[at].ID, Person: feedback.Person{Name: &name, Email: &email}, Source: "dashboard",
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// remark adds a comment of the team to a random request.
func (l *demoLife) remark(ctx context.Context, n int) error {
	by, remark := l.someone(), remarks[n%len(remarks)]
	_, err := l.AddComment(ctx, l.account.ID, feedback.ByUserID(by.ID), feedback.Comment{
		RequestID: l.stored[l.random.IntN(len(l.stored))].ID, Author: feedback.Author{ID: &by.ID, Kind: feedback.ByTeam},
		Visibility: remark.visibility, Body: remark.text,
	})
	return err
}

// addDuplicate submits a duplicate of a request and merges it into the request.
func (l *demoLife) addDuplicate(ctx context.Context, app feedback.App, r feedback.Request, title string) error {
	duplicate := feedback.NewRequest(title, "")
	duplicate.Source = "widget"
	duplicate, err := l.Submit(ctx, store.Submission{App: app, Request: duplicate})
	if err != nil {
		return err
	}
	_, err = l.MergeRequest(ctx, l.account.ID, duplicate.ID, r.ID, feedback.ByUserID(l.someone().ID))
	return err
}

// addTest submits a request that only tests the widget and moves it to the bin.
func (l *demoLife) addTest(ctx context.Context, app feedback.App) error {
	r, err := l.Submit(ctx, store.Submission{App: app, Request: feedback.NewRequest("test", "asdf asdf")})
	if err != nil {
		return err
	}
	_, err = l.ChangeRequest(ctx, l.account.ID, r.ID, feedback.ByUserID(l.someone().ID), func(r *feedback.Request) error {
		r.Box = feedback.Bin
		return nil
	})
	return err
}

// index adds all requests to the search index, as the service's worker does.
func (l *demoLife) index(ctx context.Context) error {
	if err := l.Index.FollowAll(ctx, index.Chunk); err != nil {
		return fmt.Errorf("cannot index the example: %w", err)
	}
	return nil
}
