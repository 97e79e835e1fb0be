package csr_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/csr"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/formtest"
	"github.com/msrep-go/msrep/sparse"
)

// between returns a copy of v that ends at an inaccessible page or begins after one: a kernel that
// leaves the copy ends the test program with a fault.
func between[T mem.Elem](t *testing.T, v []T, atEnd bool) []T {
	page := int64(unix.Getpagesize())
	size := int64(len(v)) * mem.Size[T]()
	inner := (size + page - 1) / page * page
	m, err := unix.Mmap(-1, 0, int(inner+2*page), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	require.NoError(t, err)
	t.Cleanup(func() { _ = unix.Munmap(m) })
	require.NoError(t, unix.Mprotect(m[:page], unix.PROT_NONE))
	require.NoError(t, unix.Mprotect(m[page+inner:], unix.PROT_NONE))
	from := page
	if atEnd {
		from += inner - size
	}
	s, ok := mem.Slice[T](m[from:from+size:from+size], int64(len(v)))
	require.True(t, ok)
	copy(s, v)
	return s
}

func TestKernelsForRowsStayInsideTheirArraysAtEveryLevel(t *testing.T) {
	csr.InAllWays(t, func(t *testing.T) {
		t.Run("float64", checkInside[float64])
		t.Run("float32", checkInside[float32])
	})
}

func TestRowsOfAnyLengthsStayInsideTheirArraysAtEveryLevel(t *testing.T) {
	csr.InAllWays(t, func(t *testing.T) {
		t.Run("float64", checkLengthsInside[float64])
		t.Run("float32", checkLengthsInside[float32])
	})
}

// checkLengthsInside multiplies rows of ones that end where their arrays do, or begin there. The
// last rows are two after a block, a block, or a part of one.
func checkLengthsInside[V sparse.Value](t *testing.T) {
	formtest.Levels(t, func(t *testing.T, l simd.Level) {
		const cols = 13
		for name, length := range lengthsOfRows {
			for _, rows := range []int{34, 64, 72} {
				for last := range 9 { // number of entries of the last row
					var idx []int32
					var val, want []V
					ptr := []int64{0}
					for r := range rows {
						n := length(r)
						if r == rows-1 {
							n = last
						}
						for range n {
							idx, val = append(idx, int32((cols-1)*(len(idx)%2))), append(val, 1)
						}
						ptr, want = append(ptr, int64(len(idx))), append(want, V(n))
					}
					x := slices.Repeat([]V{1}, cols)
					for _, atEnd := range []bool{false, true} {
						y := between(t, make([]V, rows), atEnd)
						csr.Rows(l, 1, 0, between(t, ptr, atEnd), between(t, idx, atEnd), between(t, val, atEnd), between(t, x, atEnd), y)
						require.Equal(t, want, y, "%s, %d rows, %d entries in the last one", name, rows, last)
					}
				}
			}
		}
	})
}

func checkInside[V sparse.Value](t *testing.T) {
	ones := func(n int) []V {
		v := make([]V, n)
		for i := range v {
			v[i] = 1
		}
		return v
	}
	formtest.Levels(t, func(t *testing.T, l simd.Level) {
		const cols = 13
		for _, atEnd := range []bool{false, true} {
			for n := range 40 { // number of entries of the last row
				idx := make([]int32, 4+n)
				for k := range idx {
					idx[k] = int32((cols - 1) * (k % 2)) // both ends of x
				}
				ptr := between(t, []int64{0, 3, 3, 4, int64(4 + n)}, atEnd)
				idx, val := between(t, idx, atEnd), between(t, ones(4+n), atEnd)
				y := between(t, ones(4), atEnd)
				csr.Rows(l, 1, 1, ptr, idx, val, between(t, ones(cols), atEnd), y)
				require.Equal(t, []V{4, 1, 2, V(n + 1)}, y)
				for _, far := range []bool{false, true} {
					y := between(t, ones(cols), atEnd)
					require.Equal(t, 4+n, csr.RowsTransposed(l, 1, ptr, idx, val, between(t, ones(4), atEnd), y, 0, far))
				}
				for _, k := range []int{1, 3, 8, 9, 33, 70} {
					x := form.MultiVector[V]{Val: between(t, ones(cols*k), atEnd), Cols: k, Stride: k}
					y := form.MultiVector[V]{Val: between(t, ones(4*k), atEnd), Cols: k, Stride: k}
					csr.RowsMany(l, 1, 1, ptr, idx, val, x, y)
					require.Equal(t, V(n+1), y.Val[4*k-1])
				}
				if len(idx) > 0 {
					form.MinMax(l, idx)
				}
			}
		}
	})
}
