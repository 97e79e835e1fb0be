// Package reorder permutes a square matrix and its vectors so that devices exchange little.
package reorder

import (
	"context"
	"math"
	"slices"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/msrep/internal/layout"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/order"
)

// Order is a square matrix in another order, B(i, j) = A(rows[i], rows[j]), and the way between the orders of A and B for
// values and vectors.
type Order[V sparse.Value] struct {
	Rows []int32 // a permutation: row k of B is row Rows[k] of A
	Cuts Cuts    // the parts of B

	given  sparse.Matrix[V] // A
	ptr    []int64          // its row pointers in CSR
	matrix sparse.Matrix[V] // B
	// offset has for each entry of B its position in the row of A. It is nil if the values of B are in the order of A.
	offset []uint32
	x, y   []V // vectors in the order of B
}

// Cuts are the bounds of parts: part k has the rows [At[k], At[k+1]), and shall have entries in proportion to Weights[k].
type Cuts struct {
	At      []int
	Weights []int
}

// Suit reports whether the parts are to have these weights; nil stands for equal ones. They differ if a device lacks memory for
// its part.
func (c *Cuts) Suit(weights []int) bool {
	if weights == nil {
		return slices.Min(c.Weights) == slices.Max(c.Weights)
	}
	return slices.Equal(weights, c.Weights)
}

// Imbalance returns the largest number of entries of a part over the number that it shall have. It is 1 for a matrix without
// entries.
func (c *Cuts) Imbalance(parts []partition.Part) float64 {
	var nnz, sum int64
	for k, p := range parts {
		nnz += p.NNZ()
		sum += int64(c.Weights[k])
	}
	most := 0.0
	for k, p := range parts {
		if p.NNZ() > 0 {
			most = max(most, float64(p.NNZ())*float64(sum)/(float64(nnz)*float64(c.Weights[k])))
		}
	}
	if nnz == 0 {
		return 1
	}
	return most
}

// New divides a, which is valid and square, into parts with weights that exchange little, and returns it in the order of the parts. It
// returns nil if no order is better than that of a. With keep, entries of a row and of a column of B have the order that they
// have in the row or column of A in CSR or CSC; else they are sorted by row and column.
//
// If the memory does not suffice, the error is a *sparse.InputError. If refuseUnsorted is set, it is one for an unsorted COO
// matrix, too.
func New[V sparse.Value](ctx context.Context, a sparse.Matrix[V], weights []int, keep, refuseUnsorted bool) (*Order[V], error) {
	csr, err := inRows(a, refuseUnsorted)
	if err != nil {
		return nil, err
	}
	rows, cuts, err := order.PartitionWeighted(ctx, csr, weights)
	if err != nil || identity(rows) {
		return nil, err
	}
	o := &Order[V]{Rows: rows, Cuts: Cuts{cuts, weights}, given: a, ptr: csr.RowPtr}
	if keep {
		o.matrix, err = o.kept(csr)
	} else {
		o.matrix, err = o.sorted(csr)
	}
	if err != nil {
		return nil, err
	}
	return o, nil
}

// inRows returns a in CSR.
func inRows[V sparse.Value](a sparse.Matrix[V], refuseUnsorted bool) (*sparse.CSR[V], error) {
	l, err := layout.New(a, sparse.FormatCSR, refuseUnsorted)
	return &sparse.CSR[V]{Rows: l.Majors, Cols: l.Minors, RowPtr: l.Ptr, ColIdx: l.Minor, Val: l.Val}, err
}

func identity(p []int32) bool {
	for k, i := range p {
		if int(i) != k {
			return false
		}
	}
	return true
}

// kept returns B in COO, with the entries in the order of a.
func (o *Order[V]) kept(a *sparse.CSR[V]) (sparse.Matrix[V], error) {
	to, err := sparse.Inverse("rows", o.Rows, a.Rows)
	if err != nil {
		return nil, err
	}
	if err := fits(a, 8*a.NNZ()); err != nil {
		return nil, err
	}
	b := &sparse.COO[V]{Rows: a.Rows, Cols: a.Cols, RowIdx: make([]int32, a.NNZ()), ColIdx: make([]int32, a.NNZ()), Val: a.Val}
	o.eachRow(func(lo, hi int) {
		for _, i := range o.Rows[lo:hi] {
			for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
				b.RowIdx[k], b.ColIdx[k] = to[i], to[a.ColIdx[k]]
			}
		}
	})
	return b, nil
}

