package portal

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/png"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
	"golang.org/x/text/unicode/norm"

	"gatherkit/internal/feedback"
)

// The measures of the picture, in pixels.
const (
	cardWidth, cardHeight = 1200, 630
	cardMargin            = 80
	cardInside            = cardWidth - 2*cardMargin
	cardTile              = 80
)

var (
	regular = mustFont(goregular.TTF)
	bold    = mustFont(gobold.TTF)
)

// mustFont panics if an embedded font is broken, as template.Must does.
func mustFont(text []byte) *sfnt.Font {
	parsed, err := opentype.Parse(text)
	if err != nil {
		panic(err)
	}
	return parsed
}

// canvas is a picture in two colors and what is between them: white is the ink, and black the ground. It has a byte
// for each pixel, as the picture that is sent.
type canvas struct{ *image.Gray }

// Card returns the picture that other sites show of an idea, as a PNG. It has only texts in scripts of the
// font.
func Card(site Site, idea Idea) ([]byte, error) {
	c := canvas{image.NewGray(image.Rect(0, 0, cardWidth, cardHeight))}
	x := cardMargin
	if letter := drawable(initial(site.App)); letter != "" {
		if err := c.tile(letter); err != nil {
			return nil, err
		}
		x += cardTile + 28
	}
	if _, err := c.lines(regular, 42, x, cardMargin+56, 1, site.App); err != nil {
		return nil, err
	}
	if _, err := c.lines(bold, 62, cardMargin, 262, 4, idea.Title); err != nil {
		return nil, err
	}
	const foot = cardHeight - 62
	c.triangle(cardMargin, foot-30, 36, 29)
	x, err := c.lines(bold, 42, cardMargin+54, foot, 1, strconv.FormatInt(idea.Votes, 10))
	if err != nil {
		return nil, err
	}
	status := cmp.Or(site.Statuses.Label(idea.Status), site.texts("").Status[idea.Status])
	if _, err := c.lines(regular, 42, x+44, foot, 1, status); err != nil {
		return nil, err
	}
	return c.encode(site.Color)
}

// drawable returns a text with the characters of the font only, or "" if it has letters of other scripts.
func drawable(text string) string {
	var kept strings.Builder
	for _, r := range norm.NFC.String(feedback.ToSingleLine(text)) {
		glyph, err := bold.GlyphIndex(nil, r)
		switch {
		case err == nil && glyph != 0:
			kept.WriteRune(r)
		case unicode.In(r, unicode.L, unicode.N, unicode.M) && !unicode.Is(unicode.Variation_Selector, r):
			return ""
		}
	}
	return strings.TrimSpace(kept.String())
}

// lines draws a text on at most so many lines, from x and the first base line. It returns where the last
// line ends.
func (c canvas) lines(in *sfnt.Font, size float64, x, y, most int, text string) (int, error) {
	face, err := opentype.NewFace(in, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingNone})
	if err != nil {
		return x, err
	}
	pen := font.Drawer{Dst: c.Gray, Src: image.White, Face: face, Dot: fixed.P(x, y)}
	for i, line := range wrap(face, drawable(text), fixed.I(cardWidth-cardMargin-x), most) {
		pen.Dot = fixed.P(x, y+i*int(size*1.22))
		pen.DrawString(line)
	}
	return pen.Dot.X.Ceil(), nil
}

// wrap divides a text into at most so many lines. The last one ends with an ellipsis if the text goes on.
func wrap(face font.Face, text string, width fixed.Int26_6, most int) []string {
	fits := func(line string) bool { return font.MeasureString(face, line) <= width }
	var list []string
	for letters := []rune(text); len(letters) > 0; {
		end := 0 // of what fits
		for end < len(letters) && fits(string(letters[:end+1])) {
			end++
		}
		if len(list) == most-1 && end < len(letters) {
			for end > 0 && !fits(strings.TrimSpace(string(letters[:end]))+"…") {
				end--
			}
			return append(list, strings.TrimSpace(string(letters[:end]))+"…")
		}
		if end < len(letters) {
			for space := end; space > 0; space-- {
				if letters[space] == ' ' {
					end = space
					break
				}
			}
		}
		end = max(end, 1)
		list = append(list, strings.TrimSpace(string(letters[:end])))
		letters = letters[end:]
		for len(letters) > 0 && letters[0] == ' ' {
			letters = letters[1:]
		}
	}
	return list
}

// tile draws the app's tile with a letter in the color of the ground.
func (c canvas) tile(letter string) error {
	const size, corner = float32(cardTile), float32(20)
	shape := vector.NewRasterizer(cardTile, cardTile)
	shape.MoveTo(corner, 0)
	shape.LineTo(size-corner, 0)
	shape.QuadTo(size, 0, size, corner)
	shape.LineTo(size, size-corner)
	shape.QuadTo(size, size, size-corner, size)
	shape.LineTo(corner, size)
	shape.QuadTo(0, size, 0, size-corner)
	shape.LineTo(0, corner)
	shape.QuadTo(0, 0, corner, 0)
	shape.Draw(c.Gray, image.Rect(cardMargin, cardMargin, cardMargin+cardTile, cardMargin+cardTile), image.White, image.Point{})

	face, err := opentype.NewFace(bold, &opentype.FaceOptions{Size: 46, DPI: 72, Hinting: font.HintingNone})
	if err != nil {
		return err
	}
	pen := font.Drawer{Dst: c.Gray, Src: image.Black, Face: face}
	pen.Dot = fixed.P(cardMargin+cardTile/2, cardMargin+cardTile/2+16)
	pen.Dot.X -= pen.MeasureString(letter) / 2
	pen.DrawString(letter)
	return nil
}

// triangle draws the mark of votes.
func (c canvas) triangle(x, y, width, height int) {
	shape := vector.NewRasterizer(width, height)
	shape.MoveTo(float32(width)/2, 0)
	shape.LineTo(float32(width), float32(height))
	shape.LineTo(0, float32(height))
	shape.ClosePath()
	shape.Draw(c.Gray, image.Rect(x, y, x+width, y+height), image.White, image.Point{})
}

// encode turns the canvas into the picture with the color as its ground. It has few colors, so that it is small.
func (c canvas) encode(ground string) ([]byte, error) {
	const shades = 16 // 4 bits
	if !brandColor.MatchString(ground) {
		ground = defaultColor
	}
	back, _ := strconv.ParseUint(ground[1:], 16, 32) // brandColor has checked it
	front := uint64(0)
	if ink(ground) == "#fff" {
		front = 0xffffff
	}
	colors := make(color.Palette, shades)
	for i := range colors {
		mix := func(shift int) uint8 {
			from, to := int(back>>shift&0xff), int(front>>shift&0xff)
			return uint8(from + (to-from)*i/(shades-1)) //nolint:gosec // between the two
		}
		colors[i] = color.RGBA{mix(16), mix(8), mix(0), 0xff}
	}
	for i := range c.Pix {
		c.Pix[i] >>= 4 // from a shade to the number of a color
	}
	picture := &image.Paletted{Pix: c.Pix, Stride: c.Stride, Rect: c.Rect, Palette: colors}
	var out bytes.Buffer
	err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, picture)
	return out.Bytes(), err
}
