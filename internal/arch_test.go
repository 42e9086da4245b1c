package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// imports says which packages of the module, and which others than the standard
// library's, each package may import; "*" stands for any other.
var imports = map[string][]string{
	// It measures the service from outside, and the databases without the service. It uses the
	// store only to add accounts.
	"bench": {"internal/batch", "internal/feedback", "internal/sessions", "internal/store", "internal/store/storetest", "internal/team", "*"},
	"cmd/gatherkit": {
		"docs",
		"internal/api", "internal/blob", "internal/config", "internal/database", "internal/durable", "internal/fair", "internal/feedback",
		"internal/index", "internal/mail", "internal/manual", "internal/mcp", "internal/password", "internal/quota", "internal/remote",
		"internal/store", "internal/team", "internal/views", "internal/webhook", "web", "*",
	},
	"docs": {},
	// It is an example, so it knows only what is documented.
	"docs/examples/feedcopy": {"modernc.org/sqlite"},
	"e2e/program":            {"internal/store/storetest"},
	"internal/api": {
		"docs",
		"internal/attempts", "internal/blob", "internal/board", "internal/calls", "internal/entries", "internal/events", "internal/export",
		"internal/fair", "internal/feedback", "internal/headers", "internal/quota",
		"internal/identity", "internal/index", "internal/limits", "internal/lists", "internal/mail", "internal/metrics",
		"internal/pace", "internal/pages", "internal/params", "internal/password", "internal/portal", "internal/rate",
		"internal/readers",
		"internal/search", // for texts that are in no database
		"internal/sessions", "internal/signed", "internal/spam", "internal/static", "internal/store", "internal/team", "internal/templates",
		"internal/tokens", "internal/usage", "internal/views",
		"internal/visitors", "internal/webhook", "*",
	},
	"internal/access":   {},
	"internal/aside":    {"internal/database", "internal/feedback", "internal/sweep"},
	"internal/attempts": {"internal/database", "internal/fair", "internal/feedback"},
	"internal/batch":    {"internal/fair"},
	"internal/blob": {
		"internal/access", "internal/durable", "internal/feedback", "github.com/gabriel-vasile/mimetype", "github.com/minio/minio-go",
		"golang.org/x/image", "golang.org/x/sync",
	},
	"internal/board": {
		"internal/changelog", "internal/database", "internal/entries", "internal/feedback", "internal/index", "internal/row", "internal/search",
		"internal/visitors",
	},
	"internal/calls": {
		"internal/fair", "internal/feedback", "internal/headers", "internal/limits", "internal/metrics", "internal/pace", "internal/password",
	},
	"internal/changelog": {"internal/database", "internal/feedback"},
	"internal/config":    {"internal/feedback", "internal/quota", "github.com/alecthomas/kong", "golang.org/x/net"},
	"internal/deadline":  {}, // every package may import it
	"internal/database": {
		"internal/access", "internal/batch", "internal/durable", "internal/fair", "github.com/jackc/pgx", "modernc.org/sqlite",
	},
	"internal/durable": {},
	"internal/entries": {
		"internal/aside", "internal/changelog", "internal/database", "internal/feedback", "internal/readers", "internal/row",
	},
	"internal/events":   {"internal/changelog", "internal/database", "internal/feedback"},
	"internal/export":   {"internal/fair", "internal/feedback", "internal/params", "internal/store"},
	"internal/fair":     {},
	"internal/headers":  {"internal/fair", "internal/feedback", "github.com/rs/cors"},
	"internal/identity": {"internal/feedback", "internal/params", "github.com/golang-jwt/jwt"},
	"internal/feedback": {"github.com/rivo/uniseg", "golang.org/x/net", "golang.org/x/text"},
	"internal/index": {
		"internal/aside", "internal/changelog", "internal/database", "internal/fair", "internal/feedback", "internal/row", "internal/search",
		"internal/sweep",
	},
	"internal/lease":  {"internal/database", "internal/feedback", "internal/sweep"},
	"internal/limits": {"internal/fair", "internal/feedback", "internal/rate"},
	"internal/links":  {"internal/database", "internal/feedback"},
	"internal/lists":  {"internal/feedback", "internal/index", "internal/params", "internal/signed", "github.com/danielgtaylor/huma"},
	"internal/mail": {
		"internal/aside", "internal/changelog", "internal/rate",
		"internal/database", "internal/feedback", "internal/lease", "internal/portal", "internal/quota", "internal/readers", "internal/signed",
		"internal/sweep", "internal/usage", "github.com/prometheus/client_golang", "github.com/wneessen/go-mail",
	},
	"internal/mail/mailtest": {"github.com/emersion/go-sasl", "github.com/emersion/go-smtp"},
	"internal/manual":        {"github.com/alecthomas/kong"},
	"internal/mentions":      {"internal/database", "internal/feedback"},
	"internal/openapi":       {"internal/feedback", "internal/params", "github.com/danielgtaylor/huma"},
	"internal/pace":          {},
	"internal/pages": {
		"internal/blob", "internal/board", "internal/calls", "internal/entries", "internal/feedback", "internal/headers", "internal/index",
		"internal/limits",
		"internal/lists", "internal/mail", "internal/params", "internal/portal", "internal/readers", "internal/search", "internal/signed",
		"internal/spam",
		"internal/store", "internal/visitors",
	},
	"internal/quota": {
		"internal/changelog", "internal/database", "internal/feedback", "github.com/dustin/go-humanize",
	},
	"internal/params":   {"internal/feedback", "github.com/danielgtaylor/huma", "github.com/go-json-experiment/json"},
	"internal/metrics":  {"internal/blob", "internal/feedback", "github.com/prometheus/client_golang"},
	"internal/password": {"internal/fair", "golang.org/x/crypto"},
	"internal/portal":   {"internal/feedback", "github.com/yuin/goldmark", "golang.org/x/image", "golang.org/x/text"},
	"internal/sessions": {"internal/attempts", "internal/database", "internal/feedback", "internal/sweep"},
	"internal/signed":   {"internal/feedback"},
	"internal/spam":     {"internal/feedback", "internal/search"},
	"internal/static":   {"internal/headers"},
	"internal/rate":     {"internal/fair", "internal/feedback"},
	"internal/search":   {"golang.org/x/net", "golang.org/x/text"},
	"internal/mcp": {
		"internal/calls", "internal/fair", "internal/feedback", "internal/headers", "github.com/modelcontextprotocol/go-sdk",
	},
	"internal/readers": {"internal/database", "internal/feedback", "internal/sweep"},
	"internal/remote":  {},
	"internal/row":     {"internal/database", "internal/feedback"},
	"internal/sweep":   {"internal/database", "internal/feedback"},
	"internal/team": {
		"internal/attempts", "internal/changelog", "internal/database", "internal/feedback", "internal/quota", "internal/sessions",
		"internal/sweep",
	},
	"internal/templates": {"internal/database", "internal/feedback"},
	"internal/tokens":    {"internal/changelog", "internal/database", "internal/feedback"},
	"internal/uploads":   {"internal/database", "internal/feedback", "internal/quota", "internal/sweep"},
	"internal/usage":     {"internal/database", "internal/feedback", "internal/sweep"},
	"internal/views":     {"internal/database", "internal/feedback"},
	"internal/visitors":  {"internal/database", "internal/feedback", "internal/sweep"},
	"internal/webhook": {
		"internal/changelog", "internal/database", "internal/events", "internal/fair", "internal/feedback", "internal/sweep",
		"internal/quota", "code.dny.dev/ssrf", "github.com/prometheus/client_golang",
	},
	"internal/store": {
		"internal/aside",
		"internal/attempts", "internal/batch", "internal/board", "internal/changelog", "internal/database", "internal/entries",
		"internal/events", "internal/fair", "internal/feedback",
		"internal/index", "internal/lease", "internal/links", "internal/mail", "internal/mentions", "internal/quota", "internal/readers",
		"internal/row",
		"internal/sessions", "internal/sweep", "internal/team", "internal/templates", "internal/tokens", "internal/uploads",
		"internal/usage", "internal/views",
		"internal/visitors", "internal/webhook", "golang.org/x/sync",
	},
	"internal/store/storetest": {
		"internal/feedback", "internal/index", "internal/store", "internal/team", "github.com/google/go-cmp", "github.com/jackc/pgx",
	},
	"internal/store/storetest/postgres": {"internal/store/storetest"},
	"release":                           {},
	"web":                               {"docs", "internal/portal", "internal/static", "*"},
}

