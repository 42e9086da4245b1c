//go:build unix

package main

import (
	"os"
	"syscall"
)

// maxOpenConnections returns the maximum number of connections. If the limit of open files
// is low, connections get half of it, and the database the other half.
func maxOpenConnections() int {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return maxConns // POSIX defines no error that can occur here
	}
	return int(min(files.Cur/2, maxConns))
}

// keepPrivate sets the umask so that only the process's user can access files and folders
// that it creates: the database and its logs, attached files, and backups.
func keepPrivate() { syscall.Umask(0o077) }

// space returns how many bytes the disk of a folder has, and how many of them the program may still write.
func space(folder string) (all, free uint64, err error) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(folder, &disk); err != nil {
		return 0, 0, err
	}
	block := uint64(disk.Bsize)                                  //nolint:gosec // its type differs between systems
	return disk.Blocks * block, uint64(disk.Bavail) * block, nil //nolint:unconvert // the same
}

// openToOthers reports whether users other than its owner have access to a folder.
func openToOthers(folder string) bool {
	info, err := os.Stat(folder)
	return err == nil && info.Mode().Perm()&0o077 != 0
}
