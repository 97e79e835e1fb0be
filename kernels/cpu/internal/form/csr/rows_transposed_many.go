package csr

import (
	"unsafe"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// MarkedRows is the number of successive rows that share a mark in Places.
const MarkedRows = 1 << 10

// Places has the memory to which RowsTransposedMany adds the rows of the result.
type Places[V sparse.Value] struct {
	Rows  int                 // number of rows of the result
	First int                 // the first row of Y
	Done  int                 // rows of Y that may be added to
	Own   int                 // rows of Y; those from Done on may not be added to yet
	Y     form.MultiVector[V] // rows First <= i < First+Own
	Spill form.MultiVector[V] // all rows, for those not in Y; may be empty if Y has all
	// Marks has an element per MarkedRows rows of the result. It is set to 1 if one of these rows
	// in Spill was added to.
	Marks []byte
}

// place returns row i of the result, or nil if it may not be added to yet. It panics if the row
// does not exist.
func (p *Places[V]) place(i int32) []V {
	if i < 0 || int(i) >= p.Rows {
		panic(IndexError{Index: i, Rows: p.Rows})
	}
	if own := int(i) - p.First; own >= 0 && own < p.Own {
		if own >= p.Done {
			return nil
		}
		return p.Y.Val[own*p.Y.Stride:][:p.Y.Cols]
	}
	p.Marks[i/MarkedRows] = 1
	return p.Spill.Val[int(i)*p.Spill.Stride:][:p.Spill.Cols]
}

// RowsTransposedMany adds rows of a CSR matrix, each times alpha and a row of x, to rows of the result:
//
//	row idx[k-ptr[0]][j] += alpha * (val[k-ptr[0]]*x[r][j]),  ptr[r] <= k < ptr[r+1], from <= k < ptr[0]+len(idx)
//
// Rows of the result, in Y and in Spill, have VectorsAtOnce elements or half as many. x has at most
// as many columns; missing columns count as 0.
//
// RowsTransposedMany stops at the first entry of a row that may not be added to yet, and returns that
// entry, or ptr[0]+len(idx) if all are done. It panics if the pointers do not lead there or if an
// index is out of range. x has len(ptr)-1 rows. idx has indices after its end, up to entry
// prefetchEnd, which may be read for prefetching; prefetchEnd = 0 prefetches nothing.
func RowsTransposedMany[V sparse.Value](l simd.Level, alpha V, from int64, ptr []int64, idx []int32, val []V, x form.MultiVector[V], to *Places[V], prefetchEnd int64) int64 {
	end := ptr[0] + int64(len(idx))
	before, after := factorsMany(l, alpha, x)
	if l >= simd.AVX2 && after == 1 {
		width, size := to.Spill.Cols, int(unsafe.Sizeof(alpha))
		if width*size <= simd.RegisterBytes(simd.AVX2) {
			l = simd.AVX2
		}
		lanes := simd.RegisterBytes(l) / size
		vectors := width / lanes
		a := manyTransposedArgs[V]{
			from: int(from), ptr: unsafe.SliceData(ptr), pointers: len(ptr),
			idx: unsafe.SliceData(idx), entries: len(idx), val: unsafe.SliceData(val),
			x: unsafe.SliceData(x.Val), ldx: x.RowBytes(), y: unsafe.SliceData(to.Y.Val), ldy: to.Y.RowBytes(),
			spill: unsafe.SliceData(to.Spill.Val), lds: to.Spill.RowBytes(), marks: unsafe.SliceData(to.Marks),
			rows: to.Rows, first: to.First, done: to.Done, open: to.Own - to.Done,
			vectors: vectors, last: x.Cols - (vectors-1)*lanes, prefetchEnd: int(prefetchEnd), alpha: before,
		}
		rowsTransposedMany(l, &a)
		from = int64(a.from)
	} else {
		from = rowsTransposedManyGeneric(before, after, from, ptr, idx, val, x, to)
	}
	if from < end && to.place(idx[from-ptr[0]]) != nil || from == end && ptr[len(ptr)-1] < end {
		panic(errPointers)
	}
	return from
}

// factorsMany is Factors for all elements of a block.
func factorsMany[V sparse.Value](l simd.Level, alpha V, x form.MultiVector[V]) (before, after V) {
	if x.Stride == x.Cols {
		return form.Factors(l, alpha, x.Val)
	}
	for r := range x.Rows() {
		if before, after = form.Factors(l, alpha, x.From(r).Val[:x.Cols]); after != 1 {
			break
		}
	}
	return before, after
}

func rowsTransposedManyGeneric[V sparse.Value](before, after V, from int64, ptr []int64, idx []int32, val []V, x form.MultiVector[V], to *Places[V]) int64 {
	base := ptr[0]
	end := base + int64(len(idx))
	for r := range len(ptr) - 1 {
		row := x.From(r).Val[:x.Cols]
		for stop := min(ptr[r+1], end); from < stop; from++ {
			y := to.place(idx[from-base])
			if y == nil {
				return from
			}
			v := val[from-base]
			for j, xj := range row {
				y[j] += after * (v * (before * xj))
			}
		}
	}
	return from
}
