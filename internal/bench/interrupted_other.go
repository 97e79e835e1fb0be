//go:build !linux

package bench

// interrupted returns 0: the count is unknown on this system.
func interrupted() int64 { return 0 }
