package main

// maxOpenConnections returns the maximum number of connections. Windows has no lower limit
// of open files.
func maxOpenConnections() int { return maxConns }

// keepPrivate does nothing, because files on Windows inherit the permissions of their folder.
func keepPrivate() {}

// openToOthers returns false, because Windows has no file modes to check.
func openToOthers(string) bool { return false }
