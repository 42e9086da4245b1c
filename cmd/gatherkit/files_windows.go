package main

// connsAtOnce is how many connections are taken at once: Windows has no limit of open
// files that is lower.
func connsAtOnce() int { return maxConns }
