package index

import (
	"bytes"
	"compress/flate"
	"io"
	"strings"
	"sync"
)

// The terms of a document are read again only when its request changes, and take as many bytes as the request itself.
// Therefore they are packed with DEFLATE (RFC 1951) and a preset dictionary of what many requests have: half of the bytes
// are left, and two thirds in a language of which the dictionary has no words.

// packWords are frequent words of feature requests. They are in the order of terms, so that neighbors are found together.
const packWords = "" +
	"a able about account add after all allow also always am an and another any api app are as at automatically back " +
	"be because been before being better between both but button by can cannot change check choose click color could " +
	"create current customer customers dark dashboard data date day days default delete different do does doing don " +
	"email every everyone example export feature feedback field file files filter find first for from get give go " +
	"good great group had has have help how i id if import in instead integration into is issue it its just keep know " +
	"language last like link list login lot make manage many me message mobile mode month more most move much " +
	"multiple my name need needs never new no not notification notifications now number of often on once one only " +
	"open option options or order other our out page pages part people per phone please possible problem product " +
	"project public really report request requests right same save screen search see select send set setting settings " +
	"share should show simple since so some sort start status still support sure system table tag task team text than " +
	"that the their them then there these they this those time times to too try two up update upload us use used user " +
	"users using very view want way we web website week well what when where which while who will with within without " +
	"work working would year yes you your"

// packFields are terms of fields, which almost all requests have. They come last: what is near takes fewer bits.
const packFields = "!answer day|!answer hour|!answer longer|!answer month|!answer week|!assignee none|!box bin|!box quarantine|" +
	"!box live|!hidden true|!hidden false|!source api|!source dashboard|!source widget|!status completed|!status declined|" +
	"!status duplicate|!status in_progress|!status planned|!status under_review|!status opened|!tag |#e:|@com|@gmail|@mail|@"

// dictionary is what packed terms refer to. It cannot change without a migration that empties the index.
var dictionary = []byte(strings.ReplaceAll(packWords, " ", separator) + separator + strings.ReplaceAll(packFields, "|", separator))

// packer packs terms, and unpacker unpacks them. Both are used again, because they have tables of 700 and 50 kB.
type (
	packer struct {
		out bytes.Buffer
		w   *flate.Writer
	}
	unpacker struct {
		in bytes.Reader
		r  io.ReadCloser
	}
)

var (
	packers = sync.Pool{New: func() any {
		p := new(packer)
		p.w, _ = flate.NewWriterDict(&p.out, flate.DefaultCompression, dictionary) // an error would be about the level
		return p
	}}
	unpackers = sync.Pool{New: func() any {
		u := new(unpacker)
		u.r = flate.NewReader(&u.in) // it gets the dictionary with each row
		return u
	}}
)

// pack returns the stored form of terms.
func pack(terms []string) ([]byte, error) {
	p := packers.Get().(*packer)
	defer packers.Put(p)
	p.out.Reset()
	p.w.Reset(&p.out)
	if _, err := io.WriteString(p.w, strings.Join(terms, separator)); err != nil {
		return nil, err
	}
	if err := p.w.Close(); err != nil {
		return nil, err
	}
	return bytes.Clone(p.out.Bytes()), nil
}

// Unpack returns the terms that a row of index_documents has.
func Unpack(packed []byte) ([]string, error) {
	u := unpackers.Get().(*unpacker)
	defer unpackers.Put(u)
	u.in.Reset(packed)
	if err := u.r.(flate.Resetter).Reset(&u.in, dictionary); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(u.r)
	return strings.Split(string(text), separator), err
}
