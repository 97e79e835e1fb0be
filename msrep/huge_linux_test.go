package msrep

import (
	"os"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/msrep-go/msrep/sparse"
)

// The matrix has more than 2^31 entries. Almost all are 0 and in column 0, in memory that is never written and so
// takes no space. The test takes a minute.
func TestMoreEntriesThan32BitsCount(t *testing.T) {
	if os.Getenv("MSREP_TEST_HUGE") == "" {
		t.Skip("takes a minute; MSREP_TEST_HUGE=1 runs it")
	}
	const cols = 100_000
	lengths := []int64{1_150_000_000, 0, 1_150_000_000, 17, 40_000}
	a := &sparse.CSR[float32]{Rows: len(lengths), Cols: cols, RowPtr: []int64{0}}
	for _, n := range lengths {
		a.RowPtr = append(a.RowPtr, a.RowPtr[len(a.RowPtr)-1]+n)
	}
	nnz := a.RowPtr[len(lengths)]
	require.Greater(t, nnz, int64(1)<<31)
	a.ColIdx, a.Val = untouched[int32](t, nnz), untouched[float32](t, nnz)

	x, u := make([]float32, cols), []float32{1, 2, -3, 4, 5}
	for i := range x {
		x[i] = float32(i%7) - 2.5
	}
	ax, atu := make([]float32, len(lengths)), make([]float32, cols) // A x and A'u, exact
	put := func(r int, k int64, c int32, v float32) {
		a.ColIdx[k], a.Val[k] = c, v
		ax[r] += v * x[c]
		atu[c] += v * u[r]
	}
	put(0, a.RowPtr[1]-1, 5, 3)
	put(2, a.RowPtr[2]+7, 0, 2)
	put(2, a.RowPtr[3]-2, 99, 1.5)
	for r := 3; r < len(lengths); r++ {
		for k := a.RowPtr[r]; k < a.RowPtr[r+1]; k++ {
			put(r, k, int32(k*7%cols), float32(k%5)-1)
		}
	}

	for _, c := range []struct {
		devices string
		opt     PlanOptions
	}{
		{"cpu:1", PlanOptions{}},
		{"cpu:3", PlanOptions{Expected: Expected{Products: 1}}},
		{"cpu:2", PlanOptions{Expected: Expected{Products: 1}, Deterministic: true}},
	} {
		s := open(t, Config{Devices: c.devices})
		p := planOf(t, s, sparse.Matrix[float32](a), c.opt)
		y, z := make([]float32, len(lengths)), make([]float32, cols)
		multiply(t, p, NoTrans, 1, x, 0, y)
		require.Equal(t, ax, y, c.devices)
		if !c.opt.Deterministic { // a deterministic plan would build the transposed matrix
			multiply(t, p, Trans, 1, u, 0, z)
			require.Equal(t, atu, z, c.devices)
		}
		two := make([]float32, 2*len(lengths))
		err := p.SpMM(t.Context(), NoTrans, 1, MultiVector[float32]{Val: append(x[:cols:cols], x...), Count: 2, Stride: cols, ByColumn: true}, 0,
			MultiVector[float32]{Val: two, Count: 2, Stride: len(lengths), ByColumn: true})
		require.NoError(t, err)
		require.Equal(t, append(ax[:len(ax):len(ax)], ax...), two, c.devices)
		require.NoError(t, s.Close())
	}
}

// untouched returns n zeros. Memory is allocated only for pages that are written.
func untouched[T any](t *testing.T, n int64) []T {
	var v T
	b, err := unix.Mmap(-1, 0, int(n*int64(unsafe.Sizeof(v))), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	require.NoError(t, err)
	t.Cleanup(func() { _ = unix.Munmap(b) })
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}
