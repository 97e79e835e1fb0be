package vec

import "github.com/msrep-go/msrep/internal/simd"

// SetLevel is setLevel.
var SetLevel = setLevel

// setLevel sets the instruction set of the loops and returns a function that restores it.
func setLevel(l simd.Level) (restore func()) {
	old := level
	level = l
	return func() { level = old }
}
