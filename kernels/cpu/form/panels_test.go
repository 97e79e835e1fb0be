package form_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels/cpu/form"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

func TestPanelsOfTheSizeOfTheCachesMultiplyAsTheReference(t *testing.T) {
	eachLevel(t, checkLargePanels[float64], checkLargePanels[float32])
}

// checkLargePanels multiplies by a matrix with several blocks of rows, and more rows in a panel
// than one piece has.
func checkLargePanels[V sparse.Value](t *testing.T, l simd.Level) {
	f, nnz := checkLarge(t, 2, func(r form.Rows[V]) (form.Form[V], error) {
		return form.NewPanels(r, form.PanelOptions[V]{Level: l})
	})
	require.Less(t, f.Padding(), nnz)
	require.Greater(t, f.Bytes(), 6*nnz)
}

func TestPanelsRefuseMatricesThatNeedManySlots(t *testing.T) {
	one := pattern{cols: 1 << 17, rows: make([][]int32, 1<<10)}
	for i := range one.rows {
		one.rows[i] = []int32{int32(i * 128)}
	}
	one.rows[7] = make([]int32, 1<<16) // in a slice with seven rows of nothing
	apart := make([]int32, 1<<20+2)
	apart[1<<19] = 2048 // between two halves that are not too many each
	for name, c := range map[string]struct {
		p     pattern
		error string
	}{
		"no entries in most pieces":   {pattern{1 << 27, make([][]int32, 2)}, "would be in 131072 pieces"},
		"one row far longer":          {one, "more slots"},
		"too many entries in a piece": {pattern{2049, [][]int32{apart}}, "in one panel"},
	} {
		a := c.p.csr(func() float64 { return 1 })
		_, err := form.NewPanels(rowsOf(a), form.PanelOptions[float64]{Cols: 2048})
		require.True(t, sparse.IsInput(err), "%s: %v", name, err)
		require.ErrorContains(t, err, c.error, name)
	}
}

func TestPanelsAreEstimatedByEntriesPerPanel(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	estimate := func(n int) (form.Estimate, form.Form[float64], error) {
		p := pattern{cols: 8192}
		for range 2000 {
			row := anyRow(r, p.cols, n)
			slices.Sort(row)
			p.rows = append(p.rows, row)
		}
		a := p.csr(r.NormFloat64)
		rows := rowsOf(a)
		o := form.PanelOptions[float64]{Level: simd.Best(), Cols: 2048}
		f := must(form.NewPanels(rows, o))(t)
		e, err := form.EstimatePanels(rows, o)
		return e, f, err
	}
	_, _, err := estimate(20)
	require.True(t, sparse.IsInput(err), "%v", err)
	e, f, err := estimate(200)
	require.NoError(t, err)
	require.InDelta(t, float64(f.Bytes())/(2000*200), e.EntryBytes, .5)
}
