package bins

import (
	"unsafe"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

const (
	// binNear is the number of entries by which kernels prefetch a row of x and one of sums.
	binNear = 16
	// binEntries is the number of values that are expanded at a time if they are not stored Full.
	// binRound is the number of steps of a round of the kernels.
	binEntries, binRound = 1 << 10, 8
)

// BinPrefetch is what later calls read, and what AddMany prefetches.
type BinPrefetch[V sparse.Value] struct {
	// Rows are the rows of X that the next calls read, one per slot, in whole lines of BinLine.
	Rows []uint16
	X    form.MultiVector[V]
	// Entries is the first slot of later calls in the order by block of columns; Columns from there
	// on are prefetched. Values is the first slot in the order by block of rows; values from there
	// on are prefetched.
	Entries, Values int
}

// BinColumns returns the number of elements of a row of sums for cols columns: half a cache line or
// a whole one. It may be more than cols.
func BinColumns[V sparse.Value](cols int) int {
	size := int(unsafe.Sizeof(*new(V)))
	if cols*size <= simd.RegisterBytes(simd.AVX2) {
		return simd.RegisterBytes(simd.AVX2) / size
	}
	return simd.RegisterBytes(simd.AVX512) / size
}

// AddMany multiplies n entries of a run by x.Cols vectors, at most BinColumns. k is their first
// slot in the order by block of columns, place that in the order by block of rows.
//
//	sums[Rows[place+i]][j] += value(place+i) * x[Columns[k+i]][j],  i < n
//
// The rows of sums are BinColumns elements apart; their elements from x.Cols on are overwritten.
// Rows and columns are not checked; they must be in sums and x.
func (b *Bins[V]) AddMany(l simd.Level, k, place, n int, x form.MultiVector[V], sums []V, ahead BinPrefetch[V], e *form.Expansion[V]) {
	columns, rows, rounds := b.Columns[k:], b.Rows[place:], len(ahead.Rows)/binRound
	more := min(binNear, len(columns)-n, len(rows)-n)
	for n > 0 || rounds > 0 {
		now, roundsNow := n, rounds
		if b.Values.Storage != form.Full && now > binEntries {
			now = binEntries
			roundsNow = min(rounds, now/binRound)
		}
		val := e.Full(simd.Generic, &b.Values, place, now, 0)
		if l == simd.Generic {
			width := BinColumns[V](x.Cols)
			for i, v := range val {
				sum := sums[int(rows[i])*width:]
				for j, xj := range x.Val[int(columns[i])*x.Stride:][:x.Cols] {
					sum[j] += v * xj
				}
			}
		} else {
			addBinMany(l, now, min(binNear, more+n-now), roundsNow, columns, rows, val, x, sums, ahead, b.Columns[ahead.Entries:], b.Values.From(ahead.Values), b.Values.ColumnBytes()*binRound)
		}
		place, n, rounds = place+now, n-now, rounds-roundsNow
		columns, rows, ahead.Rows = columns[now:], rows[now:], ahead.Rows[roundsNow*binRound:]
	}
}

// manyBinTable has kernels for sums of one AVX2 register, of two, and of one AVX-512 register.
type manyBinTable[V sparse.Value] [3]func(n, more, rounds int, from, to *uint16, val, x *V, ldx int, sums *V, last int, later *uint16, laterX *V, soonFrom *uint16, soonVal *byte, step int)

// addBinMany is AddMany for n entries with these values. In rounds rounds it prefetches rows of
// ahead.X, the columns from soonFrom on, and step bytes per round from soonVal on.
func addBinMany[V sparse.Value](l simd.Level, n, more, rounds int, from, to []uint16, val []V, x form.MultiVector[V], sums []V, ahead BinPrefetch[V], soonFrom []uint16, soonVal *byte, step int) {
	lanes := simd.RegisterBytes(simd.AVX2) / int(unsafe.Sizeof(*new(V)))
	kernel, last := 0, (x.Cols-1)%lanes+1 // columns of the last register
	switch {
	case BinColumns[V](x.Cols) == lanes:
	case l < simd.AVX512:
		kernel = 1
	default:
		kernel, last = 2, x.Cols
	}
	simd.ForType[*manyBinTable[V]](manyBinTables)[kernel](n, more, rounds, unsafe.SliceData(from), unsafe.SliceData(to), unsafe.SliceData(val), unsafe.SliceData(x.Val), x.RowBytes(),
		unsafe.SliceData(sums), last, unsafe.SliceData(ahead.Rows), unsafe.SliceData(ahead.X.Val), unsafe.SliceData(soonFrom), soonVal, step)
}

// manyBinTables has no kernels on processors without assembly.
var manyBinTables simd.Kernels
