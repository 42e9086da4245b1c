package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"gatherkit/internal/changelog"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/visitors"
)

// PortalVote is WidgetVote on the portal of an app. Behind the gate it checks that the portal still takes votes of
// the person. It returns ErrPortalNotFound, ErrSignInNeeded or ErrBlocked if it does not.
func (s *Store) PortalVote(ctx context.Context, app feedback.App, b Ballot) (int64, error) {
	b.Source = "portal"
	return s.cast(ctx, app.AccountID, vote{
		Ballot: b, by: feedback.Actor{Kind: feedback.ByAPIKey, ID: &app.ID}, app: &app, portal: true,
	})
}

// takes returns an error unless the portal of an app takes something of a person. The caller holds the gate.
func takes(
	ctx context.Context, tx *sql.Tx, app feedback.App, what func(feedback.PortalSettings) feedback.Taking, p feedback.Person,
) error {
	portal := app.Settings.Portal
	if !portal.On() {
		return feedback.ErrPortalNotFound
	}
	if err := what(portal).Check(p.Verified); err != nil {
		return err
	}
	return visitors.Check(ctx, tx, app.AccountID, app.ID, p.Key())
}

func takesVotes(p feedback.PortalSettings) feedback.Taking    { return p.Voting }
func takesComments(p feedback.PortalSettings) feedback.Taking { return p.Comments }
func takesRequests(p feedback.PortalSettings) feedback.Taking { return p.Submit }

// portalRefusals returns which of the submissions on portals are refused, by index. The caller holds the gates.
func (s *Store) portalRefusals(
	ctx context.Context, tx *sql.Tx, subs []Submission, waiting []int,
) (map[int]error, error) {
	refused := map[int]error{}
	for _, i := range waiting {
		if subs[i].Portal == nil {
			continue
		}
		app, err := readApp(ctx, tx, subs[i].App.AccountID, subs[i].App.ID)
		switch {
		case err == nil:
			err = takes(ctx, tx, app, takesRequests, *subs[i].Portal)
		case errors.Is(err, feedback.ErrAppNotFound):
			err = feedback.ErrPortalNotFound
		}
		if refusal(err) {
			refused[i] = err
		} else if err != nil {
			return nil, err
		}
	}
	return refused, nil
}

// SignIn exchanges the token of a one-time address for that of a session. Votes that the browser has given before
// become those of the person; where both have voted, they count once. It returns ErrTicketNotFound or ErrBlocked.
func (s *Store) SignIn(ctx context.Context, app feedback.App, ticket string, voter *feedback.ID) (session string, err error) {
	err = s.db.WriteFor(ctx, app.AccountID, func(ctx context.Context, tx *sql.Tx) error {
		if err := s.lock(ctx, tx, app.AccountID, app.ID); err != nil {
			return err
		}
		var person feedback.Person
		if session, person, err = s.Visitors.Redeem(ctx, tx, app, ticket); err != nil || voter == nil {
			return err
		}
		return s.claim(ctx, tx, app, feedback.Person{BrowserID: voter}, person)
	})
	return session, err
}

// maxClaimed is how many votes of a browser become those of the person who signs in.
const maxClaimed = 200

