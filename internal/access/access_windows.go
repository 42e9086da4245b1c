// Package access says why the files that an operator names cannot be used. Windows has no owners
// and modes to compare, so its own errors must do.
package access

// Check returns nil.
func Check(...string) error { return nil }
