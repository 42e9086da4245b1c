// Package durable makes what was written survive the loss of power.
package durable

import (
	"errors"
	"os"
	"runtime"
)

// Sync makes the content of files durable, and the entries of folders. On Windows, it does nothing
// for folders: Windows refuses to flush one, and NTFS writes its entries to a journal.
func Sync(paths ...string) error {
	for _, path := range paths {
		if err := syncPath(path); err != nil {
			return err
		}
	}
	return nil
}

func syncPath(path string) error {
	access := os.O_RDONLY
	if runtime.GOOS == "windows" {
		info, err := os.Stat(path)
		if err != nil || info.IsDir() {
			return err
		}
		access = os.O_RDWR // Windows flushes only what may be written
	}
	f, err := os.OpenFile(path, access, 0) //nolint:gosec // the operator names the folder
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
