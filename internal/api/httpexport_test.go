package api

import (
	"bufio"
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"gatherkit/internal/export"
	"gatherkit/internal/feedback"
	"gatherkit/internal/store/storetest"
)

func execute(t testing.TB, db *sql.DB, statement string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// copies stores n older copies of {request}, each with an event for its creation.
func (s *service) copies(at storetest.Place, db *sql.DB, n int) {
	s.t.Helper()
	series, id := "generate_series(1, %d) AS i(n)", "(lpad(to_hex(%d + n), 12, '0') || '70008' || lpad(to_hex(n), 15, '0'))::uuid"
	if at.Name == "sqlite" {
		series = "(WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < %d) SELECT n FROM i)"
		id = "unhex(printf('%%012x70008%%015x', %d + n, n))"
	}
	series, id = fmt.Sprintf(series, n), fmt.Sprintf(id, s.clock.Now().Add(-time.Hour).UnixMilli())
	const copied = "account_id, app_id, box, status, title, description, submitter_verified, tags, votes, comments, " +
		"metadata, source, version, created_at, updated_at"
	request, err := feedback.ParseID(s.names["request"])
	if err != nil {
		s.t.Fatal(err)
	}
	execute(s.t, db, "INSERT INTO requests (id, "+copied+") SELECT "+id+", "+copied+
		" FROM "+series+" CROSS JOIN requests r WHERE r.id = $1", dbID(at, request))
	execute(s.t, db, "INSERT INTO changes (account_id, seq, at, kind, actor_kind, actor_id, app_id, request_id)"+
		" SELECT account_id, 1000000 + n, at, kind, actor_kind, actor_id, app_id, "+id+
		" FROM "+series+" CROSS JOIN changes c WHERE c.request_id = $1 AND c.kind = 'request.created'", dbID(at, request))
	execute(s.t, db, fmt.Sprintf("UPDATE request_counts SET n = n + %d WHERE n > 0", n))
	execute(s.t, db, "ANALYZE")
}

// dbID returns an id in the form that the database's driver accepts.
func dbID(at storetest.Place, id feedback.ID) any {
	if at.Name == "sqlite" {
		return id[:]
	}
	return id.String()
}

// reader reads a download and measures the memory in use from time to time.
type reader struct {
	header      http.Header
	status      int
	lines, sent int
	looked      int
	peak        uint64
	parts       map[string]int
}

func (r *reader) Header() http.Header { return r.header }

func (r *reader) WriteHeader(status int) { r.status = status }

func (r *reader) Flush() {}

func (r *reader) Write(b []byte) (int, error) {
	r.lines += bytes.Count(b, []byte("\n"))
	for part := range r.parts {
		r.parts[part] += strings.Count(string(b), part)
	}
	if r.sent += len(b); r.sent-r.looked > 2<<20 {
		r.looked = r.sent
		r.peak = max(r.peak, heap())
	}
	return len(b), nil
}

func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// TestExportMemory: an export of more than 10 MiB, including a request with thousands of
// votes and comments, uses at most 4 MiB of memory.
func TestExportMemory(t *testing.T) {
	storetest.EachInTurn(t, func(t *testing.T, at storetest.Place) {
		const most, size, hot = 4 << 20, 3000, 3000
		s, db := newService(t, at), at.Raw(t)
		long := strings.Repeat("My eyes hurt at night. ", 160)
		sent := s.must("widget-submit-request", "key", `{"title":"Dark mode","description":"`+long+`"}`)
		s.names["request"] = sent["request"].(map[string]any)["id"].(string)
		s.copies(at, db, size)
		s.names["hot"] = s.submit("Hot")
		id, err := feedback.ParseID(s.names["hot"])
		if err != nil {
			t.Fatal(err)
		}
		for _, statement := range []string{
			`INSERT INTO votes (account_id, request_id, person, verified, source, created_at)
				SELECT account_id, $1, 'e:' || seq, verified, 'widget', 0
				FROM changes, (SELECT submitter_verified AS verified FROM requests WHERE id = $1) AS r`,
			`INSERT INTO comments (account_id, request_id, id, author_id, visibility, body, created_at, updated_at)
				SELECT account_id, $1, request_id, account_id, 'internal', kind || ' ' || seq, 0, 0 FROM changes`,
		} {
			execute(t, db, statement+fmt.Sprintf(" WHERE seq > 1000000 AND seq <= 1000000 + %d", hot), dbID(at, id))
		}
		execute(t, db, fmt.Sprintf("UPDATE requests SET votes = %d, comments = %d WHERE id = $1", hot, hot), dbID(at, id))
		for _, format := range []string{"csv", "jsonl"} {
			r := &reader{header: http.Header{}, parts: map[string]int{`"person":"e:`: 0, `"author":`: 0}}
			link := s.link(`{"format":"` + format + `"}`)
			before := heap()
			s.api.ServeHTTP(r, httptest.NewRequest(http.MethodGet, link, http.NoBody))
			want := size + 2
			if format == "csv" {
				want++
			}
			t.Logf("%s: %d MiB sent, %d KiB at the peak", format, r.sent>>20, (int64(r.peak)-int64(before))>>10)
			if r.lines != want || r.sent < size*len(long) || int64(r.peak)-int64(before) > most {
				t.Errorf("%s: status %d, %d lines, %d bytes; %d bytes of memory at the peak",
					format, r.status, r.lines, r.sent, int64(r.peak)-int64(before))
			}
			// Some parts are split between two writes and are not counted.
			for part, n := range r.parts {
				if format == "jsonl" && (n > hot || n < hot-hot/100) {
					t.Errorf("%d of %s, want %d", n, part, hot)
				}
			}
		}
	})
}

// TestExportOutlastsTheServersTime: the timeouts of the server do not end an export as long
// as the client reads it. The server's write timeout is a minute, but a millisecond here.
func TestExportOutlastsTheServersTime(t *testing.T) {
	at := storetest.SQLite(t)
	s := newService(t, at)
	s.names["request"] = s.submit("Dark mode")
	s.copies(at, at.Raw(t), 5000)
	server := httptest.NewUnstartedServer(s.api)
	server.Config.WriteTimeout, server.Config.ReadTimeout = time.Millisecond, 50*time.Millisecond
	server.Config.ReadHeaderTimeout = time.Minute
	server.Start()
	defer server.Close()
	for _, format := range []string{"csv", "jsonl"} {
		response, err := http.Get(server.URL + s.link(`{"format":"`+format+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		lines := 0
		scanner := bufio.NewScanner(response.Body)
		for scanner.Scan() {
			lines++
		}
		if err := errors.Join(scanner.Err(), response.Body.Close()); err != nil || lines < 5001 || len(response.TransferEncoding) != 1 {
			t.Errorf("%s: %d lines, %v, %v", format, lines, response.TransferEncoding, err)
		}
	}
}

// TestExportBreaksOff: if an export fails in the middle, the client notices that the download
// is incomplete. If it fails at the start, the answer is an envelope.
func TestExportBreaksOff(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s, db := newService(t, at), at.Raw(t)
		s.names["request"] = s.submit("Dark mode")
		s.copies(at, db, 2*export.Page)
		server := httptest.NewServer(s.api)
		defer server.Close()
		// This row, at the end of the last page, cannot be read.
		execute(t, db, "UPDATE requests SET tags = '{' WHERE id = (SELECT id FROM requests ORDER BY id LIMIT 1)")
		for _, format := range []string{"csv", "jsonl"} {
			response, err := http.Get(server.URL + s.link(`{"format":"`+format+`"}`))
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(response.Body)
			if !errors.Is(err, io.ErrUnexpectedEOF) || response.StatusCode != http.StatusOK || strings.Count(string(text), "\n") < export.Page {
				t.Errorf("%s: %d, %d bytes, %v", format, response.StatusCode, len(text), err)
			}
			if err := response.Body.Close(); err != nil {
				t.Error(err)
			}
		}
		execute(t, db, "UPDATE requests SET tags = '{'")
		got := s.open(http.MethodGet, s.link(`{"format":"csv"}`))
		if got.status != http.StatusInternalServerError || got.code(t) != "api.internal" || got.header.Get("Content-Disposition") != "" {
			t.Errorf("%d %s", got.status, got.body)
		}
	})
}

// TestExportWhileItChanges: if requests are added, removed and changed during an export, it
// contains those that existed all the time exactly once, and none twice.
func TestExportWhileItChanges(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s, db := newService(t, at), at.Raw(t)
		s.names["request"] = s.submit("Dark mode")
		s.copies(at, db, 4*export.Page)
		var ids []string
		rows, err := db.QueryContext(t.Context(), "SELECT id FROM requests ORDER BY id DESC")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close() //nolint:errcheck // rows.Err is checked below
		for rows.Next() {
			var id feedback.ID
			if err := rows.Scan(&id); err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id.String())
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		for _, format := range []string{"csv", "jsonl"} {
			r := &meddler{reader: reader{header: http.Header{}}}
			gone := map[string]bool{}
			r.meddle = func(n int) {
				s.submit("New")
				s.must("votes-add", "member", `{"request_id":"`+ids[len(ids)-2]+`","email":"`+fmt.Sprint(format, n)+`@example.com"}`)
				s.must("requests-update", "member", `{"id":"`+ids[n]+`","title":"Changed"}`)
				if last := ids[len(ids)-10-n]; len(gone) < 3 {
					s.must("requests-delete", "member", `{"id":"`+last+`"}`)
					gone[last] = true
				}
			}
			s.api.ServeHTTP(r, httptest.NewRequest(http.MethodGet, s.link(`{"format":"`+format+`"}`), http.NoBody))
			text := r.text.String()
			for _, id := range ids[1:] {
				n := strings.Count(text, "\n\""+id+"\",") // the start of a row
				if format == "jsonl" {
					n = strings.Count(text, `{"request":{"id":"`+id+`"`)
				}
				if n != 1 && !gone[id] || n > 1 {
					t.Fatalf("%s: %s is in it %d times", format, id, n)
				}
			}
			for id := range gone {
				s.must("requests-restore", "member", `{"id":"`+id+`"}`)
			}
			if r.calls < 3 || len(gone) != 3 {
				t.Errorf("%d calls, %d gone", r.calls, len(gone))
			}
		}
	})
}

// meddler makes a change whenever it receives a part of a download.
type meddler struct {
	reader
	text   bytes.Buffer
	calls  int
	meddle func(n int)
}

func (m *meddler) Write(b []byte) (int, error) {
	m.text.Write(b)
	m.calls++
	m.meddle(m.calls)
	return len(b), nil
}
