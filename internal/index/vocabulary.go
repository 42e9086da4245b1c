package index

import (
	"context"
	"sync"
	"time"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/search"
)

const (
	// vocabularyFor is how long an app's vocabulary is taken to be up to date. Only slips
	// of words that are newer than that are not understood: words as they are written are
	// looked up in the index.
	vocabularyFor = 5 * time.Second
	// readingShare bounds the time for reading a vocabulary: it is up to date for so many
	// times as long as the reading has taken.
	readingShare = 20
	// vocabularyPage is how many words are read at a time, and maxVocabulary how many are
	// kept of one app; maxVocabularies bounds the memory of all, about 50 bytes a word.
	vocabularyPage  = 5000
	maxVocabulary   = 100_000
	maxVocabularies = 300_000
)

// vocabularies keeps those of the apps that were asked for last.
type vocabularies struct {
	mu    sync.Mutex
	apps  map[feedback.ID]*appVocabulary
	clock int64 // counts uses
}

// appVocabulary is the vocabulary of one app, which one caller at a time reads anew.
type appVocabulary struct {
	reading chan struct{} // holds one value while somebody does

	// The rest is guarded by vocabularies.mu.
	words  *search.Vocabulary
	seq    int64 // of the log, to which the index had come
	readAt time.Time
	// freshFor is how long after readAt they are taken to be up to date.
	freshFor time.Duration
	used     int64
}

// vocabulary returns the words of an app. When they may have changed one caller reads
// them again, and those who come meanwhile get what was there before.
func (x *Index) vocabulary(ctx context.Context, accountID, appID feedback.ID) (*search.Vocabulary, error) {
	v := &x.words
	v.mu.Lock()
	if v.apps == nil {
		v.apps = map[feedback.ID]*appVocabulary{}
	}
	app := v.apps[appID]
	if app == nil {
		app = &appVocabulary{reading: make(chan struct{}, 1)}
		v.apps[appID] = app
	}
	v.clock++
	app.used = v.clock
	words, fresh := app.words, x.now().Sub(app.readAt) < app.freshFor
	v.mu.Unlock()
	if words != nil && fresh {
		return words, nil
	}
	select {
	case app.reading <- struct{}{}:
	default:
		if words != nil {
			return words, nil
		}
		select {
		case app.reading <- struct{}{}:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	defer func() { <-app.reading }()
	return x.readVocabulary(ctx, accountID, appID, app)
}

// readVocabulary reads an app's words, unless the index is as it was.
func (x *Index) readVocabulary(ctx context.Context, accountID, appID feedback.ID, app *appVocabulary) (*search.Vocabulary, error) {
	v := &x.words
	v.mu.Lock()
	words, seq, fresh := app.words, app.seq, x.now().Sub(app.readAt) < app.freshFor
	v.mu.Unlock()
	if words != nil && fresh { // somebody has, while this one waited
		return words, nil
	}
	now := x.now()
	var last int64
	if err := x.db.Reader().QueryRowContext(ctx, "SELECT COALESCE(MAX(seq), 0) FROM index_progress"+
		" WHERE account_id = $1", accountID).Scan(&last); err != nil {
		return nil, err
	}
	if words == nil || seq != last {
		words = &search.Vocabulary{}
		after := ""
		for read := 0; read < maxVocabulary; read += vocabularyPage { // also those that Add leaves out
			page, err := database.All(ctx, x.db.Reader(), database.One[string], "SELECT word FROM word_counts"+
				" WHERE account_id = $1 AND app_id = $2 AND word > $3 ORDER BY word LIMIT CAST($4 AS BIGINT)",
				accountID, appID, after, vocabularyPage)
			if err != nil {
				return nil, err
			}
			for _, word := range page {
				words.Add(word)
			}
			if len(page) < vocabularyPage {
				break
			}
			after = page[len(page)-1]
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	app.words, app.seq, app.readAt = words, last, now
	app.freshFor = max(vocabularyFor, readingShare*x.now().Sub(now))
	v.shrink(app)
	return words, nil
}

// shrink drops the vocabularies that were not asked for the longest, except keep.
func (v *vocabularies) shrink(keep *appVocabulary) {
	for {
		total := 0
		var oldest *appVocabulary
		var oldestID feedback.ID
		for id, app := range v.apps {
			if app.words == nil {
				continue
			}
			total += app.words.Len() + 100 // for the app itself
			if app != keep && (oldest == nil || app.used < oldest.used) {
				oldest, oldestID = app, id
			}
		}
		if total <= maxVocabularies || oldest == nil {
			return
		}
		delete(v.apps, oldestID)
	}
}
