package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// TestClients runs the tests of the Go client, and uses the package of the TypeScript client, against
// the program. It compiles the examples in the README of each client.
func TestClients(t *testing.T) {
	t.Parallel()
	place := storetest.SQLite(t)
	p, c, owner, app := program.Serve(t, place, "--trusted-proxies=127.0.0.1", "--submit-rate=1")
	env := append(os.Environ(), "URL="+p.URL, "KEY="+app.APIKey,
		"TOKEN="+c.Want(t, "ok", "tokens-create", owner, program.Params{"name": "CI", "scope": "member"}).Secret)
	run := func(t *testing.T, folder string, arguments ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), arguments[0], arguments[1:]...)
		cmd.Dir, cmd.Env = folder, env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", arguments, err, out)
		}
	}
	clients, err := filepath.Abs(filepath.Join("..", "clients"))
	if err != nil {
		t.Fatal(err)
	}
	// example writes the example in the README of a client to a file.
	example := func(t *testing.T, client, language, before, file string) {
		t.Helper()
		readme, err := os.ReadFile(filepath.Join(clients, client, "README.md"))
		if err != nil {
			t.Fatal(err)
		}
		block := regexp.MustCompile("(?s)```" + language + "\n(.*?)```").FindSubmatch(readme)
		if block == nil {
			t.Fatalf("the README of %s has no example", client)
		}
		if err := os.WriteFile(file, append([]byte(before), block[1]...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// install installs the package of a client under its name, next to other packages, in a new project.
	install := func(t *testing.T, client, name string, others ...string) (folder string) {
		t.Helper()
		_ = node(t)
		folder = t.TempDir()
		if _, err := os.Stat(filepath.Join(clients, client, "node_modules")); err != nil {
			storetest.Missing(t, "browser", "run `npm ci` in the folder clients/"+client)
		}
		installed := filepath.Join(folder, "node_modules", "@gatherkit", name)
		if err := os.MkdirAll(installed, 0o700); err != nil {
			t.Fatal(err)
		}
		run(t, filepath.Join(clients, client), "npm", "pack", "--silent", "--pack-destination", folder)
		archives, err := filepath.Glob(filepath.Join(folder, "*.tgz"))
		if err != nil || len(archives) != 1 {
			t.Fatalf("npm pack makes %q, %v", archives, err)
		}
		run(t, installed, "tar", "--strip-components=1", "-xzf", archives[0])
		for _, other := range others {
			if err := os.Symlink(filepath.Join(clients, client, "node_modules", other), filepath.Join(folder, "node_modules", other)); err != nil {
				t.Fatal(err)
			}
		}
		return folder
	}
	compile := func(t *testing.T, folder string, files ...string) {
		t.Helper()
		run(t, folder, append([]string{
			node(t), filepath.Join(clients, "ts", "node_modules", "typescript", "bin", "tsc"), "--noEmit", "--strict", "--jsx", "react-jsx",
			"--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--module", "nodenext", "--target", "es2022", "--lib", "es2022,dom",
		}, files...)...)
	}

	t.Run("go", func(t *testing.T) {
		run(t, filepath.Join(clients, "go"), "go", "test", "-count=1", "./...")
		folder := t.TempDir()
		if err := os.CopyFS(folder, os.DirFS(filepath.Join(clients, "go"))); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Join(folder, "example"), 0o700); err != nil {
			t.Fatal(err)
		}
		example(t, "go", "go", "", filepath.Join(folder, "example", "main.go"))
		run(t, folder, "go", "vet", "./example")
	})
	t.Run("ts", func(t *testing.T) {
		folder := install(t, "ts", "client")
		if err := os.CopyFS(folder, os.DirFS("clients")); err != nil {
			t.Fatal(err)
		}
		example(t, "ts", "ts", "declare const process: { env: Record<string, string | undefined> };\n", filepath.Join(folder, "readme.ts"))
		compile(t, folder, "types.ts", "readme.ts")
		run(t, folder, node(t), "client.test.mjs")
	})
	t.Run("react", func(t *testing.T) {
		folder := install(t, "react", "react", "react", "@types", "csstype")
		example(t, "react", "tsx", "", filepath.Join(folder, "readme.tsx"))
		if err := os.WriteFile(filepath.Join(folder, "package.json"), []byte(`{"type": "module"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		compile(t, folder, "readme.tsx")
	})
}
