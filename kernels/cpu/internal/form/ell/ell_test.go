package ell_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/devicetest"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/csr"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/ell"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/formtest"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
)

// ellMatrix is rows of given lengths with random columns and values.
func ellMatrix[V sparse.Value](lengths []int, cols int, seed uint64) *sparse.CSR[V] {
	r := rand.New(rand.NewPCG(seed, 3))
	a := &sparse.CSR[V]{Rows: len(lengths), Cols: cols, RowPtr: []int64{0}}
	for _, n := range lengths {
		for range n {
			a.ColIdx = append(a.ColIdx, int32(r.IntN(cols)))
			a.Val = append(a.Val, V(r.NormFloat64()))
		}
		a.RowPtr = append(a.RowPtr, int64(len(a.Val)))
	}
	return a
}

func ellVector[V sparse.Value](n int, seed uint64) []V {
	r := rand.New(rand.NewPCG(seed, 4))
	v := make([]V, n)
	for i := range v {
		v[i] = V(r.NormFloat64())
	}
	return v
}

// ellCheck compares products of a form with the reference. With shift, the pointers are those of a
// window of a larger matrix.
func ellCheck[V sparse.Value](t require.TestingT, f sparse.Format, a *sparse.CSR[V], alpha, beta V, x, y []V, shift int64) {
	ptr := make([]int64, len(a.RowPtr))
	for i, p := range a.RowPtr {
		ptr[i] = p + shift
	}
	got, err := ell.NewEll(kernels.Form(f), form.Rows[V]{Ptr: ptr, Idx: a.ColIdx, Val: a.Val, Cols: a.Cols})
	require.NoError(t, err, f)
	require.GreaterOrEqual(t, got.Padding(), int64(0), f)
	if f != ellpack.FormatSELL { // which is slices, and has its own name and bytes
		require.Equal(t, string(f), got.Name())
		require.GreaterOrEqual(t, got.Bytes(), a.NNZ()*(4+mem.Size[V]()), f)
	}
	want := reference.Multiply(false, alpha, a, x, beta, y)
	out := append([]V(nil), y...)
	if beta == 0 {
		for i := range out {
			out[i] = V(math.NaN())
		}
	}
	got.Multiply(alpha, beta, x, out)
	require.Equal(t, -1, reference.Check(out, want), "%s: element", f)
}

func ellProperty[V sparse.Value](t *rapid.T) {
	lengths := rapid.OneOf(
		rapid.SliceOfN(rapid.IntRange(0, 12), 0, 100),
		rapid.SliceOfN(rapid.SampledFrom([]int{0, 0, 1, 2, 70}), 0, 100),
		rapid.SliceOfN(rapid.Just(5), 0, 60),
		rapid.SliceOfN(rapid.IntRange(0, 900), 1, 3),
	).Draw(t, "lengths")
	cols := rapid.SampledFrom([]int{1, 3, 200}).Draw(t, "cols")
	seed := rapid.Uint64().Draw(t, "seed")
	scalar := rapid.SampledFrom([]V{0, 1, -1, 0.75, -2.5})
	alpha, beta := scalar.Draw(t, "alpha"), scalar.Draw(t, "beta")
	shift := rapid.SampledFrom([]int64{0, 1<<33 + 1}).Draw(t, "shift")
	a := ellMatrix[V](lengths, cols, seed)
	x, y := ellVector[V](cols, seed), ellVector[V](len(lengths), seed+1)
	for _, f := range ellpack.Formats() {
		ellCheck(t, f, a, alpha, beta, x, y, shift)
	}
}

func TestFormsOfTheEllpackFamilyAgreeWithTheReference(t *testing.T) {
	t.Run("float64", rapid.MakeCheck(ellProperty[float64]))
	t.Run("float32", rapid.MakeCheck(ellProperty[float32]))
}

