package blob

import (
	"bytes"
	"errors"
	"image"
	_ "image/gif"  // to read the size of GIF images
	_ "image/jpeg" // to read the size of JPEG images
	_ "image/png"  // to read the size of PNG images

	"github.com/gabriel-vasile/mimetype"
	_ "golang.org/x/image/webp" // to read the size of WebP images

	"gatherkit/internal/feedback"
)

// maxPixels is the maximum number of pixels of an image. Programs that show it need four
// bytes of memory for each.
const maxPixels = 50_000_000

const plainText = "text/plain"

// errDamaged means that an image does not have the structure of its format.
var errDamaged = errors.New("the image is damaged")

// cleaners remove everything from an image that is not needed to show it.
var cleaners = map[string]func([]byte) ([]byte, error){
	"image/png": cleanPNG, "image/jpeg": cleanJPEG, "image/gif": cleanGIF, "image/webp": cleanWebP,
}

// inspect returns a file without metadata, and its content type. The content decides the type,
// because names and headers can be wrong. Only text in a format of its own, such as JSON, is what
// it was announced as. inspect returns feedback.ErrInvalidFile if the file must not be attached.
func inspect(content []byte, announced string) (clean []byte, contentType string, err error) {
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
			return nil, "", feedback.ErrInvalidFile.With("The image is damaged.")
		}
		if size.Width*size.Height > maxPixels {
			return nil, "", feedback.ErrInvalidFile.With("An image may have at most %d million pixels.", maxPixels/1_000_000)
		}
		if clean, err = cleaner(content); err != nil {
			return nil, "", feedback.ErrInvalidFile.With("The image is damaged.")
		}
		return clean, allowed, nil
	}
	for kind := detected; kind != nil && announced == plainText; kind = kind.Parent() {
		if kind.Is(plainText) {
			return content, plainText, nil
		}
	}
	return nil, "", feedback.ErrInvalidFile
}
