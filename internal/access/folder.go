package access

import (
	"fmt"
	"os"
	"path/filepath"
)

// CheckFolder returns an error if there is something else than a folder at a path.
func CheckFolder(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.IsDir() {
		return nil //nolint:nilerr // Check says why a path cannot be used
	}
	if path, err = filepath.Abs(path); err != nil {
		return err
	}
	return fmt.Errorf("%s is a file and not a folder", path)
}
