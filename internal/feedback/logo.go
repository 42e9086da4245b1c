package feedback

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"image/png"
)

const maxLogoSide = 512 // pixels

// LogoName returns the name of the file with the logo, such as logo-1a2b3c4d.png, or "" if there is no logo. Another
// logo has another name, so browsers can keep the file.
func (p PortalSettings) LogoName() string {
	if p.Logo == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(p.Logo))
	return "logo-" + hex.EncodeToString(sum[:4]) + ".png"
}

// Logged returns the app as the log of changes shows it: with the name of its logo instead of the picture, which would
// be in each entry.
func (a App) Logged() App {
	a.Settings.Portal.Logo = a.Settings.Portal.LogoName()
	return a
}

// LogoFile returns the logo as a PNG, or nothing if there is none.
func (p PortalSettings) LogoFile() []byte {
	file, _ := base64.StdEncoding.DecodeString(p.Logo) // check has seen it
	return file
}

// validLogo reports whether a text is a PNG of a usual size in base64.
func validLogo(text string) bool {
	file, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return false
	}
	head, err := png.DecodeConfig(bytes.NewReader(file)) // before the pixels, which can need much more memory
	if err != nil || max(head.Width, head.Height) > maxLogoSide {
		return false
	}
	_, err = png.Decode(bytes.NewReader(file))
	return err == nil
}
