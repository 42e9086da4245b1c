//go:build unix

package main

import (
	"os"
	"syscall"
)

// connsAtOnce is how many connections are taken at once. Where the process may not
// open many files, half of those stay for the database, whatever callers do.
func connsAtOnce() int {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return maxConns // an error that POSIX has not for one's own process
	}
	return int(min(files.Cur/2, maxConns))
}

// keepPrivate has files and folders that the process makes belong to its user alone: the
// database and its logs, attached files and backups.
func keepPrivate() { syscall.Umask(0o077) }

// openToOthers reports whether users other than its owner may enter a folder or list it.
func openToOthers(folder string) bool {
	info, err := os.Stat(folder)
	return err == nil && info.Mode().Perm()&0o077 != 0
}
