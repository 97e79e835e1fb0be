package sliced_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels/internal/cuda/sliced"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
	"github.com/msrep-go/msrep/sparse/gen"
)

func plan(t *testing.T, a *sparse.CSR[float64]) *sliced.Plan[float64] {
	t.Helper()
	p, err := sliced.NewPlan(ellpack.Of(a))
	require.NoError(t, err)
	m := p.Build()
	require.EqualValues(t, p.Bytes(), 8*(len(m.Data)+len(m.Head))+4*len(m.Perm))
	return p
}

func matrix(t *testing.T, spec string) *sparse.CSR[float64] {
	t.Helper()
	a, _, err := gen.Generate(spec)
	require.NoError(t, err)
	return a
}

// TestASliceTakesTheKindWithTheFewestBytes checks the bytes for each entry, counting all
// arrays. CSR takes 12 for each entry and 8 for each row.
func TestASliceTakesTheKindWithTheFewestBytes(t *testing.T) {
	for _, c := range []struct {
		spec  string
		bytes float64
		says  string
	}{
		{"stencil:dims=3,points=27,n=32,value=random", 8.8, "slices of 32 rows: 1024 of diagonals, 0 with columns of 16 bits, 0 of 32"},
		{"stencil:dims=3,points=27,n=32", 4.7, "slices of 32 rows: 1024 of diagonals, 0 with columns of 16 bits, 0 of 32; values of 4 bytes"},
		{"random:rows=20k,nnz=400k,cols=20k", 13, "slices of 32 rows: 0 of diagonals, 625 with columns of 16 bits, 0 of 32; sorted in windows of 1024"},
		{"random:rows=100k,nnz=1M,cols=100k", 13.2, "slices of 32 rows: 0 of diagonals, 0 with columns of 16 bits, 3125 of 32; sorted in windows of 1024"},
	} {
		a := matrix(t, c.spec)
		p := plan(t, a)
		require.Equal(t, c.says, p.String(), c.spec)
		each := float64(p.Bytes()) / float64(a.NNZ())
		t.Logf("%s: %.2f bytes an entry", c.spec, each)
		require.LessOrEqual(t, each, c.bytes, c.spec)
	}
}

func TestValuesAreShortOnlyWhereNoBitIsLost(t *testing.T) {
	for _, c := range []struct {
		v     float64
		short bool
	}{
		{0.5, true}, {math.Copysign(0, -1), true}, {math.Inf(-1), true}, {math.MaxFloat32, true}, {0x1p-149, true},
		{0.1, false}, {1e300, false}, {0x1p-150, false}, {math.Float64frombits(0x7ff0000000000001), false}, {1<<24 + 1, false},
	} {
		a := &sparse.CSR[float64]{Rows: 1, Cols: 2, RowPtr: []int64{0, 2}, ColIdx: []int32{0, 1}, Val: []float64{1, c.v}}
		p, err := sliced.NewPlan(ellpack.Of(a))
		require.NoError(t, err)
		require.Equal(t, c.short, p.Build().Short, c.v)
	}
}

func TestAnEmptyPartHasNoData(t *testing.T) {
	for rows := range 3 {
		a := &sparse.CSR[float64]{Rows: rows, Cols: 4, RowPtr: make([]int64, rows+1)}
		p := plan(t, a)
		require.Zero(t, p.Places())
		require.Empty(t, p.Build().Data)
	}
}

func TestRowsWithUnsortedOrRepeatedColumnsAreNoDiagonals(t *testing.T) {
	for _, columns := range [][]int32{{3, 1}, {2, 2}} {
		a := &sparse.CSR[float64]{Rows: 1, Cols: 4, RowPtr: []int64{0, 2}, ColIdx: columns, Val: []float64{1, 2}}
		require.Contains(t, plan(t, a).String(), "0 of diagonals, 1 with columns of 16 bits")
	}
}

func TestRunsOfLongRowsThatInterleaveAreMerged(t *testing.T) {
	const n = 100_000 // enough to notice if steps are inserted one by one
	a := &sparse.CSR[float64]{Rows: sliced.Height, Cols: n + 2*sliced.Height, RowPtr: []int64{0}}
	for l := range sliced.Height {
		for c := int32(l % 2); c < n; c += 2 { // odd lanes have the columns that even lanes lack
			a.ColIdx, a.Val = append(a.ColIdx, c+int32(l)), append(a.Val, 0.1)
		}
		a.RowPtr = append(a.RowPtr, int64(len(a.ColIdx)))
	}
	require.EqualValues(t, n/2, plan(t, a).Longest(), "twice as many steps would take more bytes than columns do")
	for l := range sliced.Height { // all diagonals alike
		for k := a.RowPtr[l]; k < a.RowPtr[l+1]; k++ {
			a.ColIdx[k] -= int32(l % 2)
		}
	}
	require.Contains(t, plan(t, a).String(), "1 of diagonals")
}
