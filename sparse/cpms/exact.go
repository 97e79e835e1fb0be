package cpms

import (
	"math"
	"math/bits"
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/par"
)

// Exact is what fewer bytes hold of an array, every bit of it.
type Exact struct {
	Bits    int  // the first bits of each value that are not all zero below: 0 to 64
	Float32 bool // every value is a float32, NaNs included
}

// ReadExactly is the least number of s segments that hold every value.
func (e Exact) ReadExactly(s int) int { return max((e.Bits*s+63)/64, 1) }

// exactChunk is how many values are looked at between two looks at whether
// anything can still be saved.
const exactChunk = 1 << 12

// FindExact looks at all values, in parallel. It stops early where neither 48 bits
// nor float32 hold what it has seen, and then says 64 bits. An array without values
// has 0 bits.
func FindExact(val []float64) Exact {
	var or atomic.Uint64
	var wide atomic.Bool // some value is no float32
	par.Range(int64(len(val)), convertGrain, func(lo, hi int64) {
		for ; lo < hi; lo += exactChunk {
			seen, single := scan(val[lo:min(lo+exactChunk, hi)])
			or.Or(seen)
			if !single {
				wide.Store(true)
			}
			if wide.Load() && used(or.Load()) > 48 {
				return
			}
		}
	})
	e := Exact{used(or.Load()), !wide.Load()}
	if !e.Float32 && e.Bits > 48 {
		e.Bits = 64
	}
	return e
}

// scan ors all values and says whether each is a float32.
func scan(val []float64) (or uint64, single bool) {
	single = true
	for _, v := range val {
		u := math.Float64bits(v)
		or |= u
		single = single && math.Float64bits(float64(float32(v))) == u
	}
	return or, single
}

// used is 64 without the zeros at the low end.
func used(u uint64) int { return 64 - bits.TrailingZeros64(u) }
