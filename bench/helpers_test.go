package bench

import (
	"os"
	"strconv"
	"testing"

	"github.com/msrep-go/msrep/internal/par"
)

// envInt is an environment variable as a number, def where it is not set.
func envInt(b *testing.B, name string, def int) int {
	s := os.Getenv(name)
	if s == "" {
		return def
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		b.Fatalf("%s=%q: a positive number is needed", name, s)
	}
	return n
}

// parallelCopy copies on all cores.
func parallelCopy(dst, src []int64) {
	par.Range(int64(len(src)), 1<<15, func(lo, hi int64) { copy(dst[lo:hi], src[lo:hi]) })
}
