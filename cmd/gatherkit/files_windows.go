package main

import "golang.org/x/sys/windows"

// maxOpenConnections returns the maximum number of connections. Windows has no lower limit
// of open files.
func maxOpenConnections() int { return maxConns }

// keepPrivate does nothing, because files on Windows inherit the permissions of their folder.
func keepPrivate() {}

// space returns how many bytes the disk of a folder has, and how many of them the program may still write.
func space(folder string) (all, free uint64, err error) {
	path, err := windows.UTF16PtrFromString(folder)
	if err == nil {
		err = windows.GetDiskFreeSpaceEx(path, &free, &all, nil)
	}
	return all, free, err
}

// openToOthers returns false, because Windows has no file modes to check.
func openToOthers(string) bool { return false }
