package blob

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// The markers of a JPEG that are needed here (ITU-T T.81, table B.1).
const (
	startOfImage = 0xD8
	endOfImage   = 0xD9
	startOfScan  = 0xDA
	app0         = 0xE0 // JFIF
	app1         = 0xE1 // Exif and XMP
	app2         = 0xE2 // color profiles, and further images
	app14        = 0xEE // Adobe's color encoding
	app15        = 0xEF
	comment      = 0xFE
)

var exifHead = []byte("Exif\x00\x00")

// cleanJPEG keeps the image, its color profile and its orientation. It removes other
// application segments, comments, and all data after the end of the image, where phones add
// further images and videos.
func cleanJPEG(in []byte) ([]byte, error) {
	if len(in) < 2 || in[0] != 0xFF || in[1] != startOfImage {
		return nil, errDamaged
	}
	out := append(make([]byte, 0, len(in)), in[:2]...)
	oriented := false
	for at := 2; ; {
		marker, from, ok := nextMarker(in, at)
		if !ok {
			return nil, errDamaged
		}
		if marker == endOfImage {
			return append(out, 0xFF, endOfImage), nil
		}
		if from+2 > len(in) {
			return nil, errDamaged
		}
		end := from + int(binary.BigEndian.Uint16(in[from:]))
		if end < from+2 || end > len(in) {
			return nil, errDamaged
		}
		body := in[from+2 : end]
		if marker == startOfScan {
			end = scanEnd(in, end)
		}
		switch {
		case marker == app1 && bytes.HasPrefix(body, exifHead) && !oriented:
			if o := orientation(body[len(exifHead):]); o > 1 {
				out, oriented = append(out, orientationSegment(o)...), true
			}
		case keptSegment(marker, body):
			out = append(append(out, 0xFF, marker), in[from:end]...)
		}
		at = end
	}
}

// nextMarker returns the marker at a position, after any number of fill bytes, and the start
// of its segment.
func nextMarker(in []byte, at int) (marker byte, from int, ok bool) {
	if at >= len(in) || in[at] != 0xFF {
		return 0, 0, false
	}
	for at < len(in) && in[at] == 0xFF {
		at++
	}
	if at == len(in) {
		return 0, 0, false
	}
	return in[at], at + 1, true
}

// scanEnd returns the end of the data of a scan, which is the first marker that is not an
// escaped byte or a restart marker.
func scanEnd(in []byte, at int) int {
	for ; at+1 < len(in); at++ {
		if next := in[at+1]; in[at] == 0xFF && next != 0 && next != 0xFF && (next < 0xD0 || next > 0xD7) {
			return at
		}
	}
	return len(in)
}

func keptSegment(marker byte, body []byte) bool {
	switch {
	case marker == app0, marker == app14:
		return true
	case marker == app2:
		return bytes.HasPrefix(body, []byte("ICC_PROFILE\x00"))
	case marker >= app1 && marker <= app15, marker == comment:
		return false
	}
	return true
}

const (
	orientationTag = 0x0112
	shortType      = 3
	entryBytes     = 12
)

// orientation returns the orientation in Exif data, from 1 to 8 (CIPA DC-008, section
// 4.6.5), or 0 if there is none.
func orientation(exif []byte) byte {
	if len(exif) < 8 {
		return 0
	}
	var order binary.ByteOrder = binary.BigEndian
	if exif[0] == 'I' {
		order = binary.LittleEndian
	}
	at := uint64(order.Uint32(exif[4:]))
	if at+2 > uint64(len(exif)) {
		return 0
	}
	entries := exif[at+2:]
	for range order.Uint16(exif[at:]) {
		if len(entries) < entryBytes {
			return 0
		}
		if order.Uint16(entries) == orientationTag && order.Uint16(entries[2:]) == shortType {
			if value := order.Uint16(entries[8:]); value <= 8 {
				return byte(value)
			}
			return 0
		}
		entries = entries[entryBytes:]
	}
	return 0
}

// orientationData returns Exif data that contains only the orientation.
func orientationData(o byte) []byte {
	return []byte{
		'M', 'M', 0, 42, 0, 0, 0, 8, // big-endian; the entries start after these eight bytes
		0, 1, // one entry
		orientationTag >> 8, orientationTag & 0xFF, 0, shortType, 0, 0, 0, 1, 0, o, 0, 0,
		0, 0, 0, 0, // no further entries
	}
}

func orientationSegment(o byte) []byte {
	body := slices.Concat(exifHead, orientationData(o))
	length := binary.BigEndian.AppendUint16(nil, uint16(len(body)+2)) //nolint:gosec // the length is constant
	return slices.Concat([]byte{0xFF, app1}, length, body)
}
