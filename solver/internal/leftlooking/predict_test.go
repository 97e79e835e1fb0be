package leftlooking

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
)

// eliminated returns the entries below the diagonal and the operations after each column of
// a pattern was eliminated.
func eliminated(p [][]bool) (entries int64, work float64) {
	for k := range p {
		count := 0
		for i := k + 1; i < len(p); i++ {
			if p[i][k] {
				count++
				for j := k + 1; j < len(p); j++ {
					p[i][j] = p[i][j] || p[j][k]
				}
			}
		}
		entries += int64(count)
		work += float64(count) * float64(count+1)
	}
	return entries, work
}

func TestPredictionIsThatOfElimination(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		n := 1 + r.IntN(30)
		a := sparse.Convert[float32](random(r, n, 2*r.Float64()))
		p := make([]int32, n)
		for k, j := range r.Perm(n) {
			p[k] = int32(j)
		}
		at := make([]int, n)
		for k, j := range p {
			at[j] = k
		}
		sum, product := make([][]bool, n), make([][]bool, n) // A + A' and A'A
		for i := range n {
			sum[i], product[i] = make([]bool, n), make([]bool, n)
		}
		for i := range n {
			row := a.ColIdx[a.RowPtr[i]:a.RowPtr[i+1]]
			for _, j := range row {
				sum[at[i]][at[j]], sum[at[j]][at[i]] = true, true
				for _, k := range row {
					product[at[j]][at[k]] = true
				}
			}
		}
		entries, work := choleskyCounts(a, p)
		wantEntries, wantWork := eliminated(sum)
		require.Equal(t, wantEntries, entries)
		require.InDelta(t, wantWork, work, 0)
		entries, work = choleskyCounts(rowCliques(a, p), p)
		wantEntries, wantWork = eliminated(product)
		require.Equal(t, wantEntries, entries)
		require.InDelta(t, wantWork, work, 0)
	}
}

// TestColumnOrder has rows so long that A + A' fills, and columns of which few share rows.
func TestColumnOrder(t *testing.T) {
	a := readMatrix(t, "rbsa480")
	f, err := Factor(t.Context(), a, Options{Tolerance: 1})
	require.NoError(t, err)
	requireSolves(t, a, f, 1e-9)
	i := f.Info()
	require.Less(t, i.L+i.U, int64(80_000), "the order of A + A' needs 118,000")
	require.LessOrEqual(t, i.L, f.sym.Predicted().L)
	require.LessOrEqual(t, i.U, f.sym.Predicted().U)
}

// TestWeakDiagonal hides large entries: pivots from the weak diagonal would fill.
func TestWeakDiagonal(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	n := 2000
	shift := r.Perm(n)
	var rows, cols []int32
	var val []float64
	put := func(i, j int, v float64) {
		rows, cols, val = append(rows, int32(i)), append(cols, int32(j)), append(val, v)
	}
	for i := range n {
		put(shift[i], i, 4) // with these on the diagonal, the matrix has bandwidth 1
		put(shift[i], (i+1)%n, r.NormFloat64())
		put(shift[i], (i+n-1)%n, r.NormFloat64())
		put(i, i, 1e-9)
	}
	a, err := sparse.FromTriples(n, n, rows, cols, val)
	require.NoError(t, err)
	f, err := Factor(t.Context(), a, Options{})
	require.NoError(t, err)
	require.Less(t, f.Info().OffDiagonal, int64(n/20))
	for k, i := range f.sym.rows {
		require.Equal(t, shift[f.sym.cols[k]], int(i), "position %d", k)
	}
}
