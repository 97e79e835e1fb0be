package simd

import (
	"math/bits"
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// RunRows is the most rows of a group of Runs, and the most columns of a piece.
const RunRows = 8

// RunMasked is the rows of a group of Runs whose rows have runs of their own.
const RunMasked = 4

// RunColumns is the most columns of a piece for the kernels of a level: those that fill a
// register, at most RunRows.
func RunColumns[V sparse.Value](l Level) int {
	if l == AVX2 {
		return Lanes[V](l)
	}
	return RunRows
}

// Runs is rows whose entries stand in runs of successive columns. Rows that follow each
// other are a group, and a group has pieces of at most RunColumns successive columns, of
// which x is loaded once for all of its rows.
type Runs[V sparse.Value] struct {
	// Groups has for each group its pieces, times 16, and its rows: 1 to RunRows that
	// have the same columns, or 0 for RunMasked rows with columns of their own.
	Groups []uint32
	First  []int32 // the first column of each piece
	// Masks says for each piece, or for each of the rows with columns of their own, which
	// columns it has: bit i stands for First+i. The bits that are set follow each other.
	// They begin with the first where rows have the same; elsewhere First+RunColumns is at
	// most the columns of x.
	Masks []uint8
	Val   []V // piece by piece, row by row
	// One says that all values are Val[0], which is there RunRows times.
	One bool
	// Finite says that values are finite, and that there are RunRows more such elements of
	// memory before Val and behind it: the kernels of AVX2 multiply neighbours of a row's
	// values by 0. See RunLevel.
	Finite bool
}

// RunGroup is the element of Runs.Groups for so many pieces.
func RunGroup(rows int, masked bool, pieces int) uint32 {
	if masked {
		rows = 0
	}
	return uint32(pieces)<<4 | uint32(rows)
}

// RunPieces is the most pieces of a group.
const RunPieces = 1<<28 - 1

// OpenRunGroup is what RunGroup put together.
func OpenRunGroup(g uint32) (rows int, masked bool, pieces int) {
	if rows = int(g & 15); rows == 0 {
		return RunMasked, true, int(g >> 4)
	}
	return rows, false, int(g >> 4)
}

// RunPosition is where a group begins.
type RunPosition struct{ Group, Piece, Mask, Entry int }

// FastRuns reports whether MultiplyRuns has a kernel at this level, where RunLevel is AVX2 for
// finite values. Elsewhere it is in plain Go.
func FastRuns(l Level) bool { return l >= AVX2 }

// RunLevel is the level of the kernel for values of their own. Those of float32 fill no more than 256
// bits, in which to clear other lanes of x takes less time than to mask them out of each product.
func RunLevel[V sparse.Value](l Level) Level {
	if l == AVX512 && RunColumns[V](AVX2) == RunRows {
		return AVX2
	}
	return l
}

// fast reports whether there is a kernel of the level for the values.
func (r *Runs[V]) fast(l Level) bool { return l == AVX512 || l == AVX2 && (r.One || r.Finite) }

// MultiplyRuns multiplies n groups from a position on by x:
//
//	sums[r] = sum over the entries of row r of value*x[column]
//
// in an order of its own. sums has room for RunRows elements behind those of the rows,
// which hold nothing after it. The level must be one with the RunColumns that pieces have
// been cut for, or Generic. Columns are not checked.
func MultiplyRuns[V sparse.Value](l Level, r *Runs[V], at RunPosition, n int, x, sums []V) {
	if !r.One {
		l = RunLevel[V](l)
	}
	switch {
	case n == 0:
	case r.fast(l):
		groups, columns, masks := r.from(at)
		kernel := of[*runTable[V]](runTables)[l-AVX2][r.kernel()]
		kernel(n, groups, columns, masks, unsafe.SliceData(r.values(at)), unsafe.SliceData(x), &sums[0], len(x)-RunColumns[V](l))
	default:
		r.multiply(at, n, x, sums)
	}
}

func (r *Runs[V]) multiply(at RunPosition, n int, x, sums []V) {
	for range n {
		rows, _, pieces := OpenRunGroup(r.Groups[at.Group])
		acc := sums[:rows]
		clear(acc)
		at = r.Each(at, 0, pieces, func(row, column int, val []V) {
			for j, v := range val {
				acc[row] += v * x[column+j]
			}
		})
		sums = sums[rows:]
	}
}

// AddRunsTransposed adds the products of n groups from a position on to elements of y:
//
//	y[column-first] += after * (value*factors[r]) for every entry of each row r
//
// first is the column of y's first element. Where rows have columns of their own y has
// RunColumns elements from the first of each piece on. Levels are those of MultiplyRuns.
// Columns are not checked. It is fast where after is 1; see Factors.
func AddRunsTransposed[V sparse.Value](l Level, r *Runs[V], at RunPosition, n int, after V, factors, y []V, first int) {
	switch {
	case n == 0 || len(y) == 0: // no entries
	case r.fast(l) && after == 1:
		groups, columns, masks := r.from(at)
		kernel := of[*runTransposedTable[V]](runTransposedTables)[l-AVX2][r.kernel()]
		kernel(n, groups, columns, masks, unsafe.SliceData(r.values(at)), &factors[0], &y[0], first, first+len(y)-RunColumns[V](l))
	default:
		r.addTransposed(at, n, after, factors, y, first)
	}
}

func (r *Runs[V]) addTransposed(at RunPosition, n int, after V, factors, y []V, first int) {
	for range n {
		rows, _, pieces := OpenRunGroup(r.Groups[at.Group])
		at = r.Each(at, 0, pieces, func(row, column int, val []V) {
			for j, v := range val {
				y[column-first+j] += after * (v * factors[row])
			}
		})
		factors = factors[rows:]
	}
}

// Each calls f for each row that has some of the pieces lo ... hi-1 of the group at a
// position, with the column of the first of successive entries. It gives the position
// behind these pieces, which is in the next group after the last.
func (r *Runs[V]) Each(at RunPosition, lo, hi int, f func(row, column int, val []V)) RunPosition {
	rows, masked, pieces := OpenRunGroup(r.Groups[at.Group])
	for range hi - lo {
		mask := r.Masks[at.Mask]
		for row := range rows {
			if masked {
				mask = r.Masks[at.Mask+row]
			}
			n := bits.OnesCount8(mask)
			if n > 0 {
				f(row, int(r.First[at.Piece])+bits.TrailingZeros8(mask), r.values(at)[:n])
			}
			at.Entry += n
		}
		at.Mask++
		if masked {
			at.Mask += rows - 1
		}
		at.Piece++
	}
	if hi == pieces {
		at.Group++
	}
	return at
}

// values is the values from a position on.
func (r *Runs[V]) values(at RunPosition) []V {
	if r.One {
		return r.Val
	}
	return r.Val[at.Entry:]
}

type (
	// runTable and runTransposedTable are kernels by Level-AVX2, for values of their own and
	// for one value.
	runTable[V sparse.Value]           [2][2]func(n int, groups *uint32, columns *int32, masks *uint8, val, x, sums *V, last int)
	runTransposedTable[V sparse.Value] [2][2]func(n int, groups *uint32, columns *int32, masks *uint8, val, factors, y *V, first, last int)
)

// kernel is 1 for one value, else 0.
func (r *Runs[V]) kernel() int {
	if r.One {
		return 1
	}
	return 0
}

// from is where the groups from a position on, their columns and masks lie.
func (r *Runs[V]) from(at RunPosition) (groups *uint32, columns *int32, masks *uint8) {
	return unsafe.SliceData(r.Groups[at.Group:]), unsafe.SliceData(r.First[at.Piece:]), unsafe.SliceData(r.Masks[at.Mask:])
}
