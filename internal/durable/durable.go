// Package durable makes what was written survive the loss of power.
package durable

import (
	"errors"
	"os"
)

// Sync makes the content of files durable, and the entries of folders.
func Sync(paths ...string) error {
	for _, path := range paths {
		f, err := os.Open(path) //nolint:gosec // the operator names the folder
		if err != nil {
			return err
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return err
		}
	}
	return nil
}
