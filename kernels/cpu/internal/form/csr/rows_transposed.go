package csr

import (
	"errors"
	"unsafe"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// RowsTransposed adds rows of a CSR matrix, each times alpha and an element of x, to y:
//
//	y[idx[k]-first] += alpha * (val[k]*x[r]),  ptr[r]-ptr[0] <= k < ptr[r+1]-ptr[0]
//
// It stops at the first entry outside y and returns the number of entries done, len(idx) if all.
// ptr has len(x)+1 elements and ends with the last entry; Scatter panics if a pointer decreases or
// is out of range. far says that successive entries are at random positions in more memory than the
// caches hold.
func RowsTransposed[V sparse.Value](l simd.Level, alpha V, ptr []int64, idx []int32, val, x, y []V, first int, far bool) (done int) {
	ptr, val = ptr[:len(x)+1], val[:len(idx)]
	if ptr[len(x)]-ptr[0] != int64(len(idx)) {
		panic(errPointers)
	}
	switch before, after := form.Factors(l, alpha, x); {
	case l >= simd.AVX2 && after == 1:
		done = rowsTransposedSpread(before, ptr, idx, val, x, y, first, far)
	case l == simd.NEON && after == 1:
		done = rowsTransposedByRow(before, ptr, idx, val, x, y, first)
	default:
		done = rowsTransposedGeneric(alpha, ptr, idx, val, x, y, first)
	}
	if done < len(idx) {
		if at := int(idx[done]) - first; uint(at) < uint(len(y)) {
			panic(errPointers)
		}
	}
	return done
}

var errPointers = errors.New("the pointers do not ascend to the number of entries")

const (
	spreadAtOnce = 8 // number of elements that spreadKernel writes at a time
	// spreadRoom is the number of entries with factors in the buffer at a time: they stay in the
	// first-level cache.
	spreadRoom = 1 << 10
)

// rowsTransposedSpread writes the factors alpha*x[r] of many entries to a buffer, then visits the entries
// without regard to rows, because the ends of rows are unpredictable.
func rowsTransposedSpread[V sparse.Value](alpha V, ptr []int64, idx []int32, val, x, y []V, first int, far bool) (done int) {
	var factors [spreadRoom + spreadAtOnce]V
	for len(x) > 0 {
		rows := spreadKernel(alpha, ptr, x, factors[:])
		room := spreadRoom
		if rows == 0 { // a row with more entries
			rows = 1
			spreadKernel(alpha, []int64{0, spreadRoom}, x[:1], factors[:])
		} else {
			room = int(ptr[rows] - ptr[0])
		}
		end := done + int(ptr[rows]-ptr[0])
		if end < done || end > len(idx) {
			return done
		}
		for done < end {
			some := min(room, end-done)
			idx, val := idx[done:], val[done:]
			a := rowsTransposedArgs[V]{
				n: some, idx: unsafe.SliceData(idx), indices: len(idx), val: unsafe.SliceData(val),
				f: &factors[0], y: unsafe.SliceData(y), rows: len(y), first: first, far: far,
			}
			rowsTransposedKernel(&a)
			if done += a.n; a.n < some {
				return done
			}
		}
		ptr, x = ptr[rows:], x[rows:]
	}
	return done
}

// rowsTransposedByRow runs kernels row by row, and plain Go from the first row on that has an element outside y.
func rowsTransposedByRow[V sparse.Value](alpha V, ptr []int64, idx []int32, val, x, y []V, first int) (done int) {
	for len(x) > 0 {
		n := min(rowsAtOnce, len(x))
		rows := rowsTransposedByRowKernel(alpha, ptr, idx[done:], val[done:], x[:n], y, first)
		done += int(ptr[rows] - ptr[0])
		ptr, x = ptr[rows:], x[rows:]
		if rows < n {
			return done + rowsTransposedGeneric(alpha, ptr, idx[done:], val[done:], x, y, first)
		}
	}
	return done
}

func rowsTransposedGeneric[V sparse.Value](alpha V, ptr []int64, idx []int32, val, x, y []V, first int) (done int) {
	base := ptr[0]
	for r, xr := range x {
		end := int(ptr[r+1] - base)
		for j, i := range idx[done:end] {
			at := int(i) - first
			if uint(at) >= uint(len(y)) {
				return done + j
			}
			y[at] += alpha * (val[done+j] * xr)
		}
		done = end
	}
	return done
}
