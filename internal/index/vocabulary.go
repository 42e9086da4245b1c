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
	// vocabularyFor is how long an app's vocabulary counts as fresh. It only affects typos
	// of newer words: words themselves are looked up in the index.
	vocabularyFor = 5 * time.Second
	// readingShare bounds the share of time spent on reading: a vocabulary stays fresh for
	// at least this many times as long as reading it took.
	readingShare = 20
	// vocabularyPage is how many words one statement reads, and maxVocabulary is how many
	// words are kept per app. maxVocabularies bounds all of them, at about 50 bytes a word.
	vocabularyPage  = 5000
	maxVocabulary   = 100_000
	maxVocabularies = 300_000
)

// vocabularies keeps the most recently used vocabularies.
type vocabularies struct {
	mu    sync.Mutex
	apps  map[feedback.ID]*appVocabulary
	clock int64 // counts uses
}

// appVocabulary is the vocabulary of one app. One caller at a time refreshes it.
type appVocabulary struct {
	reading chan struct{} // holds a value while a caller reads the vocabulary

	// The rest is guarded by vocabularies.mu.
	words  *search.Vocabulary
	seq    int64 // the progress of the index when the words were read
	readAt time.Time
	// freshFor is how long the words count as fresh after readAt.
	freshFor time.Duration
	used     int64
}

// vocabulary returns the words of an app. When they may have changed, one caller reads them
// again, and the others get the previous words in the meantime.
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

// readVocabulary reads an app's words, unless the index has not changed since.
func (x *Index) readVocabulary(ctx context.Context, accountID, appID feedback.ID, app *appVocabulary) (*search.Vocabulary, error) {
	v := &x.words
	v.mu.Lock()
	words, seq, fresh := app.words, app.seq, x.now().Sub(app.readAt) < app.freshFor
	v.mu.Unlock()
	if words != nil && fresh { // another caller read them while this one waited
		return words, nil
	}
	now := x.now()
	var last int64
	err := x.db.Reader().QueryRowContext(ctx, "SELECT COALESCE(MAX(seq), 0) FROM index_followed WHERE account_id = $1", accountID).Scan(&last)
	if err != nil {
		return nil, err
	}
	if words == nil || seq != last {
		if words, err = x.readWords(ctx, accountID, appID); err != nil {
			return nil, err
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	app.words, app.seq, app.readAt = words, last, now
	app.freshFor = max(vocabularyFor, readingShare*x.now().Sub(now))
	v.shrink(app)
	return words, nil
}

// readWords reads the words of an app's texts, and passes over those of its submitters.
func (x *Index) readWords(ctx context.Context, accountID, appID feedback.ID) (*search.Vocabulary, error) {
	words, read := &search.Vocabulary{}, 0
	for _, in := range []termRange{{"", personMark}, {personMark + afterAll, afterAll}} {
		for read < maxVocabulary {
			page, err := database.All(ctx, x.db.Reader(), database.One[string], "SELECT word FROM index_words"+
				" WHERE account_id = $1 AND app_id = $2 AND word > $3 AND word < $4 ORDER BY word LIMIT CAST($5 AS BIGINT)",
				accountID, appID, in.from, in.until, vocabularyPage)
			if err != nil {
				return nil, err
			}
			for _, word := range page {
				words.Add(word)
			}
			read += vocabularyPage // counts words that Add rejects, too
			if len(page) < vocabularyPage {
				break
			}
			in.from = page[len(page)-1]
		}
	}
	return words, nil
}

// shrink drops the least recently used vocabularies, except keep.
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
