package main

// connsAtOnce is how many connections are taken at once: Windows has no limit of open
// files that is lower.
func connsAtOnce() int { return maxConns }

// keepPrivate has nothing to do: files on Windows have the access rights of their folder.
func keepPrivate() {}

// openToOthers cannot be told by a mode on Windows.
func openToOthers(string) bool { return false }
