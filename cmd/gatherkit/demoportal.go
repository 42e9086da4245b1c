package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gatherkit/internal/feedback"
)

// said are comments of visitors of the portal. The last ones are held until the team releases them.
var said = []string{
	"Yes, please! I would use it every day.",
	"Could it also work on the phone?",
	"We have built a spreadsheet for this. We would love to throw it away.",
	"Thank you for taking this up.",
	"It would already help if it worked for the last month.",
	"My whole team is waiting for this.",
	"Is there anything that we can try already?",
	"Cheap watches, only today: https://watches.example",
}

// heldComments is how many of the comments are held.
const heldComments = 2

// news are entries of the changelog, oldest first, and what is in the titles of the ideas behind them. The last one is a
// draft.
var news = []struct{ title, body, label, about string }{
	{
		"Version 4.1: easy on the eyes", "Everything has a dark mode now.\n\n- It follows **your system**, or your choice in the profile.\n" +
			"- Paper stays white.", "New", "Dark mode ",
	},
	{
		"Version 4.2: take it back", "You asked for it, and here it is: what you delete by accident comes back.\n\n" +
			"Choose *Undo* in the message at the bottom, or press `Ctrl Z`.", "New", "Undo ",
	},
	{
		"Version 4.3: read it your way", "Bigger text works everywhere, also on paper.\n\n1. Choose a size in your profile.\n2. Print.\n\n" +
			"Tell us what is still too small.", "Improved", "Bigger text ",
	},
	{"Version 4.4", "What we are working on now.", "New", "Sort "},
}

// announce adds an entry to the changelog about what was completed, and publishes it unless it is the last.
func (l *demoLife) announce(ctx context.Context, app feedback.App, n int) error {
	by := l.team[0]
	entry := feedback.Entry{AppID: app.ID, Title: news[n].title, Author: &feedback.EntryAuthor{ID: by.ID}}
	about := []feedback.ID{}
	for i := len(l.stored) - 1; i >= 0 && len(about) < 3; i-- {
		r, err := l.Request(ctx, l.account.ID, l.stored[i].ID)
		if err != nil && !errors.Is(err, feedback.ErrRequestNotFound) {
			return err
		}
		if err == nil && r.AppID == app.ID && r.Status == "completed" && strings.HasPrefix(r.Title, news[n].about) {
			about = append(about, r.ID)
		}
	}
	entry.Apply(feedback.EntryChange{Body: &news[n].body, Labels: &[]string{news[n].label}, RequestIDs: &about})
	entry, err := l.Entries.Add(ctx, l.account.ID, feedback.ByUserID(by.ID), entry)
	if err == nil && n < len(news)-1 {
		_, err = l.Entries.Publish(ctx, l.account.ID, entry.ID, feedback.ByUserID(by.ID), nil, false)
	}
	return err
}

// discuss lets visitors comment on the ideas of an app that have most votes.
func (l *demoLife) discuss(ctx context.Context, app feedback.App) error {
	for n, text := range said {
		name := voters[n%len(voters)]
		person := feedback.Person{Name: &name, ExternalID: new(fmt.Sprint("u", n)), Verified: true}
		at := l.stored[(n%3)*18] // every ninth idea is popular, and every second one is of this app
		if _, err := l.PortalComment(ctx, app, at.ID, person, text, n >= len(said)-heldComments); err != nil {
			return err
		}
	}
	return nil
}
