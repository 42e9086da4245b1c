package pages

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"gatherkit/internal/headers"
	"gatherkit/internal/portal"
)

// build is the program that makes the pages: the same state of the database can look different with another one.
var build = sync.OnceValue(func() string {
	sum := sha256.New()
	name, err := os.Executable()
	if err == nil {
		var file *os.File
		if file, err = os.Open(name); err == nil { //nolint:gosec // the path of this program
			defer file.Close() //nolint:errcheck // the file was only read
			_, err = io.Copy(sum, file)
		}
	}
	if err != nil { // pages of other processes are then others
		sum.Write([]byte(strconv.FormatInt(time.Now().UnixNano(), 36)))
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
})

// tag is the ETag of all pages of this state of the portal for this visitor.
func (v *visit) tag() string {
	sum, person := sha256.New(), ""
	if v.view.Person != nil {
		person = v.view.Person.Key()
	}
	for _, part := range []string{
		person, v.site.VisitorName(), v.view.Secret, v.sent, v.home, v.address(),
		portal.Language(v.R.Header.Get("Accept-Language")), v.site.Locale,
		strconv.FormatBool(headers.AcceptsGzip(v.R.Header.Values("Accept-Encoding"))), build(),
	} {
		sum.Write([]byte(strconv.Itoa(len(part)) + " " + part))
	}
	return `"` + strconv.FormatInt(v.view.Number, 36) + "-" + hex.EncodeToString(sum.Sum(nil)[:12]) + `"`
}

// unchanged sets the ETag of the page and returns errUnchanged if the browser has the page already.
func (v *visit) unchanged() error {
	tag := v.tag()
	v.W.Header().Set("ETag", tag)
	for known := range strings.SplitSeq(v.R.Header.Get("If-None-Match"), ",") {
		if known = strings.TrimPrefix(strings.TrimSpace(known), "W/"); known == tag {
			return errUnchanged
		}
	}
	return nil
}
