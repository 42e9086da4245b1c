package torture_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

var seed = flag.Uint64("seed", 0, "seed of the random numbers; 0 for a random seed")

// random returns a source of random numbers and logs its seed.
func random(t *testing.T) *rand.Rand {
	t.Helper()
	s := *seed
	if s == 0 {
		s = rand.Uint64()
	}
	t.Logf("random numbers: -seed %d", s)
	return rand.New(rand.NewPCG(s, 0))
}

// TestPowerCut repeatedly cuts the power while clients submit. The machine itself keeps running:
// the file system discards everything that it has not written to the device yet. The test does
// not cover devices that lose writes they have acknowledged.
func TestPowerCut(t *testing.T) {
	test := func(kind string, cuts int) {
		t.Run(kind, func(t *testing.T) {
			found := cutPower(t, newVolume(t, kind, "2G"), program.Build(t), cuts)
			if found.lost > 0 {
				t.Errorf("%d acknowledged requests are lost", found.lost)
			}
			measured(t, "%v", found)
		})
	}
	test("ext4", program.Times(3, 50))
	test("xfs", program.Times(2, 20))
}

// TestPowerCutOfNewDatabase cuts the power after the first acknowledgement of a new
// installation. Its folder and files must be durable by then, too.
func TestPowerCutOfNewDatabase(t *testing.T) {
	storetest.Proof(t)
	for _, kind := range []string{"ext4", "xfs"} {
		t.Run(kind, func(t *testing.T) {
			v := newVolume(t, kind, "512M")
			flags := program.At(v.place())
			p := program.Start(t, flags...)
			program.AddOwner(t, v.place()) // while the service runs, because the last process to close the file syncs it
			c := program.NewClient(t, p)
			token := c.Login(t)
			id := c.Submit(t, c.AddApp(t, token).APIKey, "First wish")
			freeze(t, p)
			v.cut(t)
			p.Kill(t)
			v.cycle(t)
			program.StartOn(t, p.Address, nil, flags...)
			c.HTTP.CloseIdleConnections()
			if stored := c.List(t, token); stored[id].Title != "First wish" {
				t.Errorf("acknowledged %s, stored %v", id, stored)
			}
			checkDatabase(t, flags)
		})
	}
}

// TestPowerCutWithoutSync is the control. A service that does not wait for the disk must lose
// requests. Otherwise, TestPowerCut proves nothing. The service is built from the same source
// with one word changed.
func TestPowerCutWithoutSync(t *testing.T) {
	v := newVolume(t, "ext4", "2G")
	binary := buildReplacing(t, "../internal/database/dialect.go", `"synchronous(FULL)"`, `"synchronous(NORMAL)"`)
	found := cutPower(t, v, binary, program.Times(3, 20))
	if found.lost == 0 {
		t.Error("nothing is lost, although the service does not wait for the disk: the power was not cut")
	}
	measured(t, "control with synchronous=NORMAL: %v", found)
}

// buildReplacing builds gatherkit with texts in a source file replaced. pairs has old and new texts.
func buildReplacing(t *testing.T, file string, pairs ...string) string {
	t.Helper()
	return program.BuildWith(t, replacing(t, file, pairs...)...)
}

// replacing returns flags of go build that replace texts in a source file.
func replacing(t *testing.T, file string, pairs ...string) (flags []string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	source := string(content)
	for pair := range slices.Chunk(pairs, 2) {
		if n := strings.Count(source, pair[0]); n != 1 {
			t.Fatalf("%s occurs %d times in %s, want once", pair[0], n, file)
		}
		source = strings.Replace(source, pair[0], pair[1], 1)
	}
	file, err = filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	replaced := filepath.Join(folder, "replaced.go")
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{file: replaced}})
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, replaced, source)
	writeFile(t, filepath.Join(folder, "overlay.json"), string(overlay))
	return []string{"-overlay", filepath.Join(folder, "overlay.json")}
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// outcome is the result of cutPower.
type outcome struct {
	cuts, acknowledged, lost, doubled int
	ready                             time.Duration // the longest start after a cut
}

// String returns the outcome as a text for the report.
func (o outcome) String() string {
	return fmt.Sprintf("%d power cuts: %d acknowledged, %d lost, %d doubled, ready again within %v",
		o.cuts, o.acknowledged, o.lost, o.doubled, o.ready.Round(time.Millisecond))
}

// cutPower runs a binary on a volume and cuts its power at random moments under random loads.
// After each cut, it compares the stored requests with the ledger and checks the database. It
// returns the number of lost requests instead of failing the test.
func cutPower(t *testing.T, v *volume, binary string, cuts int) outcome {
	t.Helper()
	rng := random(t)
	flags := program.At(v.place())
	program.AddOwner(t, v.place())
	p := program.StartBinary(t, binary, program.FreeAddress(t), nil, flags...)
	c := program.NewClient(t, p)
	// The apps are created in advance, and the service is stopped properly, because the control
	// could lose them, too.
	apps := make([]program.App, cuts)
	token := c.Login(t)
	for i := range apps {
		apps[i] = c.AddApp(t, token)
	}
	p.Stop(t)
	p = program.StartBinary(t, binary, p.Address, nil, flags...)

	found := outcome{cuts: cuts}
	for _, app := range apps {
		callers := []int{1, 16, 64}[rng.IntN(3)]
		l := startLoad(t, callers, app.APIKey, c)
		l.AwaitMore(t, 1+rng.IntN(program.Times(50, 200)*callers))
		freeze(t, p)
		before := l.Len()
		v.cut(t)
		p.Kill(t)
		v.cycle(t)
		p = program.StartBinary(t, binary, p.Address, nil, flags...)
		c.HTTP.CloseIdleConnections()
		l.stop()

		stored := c.ListApp(t, c.Login(t), app.ID)
		lost, doubled := l.Compare(stored)
		if surplus := len(stored) + lost - l.Len(); doubled+surplus > 0 {
			t.Errorf("%d requests are doubled, and %d stored requests were not acknowledged", doubled, surplus)
		}
		checkDatabase(t, flags)
		t.Logf("%d submitters, cut after %d acknowledgements: %d lost of %d, ready in %v",
			callers, before, lost, l.Len(), p.Ready.Round(time.Millisecond))
		found.acknowledged += l.Len()
		found.lost += lost
		found.doubled += doubled
		found.ready = max(found.ready, p.Ready)
	}
	r := &storetest.Rig{T: t, Raw: v.place().Raw(t)}
	endLeases(r)
	program.Eventually(t, "the index has followed to the end", func() bool { return behind(r) == 0 })
	p.Stop(t)
	r.CheckIndex(t)
	return found
}

// checkDatabase fails the test if a SQLite database is damaged, which gatherkit backup checks,
// or if its counters are wrong.
func checkDatabase(t *testing.T, flags []string) {
	t.Helper()
	backup := filepath.Join(t.TempDir(), "copy")
	program.Succeed(t, append([]string{"backup", backup}, flags...)...)
	if err := os.RemoveAll(backup); err != nil {
		t.Fatal(err)
	}
	if got := program.Succeed(t, append([]string{"recount"}, flags...)...); got != "All counters are right.\n" {
		t.Errorf("recount: %s", got)
	}
}
