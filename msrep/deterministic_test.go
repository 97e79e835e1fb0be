package msrep

import (
	"context"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
)

// deterministicConfigs are configurations that must give the same bits.
var deterministicConfigs = []Config{
	{Devices: "cpu:1", Threads: 1}, {Devices: "cpu:1", Threads: 4}, {Devices: "cpu:2"}, {Devices: "cpu:3"}, {Devices: "cpu:7"}, {Devices: "sim:2"},
}

func systemsOf(t *testing.T, configs []Config) (out []*System) {
	for _, c := range configs {
		s := open(t, c)
		out = append(out, s)
	}
	return out
}

// deterministicOptions are options that a deterministic plan accepts. Some name forms that not every device has or
// that do not suit every matrix.
var deterministicOptions = []PlanOptions{
	{Storage: Storage{Format: sparse.FormatCSR}}, {Storage: Storage{Form: "slices"}}, {Storage: Storage{Form: "tiles"}}, {Storage: Storage{Form: "diagonals"}}, {Storage: Storage{Form: "blocks"}}, {Storage: Storage{Form: "sell"}},
	{Expected: Expected{Transposed: 2}}, {Expected: Expected{Products: 1}}, {Storage: Storage{Release: true}},
}

// checkFixed computes y for random x and y0 on each system and requires the bits of reference.Fixed, which must agree
// with the exact product. Simulated devices are slow and run one case in four.
func checkFixed[V sparse.Value](t require.TestingT, systems []*System, op Transpose, a sparse.Matrix[V], r *rand.Rand, special bool) {
	rows, cols := a.Dims()
	if op == Trans {
		rows, cols = cols, rows
	}
	x, y0 := make([]V, cols), make([]V, rows)
	for i := range x {
		x[i] = V(r.NormFloat64())
		if special && r.IntN(20) == 0 {
			x[i] = []V{V(math.NaN()), V(math.Inf(1)), V(math.Inf(-1)), V(math.Copysign(0, -1))}[r.IntN(4)]
		}
	}
	for i := range y0 {
		y0[i] = V(r.NormFloat64())
	}
	alpha := []V{1, V(r.NormFloat64())}[r.IntN(2)]
	beta := []V{0, 1, V(r.NormFloat64())}[r.IntN(3)]
	csr := sparse.ToCSR(a)
	if op == Trans {
		csc := sparse.ToCSC(a)
		csr = &sparse.CSR[V]{Rows: csc.Cols, Cols: csc.Rows, RowPtr: csc.ColPtr, ColIdx: csc.RowIdx, Val: csc.Val}
	}
	want := reference.Fixed(alpha, csr, x, beta, y0)
	require.Equal(t, -1, reference.Check(want, reference.Multiply(op == Trans, alpha, a, x, beta, y0)))
	check := func(i int, o PlanOptions) {
		o.Deterministic = true
		plan, err := NewPlan(context.Background(), systems[i], a, o)
		if o.Storage.Form != "" && sparse.IsInput(err) {
			return
		}
		require.NoError(t, err)
		y := append([]V{}, y0...)
		err = plan.SpMV(context.Background(), op, alpha, x, beta, y)
		if err != errReleased {
			require.NoError(t, err)
			for k := range y {
				if math.Float64bits(float64(y[k])) != math.Float64bits(float64(want[k])) {
					require.Failf(t, "other bits", "%v %+v: y[%d] is %x on %+v, not %x", a.Format(), o, k, y[k], deterministicConfigs[i], want[k])
				}
			}
		}
		require.Equal(t, partition.RuleWhole, plan.Rule())
		require.NoError(t, plan.Close())
	}
	simulated := r.IntN(4) == 0
	for i, s := range systems {
		if simulated || s.devices().List[0].Info().Kind != "sim" {
			check(i, PlanOptions{})
		}
	}
	for range 2 {
		check(r.IntN(len(systems)), deterministicOptions[r.IntN(len(deterministicOptions))])
	}
}

func TestRealMatricesGiveTheSameBitsOnAllDevices(t *testing.T) {
	systems := systemsOf(t, deterministicConfigs)
	index := corpus.Shared(t, "matrices", "INDEX.tsv")
	count := 0
	r := rand.New(rand.NewPCG(1, 9))
	for _, row := range corpus.Table(t, index) {
		nnz, err := strconv.Atoi(row["nnz_expanded"])
		if err != nil || nnz > 6000 || row["field"] == "complex" {
			continue
		}
		m, err := matio.Read(t.Context(), filepath.Join(filepath.Dir(index), row["file"]))
		require.NoError(t, err)
		checkFixed[float64](t, systems, Transpose(count%5 == 4), m.CSR, r, count%3 == 2)
		if count%4 == 0 {
			checkFixed[float32](t, systems, NoTrans, sparse.Convert[float32](m.CSR), r, false)
		}
		require.NoError(t, m.Close())
		if count++; testing.Short() && count == 20 {
			return
		}
	}
	require.GreaterOrEqual(t, count, 100)
}

