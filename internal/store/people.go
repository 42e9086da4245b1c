package store

import (
	"context"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/row"
	"gatherkit/internal/visitors"
)

// Who asks for the data of a person asks rarely, and each submission would pay for an index of addresses. So the rows
// of an account are read in the order of their keys, a part at a time, and compared here. A caller passes the place
// where the last part ended until there is none.

// PersonPlace is where a part begins: a table, and the key of the row before it. The zero value is the beginning.
type PersonPlace struct {
	Table int         `json:"t,omitempty"`
	First feedback.ID `json:"a,omitzero"` // the request or the app
	ID    feedback.ID `json:"i,omitzero"`
	Text  string      `json:"x,omitempty"` // the person of a vote, or the hash of a token
	Seq   int64       `json:"s,omitempty"` // the number of an entry of the log
}

// Found is a part of what an account stores about a person.
type Found struct {
	Requests     []feedback.Request       `json:"requests" doc:"What the person submitted, in all boxes."`
	Votes        []feedback.Vote          `json:"votes" doc:"Votes of the person. The vote of a submitter is not listed while nobody else has voted."`
	Comments     []feedback.Comment       `json:"comments" doc:"What the person wrote on portals and in the widget."`
	HeldComments []feedback.HeldComment   `json:"held_comments" doc:"Comments that wait until the team releases them."`
	Records      []feedback.PersonRecord  `json:"records" doc:"What else is stored about the person."`
	Mentions     []feedback.PersonMention `json:"mentions" doc:"Texts that contain the address or the name, whoever wrote them. Erasing the person does not change them."`
	Next         *PersonPlace             `json:"-"` // nil if this is the last part
}

// With returns what is found with another part, which follows.
func (f Found) With(o Found) Found {
	return Found{
		append(f.Requests, o.Requests...), append(f.Votes, o.Votes...), append(f.Comments, o.Comments...),
		append(f.HeldComments, o.HeldComments...), append(f.Records, o.Records...), append(f.Mentions, o.Mentions...), o.Next,
	}
}

// OtherNames returns the addresses and ids in the records that are not those of the search.
func (f Found) OtherNames(who feedback.Subject) []string {
	names := map[string]bool{}
	add := func(p feedback.Person) {
		if p.Email != nil && feedback.FoldEmail(*p.Email) != feedback.FoldEmail(who.Email) {
			names[*p.Email] = true
		}
		if p.ExternalID != nil && *p.ExternalID != who.ExternalID {
			names[*p.ExternalID] = true
		}
	}
	for _, r := range f.Requests {
		p, _ := r.Person()
		add(p)
	}
	for _, v := range f.Votes {
		add(v.Person)
	}
	for _, c := range f.Comments {
		if c.Person != nil {
			add(*c.Person)
		}
	}
	for _, c := range f.HeldComments {
		add(c.Person)
	}
	for _, r := range f.Records {
		add(r.Person)
	}
	return slices.Sorted(maps.Keys(names))
}

// trace is a row that may be about a person.
type trace struct {
	place  PersonPlace
	person feedback.Person
	key    string // of the person, for votes and blocks
	texts  []text // that may mention somebody

	request *feedback.Request
	vote    *feedback.Vote
	comment *feedback.Comment
	held    *feedback.HeldComment
	record  *feedback.PersonRecord
}

// text is one text of a row.
type text struct {
	feedback.PersonMention
	is string
}

// traces is a table with rows about people.
type traces struct {
	chunk int // how many rows are read at once
	read  func(ctx context.Context, q database.Queryer, accountID feedback.ID, at PersonPlace, limit int) ([]trace, error)
}

// personTables are the tables in the order in which they are searched. Comments of submitters and votes have no other
// name than that of the request, so requests are last of these.
var personTables = []traces{
	{200, commentTraces}, {200, heldTraces}, {2000, voteTraces}, {200, requestTraces}, {2000, sessionTraces}, {2000, blockTraces},
}

