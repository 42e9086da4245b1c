package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"gatherkit/internal/feedback"
)

// speech makes texts as people write them: a few words are in most of them, and most
// words in few. It makes the same ones in every run.
type speech struct {
	random *rand.Rand
	often  *rand.Zipf
	words  []string
}

func newSpeech() *speech {
	random := rand.New(rand.NewPCG(1, 2))
	syllables := []string{"ba", "ce", "di", "for", "gu", "ha", "il", "jo", "ka", "lem", "mi", "no", "op", "per", "qua", "ri", "sta", "tu", "ver", "win", "xe", "yo", "zan"}
	s := &speech{random: random, often: rand.NewZipf(random, 1.1, 3, 7999)}
	for range 8000 {
		word := ""
		for range 2 + random.IntN(3) {
			word += syllables[random.IntN(len(syllables))]
		}
		s.words = append(s.words, word)
	}
	return s
}

func (s *speech) say(least, most int) string {
	said := make([]string, least+s.random.IntN(most-least+1))
	for i := range said {
		said[i] = s.words[s.often.Uint64()]
	}
	return strings.Join(said, " ")
}

// ask is how somebody else would say it: in another order, without a word, and with two
// letters in one of the others swapped.
func (s *speech) ask(title string) string {
	words := strings.Fields(title)
	s.random.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	words = words[1:]
	letters := []byte(words[0])
	i := 1 + s.random.IntN(len(letters)-2)
	letters[i], letters[i+1] = letters[i+1], letters[i]
	words[0] = string(letters)
	return strings.Join(words, " ")
}

// seedTexts adds so many requests to an app, with the changes that the index follows,
// and returns some of their titles.
func (r rig) seedTexts(ctx context.Context, s *speech, app string, n, salt int) ([]string, error) {
	var me struct{ Account struct{ ID feedback.ID } }
	if err := r.call(ctx, "auth-me", "", &me); err != nil {
		return nil, err
	}
	appID, err := feedback.ParseID(app)
	if err != nil {
		return nil, err
	}
	account := me.Account.ID
	tx, err := r.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit it does nothing
	var last int64
	if err := tx.QueryRowContext(ctx, "UPDATE account_seq SET last = last + $1 WHERE account_id = $2 RETURNING last", n, account).Scan(&last); err != nil {
		return nil, err
	}
	var titles []string
	var requests, changes [][]any
	for i := range n {
		id := feedback.FirstIDAt(time.UnixMilli(1_600_000_000_000 + int64(salt+i)))
		title := s.say(3, 8)
		if i%(1+n/500) == 0 {
			titles = append(titles, title)
		}
		requests = append(requests, []any{account, id, appID, "live", "opened", title, s.say(8, 30), false, "[]", 1, 0, "{}", "widget", 1, 0, 0})
		changes = append(changes, []any{account, last - int64(n) + int64(i) + 1, 0, "request.created", "api_key", appID, id})
	}
	for _, insert := range []struct {
		into string
		rows [][]any
	}{
		{"requests (account_id, id, app_id, box, status, title, description, submitter_verified, tags, votes, comments, metadata, source, version, created_at, updated_at)", requests},
		{"changes (account_id, seq, at, kind, actor_kind, app_id, request_id)", changes},
	} {
		for chunk := range slices.Chunk(insert.rows, 500) {
			if _, err := tx.ExecContext(ctx, "INSERT INTO "+insert.into+" VALUES "+rows(len(chunk), len(chunk[0]), r.driver == "pgx"), slices.Concat(chunk...)...); err != nil {
				return nil, fmt.Errorf("seed %d requests: %w", n, err)
			}
		}
	}
	return titles, errors.Join(tx.Commit(), settle(ctx, r.db, r.database))
}
