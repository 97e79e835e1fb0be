//go:build cgo

package main

// #include "shim.h"
import "C"

import (
	"math"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

// given is a matrix in the caller's arrays.
type given struct {
	m                                     C.msrep_matrix
	pointersName, indicesName, valuesName string // in errors
}

// readMatrix checks the fields of a matrix, except its arrays.
func readMatrix(p *C.msrep_matrix) (*given, error) {
	if p == nil {
		return nil, isNull("matrix")
	}
	m, err := readStruct("matrix", p)
	if err != nil {
		return nil, err
	}
	g := &given{m, "pointers", "indices", "values"}
	for _, bits := range []struct {
		name  string
		value *C.int
		def   C.int
	}{{"pointer_bits", &g.m.pointer_bits, 64}, {"index_bits", &g.m.index_bits, 32}, {"value_bits", &g.m.value_bits, 64}} {
		switch *bits.value {
		case 0:
			*bits.value = bits.def
		case 32, 64:
		default:
			return nil, sparse.Inputf("matrix", "%s is %d: use 32 or 64", bits.name, int(*bits.value))
		}
	}
	switch {
	case g.m.rows < 0 || g.m.rows > sparse.MaxDim || g.m.cols < 0 || g.m.cols > sparse.MaxDim:
		return nil, sparse.Inputf("matrix", "%d x %d: use 0 to %d rows and columns", int64(g.m.rows), int64(g.m.cols), sparse.MaxDim)
	case g.m.layout != C.MSREP_CSR && g.m.layout != C.MSREP_CSC && g.m.layout != C.MSREP_COO:
		return nil, sparse.Inputf("matrix", "layout is %d: use MSREP_CSR, MSREP_CSC or MSREP_COO", int(g.m.layout))
	case g.m.base != 0 && g.m.base != 1:
		return nil, sparse.Inputf("matrix", "base is %d: use 0 or 1", int(g.m.base))
	}
	return g, nil
}

// loadMatrix returns the matrix with values of type V. It uses the caller's arrays where borrow is set and they have the
// types of the result, and copies the others. Only what is converted is checked: the caller validates the result.
func loadMatrix[V sparse.Value](g *given, borrow bool) (sparse.Matrix[V], error) {
	rows, cols, nnz := int64(g.m.rows), int64(g.m.cols), int64(g.m.nnz)
	if nnz < 0 || nnz > 1<<48 {
		return nil, sparse.Inputf(g.indicesName, "%d elements: that is no length", nnz)
	}
	majors, minors := rows, cols
	if g.m.layout == C.MSREP_CSC {
		majors, minors = cols, rows
	}
	if g.m.layout != C.MSREP_COO {
		if err := g.checkEnds(majors); err != nil { // before the entries are read
			return nil, err
		}
	}
	if !borrow {
		need := 8*majors + (4+mem.Size[V]())*nnz
		if have, ok := mem.Fits(need); !ok {
			return nil, sparse.Inputf("matrix", "a copy takes %d bytes, %d are available", need, have)
		}
	}
	idx, err := loadInts[int32](g.indicesName, g.m.indices, g.m.index_bits, nnz, g.m.base, minors, borrow)
	if err != nil {
		return nil, err
	}
	val, err := loadValues[V](g, borrow)
	if err != nil {
		return nil, err
	}
	if g.m.layout == C.MSREP_COO {
		rowIdx, err := loadInts[int32](g.pointersName, g.m.pointers, g.m.index_bits, nnz, g.m.base, rows, borrow)
		return &sparse.COO[V]{Rows: int(rows), Cols: int(cols), RowIdx: rowIdx, ColIdx: idx, Val: val}, err
	}
	ptr, err := loadInts[int64](g.pointersName, g.m.pointers, g.m.pointer_bits, majors+1, g.m.base, nnz+1, borrow)
	if g.m.layout == C.MSREP_CSC {
		return &sparse.CSC[V]{Rows: int(rows), Cols: int(cols), ColPtr: ptr, RowIdx: idx, Val: val}, err
	}
	return &sparse.CSR[V]{Rows: int(rows), Cols: int(cols), RowPtr: ptr, ColIdx: idx, Val: val}, err
}

// checkEnds checks the first and the last pointer.
func (g *given) checkEnds(majors int64) error {
	var first, last int64
	if g.m.pointer_bits == 32 {
		ptr, err := readable[int32](g.pointersName, g.m.pointers, majors+1)
		if err != nil {
			return err
		}
		first, last = int64(ptr[0]), int64(ptr[majors])
	} else {
		ptr, err := readable[int64](g.pointersName, g.m.pointers, majors+1)
		if err != nil {
			return err
		}
		first, last = ptr[0], ptr[majors]
	}
	base, nnz := int64(g.m.base), int64(g.m.nnz)
	switch other := 1 - base; {
	case first == other && last == nnz+other:
		return sparse.Inputf(g.pointersName, "begins with %d and ends with %s: %s and %s must count from %d, not from %d",
			other, countFrom(other), g.pointersName, g.indicesName, base, other)
	case first != base:
		return sparse.Inputf(g.pointersName, "begins with %d: it must begin with %d", first, base)
	case last != nnz+base:
		return sparse.Inputf(g.pointersName, "ends with %d: it must end with %s, %d", last, countFrom(base), nnz+base)
	}
	return nil
}

// countFrom names the last pointer.
func countFrom(base int64) string {
	if base == 0 {
		return "nnz"
	}
	return "nnz+1"
}

// loadInts returns n pointers or indices that count from 0. Those that are converted must be in [base, base+end).
func loadInts[T int32 | int64](name string, p unsafe.Pointer, bits C.int, n int64, base C.int, end int64, borrow bool) ([]T, error) {
	if bits == 32 {
		from, err := readable[int32](name, p, n)
		if err != nil {
			return nil, err
		}
		return convertInts[T](name, from, int64(base), end, borrow)
	}
	from, err := readable[int64](name, p, n)
	if err != nil {
		return nil, err
	}
	return convertInts[T](name, from, int64(base), end, borrow)
}

func convertInts[T, F int32 | int64](name string, from []F, base, end int64, borrow bool) ([]T, error) {
	if same, ok := any(from).([]T); ok && base == 0 {
		return copied(same, borrow), nil
	}
	out := make([]T, len(from))
	wrong := atomic.Int64{} // the first wrong element
	wrong.Store(math.MaxInt64)
	par.Range(int64(len(from)), grain, func(lo, hi int64) {
		for k := lo; k < hi; k++ {
			v := int64(from[k])
			if v < base || v-base >= end {
				for at := wrong.Load(); k < at && !wrong.CompareAndSwap(at, k); at = wrong.Load() {
				}
				return
			}
			out[k] = T(v - base)
		}
	})
	if k := wrong.Load(); k < math.MaxInt64 {
		return nil, sparse.Inputf(name, "element %d is %d: use %d to %d", k, from[k], base, base+end-1)
	}
	return out, nil
}

// loadValues returns the values of the matrix; they are 1 if the caller has none.
func loadValues[V sparse.Value](g *given, borrow bool) ([]V, error) {
	n := int64(g.m.nnz)
	if g.m.values == nil && g.valuesName == "values" {
		out := make([]V, n)
		for k := range out {
			out[k] = 1
		}
		return out, nil
	}
	if g.m.value_bits == 32 {
		from, err := readable[float32](g.valuesName, g.m.values, n)
		return convertValues[V](from, borrow), err
	}
	from, err := readable[float64](g.valuesName, g.m.values, n)
	return convertValues[V](from, borrow), err
}

func convertValues[V, F sparse.Value](from []F, borrow bool) []V {
	if same, ok := any(from).([]V); ok {
		return copied(same, borrow)
	}
	out := make([]V, len(from))
	par.Range(int64(len(from)), grain, func(lo, hi int64) {
		for k := lo; k < hi; k++ {
			out[k] = V(from[k])
		}
	})
	return out
}

// grain is the least number of elements that a goroutine converts.
const grain = 1 << 16

func copied[T element](v []T, borrow bool) []T {
	if borrow {
		return v
	}
	return slices.Clone(v)
}