// FindPerson returns a part of what the account stores about a person, and of the texts that mention their e-mail
// address or a name, which may be empty.
func (s *Store) FindPerson(
	ctx context.Context, accountID feedback.ID, who feedback.Subject, name string, at PersonPlace,
) (Found, error) {
	f := Found{
		Requests: []feedback.Request{}, Votes: []feedback.Vote{}, Comments: []feedback.Comment{}, HeldComments: []feedback.HeldComment{},
		Records: []feedback.PersonRecord{}, Mentions: []feedback.PersonMention{},
	}
	var folded []string
	for _, word := range []string{who.Email, name} {
		if word != "" {
			folded = append(folded, strings.ToLower(word))
		}
	}
	next, err := s.readTraces(ctx, accountID, at, func(t trace) bool {
		for _, text := range t.texts {
			if feedback.Mentions(text.is, folded) {
				f.Mentions = append(f.Mentions, text.PersonMention)
			}
		}
		if who.Is(t.person) {
			f.add(t)
		}
		return true
	})
	if err == nil {
		err = s.setTitles(ctx, accountID, f.Mentions)
	}
	if err == nil && next == nil && who.Email != "" {
		var records []feedback.PersonRecord
		records, err = s.Mail.Known(ctx, accountID, who.Email)
		f.Records = append(f.Records, records...)
	}
	f.Next = next
	return f, err
}

// setTitles sets the titles of the requests with the texts.
func (s *Store) setTitles(ctx context.Context, accountID feedback.ID, mentions []feedback.PersonMention) error {
	titles := map[feedback.ID]string{}
	for _, m := range mentions {
		titles[m.RequestID] = ""
	}
	for _, piece := range database.Pieces(slices.Collect(maps.Keys(titles))) {
		p := database.Parameters{accountID}
		err := database.Each(ctx, s.db.Reader(), func(r database.Row) error {
			var id feedback.ID
			var title string
			err := r.Scan(&id, &title)
			titles[id] = title
			return err
		}, "SELECT id, title FROM requests WHERE account_id = $1 AND id IN ("+database.List(&p, piece)+")", p...)
		if err != nil {
			return err
		}
	}
	for i := range mentions {
		mentions[i].Title = titles[mentions[i].RequestID]
	}
	return nil
}

// Count returns how many of the records an erasure changes.
func (f Found) Count() int64 {
	n := len(f.Requests) + len(f.Votes) + len(f.Comments) + len(f.HeldComments)
	for _, r := range f.Records {
		if r.Kind != feedback.MailRecord {
			n++
		}
	}
	return int64(n)
}

func (f *Found) add(t trace) {
	switch {
	case t.request != nil:
		f.Requests = append(f.Requests, *t.request)
	case t.vote != nil:
		f.Votes = append(f.Votes, *t.vote)
	case t.comment != nil:
		f.Comments = append(f.Comments, *t.comment)
	case t.held != nil:
		f.HeldComments = append(f.HeldComments, *t.held)
	default:
		f.Records = append(f.Records, *t.record)
	}
}

// readTraces calls take with the rows of a part: those that one query reads of a table and, if these are its last ones,
// of the tables behind it. take returns false where the part must end. readTraces returns where the next part begins, or
// nil after the last table.
func (s *Store) readTraces(
	ctx context.Context, accountID feedback.ID, at PersonPlace, take func(trace) bool,
) (*PersonPlace, error) {
	for ; at.Table < len(personTables); at = (PersonPlace{Table: at.Table + 1}) {
		table := personTables[at.Table]
		limit := min(table.chunk, s.tracesAtOnce)
		list, err := table.read(ctx, s.db.Reader(), accountID, at, limit)
		if err != nil {
			return nil, err
		}
		for i, t := range list {
			if more := take(t); !more || i == limit-1 {
				t.place.Table = at.Table
				return &t.place, nil
			}
		}
	}
	return nil, nil
}

func commentTraces(ctx context.Context, q database.Queryer, accountID feedback.ID, at PersonPlace, limit int) ([]trace, error) {
	comments, err := database.All(ctx, q, scanComment, "SELECT "+commentColumns+
		" WHERE c.account_id = $1 AND (c.request_id, c.id) > ($2, $3) ORDER BY c.request_id, c.id LIMIT CAST($4 AS BIGINT)",
		accountID, at.First, at.ID, limit)
	if err != nil {
		return nil, err
	}
	asked := map[feedback.ID]feedback.Person{} // the submitters of requests on which they have commented
	for _, c := range comments {
		if c.Author.Kind == feedback.BySubmitter {
			asked[c.RequestID] = feedback.Person{}
		}
	}
	if err := readSubmitters(ctx, q, accountID, asked); err != nil {
		return nil, err
	}
	list := make([]trace, 0, len(comments))
	for i := range comments {
		c := &comments[i]
		t := trace{place: PersonPlace{First: c.RequestID, ID: c.ID}, comment: c}
		t.texts = []text{{feedback.PersonMention{RequestID: c.RequestID, CommentID: &c.ID, Field: "comment"}, c.Body}}
		switch {
		case c.Person != nil:
			t.person = *c.Person
		case c.Author.Kind == feedback.BySubmitter:
			t.person = asked[c.RequestID]
		}
		list = append(list, t)
	}
	return list, nil
}

