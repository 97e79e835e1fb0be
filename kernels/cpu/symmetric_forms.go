package cpu

import (
	"time"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/blocks"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/diagonals"
	"github.com/msrep-go/msrep/kernels/cpu/internal/forms"
	"github.com/msrep-go/msrep/sparse"
)

// half is a form that stores half of a symmetric matrix.
type half[V sparse.Value] struct {
	form, whole kernels.Form // names of this form and of the form that stores all entries
	multiple    int          // the first row of each worker is a multiple of it
	// building is the time to compare the halves and to build this form, in times that the whole form takes to build:
	// 1.8 to 2.3 and 1.8 to 3.6 were measured.
	building time.Duration
	build    func(r form.Rows[V], first int) (halfRows[V], error)
}

// halfRows is the rows of one worker; see form.Symmetric.
type halfRows[V sparse.Value] interface {
	Multiply(alpha, beta V, x, y []V, to func(lo, hi int) []V)
	MultiplyMany(alpha, beta V, x, y form.MultiVector[V], to func(lo, hi int) form.MultiVector[V])
	Reach() (lo, hi int)
	Name() string
	Padding() int64
}

// halfDiagonals returns the form that stores the diagonals up to the main diagonal.
func halfDiagonals[V sparse.Value]() *half[V] {
	return &half[V]{forms.FormSymmetric, forms.FormDiagonals, diagonals.SymmetricRows, 2, func(r form.Rows[V], first int) (halfRows[V], error) {
		return diagonals.NewSymmetric(r, first, simd.Default())
	}}
}

// halfBlocks returns the form that stores the blocks up to those on the diagonal.
func halfBlocks[V sparse.Value](size int) *half[V] {
	multiple := diagonals.SymmetricRows // and of size
	for multiple%size != 0 {
		multiple += diagonals.SymmetricRows
	}
	return &half[V]{forms.FormSymmetricBlocks, forms.FormBlocks, multiple, 3, func(r form.Rows[V], first int) (halfRows[V], error) {
		return blocks.NewSymmetric(r, first, size, simd.Default())
	}}
}

// halfOf returns the form that stores half of what f stores, nil if there is none.
func halfOf[V sparse.Value](f form.Form[V]) *half[V] {
	if diagonals.SuitsSymmetric(f) {
		return halfDiagonals[V]()
	}
	if size, ok := blocks.SuitsSymmetricBlocks(f); ok {
		return halfBlocks[V](size)
	}
	return nil
}

// namedHalf returns the form of that name for a matrix, nil if the form does not suit its rows.
func namedHalf[V sparse.Value](name kernels.Form, op *kernels.Packing[V]) *half[V] {
	if name == forms.FormSymmetric {
		return halfDiagonals[V]()
	}
	shape, _ := blocks.FindBlocks(form.Rows[V]{Ptr: op.Ptr, Idx: op.Idx, Val: op.Val, Cols: op.Minors})
	if size, ok := blocks.SymmetricBlockSize(shape); ok {
		return halfBlocks[V](size)
	}
	return nil
}