func TestAnyMatrixGivesTheSameBitsOnAllDevices(t *testing.T) {
	t.Parallel()
	systems := systemsOf(t, deterministicConfigs)
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		cols := rapid.IntRange(1, 300).Draw(t, "cols")
		sorted := rapid.Bool().Draw(t, "sorted")
		// Row lengths near the limits of chunks and stripes, and empty rows.
		lengths := rapid.SliceOfN(rapid.OneOf(rapid.IntRange(0, 9), rapid.IntRange(0, 40), rapid.IntRange(0, 9), rapid.SampledFrom([]int{0, 511, 512, 513, 1024, 1025, 9000, 16384, 16385})), 0, 12).Draw(t, "lengths")
		ptr := []int64{0}
		var idx []int32
		var val []float64
		for _, n := range lengths {
			for range n {
				idx = append(idx, int32(r.IntN(cols)))
				val = append(val, r.NormFloat64())
			}
			if sorted {
				slices.Sort(idx[len(idx)-n:])
			}
			ptr = append(ptr, int64(len(idx)))
		}
		a, err := sparse.NewCSR(len(lengths), cols, ptr, idx, val)
		require.NoError(t, err)
		op := Transpose(rapid.Bool().Draw(t, "transposed"))
		if rapid.Bool().Draw(t, "float32") {
			checkFixed[float32](t, systems, op, sparse.Convert[float32](a), r, true)
		} else {
			checkFixed[float64](t, systems, op, a, r, true)
		}
	})
}

func TestDeterministicPlansUseUpdatedValues(t *testing.T) {
	s := systemsOf(t, []Config{{Devices: "cpu:2"}})[0]
	a, err := sparse.NewCSR(2, 2, []int64{0, 1, 3}, []int32{0, 0, 1}, []float64{1, 2, 3})
	require.NoError(t, err)
	plan := planOf(t, s, sparse.Matrix[float64](a), PlanOptions{Deterministic: true})
	y := make([]float64, 2)
	for _, op := range []Transpose{NoTrans, Trans} {
		multiply(t, plan, op, 1, []float64{1, 1}, 0, y)
	}
	require.Equal(t, []float64{3, 3}, y)
	require.NoError(t, plan.UpdateValues(t.Context(), []float64{4, 5, 6}))
	multiply(t, plan, NoTrans, 1, []float64{1, 1}, 0, y)
	require.Equal(t, []float64{4, 11}, y)
	multiply(t, plan, Trans, 1, []float64{1, 1}, 0, y)
	require.Equal(t, []float64{9, 6}, y)
}

func TestDeterministicRefusesWhatSumsInAnotherOrder(t *testing.T) {
	s := systemsOf(t, []Config{{Devices: "cpu:1"}})[0]
	a, err := sparse.NewCSR(1, 1, []int64{0, 1}, []int32{0}, []float64{1})
	require.NoError(t, err)
	for _, c := range []struct {
		opt  PlanOptions
		want string
	}{
		{PlanOptions{Variant: Variant{Strategy: Partial}}, "strategy"},
		{PlanOptions{Variant: Variant{Strategy: Baseline}}, "strategy"},
		{PlanOptions{Storage: Storage{Format: sparse.FormatCOO}}, "format"},
		{PlanOptions{Storage: Storage{Format: sparse.FormatCSC}}, "format"},
		{PlanOptions{Storage: Storage{Form: "ell"}}, "format"}, // refused by the device
		{PlanOptions{Variant: Variant{Split: partition.RuleNNZ}}, "split"},
		{PlanOptions{Variant: Variant{Library: LibraryCuSPARSE}}, "kernel"},
	} {
		c.opt.Deterministic = true
		_, err := NewPlan(t.Context(), s, sparse.Matrix[float64](a), c.opt)
		require.True(t, sparse.IsInput(err), "%v", err)
		require.ErrorContains(t, err, c.want)
	}
}

func TestDeterministicSaysWhichFormatsOfAGPUSumInAnotherOrder(t *testing.T) {
	sys := openCPU(t, "sim:1")
	a := generated(t, "diag:n=64")
	for _, f := range append(Forms("sim"), Form(FormatAuto), Form(sparse.FormatCSR)) {
		_, err := NewPlan(ctx, sys, a, PlanOptions{Storage: NamedStorage(string(f)), Deterministic: true})
		if f == Form(FormatAuto) || f == Form(sparse.FormatCSR) {
			require.NoError(t, err, f)
			continue
		}
		require.True(t, sparse.IsInput(err), f)
		require.ErrorContains(t, err, `format: "`+string(f)+`"`)
		require.ErrorContains(t, err, "sums in an order of its own")
	}
	_, err := NewPlan(ctx, sys, a, PlanOptions{Storage: Storage{Form: "diagonals"}, Deterministic: true})
	require.ErrorContains(t, err, `"diagonals" is not known to device sim:0`)
}
