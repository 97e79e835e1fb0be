package sim_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/devicetest"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/sim"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// gatherForm computes alpha*A*x + beta*y, with each part in a form on a separate
// device.
func gatherForm[V sparse.Value](t require.TestingT, q *devicetest.Problem[V], c sim.Config, f kernels.Form) []V {
	y := append([]V(nil), q.Y...)
	carries := make([]V, len(q.Parts))
	for i, p := range q.Parts {
		d, s := open(t, c)
		packed, err := d.Pack(q.Packing(p, f))
		require.NoError(t, err, f)
		require.Equal(t, f, packed.Info().Form)
		require.Equal(t, packed.Info().Bytes, d.InUse(), f)
		least := 4 + mem.Size[V]() // bytes of an entry
		if f == kernels.FormSlices {
			least = 4
		}
		require.GreaterOrEqual(t, packed.Info().Bytes, p.NNZ()*least)
		x, own, carry := upload(t, s, d, q.X), upload(t, s, d, q.Y[p.OwnFirst:p.OwnEnd]), upload(t, s, d, []V{V(math.NaN())})
		require.NoError(t, s.Launch(&kernels.MajorProductPacked[V]{A: packed, Alpha: q.Alpha, Beta: q.Beta, X: x, Y: own, Carry: carry}), f)
		copy(y[p.OwnFirst:p.OwnEnd], download(t, s, own))
		carries[i] = download(t, s, carry)[0]
		require.NoError(t, packed.Free())
		require.NoError(t, packed.Free())
		require.ErrorIs(t, s.Launch(&kernels.MajorProductPacked[V]{A: packed, X: x, Y: own, Carry: carry}), kernels.ErrClosed)
	}
	for i, p := range q.Parts {
		if p.StartFlag {
			y[p.StartMajor] += carries[i]
		}
	}
	return y
}

func formProperty[V sparse.Value](t *rapid.T) {
	q := &devicetest.Problem[V]{A: devicetest.Draw[V](t)}
	q.Alpha = V(rapid.SampledFrom([]float64{1, -2.5, 0}).Draw(t, "alpha"))
	q.Beta = V(rapid.SampledFrom([]float64{0, 1, 0.75}).Draw(t, "beta"))
	rule := rapid.SampledFrom([]partition.Rule{partition.RuleNNZ, partition.RuleMergePath, partition.RuleMajor}).Draw(t, "rule")
	var err error
	q.Parts, _, err = partition.Split(q.A.RowPtr, rapid.SampledFrom([]int{1, 2, 3, 6}).Draw(t, "parts"), rule)
	require.NoError(t, err)
	q.X, q.Y = devicetest.Vector[V](q.A.Cols, 1), devicetest.Vector[V](q.A.Rows, 7)
	want := reference.Multiply(false, q.Alpha, q.A, q.X, q.Beta, q.Y)
	if q.Beta == 0 {
		for i := range q.Y {
			q.Y[i] = V(math.NaN())
		}
	}
	c := sim.Config{Blocks: rapid.SampledFrom([]int64{0, 1, 2}).Draw(t, "blocks")}
	f := rapid.SampledFrom(devicetest.RowForms()).Draw(t, "form")
	require.Equal(t, -1, reference.Check(gatherForm(t, q, c, f), want), f)
}

func TestPartsInEveryFormAgreeWithTheReference(t *testing.T) {
	t.Run("float64", rapid.MakeCheck(formProperty[float64]))
	t.Run("float32", rapid.MakeCheck(formProperty[float32]))
}

func TestRealMatricesInEveryFormAgreeWithTheReference(t *testing.T) {
	devicetest.RealMatrices(t, 2_000, 10, func(t *testing.T, a *sparse.CSR[float64]) {
		parts, _, err := partition.Split(a.RowPtr, 2, partition.RuleNNZ)
		require.NoError(t, err)
		q := &devicetest.Problem[float64]{A: a, Alpha: 1.5, Beta: -0.5, Parts: parts, X: devicetest.Vector[float64](a.Cols, 1), Y: devicetest.Vector[float64](a.Rows, 3)}
		want := reference.Multiply(false, q.Alpha, q.A, q.X, q.Beta, q.Y)
		for _, f := range devicetest.RowForms() {
			require.Equal(t, -1, reference.Check(gatherForm(t, q, sim.Config{Unchecked: true}, f), want), f)
		}
	})
}

// arrow returns n rows of one entry, except the first, which has n.
func arrow(n int) *sparse.CSR[float64] {
	a := &sparse.CSR[float64]{Rows: n, Cols: n, RowPtr: []int64{0, int64(n)}}
	for j := range n {
		a.ColIdx = append(a.ColIdx, int32(j))
	}
	for i := 1; i < n; i++ {
		a.ColIdx = append(a.ColIdx, int32(i))
		a.RowPtr = append(a.RowPtr, int64(len(a.ColIdx)))
	}
	a.Val = devicetest.Vector[float64](len(a.ColIdx), 5)
	return a
}

func TestELLRefusesOneLongRowAndTheOtherFormsMultiplyIt(t *testing.T) {
	a := arrow(12_000)
	parts, _, err := partition.Split(a.RowPtr, 1, partition.RuleNNZ)
	require.NoError(t, err)
	q := &devicetest.Problem[float64]{A: a, Alpha: 1, X: devicetest.Vector[float64](a.Cols, 1), Y: make([]float64, a.Rows), Parts: parts}
	want := reference.Multiply(false, q.Alpha, a, q.X, 0, q.Y)
	for _, f := range devicetest.RowForms() {
		if f == "ell" {
			d, _ := open(t, sim.Config{})
			_, err := d.Pack(q.Packing(parts[0], f))
			require.True(t, sparse.IsInput(err), "%v", err)
			require.ErrorContains(t, err, "format: ell takes 1728000000 bytes, of which padding is")
			require.Zero(t, d.InUse())
			continue
		}
		require.Equal(t, -1, reference.Check(gatherForm(t, q, sim.Config{Unchecked: true}, f), want), f)
	}
}

func TestAFormThatDoesNotFitTheDeviceLeavesNothingBehind(t *testing.T) {
	a := arrow(200)
	parts, _, err := partition.Split(a.RowPtr, 1, partition.RuleNNZ)
	require.NoError(t, err)
	q := &devicetest.Problem[float64]{A: a}
	for _, f := range devicetest.RowForms() {
		d, _ := open(t, sim.Config{Memory: 4000})
		_, err := d.Pack(q.Packing(parts[0], f))
		require.ErrorIs(t, err, kernels.ErrOutOfMemory, f)
		require.Zero(t, d.InUse(), f)
		require.NoError(t, d.Close())
	}
	d, _ := open(t, sim.Config{})
	_, err = d.Pack(q.Packing(parts[0], "elf"))
	require.ErrorIs(t, err, kernels.ErrNotSupported)
}
