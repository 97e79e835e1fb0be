package runs_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/bins"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/formtest"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/runs"
	slicesform "github.com/msrep-go/msrep/kernels/cpu/internal/form/slices"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/tiles"
	"github.com/msrep-go/msrep/sparse"
)

// supernodes returns groups of alike successive rows with the same columns, in runs of several
// lengths; some rows miss a column here and there.
func supernodes(r *rand.Rand, rows, alike int, missing bool) form.Rows[float64] {
	p := formtest.Pattern{Cols: rows}
	for len(p.Rows) < rows {
		var row []int32
		for c := r.IntN(20); c < rows; c += 1 + r.IntN(40) {
			for n := 3 + r.IntN(9); n > 0 && c < rows; n, c = n-1, c+1 {
				row = append(row, int32(c))
			}
		}
		for range alike {
			own := append([]int32(nil), row...)
			if missing {
				k := r.IntN(len(own))
				own = append(own[:k], own[k+1:]...)
			}
			p.Rows = append(p.Rows, own)
		}
	}
	return formtest.RowsOf(p.Csr(r.NormFloat64))
}

func TestRunsOfOneValueMultiplyAsTheReference(t *testing.T) {
	formtest.EachLevel(t, checkOneValue[float64], checkOneValue[float32])
}

func checkOneValue[V sparse.Value](t *testing.T, l simd.Level) {
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 2 * form.RunRows {
		alike, value := i/2+1, V([]float64{-1.7, math.Inf(1)}[i%2])
		rows := supernodes(r, 100, alike, alike == runs.RunMasked)
		a := &sparse.CSR[V]{Rows: len(rows.Ptr) - 1, Cols: rows.Cols, RowPtr: rows.Ptr, ColIdx: rows.Idx, Val: slices.Repeat([]V{value}, len(rows.Idx))}
		f := formtest.Must(runs.NewRuns(formtest.RowsOf(a), runs.RunOptions[V]{Level: l, Values: form.FindValues(a.Val)}))(t)
		require.Contains(t, f.Name(), "values same")
		x, y, z := make([]V, a.Cols), make([]V, a.Rows), make([]V, a.Cols)
		for i := range x {
			x[i], z[i] = V(r.NormFloat64()), V(r.NormFloat64())
		}
		f.Multiply(.75, 0, x, y)
		require.Equal(t, -1, reference.Check(y, reference.Multiply(false, .75, a, x, 0, y)), "rows alike: %d", alike)
		want := reference.Multiply(true, -2.5, a, y, 1, z)
		f.MultiplyTransposed(-2.5, y, func(lo, hi int) []V { return z[lo:hi] })
		require.Equal(t, -1, reference.Check(z, want), "rows alike: %d", alike)
	}
}

func TestRunsTakeOneIndexForARunOfSeveralRows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		alike   int
		missing bool
		most    float64 // bytes for each entry
	}{{1, false, 9.2}, {3, false, 8.6}, {8, false, 8.3}, {11, false, 8.4}, {4, true, 8.8}} {
		rows := supernodes(r, 800, c.alike, c.missing)
		e, err := runs.EstimateRuns(rows, runs.RunOptions[float64]{Level: simd.Best()})
		require.NoError(t, err)
		require.Less(t, e.EntryBytes, c.most, "%+v", c)
		f := formtest.Must(runs.NewRuns(rows, runs.RunOptions[float64]{Level: simd.Best()}))(t)
		require.InDelta(t, float64(f.Bytes())/float64(len(rows.Val)), e.EntryBytes, .3, "%+v", c)
	}
}

func TestRunsAreFoundBehindRowsThatHaveNone(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	with := supernodes(r, 800, 8, false)
	n := int64(300) // rows of one entry before these
	rows := form.Rows[float64]{Ptr: make([]int64, n), Idx: make([]int32, n), Val: make([]float64, n), Cols: with.Cols}
	for i := range n {
		rows.Ptr[i], rows.Idx[i] = i, int32(i)
	}
	for _, k := range with.Ptr {
		rows.Ptr = append(rows.Ptr, n+k)
	}
	rows.Idx, rows.Val = append(rows.Idx, with.Idx...), append(rows.Val, with.Val...)
	_, err := runs.EstimateRuns(rows, runs.RunOptions[float64]{Level: simd.Best()})
	require.NoError(t, err)
}

func TestShortRunsAreNotEstimatedToBeFast(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	p := formtest.Pattern{Cols: 1000}
	for range 500 {
		p.Rows = append(p.Rows, formtest.AnyRow(r, p.Cols, 12))
	}
	a := p.Csr(r.NormFloat64)
	_, err := runs.EstimateRuns(formtest.RowsOf(a), runs.RunOptions[float64]{Level: simd.Best()})
	require.ErrorContains(t, err, "the runs of columns are short")
}