func TestRealMatricesInFormsOfTheEllpackFamilyAgreeWithTheReference(t *testing.T) {
	devicetest.RealMatrices(t, 40_000, 20, func(t *testing.T, a *sparse.CSR[float64]) {
		x, y := ellVector[float64](a.Cols, 1), ellVector[float64](a.Rows, 2)
		for _, f := range ellpack.Formats() {
			ellCheck(t, f, a, 1.25, -0.5, x, y, 0)
		}
	})
}

// Padding must not be multiplied: 0 times an infinity is NaN.
func TestAnInfinityInXStaysInItsRowsInEllpackForms(t *testing.T) {
	a := ellMatrix[float64]([]int{5, 0, 1, 2, 9, 1, 1, 0, 0, 3, 3, 20, 1, 0}, 40, 1)
	for k := range a.ColIdx {
		a.ColIdx[k] = 1 + a.ColIdx[k]%39
	}
	a.ColIdx[6] = 0 // in row 3
	x, y := ellVector[float64](40, 1), ellVector[float64](a.Rows, 2)
	for _, bad := range []float64{math.Inf(1), math.NaN()} {
		x[0] = bad
		for _, f := range ellpack.Formats() {
			ellCheck(t, f, a, 1, 0, x, y, 0)
		}
	}
}

func TestOneLongRowFailsOnlyInELL(t *testing.T) {
	lengths := make([]int, 20_000)
	lengths[7], lengths[19_999] = 20_000, 1
	a := ellMatrix[float64](lengths, 20_000, 1)
	x, y := ellVector[float64](20_000, 1), ellVector[float64](20_000, 2)
	for _, f := range ellpack.Formats() {
		if f == ellpack.FormatELL {
			_, err := ell.NewEll(kernels.Form(f), formtest.RowsOf(a))
			require.True(t, sparse.IsInput(err))
			continue
		}
		ellCheck(t, f, a, 2, 0.5, x, y, 0)
	}
}

func TestEllpackFormsAllocateFromTheirMemory(t *testing.T) {
	a := ellMatrix[float64]([]int{5, 0, 1, 2, 9, 1, 1, 0, 0, 3, 3, 20, 1, 0}, 40, 1)
	for _, f := range ellpack.Formats() {
		m := &form.Memory{Alloc: func(n int64) ([]byte, error) { return mem.Aligned(n), nil }}
		r := form.Rows[float64]{Ptr: a.RowPtr, Idx: a.ColIdx, Val: a.Val, Cols: a.Cols, Mem: m}
		got := formtest.Must(ell.NewEll(kernels.Form(f), r))(t)
		require.LessOrEqual(t, m.Used(), got.Bytes())
		r.Mem = &form.Memory{Limit: m.Used() - 1, Alloc: m.Alloc}
		_, err := ell.NewEll(kernels.Form(f), r)
		require.ErrorIs(t, err, kernels.ErrOutOfMemory)
	}
	_, err := ell.NewEll[float64]("elf", form.Rows[float64]{Ptr: []int64{0}})
	require.ErrorIs(t, err, kernels.ErrNotSupported)
}

func BenchmarkEllpackForms(b *testing.B) {
	lengths := make([]int, 20_000)
	for i := range lengths {
		lengths[i] = 5 + i*i%17
	}
	a := ellMatrix[float64](lengths, 20_000, 1)
	r := formtest.RowsOf(a)
	x, y := ellVector[float64](20_000, 1), ellVector[float64](20_000, 2)
	forms := map[string]form.Form[float64]{"csr": csr.NewCSR(r)}
	for _, f := range ellpack.Formats() {
		e, err := ell.NewEll(kernels.Form(f), r)
		require.NoError(b, err)
		forms[string(f)] = e
	}
	for name, f := range forms {
		b.Run(fmt.Sprint(name), func(b *testing.B) {
			for b.Loop() {
				f.Multiply(1, 0, x, y)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(a.NNZ()), "ns/entry")
		})
	}
}
