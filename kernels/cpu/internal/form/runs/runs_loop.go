package runs

import (
	"math/bits"
	"unsafe"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// RunMasked is the number of rows of a group of Runs with masks.
const RunMasked = 4

// RunColumns returns the greatest number of columns of a piece for the kernels of a level: as many
// as fill a register, at most RunRows.
func RunColumns[V sparse.Value](l simd.Level) int {
	if l == simd.AVX2 {
		return simd.Lanes[V](l)
	}
	return form.RunRows
}

// Runs stores rows as runs of successive columns. Successive rows form a group. A group has pieces
// of at most RunColumns successive columns; the elements of x of a piece are loaded once for all
// rows of the group.
type Runs[V sparse.Value] struct {
	// Groups has pieces<<4 | rows for each group: 1 to RunRows rows with equal columns, or 0 for
	// RunMasked rows with different columns.
	Groups []uint32
	First  []int32 // first column of each piece
	// Masks has, for each piece (if rows have equal columns) or for each row of each piece, the
	// columns: bit i stands for First+i. The set bits are successive. If rows have equal columns,
	// bit 0 is set; otherwise First+RunColumns is at most the number of columns of x.
	Masks []uint8
	Val   []V // values, piece by piece, row by row
	// One says that all values are equal to Val[0], which is stored RunRows times.
	One bool
	// Finite says that all values are finite, and that the RunRows elements of memory before Val
	// and after it are finite values as well: the kernels of AVX2 multiply neighbours of a row's
	// values by 0. See RunLevel.
	Finite bool
}

// RunGroup returns the element of Runs.Groups for a group.
func RunGroup(rows int, masked bool, pieces int) uint32 {
	if masked {
		rows = 0
	}
	return uint32(pieces)<<4 | uint32(rows)
}

// RunPieces is the greatest number of pieces of a group.
const RunPieces = 1<<28 - 1

// ParseRunGroup is the inverse of RunGroup.
func ParseRunGroup(g uint32) (rows int, masked bool, pieces int) {
	if rows = int(g & 15); rows == 0 {
		return RunMasked, true, int(g >> 4)
	}
	return rows, false, int(g >> 4)
}

// RunPosition is the position at which a group begins.
type RunPosition struct{ Group, Piece, Mask, Entry int }

// FastRuns reports whether MultiplyRuns has a kernel at this level; if RunLevel is AVX2, it has one
// only for finite values. Otherwise it runs in plain Go.
func FastRuns(l simd.Level) bool { return l >= simd.AVX2 }

// RunLevel returns the level of the kernel that level l uses if values differ. For float32 it is
// AVX2 even with AVX-512: a piece fills at most 256 bits, for which clearing the other lanes of x
// is faster than masking each product.
func RunLevel[V sparse.Value](l simd.Level) simd.Level {
	if l == simd.AVX512 && RunColumns[V](simd.AVX2) == form.RunRows {
		return simd.AVX2
	}
	return l
}

// fast reports whether there is a kernel of the level for the values.
func (r *Runs[V]) fast(l simd.Level) bool {
	return l == simd.AVX512 || l == simd.AVX2 && (r.One || r.Finite)
}

// MultiplyRuns multiplies n groups from position at on by x:
//
//	sums[r] = sum over the entries of row r of value*x[column]
//
// The order of the additions is unspecified. sums has room for RunRows elements after those of the
// rows, which are overwritten. The pieces must have at most RunColumns of the level, or the level
// is Generic. Columns are not checked.
func MultiplyRuns[V sparse.Value](l simd.Level, r *Runs[V], at RunPosition, n int, x, sums []V) {
	if !r.One {
		l = RunLevel[V](l)
	}
	switch {
	case n == 0:
	case r.fast(l):
		groups, columns, masks := r.from(at)
		kernel := simd.ForType[*runTable[V]](runTables)[l-simd.AVX2][r.kernel()]
		kernel(n, groups, columns, masks, unsafe.SliceData(r.values(at)), unsafe.SliceData(x), &sums[0], len(x)-RunColumns[V](l))
	default:
		r.multiply(at, n, x, sums)
	}
}

func (r *Runs[V]) multiply(at RunPosition, n int, x, sums []V) {
	for range n {
		rows, _, pieces := ParseRunGroup(r.Groups[at.Group])
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

// AddRunsTransposed adds the products of n groups from position at on to y:
//
//	y[column-first] += after * (value*factors[r])  for every entry of each row r
//
// y begins with column first. If rows have different columns, y has RunColumns elements from the
// first column of each piece on. Levels are those of MultiplyRuns. Columns are not checked. There
// is assembly only for after = 1; see Factors.
func AddRunsTransposed[V sparse.Value](l simd.Level, r *Runs[V], at RunPosition, n int, after V, factors, y []V, first int) {
	switch {
	case n == 0 || len(y) == 0: // no entries
	case r.fast(l) && after == 1:
		groups, columns, masks := r.from(at)
		kernel := simd.ForType[*runTransposedTable[V]](runTransposedTables)[l-simd.AVX2][r.kernel()]
		kernel(n, groups, columns, masks, unsafe.SliceData(r.values(at)), &factors[0], &y[0], first, first+len(y)-RunColumns[V](l))
	default:
		r.addTransposed(at, n, after, factors, y, first)
	}
}

func (r *Runs[V]) addTransposed(at RunPosition, n int, after V, factors, y []V, first int) {
	for range n {
		rows, _, pieces := ParseRunGroup(r.Groups[at.Group])
		at = r.Each(at, 0, pieces, func(row, column int, val []V) {
			for j, v := range val {
				y[column-first+j] += after * (v * factors[row])
			}
		})
		factors = factors[rows:]
	}
}

// Each calls f for each row that has entries in the pieces lo <= i < hi of the group at at, with
// the first column and the values of these successive entries. It returns the position after these
// pieces, which is the next group after the last piece.
func (r *Runs[V]) Each(at RunPosition, lo, hi int, f func(row, column int, val []V)) RunPosition {
	rows, masked, pieces := ParseRunGroup(r.Groups[at.Group])
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

// values returns the values from position at on.
func (r *Runs[V]) values(at RunPosition) []V {
	if r.One {
		return r.Val
	}
	return r.Val[at.Entry:]
}

type (
	// runTable and runTransposedTable have kernels by Level-AVX2, for values that differ and for
	// one value.
	runTable[V sparse.Value]           [2][2]func(n int, groups *uint32, columns *int32, masks *uint8, val, x, sums *V, last int)
	runTransposedTable[V sparse.Value] [2][2]func(n int, groups *uint32, columns *int32, masks *uint8, val, factors, y *V, first, last int)
)

// kernel returns 1 if all values are equal, and 0 otherwise.
func (r *Runs[V]) kernel() int {
	if r.One {
		return 1
	}
	return 0
}

// from returns the groups from position at on, their columns and their masks.
func (r *Runs[V]) from(at RunPosition) (groups *uint32, columns *int32, masks *uint8) {
	return unsafe.SliceData(r.Groups[at.Group:]), unsafe.SliceData(r.First[at.Piece:]), unsafe.SliceData(r.Masks[at.Mask:])
}

// These have no kernels on processors without assembly.
var (
	runTables, runTransposedTables simd.Kernels
)
