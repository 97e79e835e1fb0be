package vec

import (
	"unsafe"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/sparse"
)

// Grid has vectors in memory: element i of vector j is Val[i*I+j*J]. I or J is 1.
type Grid[V sparse.Value] struct {
	Val  []V
	I, J int
}

// From returns the vectors without their first i elements.
func (g Grid[V]) From(i int) Grid[V] {
	g.Val = g.Val[min(i*g.I, len(g.Val)):]
	return g
}

// transposedAtOnce is the number of elements of all vectors that are copied before the next ones:
// they stay in the first-level cache.
const transposedAtOnce = 128

// CopyTransposed copies count vectors of n elements between a grid that stores the elements of a vector
// contiguously and one that interleaves the vectors:
//
//	to[i][j] = from[i][j]  for element i < n of vector j < count
//
// Other elements of to do not change.
func CopyTransposed[V sparse.Value](n, count int, from, to Grid[V]) {
	if level == simd.Generic || from.I == to.I {
		transposeGeneric(0, n, 0, count, from, to)
		return
	}
	for lo := 0; lo < n; lo += transposedAtOnce {
		rows := min(transposedAtOnce, n-lo)
		for j := 0; j < count; {
			side := 1 << min((count-j)/2, 2) // of the tiles: 1, 2 or 4
			hi := lo + rows/side*side
			if side == 1 {
				hi = lo
			} else if hi > lo {
				transposeTiles(side, lo, hi, j, from, to)
			}
			transposeGeneric(hi, lo+rows, j, j+side, from, to)
			j += side
		}
	}
}

// transposeTable has kernels for tiles of 2 x 2 and of 4 x 4.
type transposeTable[V sparse.Value] [2]func(n int, from *V, ldf, stepf int, to *V, ldt, stept int)

// transposeTiles is CopyTransposed for the elements lo <= i < hi of side vectors from vector j on.
func transposeTiles[V sparse.Value](side, lo, hi, j int, from, to Grid[V]) {
	size := int(unsafe.Sizeof(*new(V)))
	ldf, ldt := from.J, to.I
	if from.I != 1 {
		ldf, ldt = from.I, to.J
	}
	a, b := from.Val[lo*from.I+j*from.J:], to.Val[lo*to.I+j*to.J:]
	simd.ForType[*transposeTable[V]](transposeTables)[side/4]((hi-lo)/side, unsafe.SliceData(a), ldf*size, side*from.I*size, unsafe.SliceData(b), ldt*size, side*to.I*size)
}

// transposeGeneric is CopyTransposed in plain Go, for the elements lo <= i < hi of the vectors first <=
// j < end.
func transposeGeneric[V sparse.Value](lo, hi, first, end int, from, to Grid[V]) {
	for i := lo; i < hi; i++ {
		for j := first; j < end; j++ {
			to.Val[i*to.I+j*to.J] = from.Val[i*from.I+j*from.J]
		}
	}
}
