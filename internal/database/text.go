package database

import "strings"

// Storable returns the beginning of a text from elsewhere as UTF-8 that both databases can store, with at most some bytes.
func Storable[T string | []byte](text T, most int) string {
	valid := strings.ReplaceAll(strings.ToValidUTF8(string(text[:min(len(text), most)]), "�"), "\x00", "�")
	return strings.ToValidUTF8(valid[:min(len(valid), most)], "") // a replacement has three bytes
}
