package store

import (
	"context"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// News is what the people who asked for a request, or voted for it, are told: another status, a merge or an
// unmerge, and to those who asked also a public comment. Changes can be quiet. The log of changes says how
// many people were told.

// isNews reports whether a change of a request from old to r is news.
func isNews(old, r feedback.Request) bool { return r.Status != old.Status && r.Box == feedback.Live }

// setNews returns the assignment that stores the time of news. The value of the parameter is newsAt.
func setNews(column, parameter string) string {
	parameter = "CAST(" + parameter + " AS BIGINT)"
	return column + " = CASE WHEN " + parameter + " > 0 THEN " + parameter + " ELSE " + column + " END"
}

// newsAt returns now if a change is news, and 0 otherwise.
func newsAt(by feedback.Actor, news bool, now feedback.Time) feedback.Time {
	if !news || by.Quiet {
		return 0
	}
	return now
}

// Audience returns who sees changes of a request.
func (s *Store) Audience(ctx context.Context, accountID feedback.ID, r feedback.Request) (feedback.Audience, error) {
	counts, err := countsFor(ctx, s.db.Reader(), accountID, r)
	if err != nil {
		return feedback.Audience{}, err
	}
	return s.Readers.Audience(ctx, s.db.Reader(), accountID, r, counts)
}

// countsFor returns the request for which the votes of r count: the one that it is merged into, or r.
func countsFor(ctx context.Context, q database.Queryer, accountID feedback.ID, r feedback.Request) (feedback.Request, error) {
	if r.MergedIntoID == nil {
		return r, nil
	}
	return readRequest(ctx, q, accountID, *r.MergedIntoID)
}
