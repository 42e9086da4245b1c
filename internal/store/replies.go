package store

import (
	"context"
	"database/sql"
	"slices"

	"gatherkit/internal/changelog"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/mentions"
	"gatherkit/internal/readers"
)

// MaxReplies is how many comments the submitter of a request can write until the team comments again.
const MaxReplies = 10

// Reply stores a public comment of the person who submitted a request, and mentions the user to whom they
// answer. If the person repeats their last comment, Reply returns that one, so that a lost answer does not
// matter. It returns ErrRequestNotFound, also if the person did not submit the request, and
// ErrReplyNotAllowed.
func (s *Store) Reply(ctx context.Context, w readers.Person, requestID feedback.ID, body string) (c feedback.Comment, err error) {
	accountID := w.App.AccountID
	err = s.db.WriteFor(ctx, accountID, func(ctx context.Context, tx *sql.Tx) error {
		r, err := s.lockCommented(ctx, tx, accountID, requestID)
		if err != nil {
			return err
		}
		counts, err := countsFor(ctx, tx, accountID, r)
		if err != nil {
			return err
		}
		asked, err := w.Asked(ctx, tx, requestID)
		if err == nil && (!asked || r.AppID != w.App.ID || !readers.VisibleOutside(r, counts)) {
			err = feedback.ErrRequestNotFound
		}
		if err != nil {
			return err
		}
		latest, answered, err := latestPublic(ctx, tx, accountID, r)
		switch {
		case err != nil:
			return err
		case len(latest) > 0 && latest[0].Author.Kind == feedback.BySubmitter && latest[0].Body == body:
			c = latest[0]
			return nil
		case answered == nil:
			return feedback.ErrReplyNotAllowed
		}
		c = feedback.Comment{
			ID: s.ids.New(), RequestID: requestID, Author: feedback.AuthorOf(feedback.ID{}, nil, r.Submitter.Name),
			Visibility: feedback.Public, Body: body,
		}
		c.CreatedAt, c.UpdatedAt = c.ID.Time(), c.ID.Time()
		if err := insertComment(ctx, tx, accountID, c); err != nil {
			return err
		}
		if err := mentions.Answer(ctx, tx, s.ids, accountID, answered.Author.RowID(), c); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "UPDATE requests SET comments = comments + 1, reply_at = $2, "+touched+
			" WHERE account_id = $1 AND id = $3", accountID, c.CreatedAt, requestID)
		if err != nil {
			return err
		}
		return changelog.Record(ctx, tx, accountID, c.CreatedAt, feedback.Change{
			Kind: feedback.CommentCreated, Actor: feedback.Actor{Kind: feedback.ByAPIKey, ID: &r.AppID}, AppID: &r.AppID, RequestID: &r.ID,
			After: map[string]any{"comment_id": c.ID, "visibility": c.Visibility, "body": c.Body},
		})
	})
	return c, err
}

// latestPublic returns the latest public comments on a request, the last one first, and the one of the team
// that the person answers to: the last one on the request, or on the one that it is merged into. It is nil
// if there is none, or if the person has written MaxReplies since.
func latestPublic(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, r feedback.Request,
) (latest []feedback.Comment, answered *feedback.Comment, err error) {
	const public = "SELECT " + commentColumns +
		" WHERE c.account_id = $1 AND c.request_id = $2 AND c.visibility = 'public' AND c.person IS NULL"
	latest, err = database.All(ctx, tx, scanComment, public+" ORDER BY c.id DESC LIMIT CAST($3 AS BIGINT)", accountID, r.ID, MaxReplies)
	if err != nil {
		return nil, nil, err
	}
	if n := slices.IndexFunc(latest, func(c feedback.Comment) bool { return c.Author.Kind == feedback.ByTeam }); n >= 0 {
		answered = &latest[n]
	}
	if r.MergedIntoID != nil {
		ofRoot, err := database.All(ctx, tx, scanComment, public+" AND c.author_id <> $3 ORDER BY c.id DESC LIMIT 1",
			accountID, *r.MergedIntoID, feedback.ID{})
		if err != nil {
			return nil, nil, err
		}
		if len(ofRoot) > 0 && (answered == nil || answered.ID.Compare(ofRoot[0].ID) < 0) {
			answered = &ofRoot[0]
		}
	}
	if answered != nil && len(latest) == MaxReplies && answered.ID.Compare(latest[MaxReplies-1].ID) < 0 {
		answered = nil
	}
	return latest, answered, nil
}

// StatusLink returns the token of the link that shows a request to anyone who has it. It returns
// ErrRequestNotFound if the request does not exist or is in the bin.
func (s *Store) StatusLink(ctx context.Context, accountID, requestID, by feedback.ID) (token string, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		r, err := s.lockCommented(ctx, tx, accountID, requestID)
		if err != nil {
			return err
		}
		token, err = s.Readers.RequestLink(ctx, tx, accountID, r.AppID, requestID, by)
		return err
	})
	return token, err
}

// EndStatusLinks ends the link of StatusLink, and returns how many links there were. It returns
// ErrRequestNotFound if the request does not exist or is in the bin.
func (s *Store) EndStatusLinks(ctx context.Context, accountID, requestID feedback.ID) (n int64, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := s.lockCommented(ctx, tx, accountID, requestID); err != nil {
			return err
		}
		n, err = s.Readers.EndLinks(ctx, tx, accountID, requestID)
		return err
	})
	return n, err
}
