package index

import (
	"context"
	"slices"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/row"
)

// rowsAtOnce is how many requests a statement reads.
const rowsAtOnce = 256

// manyMore is how many times more requests than a page has are read in full to be sorted, which is faster than to read
// them twice.
const manyMore = 4

// rows reads requests by their ids and returns those of the page in its order. Never more of them are in memory than
// the page has, because each can be long.
func (s Scope) rows(ctx context.Context, q database.Queryer, ids []feedback.ID, page Page) ([]feedback.Request, error) {
	loose := s.loose()
	if len(ids) > manyMore*page.Limit {
		var err error
		if ids, err = s.first(ctx, q, ids, page); err != nil {
			return nil, err
		}
		loose = false // the first ones match
	}
	rows := []feedback.Request{}
	err := s.each(ctx, q, ids, page.Brief, loose, func(r feedback.Request) {
		if !page.Has(r) {
			return
		}
		at, _ := slices.BinarySearchFunc(rows, r, page.compare)
		if len(rows) == page.Limit {
			if at == len(rows) {
				return
			}
			rows = slices.Delete(rows, len(rows)-1, len(rows))
		}
		rows = slices.Insert(rows, at, r)
	})
	return rows, err
}

// loose reports whether requests that were found may not match after all.
func (s Scope) loose() bool { return s.found != nil && s.found.loose }

// first returns those of the ids whose requests are first on the page.
func (s Scope) first(ctx context.Context, q database.Queryer, ids []feedback.ID, page Page) ([]feedback.ID, error) {
	var places []Place
	err := s.each(ctx, q, ids, true, s.loose(), func(r feedback.Request) {
		if page.Has(r) {
			places = append(places, placeOf(r))
		}
	})
	slices.SortFunc(places, page.Sort.compare)
	first := make([]feedback.ID, min(len(places), page.Limit))
	for i := range first {
		first[i] = places[i].ID
	}
	return first, err
}

// each calls visit for requests by their ids, without those that do not match after all if loose is true. If brief is
// true, they have only briefColumns. Of texts that are read to be compared, only one is in memory at a time.
func (s Scope) each(
	ctx context.Context, q database.Queryer, ids []feedback.ID, brief, loose bool, visit func(feedback.Request),
) error {
	columns, scan := row.Columns, row.Scan
	switch {
	case brief && loose:
		columns, scan = briefColumns+", description, submitter_name, submitter_email", scanTexts
	case brief:
		columns, scan = briefColumns, scanBrief
	}
	for piece := range slices.Chunk(ids, rowsAtOnce) {
		p := database.Parameters{s.accountID}
		err := database.Each(ctx, q, func(from database.Row) error {
			r, err := scan(from)
			if err != nil || loose && !s.found.matches(r) {
				return err
			}
			if brief {
				r.Description, r.Submitter = "", feedback.Submitter{}
			}
			visit(r)
			return nil
		}, "SELECT "+columns+" FROM requests WHERE account_id = $1 AND id IN ("+database.List(&p, database.Padded(piece))+")", p...)
		if err != nil {
			return err
		}
	}
	return nil
}

// briefColumns are those of a brief page. Other columns can be long.
const briefColumns = "id, app_id, title, votes, heat, updated_at"

func scanBrief(from database.Row) (r feedback.Request, err error) {
	return r, from.Scan(&r.ID, &r.AppID, &r.Title, &r.Votes, &r.Heat, &r.UpdatedAt)
}

// scanTexts is scanBrief with what a filter by words is compared with.
func scanTexts(from database.Row) (r feedback.Request, err error) {
	return r, from.Scan(
		&r.ID, &r.AppID, &r.Title, &r.Votes, &r.Heat, &r.UpdatedAt, &r.Description, &r.Submitter.Name, &r.Submitter.Email,
	)
}

// without is the page without so many requests that are there already.
func (p Page) without(n int) Page {
	p.Limit -= n
	return p
}