// sorted returns B in CSR with sorted rows, and sets offset.
func (o *Order[V]) sorted(a *sparse.CSR[V]) (sparse.Matrix[V], error) {
	for _, i := range o.Rows {
		if a.RowPtr[i+1]-a.RowPtr[i] > math.MaxUint32 {
			return nil, sparse.Inputf("matrix", "row %d has %d entries: a plan reorders rows of fewer than 2^32", i, a.RowPtr[i+1]-a.RowPtr[i])
		}
	}
	if err := fits(a, (16+mem.Size[V]())*a.NNZ()+16*int64(a.Rows)); err != nil {
		return nil, err
	}
	// The columns of B move together with the offsets, which are counts and stay exact in float64.
	n := a.NNZ()
	offset := make([]float64, n)
	o.eachRow(func(lo, hi int) {
		for _, i := range o.Rows[lo:hi] {
			for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
				offset[k] = float64(k - a.RowPtr[i])
			}
		}
	})
	p, err := sparse.Permute(&sparse.CSR[float64]{Rows: a.Rows, Cols: a.Cols, RowPtr: a.RowPtr, ColIdx: a.ColIdx, Val: offset}, o.Rows, o.Rows)
	if err != nil {
		return nil, err
	}
	o.offset = make([]uint32, n)
	par.Range(n, 1<<15, func(lo, hi int64) {
		for k := lo; k < hi; k++ {
			o.offset[k] = uint32(p.Val[k])
		}
	})
	b := &sparse.CSR[V]{Rows: a.Rows, Cols: a.Cols, RowPtr: p.RowPtr, ColIdx: p.ColIdx}
	b.Val = o.move(b.RowPtr, a.Val)
	return b, nil
}

// fits returns an error if need bytes do not fit in memory.
func fits[V sparse.Value](a *sparse.CSR[V], need int64) error {
	if have, ok := mem.Fits(need); !ok {
		return sparse.Inputf("matrix", "%d rows, %d entries: to reorder these takes %d bytes, %d are available", a.Rows, a.NNZ(), need, have)
	}
	return nil
}

// eachRow calls f for ranges of rows of B, on several goroutines.
func (o *Order[V]) eachRow(f func(lo, hi int)) {
	par.Range(int64(len(o.Rows)), 1<<12, func(lo, hi int64) { f(int(lo), int(hi)) })
}

// move returns values of A, in the order of its entries in CSR, in the order of B. ptr are the row pointers of B.
func (o *Order[V]) move(ptr []int64, val []V) []V {
	out := make([]V, len(val))
	o.eachRow(func(lo, hi int) {
		for r := lo; r < hi; r++ {
			from := val[o.ptr[o.Rows[r]]:]
			for k := ptr[r]; k < ptr[r+1]; k++ {
				out[k] = from[o.offset[k]]
			}
		}
	})
	return out
}

// Matrix returns B. It shares no array with A, except with keep, where it may share the values.
func (o *Order[V]) Matrix() sparse.Matrix[V] { return o.matrix }

// WithValues returns B with new values; val[k] is the new value of the entry whose value is Val[k] in A.
func (o *Order[V]) WithValues(val []V) (sparse.Matrix[V], error) {
	a, err := inRows(layout.WithValues(o.given, val), false)
	if err != nil {
		return nil, err
	}
	if o.offset == nil {
		return layout.WithValues(o.matrix, a.Val), nil
	}
	if err := fits(a, mem.Size[V]()*a.NNZ()); err != nil {
		return nil, err
	}
	return layout.WithValues(o.matrix, o.move(o.matrix.(*sparse.CSR[V]).RowPtr, a.Val)), nil
}

// Release drops what only WithValues and Matrix need.
func (o *Order[V]) Release() { o.given, o.matrix, o.ptr, o.offset = nil, nil, nil, nil }

// In copies src, in the order of A, to dst in the order of B: dst[k] = src[Rows[k]].
func (o *Order[V]) In(dst, src []V) {
	o.eachRow(func(lo, hi int) {
		for k := lo; k < hi; k++ {
			dst[k] = src[o.Rows[k]]
		}
	})
}

// Out copies src, in the order of B, to dst in the order of A: dst[Rows[k]] = src[k].
func (o *Order[V]) Out(dst, src []V) {
	o.eachRow(func(lo, hi int) {
		for k := lo; k < hi; k++ {
			dst[o.Rows[k]] = src[k]
		}
	})
}

// Vectors returns two vectors with unspecified content, the same in each call.
func (o *Order[V]) Vectors() (x, y []V, err error) {
	if o.x == nil {
		n := int64(len(o.Rows))
		if have, ok := mem.Fits(2 * n * mem.Size[V]()); !ok {
			return nil, nil, sparse.Inputf("plan", "two vectors of %d elements take %d bytes, %d are available", n, 2*n*mem.Size[V](), have)
		}
		o.x, o.y = make([]V, n), make([]V, n)
	}
	return o.x, o.y, nil
}