// only says which files may import a package, and what is below it. Every package may
// import database/sql/driver: with its interfaces a type says how a database is to hold it.
var only = map[string]*regexp.Regexp{
	"net/http": regexp.MustCompile(`^(bench/|cmd/|docs/examples/|e2e/|web/|internal/(api/(api|http\w*)\.go$|` +
		`blob/(bucket|credentials)\.go$|calls/|headers/|mcp/|pace/|pages/|remote/|static/|webhook/))`),
	"database/sql": regexp.MustCompile(`^(bench/|docs/examples/|internal/(` +
		`aside|attempts|board|changelog|database|entries|index|lease|links|mail|mentions|quota|readers|sessions|store|sweep|team|` +
		`templates|tokens|uploads|usage|views|visitors|webhook)/)`),
	"github.com/jackc/pgx": drivers,
	"modernc.org/sqlite":   drivers,
}

// drivers are the files that may know which database it is.
var drivers = regexp.MustCompile(`^(bench/|docs/examples/|internal/database/|internal/store/storetest/)`)

func TestArchitecture(t *testing.T) {
	for _, violation := range violations(t, os.DirFS("..")) {
		t.Error(violation)
	}
}

// TestViolations shows that each rule is kept.
func TestViolations(t *testing.T) {
	const timed = "package a\nconst long = time.Minute\nvar longer = deadline.Of(time.Hour)\nfunc f(ctx context.Context, d time.Duration) {"
	for name, test := range map[string]struct {
		file, source string
		violated     bool
	}{
		"module":            {"internal/feedback/a.go", `package a; import _ "gatherkit/internal/store"`, true},
		"module, allowed":   {"internal/api/a.go", `package a; import _ "gatherkit/internal/store"`, false},
		"module, deeper":    {"internal/api/a.go", `package a; import _ "gatherkit/internal/store/storetest"`, true},
		"other":             {"internal/batch/a.go", `package a; import _ "golang.org/x/sync"`, true},
		"other, allowed":    {"internal/password/a.go", `package a; import _ "golang.org/x/crypto/argon2"`, false},
		"other, alike":      {"internal/password/a.go", `package a; import _ "golang.org/x/cryptography"`, true},
		"only here":         {"internal/api/login.go", `package a; import _ "net/http/httptrace"`, true},
		"only here, does":   {"internal/api/httpraw.go", `package a; import _ "net/http"`, false},
		"SQL":               {"web/a.go", `package a; import _ "database/sql"`, true},
		"SQL, allowed":      {"internal/store/a.go", `package a; import _ "database/sql"`, false},
		"database's driver": {"cmd/gatherkit/a.go", `package a; import _ "github.com/jackc/pgx/v5"`, true},
		"its other driver":  {"internal/store/a.go", `package a; import _ "modernc.org/sqlite/lib"`, true},
		"drivers, allowed":  {"internal/database/a.go", `package a; import (_ "github.com/jackc/pgx/v5"; _ "modernc.org/sqlite")`, false},
		"driver is free":    {"internal/feedback/a.go", `package a; import _ "database/sql/driver"`, false},
		"tests are free":    {"web/a_test.go", `package a; import _ "database/sql"`, false},
		"no row":            {"internal/new/a.go", `package a`, true},
		"no row, test only": {"internal/new/a_test.go", `package a`, false},
		"correlated":        {"internal/store/a.go", "package a\nconst q = `(SELECT 1 FROM users u WHERE u.account_id = c.account_id)`", true},
		"joined":            {"internal/store/a.go", "package a\nconst q = `JOIN users u ON u.account_id = c.account_id`", false},
		"bare duration":     {"web/a.go", timed + "context.WithTimeout(ctx, 5*time.Second)}", true},
		"bare constant":     {"web/a.go", timed + "time.AfterFunc(long, nil)}", true},
		"bare deadline":     {"web/a.go", timed + "c.SetDeadline(time.Now().Add(long))}", true},
		"bare setting":      {"web/a.go", timed + "http.Server{ReadTimeout: time.Minute}}", true},
		"deadline":          {"web/a.go", timed + "context.WithTimeout(ctx, longer+deadline.Of(time.Second))}", false},
		"given duration":    {"web/a.go", timed + "context.WithTimeout(ctx, d)}", false},
		"pause":             {"web/a.go", timed + "time.NewTicker(time.Second)}", false},
		"not the module's":  {"e2e/node_modules/a/a.go", timed + "time.AfterFunc(long, nil)}", false},
		"another module":    {"clients/go/a.go", timed + "time.AfterFunc(long, nil)}", false},
	} {
		t.Run(name, func(t *testing.T) {
			found := violations(t, fstest.MapFS{test.file: {Data: []byte(test.source)}})
			if len(found) > 0 != test.violated {
				t.Errorf("found %q", found)
			}
		})
	}
}

