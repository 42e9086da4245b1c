package e2e_test

import (
	"testing"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// TestPortal runs portal.test.mjs on the portals of a service in a browser.
func TestPortal(t *testing.T) {
	t.Parallel()
	inPortals(t, "portal.test.mjs")
}

// TestPortalSize runs portalsize.test.mjs. With -full, it also judges how soon a page is painted.
func TestPortalSize(t *testing.T) {
	t.Parallel()
	full := "FULL="
	if *program.Full {
		full += "1"
	}
	inPortals(t, "portalsize.test.mjs", full)
}

// inPortals runs a file of tests in a browser, with a service of its own and additional environment variables.
func inPortals(t *testing.T, file string, env ...string) {
	t.Helper()
	inBrowser := newBrowserTest(t)
	place, address := storetest.SQLite(t), program.FreeAddress(t)
	program.AddOwner(t, place)
	p := program.StartOn(t, address, nil, append(program.At(place), "--public-url=http://"+address)...)
	inBrowser.run(t, append(env, "URL="+p.URL, "EMAIL="+program.Email, "PASSWORD="+program.Password), "--test-reporter=spec", file)
}