// readSubmitters sets the submitters of requests.
func readSubmitters(ctx context.Context, q database.Queryer, accountID feedback.ID, of map[feedback.ID]feedback.Person) error {
	for _, piece := range database.Pieces(slices.Collect(maps.Keys(of))) {
		p := database.Parameters{accountID}
		err := database.Each(ctx, q, func(r database.Row) error {
			var id feedback.ID
			var s feedback.Person
			err := r.Scan(&id, &s.Email, &s.Name, &s.ExternalID, &s.Verified)
			of[id] = s
			return err
		}, "SELECT id, submitter_email, submitter_name, submitter_external_id, submitter_verified FROM requests"+
			" WHERE account_id = $1 AND id IN ("+database.List(&p, piece)+")", p...)
		if err != nil {
			return err
		}
	}
	return nil
}

func heldTraces(ctx context.Context, q database.Queryer, accountID feedback.ID, at PersonPlace, limit int) ([]trace, error) {
	return database.All(ctx, q, func(r database.Row) (t trace, err error) {
		c, err := scanHeld(r)
		t.place, t.held, t.person = PersonPlace{ID: c.ID}, &c, c.Person
		t.texts = []text{{feedback.PersonMention{RequestID: c.RequestID, CommentID: &c.ID, Field: "held_comment"}, c.Body}}
		return t, err
	}, selectHeld+" AND h.id > $2 ORDER BY h.id LIMIT CAST($3 AS BIGINT)", accountID, at.ID, limit)
}

func voteTraces(ctx context.Context, q database.Queryer, accountID feedback.ID, at PersonPlace, limit int) ([]trace, error) {
	return database.All(ctx, q, func(r database.Row) (t trace, err error) {
		v, err := scanVoter(r)
		t.place, t.vote, t.person, t.key = PersonPlace{First: v.RequestID, Text: v.Key}, &v.Vote, v.Person, v.Key
		if v.Why != nil {
			t.texts = []text{{feedback.PersonMention{RequestID: v.RequestID, Field: "vote"}, *v.Why}}
		}
		return t, err
	}, "SELECT request_id, "+voteColumns+" FROM votes WHERE account_id = $1 AND (request_id, person) > ($2, $3)"+
		" ORDER BY request_id, person LIMIT CAST($4 AS BIGINT)", accountID, at.First, at.Text, limit)
}

func requestTraces(ctx context.Context, q database.Queryer, accountID feedback.ID, at PersonPlace, limit int) ([]trace, error) {
	return database.All(ctx, q, func(from database.Row) (t trace, err error) {
		r, err := row.Scan(from)
		t.place, t.request = PersonPlace{ID: r.ID}, &r
		t.person, _ = r.Person()
		t.texts = []text{
			{feedback.PersonMention{RequestID: r.ID, Field: "title"}, r.Title},
			{feedback.PersonMention{RequestID: r.ID, Field: "description"}, r.Description},
		}
		return t, err
	}, "SELECT "+row.Columns+" FROM requests r WHERE r.account_id = $1 AND r.id > $2 ORDER BY r.id LIMIT CAST($3 AS BIGINT)",
		accountID, at.ID, limit)
}

func sessionTraces(ctx context.Context, q database.Queryer, accountID feedback.ID, at PersonPlace, limit int) ([]trace, error) {
	after, err := hex.DecodeString(at.Text)
	if err != nil {
		return nil, err
	}
	list, err := visitors.Sessions(ctx, q, accountID, after, limit)
	traces := make([]trace, 0, len(list))
	for _, known := range list {
		place := PersonPlace{Text: hex.EncodeToString(known.Hash)}
		traces = append(traces, trace{place: place, person: known.Person, record: &known.PersonRecord})
	}
	return traces, err
}

func blockTraces(ctx context.Context, q database.Queryer, accountID feedback.ID, at PersonPlace, limit int) ([]trace, error) {
	list, err := visitors.Blocks(ctx, q, accountID, at.First, at.Text, limit)
	traces := make([]trace, 0, len(list))
	for _, known := range list {
		traces = append(traces, trace{
			place: PersonPlace{First: known.AppID, Text: known.Key}, person: known.Person, key: known.Key, record: &known.PersonRecord,
		})
	}
	return traces, err
}
