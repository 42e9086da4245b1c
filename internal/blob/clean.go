package blob

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// What cameras and editors write into a picture (where it was taken, by whom, a smaller
// one that shows what was cut off) is left out, and so is whatever follows its end. Of
// each kind, only the parts that show it are kept; pixels are never touched.

// The parts of a PNG that are kept (PNG specification, third edition, 11), with those of
// animations.
var keptChunks = []string{
	"IHDR", "PLTE", "IDAT", "IEND", "tRNS", "cHRM", "gAMA", "iCCP", "sBIT", "sRGB", "cICP", "mDCV", "cLLI", "bKGD", "hIST", "pHYs", "sPLT",
	"acTL", "fcTL", "fdAT",
}

func cleanPNG(in []byte) ([]byte, error) {
	const signature, frame = 8, 12 // length, name and checksum around a chunk
	if len(in) < signature {
		return nil, errDamaged
	}
	out := append(make([]byte, 0, len(in)), in[:signature]...)
	for rest := in[signature:]; len(rest) >= frame; {
		n := uint64(binary.BigEndian.Uint32(rest)) + frame
		if n > uint64(len(rest)) {
			break
		}
		name := string(rest[4:8])
		if slices.Contains(keptChunks, name) {
			out = append(out, rest[:n]...)
		}
		if name == "IEND" {
			return out, nil
		}
		rest = rest[n:]
	}
	return nil, errDamaged
}

// The parts of a WebP that are kept (RFC 9649, 2.7).
var keptParts = []string{"VP8X", "VP8 ", "VP8L", "ALPH", "ANIM", "ANMF", "ICCP"}

func cleanWebP(in []byte) ([]byte, error) {
	const header, head, metadata = 12, 8, 0b1100 // the flags of Exif and XMP in VP8X
	if len(in) < header {
		return nil, errDamaged
	}
	out := append(make([]byte, 0, len(in)), in[:header]...)
	whole := uint64(binary.LittleEndian.Uint32(in[4:])) + head
	if whole > uint64(len(in)) || whole < header {
		return nil, errDamaged
	}
	for rest := in[header:whole]; len(rest) > 0; {
		if len(rest) < head {
			return nil, errDamaged
		}
		n := uint64(binary.LittleEndian.Uint32(rest[4:]))
		n += n%2 + head
		if n > uint64(len(rest)) {
			return nil, errDamaged
		}
		name := string(rest[:4])
		if slices.Contains(keptParts, name) {
			out = append(out, rest[:n]...)
			if name == "VP8X" && n > head {
				out[len(out)-int(n)+head] &^= metadata //nolint:gosec // n is no longer than the file
			}
		}
		rest = rest[n:]
	}
	binary.LittleEndian.PutUint32(out[4:], uint32(len(out)-head)) //nolint:gosec // shorter than it was
	return out, nil
}

// cleanGIF keeps pictures, their timing and how often they are repeated, and leaves out
// comments and what applications have added (GIF89a, 17 to 27).
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
		case ',': // a picture: its descriptor, perhaps a table of colours, a byte, its data
			if at, ok = tableEnd(in, at+descriptor, at+9); !ok {
				return nil, errDamaged
			}
			at++
		case '!': // an extension
			if at+2 >= len(in) {
				return nil, errDamaged
			}
			const control, application = 0xF9, 0xFF
			loops := bytes.HasPrefix(in[at+2:], []byte("\x0bNETSCAPE2.0")) || bytes.HasPrefix(in[at+2:], []byte("\x0bANIMEXTS1.0"))
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

// tableEnd is where a table of colours ends that begins at from, if the flags say that
// there is one.
func tableEnd(in []byte, from, flags int) (int, bool) {
	if flags >= len(in) {
		return 0, false
	}
	if in[flags]&0x80 != 0 {
		from += 3 << (in[flags]&7 + 1)
	}
	return from, from < len(in)
}

// blocksEnd is where a row of blocks ends, each of which begins with its length.
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
