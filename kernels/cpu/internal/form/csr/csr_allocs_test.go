package csr_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/csr"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/formtest"
	"github.com/msrep-go/msrep/sparse"
)

func TestKernelsForRowsAllocateNothing(t *testing.T) {
	t.Run("float64", checkAllocations[float64])
	t.Run("float32", checkAllocations[float32])
}

func checkAllocations[V sparse.Value](t *testing.T) {
	formtest.Levels(t, func(t *testing.T, l simd.Level) {
		const rows = 100
		vectors := form.VectorsAtOnce[V]()
		ptr, idx := make([]int64, rows+1), make([]int32, rows)
		for r := range rows {
			ptr[r+1], idx[r] = int64(r+1), int32(r)
		}
		val, x, y := make([]V, rows), make([]V, rows), make([]V, rows)
		multi := func() form.MultiVector[V] {
			return form.MultiVector[V]{Val: make([]V, rows*vectors), Cols: vectors, Stride: vectors}
		}
		many, to := multi(), multi()
		places := &csr.Places[V]{Rows: rows, Done: rows, Own: rows, Y: to, Spill: multi(), Marks: make([]byte, 1)}
		for name, f := range map[string]func(){
			"rows":                    func() { csr.Rows(l, 1, 0, ptr, idx, val, x, y) },
			"sums":                    func() { csr.RowSums(l, ptr, idx, val, x, y) },
			"transposed":              func() { csr.RowsTransposed(l, 1, ptr, idx, val, x, y, 0, false) },
			"several vectors":         func() { csr.RowsMany(l, 1, 0, ptr, idx, val, many, to) },
			"transposed with several": func() { csr.RowsTransposedMany(l, 1, 0, ptr, idx, val, many, places, 0) },
			"permutation":             func() { csr.PermuteRows(l, idx, many, to) },
		} {
			require.Zero(t, testing.AllocsPerRun(10, f), name)
		}
	})
}