// claim gives the votes of one person to another one.
func (s *Store) claim(ctx context.Context, tx *sql.Tx, app feedback.App, from, to feedback.Person) error {
	votes, err := database.All(ctx, tx, func(r database.Row) (v feedback.Vote, err error) {
		err = r.Scan(&v.RequestID, &v.Why)
		return v, err
	}, "SELECT v.request_id, v.why FROM votes v"+
		" WHERE v.account_id = $1 AND v.person = $2 AND EXISTS (SELECT 1 FROM requests r"+
		" WHERE r.account_id = $1 AND r.id = v.request_id AND r.app_id = $3) ORDER BY v.request_id DESC LIMIT CAST($4 AS BIGINT)",
		app.AccountID, from.Key(), app.ID, maxClaimed)
	if err != nil || len(votes) == 0 {
		return err
	}
	reader := feedback.ReaderOfPerson(app.ID, *to.ExternalID)
	by := feedback.Actor{Kind: feedback.ByAPIKey, ID: &app.ID}
	var casts []*vote
	for _, v := range slices.Backward(votes) { // of votes that now count once, the first words are kept
		casts = append(casts,
			&vote{by: by, Ballot: Ballot{RequestID: v.RequestID, Person: to, Source: "portal", Reader: reader, Why: v.Why}},
			&vote{by: by, Ballot: Ballot{RequestID: v.RequestID, Person: from, Source: "portal", Remove: true}})
	}
	if err := s.findRoots(ctx, tx, app.AccountID, casts); err != nil {
		return err
	}
	var counted []*vote
	for _, c := range casts {
		if c.refusal == nil { // it is not in the bin
			counted = append(counted, c)
		}
	}
	return s.castRows(ctx, tx, app.AccountID, counted)
}

// RotateLink replaces the link to an app's portal, and returns the token of the new one. It returns ErrAppNotFound
// if the app does not exist.
func (s *Store) RotateLink(ctx context.Context, accountID, appID feedback.ID, by feedback.Actor) (token string, err error) {
	err = s.changeOfApp(ctx, accountID, appID, func(ctx context.Context, tx *sql.Tx) (*feedback.Change, error) {
		token, err = s.Visitors.RotateLink(ctx, tx, accountID, appID)
		return &feedback.Change{Kind: feedback.PortalLinkRotated, Actor: by, AppID: &appID}, err
	})
	return token, err
}

// Block keeps a person from voting, commenting and submitting on the portal of an app. It returns ErrAppNotFound
// if the app does not exist.
func (s *Store) Block(ctx context.Context, accountID, appID feedback.ID, by feedback.Actor, p feedback.Person) error {
	return s.changeOfApp(ctx, accountID, appID, func(ctx context.Context, tx *sql.Tx) (*feedback.Change, error) {
		return s.blockIn(ctx, tx, accountID, appID, by, p)
	})
}

func (s *Store) blockIn(
	ctx context.Context, tx *sql.Tx, accountID, appID feedback.ID, by feedback.Actor, p feedback.Person,
) (*feedback.Change, error) {
	blocked, err := s.Visitors.Block(ctx, tx, accountID, appID, *by.ID, p)
	if err != nil || !blocked {
		return nil, err
	}
	return &feedback.Change{Kind: feedback.PersonBlocked, Actor: by, AppID: &appID, After: map[string]any{"person": p.Label()}}, nil
}

// Unblock undoes Block for the person with a key. It returns ErrAppNotFound if the app does not exist.
func (s *Store) Unblock(ctx context.Context, accountID, appID feedback.ID, by feedback.Actor, person string) error {
	return s.changeOfApp(ctx, accountID, appID, func(ctx context.Context, tx *sql.Tx) (*feedback.Change, error) {
		p, found, err := visitors.Unblock(ctx, tx, accountID, appID, person)
		if err != nil || !found {
			return nil, err
		}
		return &feedback.Change{Kind: feedback.PersonUnblocked, Actor: by, AppID: &appID, Before: map[string]any{"person": p.Label()}}, nil
	})
}

// changeOfApp runs do in a transaction that has locked the app's gate, and logs the change that do returns, unless
// it is nil. It returns ErrAppNotFound if the app does not exist.
func (s *Store) changeOfApp(
	ctx context.Context, accountID, appID feedback.ID, do func(ctx context.Context, tx *sql.Tx) (*feedback.Change, error),
) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := s.lock(ctx, tx, accountID, appID); err != nil {
			return err
		}
		if _, err := readApp(ctx, tx, accountID, appID); err != nil {
			return err
		}
		change, err := do(ctx, tx)
		if err != nil || change == nil {
			return err
		}
		return changelog.Record(ctx, tx, accountID, feedback.At(s.now()), *change)
	})
}
