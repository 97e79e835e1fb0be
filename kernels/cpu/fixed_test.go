package cpu

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/rows"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// rowsOfAllLengths is a matrix with rows of lengths near the borders of chunks and stripes.
func rowsOfAllLengths[V sparse.Value](r *rand.Rand) *sparse.CSR[V] {
	const chunk = kernels.FixedChunk
	a := &sparse.CSR[V]{Cols: 100, RowPtr: []int64{0}}
	for _, n := range []int{0, 1, 2, 3, 4, 5, 31, chunk - 1, chunk, chunk + 1, 0, 2 * chunk, 7, 32 * chunk, 0, 33*chunk + 1, 70_000, 2, 0} {
		for range n {
			a.ColIdx = append(a.ColIdx, r.Int32N(100))
			a.Val = append(a.Val, V(math.Ldexp(r.NormFloat64(), r.IntN(40)-20)))
		}
		a.RowPtr = append(a.RowPtr, int64(len(a.ColIdx)))
	}
	a.Rows = len(a.RowPtr) - 1
	return a
}

func random[V sparse.Value](r *rand.Rand, n int) []V {
	x := make([]V, n)
	for i := range x {
		x[i] = V(r.NormFloat64())
	}
	return x
}

func fixedShape[V sparse.Value](t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	a := rowsOfAllLengths[V](r)
	for _, threads := range []int{1, 2, 5, 40} {
		d := open(t, Config{Threads: threads})
		s, err := d.NewStream()
		require.NoError(t, err)
		for _, beta := range []V{0, 1, V(r.NormFloat64())} {
			x, y := random[V](r, a.Cols), random[V](r, a.Rows)
			want := reference.Fixed(1.5, a, x, beta, y)
			part := partition.Part{EndIdx: a.NNZ() - 1, OwnEnd: a.Rows, EndMajor: a.Rows - 1}
			op := &kernels.MajorProductFixed[V]{
				A: kernels.Compressed[V]{Part: part, Ptr: kernels.AdoptArray(d, a.RowPtr),
					Idx: kernels.AdoptArray(d, a.ColIdx), Val: kernels.AdoptArray(d, a.Val)},
				Alpha: 1.5, Beta: beta, X: kernels.AdoptArray(d, x), Y: kernels.AdoptArray(d, y),
			}
			require.NoError(t, s.Launch(op))
			require.NoError(t, s.Sync())
			require.Equal(t, want, y, "%d threads", threads)
		}
		require.NoError(t, s.Close())
		require.NoError(t, d.Close())
	}
}

func TestFixedSumsHaveTheDocumentedShape(t *testing.T) {
	fixedShape[float64](t)
	fixedShape[float32](t)
}

func TestPackedPartsOfWholeRowsGiveTheFixedSumsForAnyNumberOfWorkers(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	a := rowsOfAllLengths[float64](r)
	part := partition.Part{EndIdx: a.NNZ() - 1, OwnEnd: a.Rows, EndMajor: a.Rows - 1}
	x, y0 := random[float64](r, a.Cols), random[float64](r, a.Rows)
	want := reference.Fixed(-0.7, a, x, 1.25, y0)
	for _, threads := range []int{1, 2, 5, 40} {
		d := open(t, Config{Threads: threads})
		s, err := d.NewStream()
		require.NoError(t, err)
		for _, f := range []kernels.Form{"", kernels.FormCSR, "slices"} {
			p := mustPack(t, d, &kernels.Packing[float64]{Part: part, Ptr: a.RowPtr, Idx: a.ColIdx, Val: a.Val, Minors: a.Cols, Form: f, Fixed: true})
			y := append([]float64{}, y0...)
			require.NoError(t, s.Launch(&kernels.MajorProductPacked[float64]{A: p, Alpha: -0.7, Beta: 1.25, X: kernels.AdoptArray(d, x), Y: kernels.AdoptArray(d, y)}))
			require.NoError(t, s.Sync())
			require.Equal(t, want, y, "%d threads, form %q", threads, f)
			require.NoError(t, p.Free())
		}
		require.NoError(t, s.Close())
		require.NoError(t, d.Close())
	}
}

func TestFixedSumsOfCutRowsAreRefused(t *testing.T) {
	d := open(t, Config{Threads: 2})
	pack := kernels.Packing[float64]{Part: partition.Part{EndIdx: 1, OwnEnd: 1}, Ptr: []int64{0, 3}, Idx: []int32{0, 1}, Val: []float64{1, 2}, Minors: 4, Fixed: true}
	_, err := d.Pack(&pack)
	require.ErrorIs(t, err, kernels.ErrArgument)
	require.ErrorContains(t, err, "whole rows")
	pack.Ptr[1], pack.Form = 2, "ellr"
	_, err = d.Pack(&pack)
	require.True(t, sparse.IsInput(err), "%v", err)
	require.ErrorContains(t, err, "order of its own")
	pack.Form, pack.Segments = "", kernels.Segments{Count: 2, Read: 1}
	_, err = d.Pack(&pack)
	require.ErrorIs(t, err, kernels.ErrArgument)
}

func TestWorkersGetWholeRows(t *testing.T) {
	ptr := []int64{10, 10, 13, 14, 30, 30, 31}
	for parts := 1; parts < 9; parts++ {
		require.Equal(t, 0, rows.WholeRows(ptr, parts, 0))
		require.Equal(t, len(ptr)-1, rows.WholeRows(ptr, parts, parts))
		for i := range parts {
			require.LessOrEqual(t, rows.WholeRows(ptr, parts, i), rows.WholeRows(ptr, parts, i+1))
		}
	}
	// Of 27 rows and entries, 7 are before row 3, and 24 with it.
	require.Equal(t, 3, rows.WholeRows(ptr, 2, 1), "the border nearest to the middle")
}
