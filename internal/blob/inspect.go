package blob

import (
	"bytes"
	"errors"
	"image"
	_ "image/gif"  // so that their sizes can be read
	_ "image/jpeg" // likewise
	_ "image/png"  // likewise

	"github.com/gabriel-vasile/mimetype"
	_ "golang.org/x/image/webp" // likewise

	"gatherkit/internal/feedback"
)

// maxPixels is how large a picture may be: those who look at it need four bytes for each.
const maxPixels = 50_000_000

// errDamaged says that a picture is not built as its kind is.
var errDamaged = errors.New("the picture is damaged")

// cleaners take from a picture what is not needed to show it.
var cleaners = map[string]func([]byte) ([]byte, error){
	"image/png": cleanPNG, "image/jpeg": cleanJPEG, "image/gif": cleanGIF, "image/webp": cleanWebP,
}

// inspect returns a file without what should not be known, and its content type, which
// its content alone decides: a name or a header can say anything. It refuses with
// feedback.ErrInvalidFile.
func inspect(content []byte) (clean []byte, contentType string, err error) {
	if len(content) == 0 {
		return nil, "", feedback.ErrInvalidFile.With("The file is empty.")
	}
	detected := mimetype.Detect(content)
	for _, allowed := range feedback.UploadTypes() {
		if !detected.Is(allowed) {
			continue
		}
		cleaner, picture := cleaners[allowed]
		if !picture {
			return content, allowed, nil
		}
		size, _, err := image.DecodeConfig(bytes.NewReader(content))
		if err != nil {
			return nil, "", feedback.ErrInvalidFile.With("The picture is damaged.")
		}
		if size.Width*size.Height > maxPixels {
			return nil, "", feedback.ErrInvalidFile.With("A picture may have at most %d million pixels.", maxPixels/1_000_000)
		}
		if clean, err = cleaner(content); err != nil {
			return nil, "", feedback.ErrInvalidFile.With("The picture is damaged.")
		}
		return clean, allowed, nil
	}
	return nil, "", feedback.ErrInvalidFile
}
