package blob

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"slices"
	"strings"
	"testing"
)

// TestTruncatedImages checks that an image that is truncated anywhere counts as damaged.
func TestTruncatedImages(t *testing.T) {
	for _, kind := range []string{"png", "jpeg", "gif", "webp"} {
		clean := cleaners["image/"+kind]
		for name, in := range map[string][]byte{"plain": encoded(t, kind), "located": bytes.TrimSuffix(located(t, kind), []byte(where))} {
			for n := range in {
				if out, err := clean(slices.Clone(in[:n])); !errors.Is(err, errDamaged) {
					t.Errorf("%s %s, the first %d of %d bytes: %q, %v", name, kind, n, len(in), out, err)
				}
			}
			if _, err := clean(in); err != nil {
				t.Errorf("%s %s: %v", name, kind, err)
			}
		}
	}
}

// TestPixelsHaveALimit checks that an image may have 50 million pixels, and not one row more.
func TestPixelsHaveALimit(t *testing.T) {
	for height, want := range map[uint32]bool{1000: true, 1001: false} {
		in := encoded(t, "png")
		binary.BigEndian.PutUint32(in[16:], 50_000)
		binary.BigEndian.PutUint32(in[20:], height)
		binary.BigEndian.PutUint32(in[29:], crc32.ChecksumIEEE(in[12:29]))
		if _, _, err := inspect(in, ""); (err == nil) != want || !want && !strings.Contains(err.Error(), "50 million pixels") {
			t.Errorf("50,000 by %d: %v", height, err)
		}
	}
}

// TestWebPFlags checks that the flags of a WebP do not announce chunks that were removed.
func TestWebPFlags(t *testing.T) {
	const flags = 20
	in := located(t, "webp")
	in[flags] |= 0b10000 // transparency
	if clean, err := cleanWebP(in); err != nil || clean[flags] != 0b10000 {
		t.Errorf("%q, %v", clean, err)
	}
	body := append([]byte("WEBP"), part("VP8X", nil)...)
	in = slices.Concat([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body)
	if clean, err := cleanWebP(in); err != nil || !bytes.Equal(clean, in) {
		t.Errorf("without flags: %q, %v", clean, err)
	}
}

// TestExtensionsOfGIFs checks that only the application extensions that repeat an animation
// are kept.
func TestExtensionsOfGIFs(t *testing.T) {
	plain := encoded(t, "gif")
	extension := func(name string, data string) []byte {
		return slices.Concat([]byte{'!', 0xFF, byte(len(name))}, []byte(name), []byte{byte(len(data))}, []byte(data), []byte{0})
	}
	end := len(plain) - 1
	for name, kept := range map[string]bool{"NETSCAPE2.0": true, "ANIMEXTS1.0": true, "XMP DataXMP": false} {
		added := extension(name, where)
		clean, err := cleanGIF(slices.Concat(plain[:end], added, plain[end:]))
		if err != nil || bytes.Contains(clean, added) != kept || !kept && !bytes.Equal(clean, plain) {
			t.Errorf("%s: %q, %v", name, clean, err)
		}
	}
}

// TestSegmentsOfJPEGs checks that all segments that are needed to show an image are kept byte
// by byte, and no others.
func TestSegmentsOfJPEGs(t *testing.T) {
	start, end := []byte{0xFF, startOfImage}, []byte{0xFF, endOfImage}
	// The scan ends with a fill byte.
	scan := slices.Concat(segment(startOfScan, []byte{1, 2, 3}), []byte("a\xFF\x00b\xFF\xD0c\xFF\xD7d\xFF"))
	const table = 0xDB
	scans := slices.Concat(scan, segment(table, []byte{9}), scan)
	shortExif := append(slices.Clone(exifHead), "MM\x00\x2a\x00\x00"...)
	for name, c := range map[string]struct{ in, want []byte }{
		"scans with restarts": {scans, scans},
		"empty segments": {
			slices.Concat(segment(app0, nil), segment(comment, nil), segment(app14, nil)),
			slices.Concat(segment(app0, nil), segment(app14, nil)),
		},
		"fill bytes":               {slices.Concat([]byte{0xFF, 0xFF}, segment(table, []byte{9})), segment(table, []byte{9})},
		"the last of the segments": {slices.Concat(segment(app15, []byte(where)), segment(app1+2, []byte(where))), nil},
		"short Exif": {
			slices.Concat(segment(app1, []byte{1}), segment(app1, exifHead), segment(app1, shortExif)),
			nil,
		},
		"Exif of another segment": {segment(app2, exif(binary.BigEndian, 6)), nil},
		"Exif twice": {
			slices.Concat(segment(app1, exif(binary.BigEndian, 6)), segment(app1, exif(binary.BigEndian, 8))),
			orientationSegment(6),
		},
		"a profile of colors": {segment(app2, []byte("ICC_PROFILE\x00x")), segment(app2, []byte("ICC_PROFILE\x00x"))},
	} {
		want := slices.Concat(start, c.want, end)
		if got, err := cleanJPEG(slices.Concat(start, c.in, end, []byte(where))); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %q, want %q, %v", name, got, want, err)
		}
	}
	for name, in := range map[string]string{
		"another start":                     "\xFF\xD9\xFF\xD9",
		"no start":                          "\x00\xD8\xFF\xD9",
		"a segment shorter than its length": "\xFF\xD8\xFF\xE0\x00\x01\xFF\xD9",
		"something between the segments":    "\xFF\xD8\x00\xE0\x00\x02\xFF\xD9",
	} {
		if got, err := cleanJPEG([]byte(in)); !errors.Is(err, errDamaged) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestOrientation reads the orientation from Exif data of many lengths.
func TestOrientation(t *testing.T) {
	whole := exif(binary.BigEndian, 6)[len(exifHead):]
	const upTo = 8 + 2 + 2*entryBytes // the header, the number of entries, and the entries
	for n := range len(whole) + 1 {
		want := byte(0)
		if n >= upTo {
			want = 6
		}
		if got := orientation(slices.Clone(whole[:n])); got != want {
			t.Errorf("%d bytes: %d, want %d", n, got, want)
		}
	}
	other := slices.Clone(whole)
	copy(other[10:], []byte{1, 3, 0, shortType, 0, 0, 0, 1, 0, 8, 0, 0}) // a number with another tag
	if got := orientation(other); got != 6 {
		t.Errorf("another number first: %d", got)
	}
	other = slices.Clone(whole)
	copy(other[10:], []byte{1, 0x12, 0, 4, 0, 0, 0, 1, 0, 8, 0, 0}) // the orientation with another type
	if got := orientation(other); got != 6 {
		t.Errorf("a long number first: %d", got)
	}
}
