package csr

import "github.com/msrep-go/msrep/sparse"

// The arguments of the kernels. Each field has 8 bytes or is padded to 8. idx and val begin with
// entry ptr[0]. Arrays of callers stay on the stack: kernels are called by name with arguments on
// the stack, and keep no pointer to them.

// rowsArgs are the arguments of the kernels of Rows:
//
//	for r := range rows {
//		sum := V(0)
//		for k := ptr[r] - ptr[0]; k < ptr[r+1]-ptr[0]; k++ {
//			sum += val[k] * x[idx[k]]
//		}
//		y[r] = alpha*sum + beta*y[r] // beta = 0 does not read y
//	}
//
// A kernel stops at the first row with an index or a pointer out of range.
type rowsArgs[V sparse.Value] struct {
	ptr       *int64 // rows+1 elements
	idx       *int32
	entries   int // elements of idx and val
	val, x    *V
	cols      int // elements of x
	y         *V
	rows      int // the kernel sets it to the number of rows done
	work      *V  // scratch of rowsWork elements
	predicted bool
	_         [0]int64
	near      bool // see predictable and form.Near
	_         [0]int64
	alpha     V
	_         [0]int64
	beta      V
}

// rowsTransposedArgs are the arguments of the kernels of RowsTransposed, for entries with a factor
// each:
//
//	for k := range n {
//		y[idx[k]-first] += val[k] * f[k]
//	}
//
// A kernel stops at the first element outside y.
type rowsTransposedArgs[V sparse.Value] struct {
	n         int // entries; the kernel sets it to the number of entries done
	idx       *int32
	indices   int // elements of idx, at least n
	val, f, y *V
	rows      int  // elements of y
	first     int  // index of y[0]
	far       bool // prefetches the elements of y of all indices
}

// manyArgs are the arguments of the kernels of RowsMany, which computes rowsArgs's loop for each
// column of x and y:
//
//	for r := range pointers - 1 {
//		var sums [columns]V
//		for k := ptr[r] - ptr[0]; k < ptr[r+1]-ptr[0]; k++ {
//			for j := range sums {
//				sums[j] += val[k] * x[idx[k]][j]
//			}
//		}
//		for j, sum := range sums {
//			y[r][j] = alpha*sum + beta*y[r][j] // beta = 0 does not read y
//		}
//	}
//
// A row has vectors registers, of which the last one has last elements. A kernel stops at the first
// row with an index or a pointer out of range.
type manyArgs[V sparse.Value] struct {
	ptr           *int64
	pointers      int // elements of ptr; the kernel sets it to 1 more than the number of rows done
	idx           *int32
	entries       int // elements of idx and val
	val, x, y     *V
	rowsX         int // rows of x
	ldx, ldy      int // bytes from row to row
	vectors, last int
	prefetchEnd   int  // rows of x are prefetched for entries of lower numbers, which count as in ptr
	across        bool // rows of x may touch one more line than their bytes fill
	_             [0]int64
	stream        bool // writes y past the caches: beta is 0, registers are full, y is aligned to them
	_             [0]int64
	near          bool // prefetches nothing
	_             [0]int64
	predicted     bool // selects branches for the last entries of a row, otherwise masks
	_             [0]int64
	alpha         V
	_             [0]int64
	beta          V
}

// manyTransposedArgs are the arguments of the kernels of RowsTransposedMany:
//
//	for r := range pointers - 1 {
//		for ; from < ptr[r+1]; from++ {
//			k := from - ptr[0]
//			to, ok := place(idx[k]) // y[i-first] for first <= i < first+done, otherwise spill[i]
//			if !ok {                // i >= rows, or first+done <= i < first+done+open
//				return
//			}
//			for j := range to {
//				to[j] += val[k] * (alpha * x[r][j])
//			}
//		}
//	}
//
// A row has vectors registers, of which the last one of x has last elements. Rows of the result are
// prefetched for entries before prefetchEnd.
type manyTransposedArgs[V sparse.Value] struct {
	from              int // an entry, in the count of ptr; the kernel sets it to the first entry not done
	ptr               *int64
	pointers          int // elements of ptr
	idx               *int32
	entries           int // elements of idx and val
	val, x            *V
	ldx               int // bytes from row to row, as ldy and lds
	y                 *V
	ldy               int
	spill             *V
	lds               int
	marks             *byte // 1 for each MarkedRows rows of spill with a row that was added to
	rows              int   // rows of the result
	first, done, open int
	vectors, last     int
	prefetchEnd       int
	alpha             V
}

// permuteArgs are the arguments of the kernels of PermuteRows:
//
//	for i := range n {
//		copy(to[i], x[order[i]])
//	}
//
// A row has full whole registers and last elements of one more, which is written whole.
type permuteArgs[V sparse.Value] struct {
	n          int // rows, at least one
	order      *int32
	x          *V
	ldx        int // bytes from row to row
	to         *V
	ldt        int
	full, last int
}
