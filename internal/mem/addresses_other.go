//go:build !linux

package mem

import "math"

// addressRoom is no bound where nothing tells how much of a limit is taken.
func addressRoom() int64 { return math.MaxInt64 }
