package main

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofrs/flock"

	"gatherkit/internal/config"
)

// lockFile is the name of the file in the data folder that the service locks. The system ends the lock with the process.
const lockFile = "service.lock"

// lockFolder keeps a second service and gatherkit copy away from the folder of an SQLite database, until unlock is called
// or the process ends. It returns an error if one of them has the folder. Where files cannot be locked, it logs that
// nothing is kept away. PostgreSQL needs no lock.
func lockFolder(at config.Store, log *slog.Logger) (unlock func(), err error) {
	if at.Database != "" {
		return func() {}, nil
	}
	path := filepath.Join(at.Data, lockFile)
	lock := flock.New(path, flock.SetPermissions(0o600))
	locked, err := lock.TryLock()
	if err != nil {
		log.Warn("the data folder cannot be locked, so nothing keeps a second service away from it", "error", err)
		return func() {}, nil
	}
	if !locked {
		holder, _ := os.ReadFile(path)           //nolint:gosec // in the operator's folder
		pid := strings.TrimSpace(string(holder)) // is empty while the other process has just begun
		return func() {}, fmt.Errorf("the data folder %s is in use by another process of gatherkit (%s); stop it first", at.Data, pid)
	}
	_ = os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600) // says who has the lock, and is not needed for it
	return func() { _ = lock.Unlock() }, nil
}
