package form

import (
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// loneRows is the rows of slices that are far longer than all others of their windows,
// where sums have a fixed shape: no more than one of a window. In a slice such a row
// would have most columns for itself, and one of 8 lanes.
type loneRows[V sparse.Value] struct {
	row  []int // chunks of long rows counted as rows
	csr  Rows[V]
	sums []V
}

// What an entry of a row takes in a column of its own, and by itself, as a ratio; and
// the entries that take as long as one row more by itself (Zen 4: 6.3 and 4.0 cycles,
// of which the last is what one addition waits for another).
const (
	columnCost = 11
	entryCost  = 7
	rowCost    = 20
)

// longestBeside is the most entries of a row that stays in the slices of a window with
// these pointers, where sums have a fixed shape: all rows do, or all but the longest.
func longestBeside(ptr []int64) int64 {
	var first, second int64
	for i, end := range ptr[1:] {
		n := end - ptr[i]
		if n > first {
			first, second = n, first
		} else if n > second {
			second = n
		}
	}
	if columnCost*(first-second) > entryCost*(first+rowCost) {
		return second
	}
	return kernels.FixedChunk
}

// makeRoom makes arrays for rows of r.
func (l *loneRows[V]) makeRoom(r Rows[V]) (err error) {
	if len(l.row) == 0 {
		return nil
	}
	ptr := make([]int64, 1, len(l.row)+1)
	for i, row := range l.row {
		ptr = append(ptr, ptr[i]+r.Ptr[row+1]-r.Ptr[row])
	}
	n := ptr[len(l.row)]
	l.csr.Ptr, l.sums = ptr, make([]V, len(l.row))
	if l.csr.Idx, err = Make[int32](r.Mem, n); err != nil {
		return err
	}
	l.csr.Val, err = Make[V](r.Mem, n)
	return err
}

// fill stores the entries.
func (l *loneRows[V]) fill(r Rows[V]) {
	for i, row := range l.row {
		lo, hi := r.Ptr[row]-r.Ptr[0], r.Ptr[row+1]-r.Ptr[0]
		copy(l.csr.Idx[l.csr.Ptr[i]:], r.Idx[lo:hi])
		copy(l.csr.Val[l.csr.Ptr[i]:], r.Val[lo:hi])
	}
}

// entries is how many they are.
func (l *loneRows[V]) entries() int64 { return int64(len(l.csr.Idx)) }

func (l *loneRows[V]) bytes() int64 {
	return (4+mem.Size[V]())*l.entries() + (16+mem.Size[V]())*int64(len(l.row))
}

// sum computes all sums.
func (l *loneRows[V]) sum(level simd.Level, x []V) {
	if len(l.row) > 0 {
		simd.RowSums(level, l.csr.Ptr, l.csr.Idx, l.csr.Val, x, l.sums)
	}
}

// any reports whether a row before end has not been put, where done rows have.
func (l *loneRows[V]) any(done, end int) bool { return done < len(l.row) && l.row[done] < end }

// put puts the sums of the rows from first on to their places in sums. Those before
// row number done were put before; it gives what is done then.
func (l *loneRows[V]) put(done, first int, sums []V) int {
	for ; l.any(done, first+len(sums)); done++ {
		sums[l.row[done]-first] = l.sums[done]
	}
	return done
}
