// Package incomplete computes incomplete triangular factors of sparse matrices, A ~ L U, and solves systems with
// them.
//
// Its matrices are square and valid; the columns of each row are sorted and have no duplicates. The values are
// finite. The same matrix gives the same factors, bit by bit, on any number of goroutines.
package incomplete

import (
	"context"
	"math"

	"github.com/msrep-go/msrep/sparse"
)

// Factors are a unit lower triangle L, a diagonal D and a unit upper triangle V with L D V ~ A. U is D V.
type Factors struct {
	Lower   Rows      // L without its diagonal
	Upper   Rows      // V without its diagonal
	Inverse []float64 // the inverse of D
	// Cols is the column order that pivoting has chosen: L D V ~ A[:, Cols]. It is nil if columns were not exchanged.
	Cols []int32
	Counts
	lower, upper division
}

// Counts says what happened during a factorisation.
type Counts struct {
	Replaced  int // pivots that were zero or tiny, and were replaced
	Exchanged int // steps that exchanged two columns
	Dropped   int64
	Shift     float64 // multiple of the diagonal that was added to it
}

// Rows are sparse rows: row i has the columns Col[k] and the values Val[k] for Ptr[i] <= k < Ptr[i+1].
type Rows struct {
	Ptr []int64
	Col []int32
	Val []float64
}

func (r *Rows) row(i int) (col []int32, val []float64) {
	lo, hi := r.Ptr[i], r.Ptr[i+1]
	return r.Col[lo:hi:hi], r.Val[lo:hi:hi]
}

// finish turns Upper, which is U during a factorisation, into V, and prepares Solve.
func (f *Factors) finish() {
	for i, d := range f.Inverse {
		_, val := f.Upper.row(i)
		for k := range val {
			val[k] *= d
		}
	}
	f.divide()
}

// NNZ returns the number of entries of L and U, without the ones on the diagonal of L.
func (f *Factors) NNZ() int64 {
	return int64(len(f.Lower.Col)) + int64(len(f.Upper.Col)) + int64(len(f.Inverse))
}

// tiny is the magnitude, relative to the largest entry of its row, below which a pivot is replaced.
const tiny = 0x1p-40

// replacement is the magnitude of a replaced pivot relative to the largest entry of its row.
const replacement = 0x1p-13

// pivot returns the pivot d, or its replacement if d is tiny beside largest, the largest magnitude in its row of A. A
// row of zeros gets the pivot 1.
func (c *Counts) pivot(d, largest float64) float64 {
	if math.Abs(d) > tiny*largest && !math.IsInf(d, 0) {
		return d
	}
	c.Replaced++
	if largest == 0 {
		return 1
	}
	return math.Copysign(replacement*largest, d)
}

// largest returns the largest magnitude in v.
func largest(v []float64) float64 {
	most := 0.0
	for _, x := range v {
		most = max(most, math.Abs(x))
	}
	return most
}

// checkEvery is the number of multiplications after which a factorisation looks at its context.
const checkEvery = 1 << 23

// watch returns the error of a context that has ended, and asks it only after much work.
type watch struct {
	ctx  context.Context
	work int
}

func (w *watch) spend(work int) error {
	if w.work += work; w.work < checkEvery {
		return nil
	}
	w.work = 0
	return w.ctx.Err()
}

// split returns the strictly lower and the upper part of each row of a: row i of a has its first entry on or above
// the diagonal at position at[i].
func split(a *sparse.CSR[float64]) (at []int64) {
	at = make([]int64, a.Rows)
	for i := range at {
		k := a.RowPtr[i]
		for k < a.RowPtr[i+1] && int(a.ColIdx[k]) < i {
			k++
		}
		at[i] = k
	}
	return at
}

// Bytes returns the memory that the factors take.
func (f *Factors) Bytes() int64 {
	return f.Lower.bytes() + f.Upper.bytes() + 8*int64(cap(f.Inverse)) + 4*int64(cap(f.Cols)) + f.lower.bytes() + f.upper.bytes()
}

func (d *division) bytes() int64 { return int64(cap(d.shared)) + 4*int64(cap(d.rows)) }

func (r *Rows) bytes() int64 { return 8*int64(cap(r.Ptr)) + 4*int64(cap(r.Col)) + 8*int64(cap(r.Val)) }

// Finite reports whether all elements of L, U and the inverse of D are finite and no pivot is zero.
func (f *Factors) Finite() bool {
	for _, d := range f.Inverse {
		if d == 0 {
			return false
		}
	}
	return finite(f.Inverse) && finite(f.Lower.Val) && finite(f.Upper.Val)
}

func finite(v []float64) bool {
	for _, x := range v {
		if !(math.Abs(x) <= math.MaxFloat64) {
			return false
		}
	}
	return true
}
