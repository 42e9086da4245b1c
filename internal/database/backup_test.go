package database

import "testing"

func TestSplitPassword(t *testing.T) {
	for address, want := range map[string][2]string{
		"postgres://ada@h/db":                                {"postgres://ada@h/db", ""},
		"postgres://ada:a%23b@h:1/db":                        {"postgres://ada@h:1/db", "a#b"},
		"postgres://ada:x@one:1,two:2/db?sslmode=disable":    {"postgres://ada@one:1,two:2/db?sslmode=disable", "x"},
		"postgresql:///db?host=/run/postgresql&password=x+y": {"postgresql:///db?host=%2Frun%2Fpostgresql", "x y"},
		"postgres://ada@h/db?options=-c%20work_mem%3D1MB":    {"postgres://ada@h/db?options=-c%20work_mem%3D1MB", ""},
	} {
		without, password, err := splitPassword(address)
		if err != nil || without != want[0] || password != want[1] {
			t.Errorf("%s: %q, %q, %v; want %q", address, without, password, err, want)
		}
	}
	if _, _, err := splitPassword("postgres://a:secret@h:x/db"); err == nil || err.Error() != "the database's URL is invalid" {
		t.Errorf("an invalid URL: %v", err)
	}
}
