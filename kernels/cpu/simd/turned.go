package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// Grid is vectors in memory: element i of vector j is Val[i*I+j*J]. One of I and J is 1.
type Grid[V sparse.Value] struct {
	Val  []V
	I, J int
}

// From is the vectors without their first elements.
func (g Grid[V]) From(i int) Grid[V] {
	g.Val = g.Val[min(i*g.I, len(g.Val)):]
	return g
}

// turnedAtOnce is how many elements of all vectors are turned before the next ones: they stay in the
// nearest cache.
const turnedAtOnce = 128

// CopyTransposed copies count vectors of n elements, of which one grid has the elements of a vector side by side
// and the other one the vectors: to[i][j] = from[i][j]. Both must have as many; what is beside them in to
// is left alone.
func CopyTransposed[V sparse.Value](l Level, n, count int, from, to Grid[V]) {
	if l < AVX2 || from.I == to.I {
		turnGeneric(0, n, 0, count, from, to)
		return
	}
	for lo := 0; lo < n; lo += turnedAtOnce {
		rows := min(turnedAtOnce, n-lo)
		for j := 0; j < count; {
			side := 1 << min((count-j)/2, 2) // of the tiles: 1, 2 or 4
			hi := lo + rows/side*side
			if side == 1 {
				hi = lo
			} else if hi > lo {
				turnTiles(side, lo, hi, j, from, to)
			}
			turnGeneric(hi, lo+rows, j, j+side, from, to)
			j += side
		}
	}
}

// turnTable is kernels for tiles of 2 x 2 and of 4 x 4.
type turnTable[V sparse.Value] [2]func(n int, from *V, ldf, stepf int, to *V, ldt, stept int)

// turnTiles is CopyTransposed for elements lo <= i < hi of the vectors from j on, as many as tiles have rows.
func turnTiles[V sparse.Value](side, lo, hi, j int, from, to Grid[V]) {
	size := int(unsafe.Sizeof(*new(V)))
	ldf, ldt := from.J, to.I
	if from.I != 1 {
		ldf, ldt = from.I, to.J
	}
	a, b := from.Val[lo*from.I+j*from.J:], to.Val[lo*to.I+j*to.J:]
	of[*turnTable[V]](turnTables)[side/4]((hi-lo)/side, unsafe.SliceData(a), ldf*size, side*from.I*size, unsafe.SliceData(b), ldt*size, side*to.I*size)
}

// turnGeneric is CopyTransposed in plain Go, for elements lo <= i < hi of the vectors first <= j < end.
func turnGeneric[V sparse.Value](lo, hi, first, end int, from, to Grid[V]) {
	for i := lo; i < hi; i++ {
		for j := first; j < end; j++ {
			to.Val[i*to.I+j*to.J] = from.Val[i*from.I+j*from.J]
		}
	}
}
