package blob

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"slices"
	"strings"
	"testing"

	"gatherkit/internal/feedback"
)

// where is metadata that must be removed from images.
const where = "51.4778N 0.0015W"

func picture() *image.Paletted {
	p := image.NewPaletted(image.Rect(0, 0, 9, 7), color.Palette{color.White, color.Black, color.RGBA{200, 10, 40, 255}})
	for i := range p.Pix {
		p.Pix[i] = uint8(i % 3)
	}
	return p
}

func encoded(t testing.TB, kind string) []byte {
	t.Helper()
	var b bytes.Buffer
	var err error
	switch kind {
	case "png":
		err = png.Encode(&b, picture())
	case "jpeg":
		err = jpeg.Encode(&b, picture(), nil)
	case "gif":
		err = gif.EncodeAll(&b, &gif.GIF{Image: []*image.Paletted{picture(), picture()}, Delay: []int{5, 5}})
	case "webp":
		b.Write(unbase64(t, "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA=="))
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func unbase64(t testing.TB, text string) []byte {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// located returns an image that contains where in all kinds of metadata of its format, and
// after its end.
func located(t testing.TB, kind string) []byte {
	t.Helper()
	in := encoded(t, kind)
	switch kind {
	case "png":
		chunk := func(name string) []byte {
			body := append([]byte(name), where...)
			length := binary.BigEndian.AppendUint32(nil, uint32(len(where)))
			return binary.BigEndian.AppendUint32(slices.Concat(length, body), crc32.ChecksumIEEE(body))
		}
		const afterHeader = 8 + 25
		in = slices.Concat(in[:afterHeader], chunk("tEXt"), chunk("eXIf"), in[afterHeader:])
	case "jpeg":
		in = slices.Concat(in[:2], segment(app1, exif(binary.LittleEndian, 6)), segment(app1, []byte("http://ns.adobe.com/xap/1.0/\x00"+where)),
			segment(app2, []byte("MPF\x00"+where)), segment(comment, []byte(where)), in[2:])
	case "gif":
		in = slices.Concat(in[:len(in)-1], []byte{'!', 0xFE, byte(len(where))}, []byte(where), []byte{0, ';'})
	case "webp":
		canvas := []byte{0b1100, 0, 0, 0, 0, 0, 0, 0, 0, 0}
		body := slices.Concat([]byte("WEBP"), part("VP8X", canvas), in[12:], part("EXIF", []byte(where)), part("XMP ", []byte(where)))
		in = slices.Concat([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body)
	}
	return append(in, where...)
}

func segment(marker byte, body []byte) []byte {
	return slices.Concat([]byte{0xFF, marker}, binary.BigEndian.AppendUint16(nil, uint16(len(body)+2)), body)
}

func part(name string, body []byte) []byte {
	return slices.Concat([]byte(name), binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body, make([]byte, len(body)%2))
}

// exif returns Exif data with an orientation and a location.
func exif(order binary.AppendByteOrder, direction uint16) []byte {
	head := []byte("MM\x00\x2a")
	if order.AppendUint16(nil, 1)[0] == 1 {
		head = []byte("II\x2a\x00")
	}
	entry := func(tag, kind uint16, n, value uint32) []byte {
		return order.AppendUint32(order.AppendUint32(order.AppendUint16(order.AppendUint16(nil, tag), kind), n), value)
	}
	turn := order.AppendUint16(order.AppendUint32(order.AppendUint16(order.AppendUint16(nil, orientationTag), shortType), 1), direction)
	return slices.Concat(exifHead, head, order.AppendUint32(nil, 8), order.AppendUint16(nil, 2),
		entry(0x010E, 2, uint32(len(where)), 38), turn, []byte{0, 0}, order.AppendUint32(nil, 0), []byte(where))
}

func TestPicturesLoseTheirPlace(t *testing.T) {
	for _, kind := range []string{"png", "jpeg", "gif", "webp"} {
		t.Run(kind, func(t *testing.T) {
			clean, contentType, err := inspect(located(t, kind), "")
			if err != nil || contentType != "image/"+kind {
				t.Fatalf("%s %v", contentType, err)
			}
			if bytes.Contains(clean, []byte(where)) {
				t.Error("the location was not removed")
			}
			got, _, err := image.Decode(bytes.NewReader(clean))
			if err != nil {
				t.Fatal(err)
			}
			want, _, err := image.Decode(bytes.NewReader(encoded(t, kind)))
			if err != nil {
				t.Fatal(err)
			}
			for y := range want.Bounds().Dy() {
				for x := range want.Bounds().Dx() {
					if got.At(x, y) != want.At(x, y) {
						t.Fatalf("another pixel at %d, %d", x, y)
					}
				}
			}
			again, _, err := inspect(clean, "")
			if err != nil || !bytes.Equal(again, clean) {
				t.Errorf("cleaning twice changes the image: %v", err)
			}
		})
	}
}

func TestDirectionOfPictures(t *testing.T) {
	plain := encoded(t, "jpeg")
	for _, order := range []binary.AppendByteOrder{binary.BigEndian, binary.LittleEndian} {
		for direction := range uint16(10) {
			clean, _, err := inspect(slices.Concat(plain[:2], segment(app1, exif(order, direction)), plain[2:]), "")
			if err != nil {
				t.Fatal(err)
			}
			wanted := bytes.Contains(clean, orientationSegment(byte(direction)))
			if turned := direction > 1 && direction <= 8; wanted != turned || !turned && !bytes.Equal(clean, plain) {
				t.Errorf("%v %d: %q", order, direction, clean[:40])
			}
		}
	}
}

// directed returns an image with Exif data, or with none.
func directed(t testing.TB, kind string, data []byte) []byte {
	t.Helper()
	in := encoded(t, kind)
	if kind == "png" {
		if data == nil {
			return in
		}
		body := append([]byte("eXIf"), data...)
		length := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
		chunk := binary.BigEndian.AppendUint32(slices.Concat(length, body), crc32.ChecksumIEEE(body))
		const afterHeader = 8 + 25
		return slices.Concat(in[:afterHeader], chunk, in[afterHeader:])
	}
	canvas := make([]byte, 10)
	var added []byte
	if data != nil {
		canvas[0], added = 0b1000, part("EXIF", data)
	}
	body := slices.Concat([]byte("WEBP"), part("VP8X", canvas), in[12:], added)
	return slices.Concat([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body)
}

// TestDirectionOfOtherPictures: PNG and WebP keep their orientation too, as their only metadata.
func TestDirectionOfOtherPictures(t *testing.T) {
	for _, kind := range []string{"png", "webp"} {
		for _, order := range []binary.AppendByteOrder{binary.BigEndian, binary.LittleEndian} {
			for direction := range uint16(10) {
				data := exif(order, direction)
				if kind == "png" || direction%2 == 0 { // some programs write the head of JPEG's Exif into WebP
					data = data[len(exifHead):]
				}
				var kept []byte
				if direction > 1 && direction <= 8 {
					kept = orientationData(byte(direction))
				}
				clean, _, err := inspect(directed(t, kind, data), "")
				if want := directed(t, kind, kept); err != nil || !bytes.Equal(clean, want) {
					t.Errorf("%s %v %d: %q, want %q (%v)", kind, order, direction, clean, want, err)
				}
			}
		}
	}
	for _, kind := range []string{"png", "webp"} {
		const afterFirst = 8 + 25 + 38 // the signature, the header and the first orientation of a PNG
		once := directed(t, kind, orientationData(6))
		twice := slices.Concat(once, orientationPart(3))
		if kind == "png" {
			twice = slices.Insert(slices.Clone(once), afterFirst, orientationChunk(3)...)
		} else {
			binary.LittleEndian.PutUint32(twice[4:], uint32(len(twice)-8))
		}
		if clean, _, err := inspect(twice, ""); err != nil || !bytes.Equal(clean, once) {
			t.Errorf("%s with two orientations: %q %v", kind, clean, err)
		}
	}
	// Without the chunk that says so, a WebP has no Exif data.
	in := encoded(t, "webp")
	body := slices.Concat(in[8:], part("EXIF", orientationData(6)))
	whole := slices.Concat([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body)
	if clean, _, err := inspect(whole, ""); err != nil || !bytes.Equal(clean, in) {
		t.Errorf("%q %v", clean, err)
	}
}

func TestAnimationsGoOnMoving(t *testing.T) {
	clean, _, err := inspect(located(t, "gif"), "")
	if err != nil {
		t.Fatal(err)
	}
	moving, err := gif.DecodeAll(bytes.NewReader(clean))
	if err != nil || len(moving.Image) != 2 || moving.LoopCount != 0 || moving.Delay[1] != 5 {
		t.Errorf("%+v %v", moving, err)
	}
}

func TestWhatIsNoFile(t *testing.T) {
	bomb := encoded(t, "png")
	binary.BigEndian.PutUint32(bomb[16:], 60_000)
	binary.BigEndian.PutUint32(bomb[20:], 60_000)
	binary.BigEndian.PutUint32(bomb[29:], crc32.ChecksumIEEE(bomb[12:29]))
	for name, content := range map[string]string{
		"nothing":               "",
		"program":               "MZ\x90\x00" + strings.Repeat("\x00", 100),
		"archive":               "PK\x03\x04" + strings.Repeat("\x00", 100),
		"only the head of PNG":  "\x89PNG\r\n\x1a\n<script>alert(1)</script>",
		"PNG that is cut off":   string(encoded(t, "png")[:60]),
		"JPEG that is cut off":  string(encoded(t, "jpeg")[:300]),
		"GIF that is cut off":   string(encoded(t, "gif")[:40]),
		"WebP that is cut off":  string(encoded(t, "webp")[:30]),
		"more pixels than good": string(bomb),
	} {
		if clean, contentType, err := inspect([]byte(content), ""); !errors.Is(err, feedback.ErrInvalidFile) {
			t.Errorf("%s: %s %q %v", name, contentType, clean, err)
		}
	}
	for want, content := range map[string]string{
		"text/plain":      "It broke at 10:04.\n<b>Not</b> a page: text goes before it.",
		"application/pdf": "%PDF-1.7\n%âãÏÓ\n1 0 obj",
	} {
		if clean, contentType, err := inspect([]byte(content), ""); contentType != want || string(clean) != content || err != nil {
			t.Errorf("%s: %s %q %v", want, contentType, clean, err)
		}
	}
}

// TestTextIsText: text that looks like another format is accepted if it was announced as text.
func TestTextIsText(t *testing.T) {
	for name, content := range map[string]string{
		"HTML":              "<!DOCTYPE html><html><script>alert(1)</script></html>",
		"HTML after spaces": "   \n<html><body onload=alert(1)>",
		"SVG":               `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`,
		"XML":               `<?xml version="1.0"?><a/>`,
		"JSON":              `{"error": {"code": 500}, "list": [1, 2]}`,
		"lines of JSON":     "{\"at\":1}\n{\"at\":2}\n",
		"CSV":               "name,votes\nAda,1\nGrace,2\n",
		"shell":             "#!/bin/sh\nrm -rf /",
		"PHP":               "<?php echo 1;",
		"Python":            "#!/usr/bin/env python3\nprint(1)",
		"UTF-16":            "\xff\xfeh\x00i\x00",
	} {
		if clean, contentType, err := inspect([]byte(content), plainText); contentType != plainText || string(clean) != content || err != nil {
			t.Errorf("%s: %s %q %v", name, contentType, clean, err)
		}
		if _, _, err := inspect([]byte(content), "image/png"); name != "UTF-16" && !errors.Is(err, feedback.ErrInvalidFile) {
			t.Errorf("%s is accepted as a picture: %v", name, err)
		}
	}
}

// FuzzInspect checks that no content makes inspect panic, and that accepted content is clean.
func FuzzInspect(f *testing.F) {
	for _, kind := range []string{"png", "jpeg", "gif", "webp"} {
		f.Add(encoded(f, kind))
		f.Add(located(f, kind))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		clean, contentType, err := inspect(content, plainText)
		if err != nil {
			return
		}
		again, same, err := inspect(clean, plainText)
		if err != nil || same != contentType || !bytes.Equal(again, clean) {
			t.Errorf("%s: %q became %q, then %s: %q (%v)", contentType, content, clean, same, again, err)
		}
	})
}
