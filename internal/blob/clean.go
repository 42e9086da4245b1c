package blob

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"slices"
)

// The functions below remove the metadata that cameras and editors add to images, such as
// the location, the author, and thumbnails of the image before it was cropped, and all data
// after the end of the image. They keep only the parts that are needed to show the image,
// with its orientation, and do not change its pixels.

// keptChunks are the chunks of a PNG that are kept (PNG specification, third edition,
// section 11), including those of animations.
var keptChunks = []string{
	"IHDR", "PLTE", "IDAT", "IEND", "tRNS", "cHRM", "gAMA", "iCCP", "sBIT", "sRGB", "cICP", "mDCV", "cLLI", "bKGD", "hIST", "pHYs",
	"sPLT", "acTL", "fcTL", "fdAT",
}

func cleanPNG(in []byte) ([]byte, error) {
	const signature, frame = 8, 12 // frame is the length, name and checksum of a chunk
	if len(in) < signature {
		return nil, errDamaged
	}
	out := append(make([]byte, 0, len(in)), in[:signature]...)
	oriented := false
	for rest := in[signature:]; len(rest) >= frame; {
		n := uint64(binary.BigEndian.Uint32(rest)) + frame
		if n > uint64(len(rest)) {
			break
		}
		name := string(rest[4:8])
		switch {
		case name == "eXIf" && !oriented:
			if o := orientation(rest[8 : n-4]); o > 1 {
				out, oriented = append(out, orientationChunk(o)...), true
			}
		case slices.Contains(keptChunks, name):
			out = append(out, rest[:n]...)
		}
		if name == "IEND" {
			return out, nil
		}
		rest = rest[n:]
	}
	return nil, errDamaged
}

// orientationChunk returns a chunk of a PNG with only the orientation.
func orientationChunk(o byte) []byte {
	body := append([]byte("eXIf"), orientationData(o)...)
	length := binary.BigEndian.AppendUint32(nil, uint32(len(body)-4)) //nolint:gosec // the length is constant
	return binary.BigEndian.AppendUint32(slices.Concat(length, body), crc32.ChecksumIEEE(body))
}

// keptWebPChunks are the chunks of a WebP that are kept (RFC 9649, section 2.7).
var keptWebPChunks = []string{"VP8X", "VP8 ", "VP8L", "ALPH", "ANIM", "ANMF", "ICCP"}

func cleanWebP(in []byte) ([]byte, error) {
	const header, head, exif, xmp = 12, 8, 0b1000, 0b0100 // the flags of Exif and XMP in VP8X
	if len(in) < header {
		return nil, errDamaged
	}
	out := append(make([]byte, 0, len(in)), in[:header]...)
	whole := uint64(binary.LittleEndian.Uint32(in[4:])) + head
	if whole > uint64(len(in)) || whole < header {
		return nil, errDamaged
	}
	flags := -1 // where VP8X has them
	for rest := in[header:whole]; len(rest) > 0; {
		if len(rest) < head {
			return nil, errDamaged
		}
		size := uint64(binary.LittleEndian.Uint32(rest[4:]))
		n := size + size%2 + head
		if n > uint64(len(rest)) {
			return nil, errDamaged
		}
		switch name := string(rest[:4]); {
		case name == "EXIF" && flags >= 0 && out[flags]&exif == 0:
			// Some programs write the head of JPEG's Exif before the data.
			if o := orientation(bytes.TrimPrefix(rest[head:head+size], exifHead)); o > 1 {
				out = append(out, orientationPart(o)...)
				out[flags] |= exif
			}
		case slices.Contains(keptWebPChunks, name):
			out = append(out, rest[:n]...)
			if name == "VP8X" && size > 0 {
				flags = len(out) - int(n) + head //nolint:gosec // n is at most the length of the file
				out[flags] &^= exif | xmp
			}
		}
		rest = rest[n:]
	}
	binary.LittleEndian.PutUint32(out[4:], uint32(len(out)-head)) //nolint:gosec // it is not longer than before
	return out, nil
}

// orientationPart returns a chunk of a WebP with only the orientation.
func orientationPart(o byte) []byte {
	body := orientationData(o)
	length := binary.LittleEndian.AppendUint32(nil, uint32(len(body))) //nolint:gosec // the length is constant
	return slices.Concat([]byte("EXIF"), length, body)
}

// cleanGIF keeps frames, their timing and the number of loops. It removes comments and all
// other application extensions (GIF89a, sections 17 to 27).
func cleanGIF(in []byte) ([]byte, error) {
	const screen, descriptor = 13, 10
	end, ok := tableEnd(in, screen, 10)
	if !ok {
		return nil, errDamaged
	}
	out := append(make([]byte, 0, len(in)), in[:end]...)
	for at := end; at < len(in); {
		from, keep := at, true
		switch in[at] {
		case ';':
			return append(out, ';'), nil
		case ',': // a frame: its descriptor, an optional color table, a byte and its data
			if at, ok = tableEnd(in, at+descriptor, at+9); !ok {
				return nil, errDamaged
			}
			at++
		case '!': // an extension
			if at+2 >= len(in) {
				return nil, errDamaged
			}
			const control, application = 0xF9, 0xFF
			loops := bytes.HasPrefix(in[at+2:], []byte("\x0bNETSCAPE2.0")) ||
				bytes.HasPrefix(in[at+2:], []byte("\x0bANIMEXTS1.0"))
			keep = in[at+1] == control || in[at+1] == application && loops
			at += 2
		default:
			return nil, errDamaged
		}
		if at, ok = blocksEnd(in, at); !ok {
			return nil, errDamaged
		}
		if keep {
			out = append(out, in[from:at]...)
		}
	}
	return nil, errDamaged
}

// tableEnd returns the end of the color table that starts at from, or from if the flags say
// that there is none. It returns false if in is too short.
func tableEnd(in []byte, from, flags int) (int, bool) {
	if flags >= len(in) {
		return 0, false
	}
	if in[flags]&0x80 != 0 {
		from += 3 << (in[flags]&7 + 1)
	}
	return from, from < len(in)
}

// blocksEnd returns the end of a sequence of blocks, each of which starts with its length.
// It returns false if in is too short.
func blocksEnd(in []byte, at int) (int, bool) {
	for at < len(in) {
		n := int(in[at])
		at += 1 + n
		if n == 0 {
			return at, true
		}
	}
	return 0, false
}
