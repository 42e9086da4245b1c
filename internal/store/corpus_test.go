package store_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
)

// pair is a question and the title that it means; both are of testdata/similar.tsv.
type pair struct{ language, kind, question, title string }

func readPairs(t testing.TB) (pairs []pair) {
	t.Helper()
	for _, fields := range readTable(t, "similar.tsv", 4) {
		pairs = append(pairs, pair{fields[0], fields[1], fields[2], fields[3]})
	}
	return pairs
}

func readTable(t testing.TB, file string, columns int) (rows [][]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) != columns {
			t.Fatalf("%s: %q", file, line)
		}
		rows = append(rows, fields)
	}
	return rows
}

// distractors makes n different titles with descriptions, in five languages alike.
func distractors(t testing.TB, n int) (requests []feedback.Request) {
	t.Helper()
	parts := map[string][]string{}
	var languages []string
	for _, fields := range readTable(t, "distractors.tsv", 3) {
		language, part, text := fields[0], fields[1], fields[2]
		if len(languages) == 0 || languages[len(languages)-1] != language {
			languages = append(languages, language)
		}
		parts[language+part] = append(parts[language+part], strings.Split(text, ";")...)
	}
	random := rand.New(rand.NewPCG(1, 2))
	sentence := func(language string) string {
		one := func(part string) string {
			list := parts[language+part]
			return list[random.IntN(len(list))]
		}
		text := strings.NewReplacer("{what}", one("what"), "{where}", one("where"), "{whom}", one("whom")).Replace(one("form"))
		first, size := utf8.DecodeRuneInString(text)
		return string(unicode.ToUpper(first)) + text[size:]
	}
	seen := map[string]bool{}
	for len(requests) < n {
		language := languages[len(requests)%len(languages)]
		if title := sentence(language); !seen[title] {
			seen[title] = true
			requests = append(requests, feedback.NewRequest(title, sentence(language)+". "+sentence(language)+"."))
		}
	}
	return requests
}

// corpus is the titles of the pairs at random places among n distractors.
func corpus(t testing.TB, n int) []feedback.Request {
	t.Helper()
	requests := distractors(t, n)
	for _, p := range readPairs(t) {
		requests = append(requests, feedback.NewRequest(p.title, ""))
	}
	rand.New(rand.NewPCG(3, 4)).Shuffle(len(requests), func(i, j int) { requests[i], requests[j] = requests[j], requests[i] })
	return requests
}

// stored writes requests of an app behind the store's back, as old as they are many
// milliseconds.
func (r *rig) stored(app feedback.App, requests []feedback.Request) {
	r.t.Helper()
	var last int64
	if err := r.raw.QueryRowContext(ctx, "SELECT last FROM account_seq WHERE account_id = $1", app.AccountID).Scan(&last); err != nil {
		r.t.Fatal(err)
	}
	var rows, changes [][]any
	for i, request := range requests {
		id := feedback.FirstIDAt(bigFirst.Add(time.Duration(last+int64(i)) * time.Millisecond))
		rows = append(rows, []any{
			app.AccountID, id, app.ID, string(request.Box), string(request.Status), request.Title, request.Description, false, "[]", request.Votes, 0, "{}", "widget", 1, 0, 0,
		})
		changes = append(changes, []any{app.AccountID, last + 1 + int64(i), 0, string(feedback.RequestCreated), feedback.ByAPIKey, app.ID, id})
	}
	r.insert("requests", "account_id, id, app_id, box, status, title, description, submitter_verified, tags, votes, comments, metadata, source, version, created_at, updated_at", rows)
	r.insert("changes", "account_id, seq, at, kind, actor_kind, app_id, request_id", changes)
	for _, statement := range []string{
		fmt.Sprintf("UPDATE account_seq SET last = last + %d WHERE account_id = $1", len(requests)),
		fmt.Sprintf("UPDATE request_counts SET n = n + %d WHERE account_id = $1 AND app_id = $2 AND box = 'live' AND status = 'opened'", len(requests)),
	} {
		args := []any{app.AccountID, app.ID}
		if _, err := r.raw.ExecContext(ctx, statement, args[:strings.Count(statement, "$")]...); err != nil {
			r.t.Fatal(err)
		}
	}
}

// insert writes rows into a table.
func (r *rig) insert(into, columns string, rows [][]any) {
	r.t.Helper()
	const chunk = 500
	for len(rows) > 0 {
		n := min(chunk, len(rows))
		var args []any
		marks := make([]string, n)
		for i, row := range rows[:n] {
			places := make([]string, len(row))
			for j := range row {
				places[j] = "?" // SQLite takes the square of the time for numbered ones
				if r.at.Name == "postgres" {
					places[j] = fmt.Sprintf("$%d", len(args)+j+1)
				}
			}
			marks[i] = "(" + strings.Join(places, ",") + ")"
			args = append(args, row...)
		}
		if _, err := r.raw.ExecContext(ctx, "INSERT INTO "+into+" ("+columns+") VALUES "+strings.Join(marks, ","), args...); err != nil {
			r.t.Fatal(err)
		}
		rows = rows[n:]
	}
}

// index lets the index follow to the end of the logs, and vocabularies be read again.
func (r *rig) index() {
	r.t.Helper()
	var next feedback.ID
	for more := true; more; {
		var err error
		if next, more, err = r.Index.Follow(ctx, next, index.Chunk); err != nil {
			r.t.Fatal(err)
		}
	}
	r.clock.Move(time.Minute)
}

// copyWords gives an app the words of another one.
func (r *rig) copyWords(from, to feedback.App) {
	r.t.Helper()
	for table, columns := range map[string]string{"request_words": "word, id", "word_counts": "word, n"} {
		if _, err := r.raw.ExecContext(ctx, "INSERT INTO "+table+" (account_id, app_id, "+columns+") SELECT account_id, $1, "+columns+
			" FROM "+table+" WHERE account_id = $2 AND app_id = $3", to.ID, from.AccountID, from.ID); err != nil {
			r.t.Fatal(err)
		}
	}
}
