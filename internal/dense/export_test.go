package dense

import "github.com/msrep-go/msrep/internal/simd"

// SetLevel sets the instruction set of the loops and returns a function that restores it.
func SetLevel(l simd.Level) (restore func()) {
	old := level
	level = l
	return func() { level = old }
}