func TestRunsOfFloat32MustBeLonger(t *testing.T) {
	for _, c := range []struct {
		lengths        [2]int
		double, single bool // suits
	}{{[2]int{3, 3}, false, false}, {[2]int{3, 4}, true, false}, {[2]int{4, 4}, true, true}} {
		r := rand.New(rand.NewPCG(1, 1))
		p := formtest.Pattern{Cols: 4000}
		for range 3000 {
			var row []int32
			for i := range 10 {
				first := 400*i + r.IntN(390)
				for k := range c.lengths[i%2] {
					row = append(row, int32(first+k))
				}
			}
			p.Rows = append(p.Rows, row)
		}
		a := p.Csr(r.NormFloat64)
		_, err := runs.EstimateRuns(form.Rows[float64]{Ptr: a.RowPtr, Idx: a.ColIdx, Cols: a.Cols}, runs.RunOptions[float64]{Level: simd.AVX2})
		require.Equal(t, c.double, err == nil, "%v", c.lengths)
		for _, l := range []simd.Level{simd.AVX2, simd.AVX512} {
			_, err = runs.EstimateRuns(form.Rows[float32]{Ptr: a.RowPtr, Idx: a.ColIdx, Cols: a.Cols}, runs.RunOptions[float32]{Level: l})
			require.Equal(t, c.single, err == nil, "%v with %v", c.lengths, l)
		}
	}
}

func TestRunsRefuseInvalidInput(t *testing.T) {
	r := form.Rows[float64]{Ptr: []int64{0, 2}, Idx: []int32{0, 3}, Val: []float64{1, 1}, Cols: 3}
	_, err := runs.NewRuns(r, runs.RunOptions[float64]{})
	require.True(t, sparse.IsInput(err), "%v", err)
	require.ErrorContains(t, err, "a column index 3")
	r.Cols, r.Fixed = 4, true
	_, err = runs.NewRuns(r, runs.RunOptions[float64]{})
	require.True(t, sparse.IsInput(err), "%v", err)
	require.ErrorContains(t, err, "order of their own")
	_, err = runs.EstimateRuns(r, runs.RunOptions[float64]{})
	require.ErrorContains(t, err, "order of their own")
}

func TestFormsCountMemoryWhileTheyAreBuilt(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	nodes := supernodes(r, 3000, 1, false)
	p := formtest.Pattern{Cols: 9000, Rows: make([][]int32, 500)}
	for i := range p.Rows {
		p.Rows[i] = formtest.AnyRow(r, p.Cols, 60) // not sorted
	}
	a := p.Csr(r.NormFloat64)
	others := formtest.RowsOf(a)
	entries := int64(len(a.Val))
	for name, c := range map[string]struct {
		rows  form.Rows[float64]
		build func(form.Rows[float64]) (form.Form[float64], error)
		least func(kept int64) int64 // that it takes
	}{
		"runs: a bit for each entry, and all but the values": {nodes,
			func(r form.Rows[float64]) (form.Form[float64], error) {
				return runs.NewRuns(r, runs.RunOptions[float64]{})
			},
			func(kept int64) int64 { n := int64(len(nodes.Val)); return n/8 + kept - 8*n }},
		"panels: sorted entries, and how many each row has in each panel": {others,
			func(r form.Rows[float64]) (form.Form[float64], error) {
				return slicesform.NewPanels(r, slicesform.PanelOptions[float64]{Cols: 1024})
			},
			func(int64) int64 { return 12*entries + 4*9*500 - 1 }},
		"tiles: the entries of a tile": {others,
			func(r form.Rows[float64]) (form.Form[float64], error) {
				return tiles.NewTiles(r, tiles.TileOptions[float64]{Cols: 16384})
			},
			func(int64) int64 { return 12*entries - 1 }},
		"bins: a block of rows twice": {others,
			func(r form.Rows[float64]) (form.Form[float64], error) {
				return bins.NewBins(r, bins.BinOptions[float64]{})
			},
			func(int64) int64 { return 24 * entries }},
		"near and far: two columns of each entry of a block, and one of each far entry": {others,
			func(r form.Rows[float64]) (form.Form[float64], error) {
				return slicesform.NewNearFar(r, slicesform.NearFarOptions[float64]{Window: 1000})
			},
			func(int64) int64 { return 8*1000 + 2*entries }},
	} {
		build := func(limit int64) (kept, most int64, err error) {
			now, rows := int64(0), c.rows
			rows.Mem = &form.Memory{Limit: limit, Alloc: func(n int64) ([]byte, error) { return make([]byte, n), nil }, Count: func(n int64) error {
				now += n
				most = max(most, now)
				return nil
			}}
			_, err = c.build(rows)
			require.Zero(t, now, "%s: it gives back what it took", name)
			return rows.Mem.Used(), most, err
		}
		kept, most, err := build(0)
		require.NoError(t, err, name)
		require.Greater(t, most, c.least(kept), name)
		_, _, err = build(kept + most)
		require.NoError(t, err, name)
		for _, limit := range []int64{kept + most - 1, most, most - 1, 1} {
			_, _, err = build(limit)
			require.ErrorIs(t, err, kernels.ErrOutOfMemory, "%s: %d", name, limit)
		}
	}
}
