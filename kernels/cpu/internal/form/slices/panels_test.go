package slices_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/formtest"
	slicesform "github.com/msrep-go/msrep/kernels/cpu/internal/form/slices"
	"github.com/msrep-go/msrep/sparse"
)

func TestPanelsOfTheSizeOfTheCachesMultiplyAsTheReference(t *testing.T) {
	formtest.EachLevel(t, checkLargePanels[float64], checkLargePanels[float32])
}

// checkLargePanels multiplies by a matrix with several blocks of rows, and more rows in a panel
// than one piece has.
func checkLargePanels[V sparse.Value](t *testing.T, l simd.Level) {
	f, nnz := formtest.CheckLarge(t, 2, func(r form.Rows[V]) (form.Form[V], error) {
		return slicesform.NewPanels(r, slicesform.PanelOptions[V]{Level: l})
	})
	require.Less(t, f.Padding(), nnz)
	require.Greater(t, f.Bytes(), 6*nnz)
}

func TestPanelsRefuseMatricesThatNeedManySlots(t *testing.T) {
	one := formtest.Pattern{Cols: 1 << 17, Rows: make([][]int32, 1<<10)}
	for i := range one.Rows {
		one.Rows[i] = []int32{int32(i * 128)}
	}
	one.Rows[7] = make([]int32, 1<<16) // in a slice with seven rows of nothing
	apart := make([]int32, 1<<20+2)
	apart[1<<19] = 2048 // between two halves that are not too many each
	for name, c := range map[string]struct {
		p     formtest.Pattern
		error string
	}{
		"no entries in most pieces":   {formtest.Pattern{Cols: 1 << 27, Rows: make([][]int32, 2)}, "would be in 131072 pieces"},
		"one row far longer":          {one, "more slots"},
		"too many entries in a piece": {formtest.Pattern{Cols: 2049, Rows: [][]int32{apart}}, "in one panel"},
	} {
		a := c.p.Csr(func() float64 { return 1 })
		_, err := slicesform.NewPanels(formtest.RowsOf(a), slicesform.PanelOptions[float64]{Cols: 2048})
		require.True(t, sparse.IsInput(err), "%s: %v", name, err)
		require.ErrorContains(t, err, c.error, name)
	}
}

func TestPanelsAreEstimatedByEntriesPerPanel(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	estimate := func(n int) (form.Estimate, form.Form[float64], error) {
		p := formtest.Pattern{Cols: 8192}
		for range 2000 {
			row := formtest.AnyRow(r, p.Cols, n)
			slices.Sort(row)
			p.Rows = append(p.Rows, row)
		}
		a := p.Csr(r.NormFloat64)
		rows := formtest.RowsOf(a)
		o := slicesform.PanelOptions[float64]{Level: simd.Best(), Cols: 2048}
		f := formtest.Must(slicesform.NewPanels(rows, o))(t)
		e, err := slicesform.EstimatePanels(rows, o)
		return e, f, err
	}
	_, _, err := estimate(20)
	require.True(t, sparse.IsInput(err), "%v", err)
	e, f, err := estimate(200)
	require.NoError(t, err)
	require.InDelta(t, float64(f.Bytes())/(2000*200), e.EntryBytes, .5)
}
