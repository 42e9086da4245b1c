package main

import (
	"strings"
	"sync"
	"time"

	"gatherkit/internal/feedback"
)

// demoDays is how many days of history the example has.
const demoDays = 90

// demoClock is a clock that runs from demoDays days ago to now.
type demoClock struct {
	mu  sync.Mutex
	now time.Time
}

func newDemoClock() *demoClock {
	return &demoClock{now: time.Now().AddDate(0, 0, -demoDays)}
}

// Now returns the clock's time.
func (c *demoClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// advance moves the clock by one of the given number of equal steps.
func (c *demoClock) advance(steps int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(demoDays * 24 * time.Hour / time.Duration(steps+1))
}

// idea is a request of the example.
type idea struct {
	wish               int    // index of the wish in wishes
	part               string // of the product
	title, description string
	status             feedback.Status
	submitter          feedback.Submitter
	metadata           feedback.Metadata
}

// wishes are what people ask for, with %s in place of a part of the product.
var wishes = []struct{ title, description string }{
	{"Dark mode for %s", "I work at night, and %s is the brightest thing in the room."},
	{"Export %s as CSV", "Every month I copy %s into a spreadsheet by hand. A download would save me an hour."},
	{"Keyboard shortcuts in %s", "I go through %s fifty times a day, and each time I reach for the mouse."},
	{"Let me share %s with a link", "My customers have no login, but should be able to see %s."},
	{"Undo in %s", "I deleted something in %s by accident, and had to type it all again."},
	{"Search inside %s", "There are hundreds of entries in %s by now. Scrolling does not get me anywhere."},
	{"Notify me when %s changes", "I find out too late that a colleague has changed %s."},
	{"%s is slow on large accounts", "With a few thousand entries %s takes about ten seconds to open."},
	{"Sort %s by date", "The order of %s looks random to me. Newest first would be fine."},
	{"Show who changed %s", "Three of us work on %s, and nobody knows who did what."},
	{"Print %s", "Our auditors want %s on paper. The print view cuts off the right column."},
	{"Translate %s into Spanish", "Half of our team in Madrid uses %s with a dictionary beside it."},
	{"Duplicate an entry in %s", "Most new entries in %s are like the one before, but for one field."},
	{"Connect %s to our calendar", "If the dates in %s were in my calendar, I would not miss them."},
	{"Bigger text in %s", "I zoom to 150 % to read %s, and then half of the buttons are gone."},
	{"Archive old entries of %s", "Nothing in %s ever goes away. I would like to hide what is done."},
}

// parts are parts of the product.
var parts = []string{
	"the invoice list", "the project board", "the monthly report", "the contact page", "the time sheet",
	"the inventory", "the team overview", "the order history", "the support inbox", "the settings page",
	"the price list", "the delivery plan", "the task view", "the document folder", "the budget",
}

// voters are the people who submit and vote.
var voters = []string{
	"Grace Hopper", "Alan Turing", "Katherine Johnson", "Edsger Dijkstra", "Barbara Liskov", "Donald Knuth",
	"Margaret Hamilton", "Dennis Ritchie", "Frances Allen", "Tony Hoare", "Radia Perlman",
}

// demoIdeas returns every wish for every part, oldest first. Most of the older ideas have
// been decided, and most of the newer ones have not.
func demoIdeas() []idea {
	total := len(wishes) * len(parts)
	decided := []feedback.Status{"completed", "completed", "planned", "declined", "in_progress", "under_review"}
	ideas := make([]idea, 0, total)
	for i := range total {
		n := i * 7 % len(wishes)
		wish, part := wishes[n], parts[(i+i/len(wishes))%len(parts)]
		it := idea{
			wish: n, part: part,
			title: upperFirst(fill(wish.title, part)), description: fill(wish.description, part), status: feedback.Opened,
			metadata: feedback.Metadata{
				"page":   "/" + strings.ReplaceAll(strings.TrimPrefix(part, "the "), " ", "-"),
				"locale": []string{"en", "de", "fr"}[i%3],
			},
		}
		if i%5 < 3 && i < total*4/5 || i%11 == 0 {
			it.status = decided[(i/2)%len(decided)]
		}
		if i%4 > 0 {
			name := voters[i*3%len(voters)]
			email := strings.ToLower(strings.ReplaceAll(name, " ", ".")) + "@example.org"
			it.submitter = feedback.Submitter{Name: &name, Email: &email}
		}
		ideas = append(ideas, it)
	}
	return ideas
}

func fill(text, part string) string { return strings.ReplaceAll(text, "%s", part) }

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
