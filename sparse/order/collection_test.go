package order

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
)

// All functions on all square matrices of the collection that take them a moment.
func TestRealMatrices(t *testing.T) {
	most := 4000
	if testing.Short() {
		most = 1000
	}
	count := 0
	squareMatrices(t, most, func(t *testing.T, name string, a *sparse.CSR[float64]) {
		count++
		for _, order := range []func(*sparse.CSR[float64]) ([]int32, error){AMD[float64], Dissection[float64], ColumnAMD[float64], RCM[float64]} {
			p, err := order(a)
			require.NoError(t, err, name)
			requirePermutation(t, p, a.Rows)
			again, err := order(a)
			require.NoError(t, err, name)
			require.Equal(t, p, again, name)
		}
		_, _, err := Symmetry(a)
		require.NoError(t, err, name)
		m, err := Match(a)
		require.NoError(t, err, name)
		requireMatching(t, a, m)
		if m.Size < a.Rows {
			d, err := Deficient(a, m.Rows)
			require.NoError(t, err, name)
			require.Len(t, d.UnmatchedRows, a.Rows-m.Size, name)
			require.Len(t, d.Rows, len(d.Cols)+a.Rows-m.Size, name)
			return
		}
		b, err := BlockTriangular(a, m.Rows)
		require.NoError(t, err, name)
		requireBlocks(t, a, b)
	})
	require.Greater(t, count, 50)
}

// Factors after AMD, and the bandwidth after RCM, beside other libraries: SuperLU's multiple
// minimum degree (SciPy 1.10, splu with MMD_AT_PLUS_A on a diagonally dominant matrix of
// the same pattern) and SciPy's reverse_cuthill_mckee.
func TestOrdersAreAsGoodAsThoseOfSciPy(t *testing.T) {
	want := map[string]struct {
		fill      int64
		bandwidth int64
	}{
		"1138_bus.mtx.gz":  {3269, 148},
		"4elt.mtx.gz":      {372533, 612},
		"bcspwr10.mtx.gz":  {28064, 315},
		"bcsstk14.mtx.gz":  {112267, 346},
		"bcsstk18.mtx.gz":  {662725, 1294},
		"can_1072.mtx.gz":  {20401, 197},
		"cavity01.mtx.gz":  {6024, 108},
		"crack.mtx.gz":     {177924, 187},
		"cti.mtx.gz":       {2157985, 683},
		"dwt_2680.mtx.gz":  {52752, 131},
		"fe_sphere.mtx.gz": {905249, 258},
		"fs_183_1.mtx.gz":  {1985, 154},
	}
	var fills, widths []float64
	for name, w := range want {
		a := readMatrix(t, name)
		p, err := AMD(a)
		require.NoError(t, err)
		entries, _ := fill(t, a, p)
		fills = append(fills, float64(entries)/float64(w.fill))
		widths = append(widths, float64(reordered(t, a))/float64(w.bandwidth))
	}
	require.Less(t, geometricMean(fills), 1.02, "%v", fills)
	require.Less(t, geometricMean(widths), 1.02, "%v", widths)
}