// TestRequirements checks that go.mod says which modules only tests need.
func TestRequirements(t *testing.T) {
	file, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "gatherkit/cmd/gatherkit").Output()
	if err != nil {
		t.Fatal(err)
	}
	shipped := strings.Fields(string(out))
	direct := regexp.MustCompile(`(?m)^\t(\S+) v\S+$`)
	ships, tests, _ := strings.Cut(string(file), "\n// Only tests need these.\n")
	for _, module := range direct.FindAllStringSubmatch(ships, -1) {
		if !slices.Contains(shipped, module[1]) {
			t.Errorf("go.mod: only tests need %s; move it to their block", module[1])
		}
	}
	for _, module := range direct.FindAllStringSubmatch(tests, -1) {
		if slices.Contains(shipped, module[1]) {
			t.Errorf("go.mod: %s ships; move it to the first block", module[1])
		}
	}
}

func violations(t *testing.T, module fs.FS) (found []string) {
	t.Helper()
	err := fs.WalkDir(module, ".", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (file == "clients" || slices.Contains([]string{"node_modules", "testdata"}, entry.Name()) ||
			len(file) > 1 && file[0] == '.'):
			return fs.SkipDir
		case path.Ext(file) != ".go":
			return nil
		}
		source, err := fs.ReadFile(module, file)
		if err != nil {
			return err
		}
		found = append(found, check(t, file, source)...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// correlated is a condition that names the account only by another table: a database that is
// divided by account cannot tell from it where the rows are. In ON and in ON CONFLICT it can.
var correlated = regexp.MustCompile(`(WHERE|AND) \w+\.account_id = (\w+)\.account_id`)

func check(t *testing.T, file string, source []byte) (found []string) {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), file, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(file, "_test.go") {
		return found
	}
	for _, match := range correlated.FindAllSubmatch(source, -1) {
		if string(match[2]) != "excluded" {
			found = append(found, file+`: instead of "`+string(match[0])+`", compare with the account's parameter`)
		}
	}
	if shipped.MatchString(file) {
		for _, bare := range bareDeadlines(tree) {
			found = append(found, file+" gives up after "+bare+"; use deadline.Of, so that tests can wait longer")
		}
	}
	allowed, ok := imports[path.Dir(file)]
	if !ok {
		found = append(found, file+": its package has no row in the table of what may be imported")
	}
	for _, spec := range tree.Imports {
		name := strings.Trim(spec.Path.Value, `"`)
		if !mayImport(allowed, name) {
			found = append(found, file+" must not import "+name)
		}
		for root, files := range only {
			if within(name, root) && name != "database/sql/driver" && !files.MatchString(file) {
				found = append(found, file+" must not import "+name+": it has its place")
			}
		}
	}
	return found
}

// shipped are the files of what users install.
var shipped = regexp.MustCompile(`^(cmd|internal|web)/`)

// bareDeadlines returns the durations after which a file gives up and which are not from deadline.Of.
func bareDeadlines(tree *ast.File) (found []string) {
	constants := map[string]bool{}
	for _, decl := range tree.Decls {
		if group, ok := decl.(*ast.GenDecl); ok && group.Tok == token.CONST {
			for _, spec := range group.Specs {
				for _, name := range spec.(*ast.ValueSpec).Names {
					constants[name.Name] = true
				}
			}
		}
	}
	// bare looks for constants outside of calls: those in a call of deadline.Of are its argument.
	bare := func(e ast.Expr) {
		ast.Inspect(e, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				return name(n.Fun) != "deadline.Of"
			case *ast.SelectorExpr:
				if unit := name(n); units[unit] {
					found = append(found, unit)
				}
			case *ast.Ident:
				if constants[n.Name] {
					found = append(found, n.Name)
				}
			}
			return true
		})
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			_, called, _ := strings.Cut(name(n.Fun), ".")
			switch {
			case called == "WithTimeout" && len(n.Args) == 2:
				bare(n.Args[1])
			case (called == "AfterFunc" && len(n.Args) == 2 && name(n.Fun) == "time.AfterFunc") ||
				slices.Contains([]string{"SetDeadline", "SetReadDeadline", "SetWriteDeadline"}, called):
				bare(n.Args[0])
			}
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && strings.HasSuffix(key.Name, "Timeout") {
				bare(n.Value)
			}
		}
		return true
	})
	return found
}

// units are the constants of which durations are made.
var units = map[string]bool{"time.Millisecond": true, "time.Second": true, "time.Minute": true, "time.Hour": true}

// name returns an identifier, or the last one of a selector with what is before it.
func name(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok {
			return x.Name + "." + e.Sel.Name
		}
		return "." + e.Sel.Name
	}
	return ""
}

func mayImport(allowed []string, name string) bool {
	if own, ok := strings.CutPrefix(name, "gatherkit/"); ok {
		return own == "internal/deadline" || slices.Contains(allowed, own)
	}
	first, _, _ := strings.Cut(name, "/")
	standard := !strings.Contains(first, ".")
	return standard || slices.ContainsFunc(allowed, func(a string) bool { return a == "*" || within(name, a) })
}

func within(name, root string) bool { return name == root || strings.HasPrefix(name, root+"/") }
