package ellpack

import (
	"math"
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

// Rows holds rows of a matrix in CSR, or of a part of one: row r has the entries Ptr[r]
// <= k < Ptr[r+1] that lie in [First, End); entry k is Idx[k-First] and Val[k-First]. Ptr
// must be in ascending order. The arrays belong to the caller.
type Rows[V sparse.Value] struct {
	Ptr        []int64 // rows+1
	First, End int64
	Idx        []int32 // End-First
	Val        []V     // End-First
}

// Of returns all rows of a matrix.
func Of[V sparse.Value](m *sparse.CSR[V]) Rows[V] {
	return Rows[V]{Ptr: m.RowPtr, End: m.NNZ(), Idx: m.ColIdx, Val: m.Val}
}

// start returns the index in Idx and Val of the first entry of row i.
func (r *Rows[V]) start(i int64) int64 { return clamp(r.Ptr[i], r.First, r.End) - r.First }

func clamp(k, lo, hi int64) int64 { return min(max(k, lo), hi) }

// rowLengths returns the number of entries of each row, from Ptr, First and End of Rows.
func rowLengths(ptr []int64, first, end int64, serial bool) ([]int32, error) {
	rows := max(int64(len(ptr))-1, 0)
	if rows > sparse.MaxDim {
		return nil, sparse.Inputf("matrix", "%d rows: formats of the ELLPACK family number at most %d", rows, sparse.MaxDim)
	}
	if first < 0 || end < first {
		return nil, sparse.Inputf("matrix", "entries from %d to %d: the end must not lie before the first, nor that below 0", first, end)
	}
	lengths := make([]int32, rows)
	var long atomic.Int64 // the length of any row that is too long or negative, for the message
	each(rows, 1<<15, serial, func(lo, hi int64) {
		for i := lo; i < hi; i++ {
			n := clamp(ptr[i+1], first, end) - clamp(ptr[i], first, end)
			if uint64(n) > math.MaxInt32 {
				long.Store(n)
				continue
			}
			lengths[i] = int32(n)
		}
	})
	if n := long.Load(); n < 0 {
		return nil, sparse.Inputf("matrix", "a row of %d entries: the pointers must not fall", n)
	} else if n > 0 {
		return nil, sparse.Inputf("matrix", "a row of %d entries: formats of the ELLPACK family count at most %d", n, math.MaxInt32)
	}
	return lengths, nil
}

// each calls f for ranges of [0, n), on several goroutines unless serial.
func each(n, grain int64, serial bool, f func(lo, hi int64)) {
	if serial {
		f(0, n)
		return
	}
	par.Range(n, grain, f)
}
