//go:build unix

package main

import "syscall"

// connsAtOnce is how many connections are taken at once. Where the process may not
// open many files, half of those stay for the database, whatever callers do.
func connsAtOnce() int {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return maxConns // an error that POSIX has not for one's own process
	}
	return int(min(files.Cur/2, maxConns))
}
