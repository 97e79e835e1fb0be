package sparse

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
)

// randomRows returns a matrix whose rows have columns in any order, some more than once.
func randomRows[V Value](r *rand.Rand, rows, cols, longest int) *CSR[V] {
	m := &CSR[V]{Rows: rows, Cols: cols, RowPtr: []int64{0}, ColIdx: []int32{}, Val: []V{}}
	for range rows {
		for n := r.IntN(longest + 1); n > 0 && cols > 0; n-- {
			m.ColIdx, m.Val = append(m.ColIdx, r.Int32N(int32(cols))), append(m.Val, V(r.NormFloat64()))
		}
		m.RowPtr = append(m.RowPtr, int64(len(m.Val)))
	}
	return m
}

// plainSum returns alpha*A + beta*B from dense rows.
func plainSum[V Value](alpha V, a *CSR[V], beta V, b *CSR[V]) *CSR[V] {
	c := &CSR[V]{Rows: a.Rows, Cols: a.Cols, RowPtr: []int64{0}, ColIdx: []int32{}, Val: []V{}}
	for i := range a.Rows {
		var sums [2][]V
		var has [2][]bool
		for s, m := range []*CSR[V]{a, b} {
			sums[s], has[s] = make([]V, m.Cols), make([]bool, m.Cols)
			for k := m.RowPtr[i]; k < m.RowPtr[i+1]; k++ {
				sums[s][m.ColIdx[k]] += m.Val[k]
				has[s][m.ColIdx[k]] = true
			}
		}
		for j := range a.Cols {
			left, right := alpha*sums[0][j], beta*sums[1][j]
			switch {
			case has[0][j] && has[1][j]:
				c.Val = append(c.Val, left+right)
			case has[0][j]:
				c.Val = append(c.Val, left)
			case has[1][j]:
				c.Val = append(c.Val, right)
			default:
				continue
			}
			c.ColIdx = append(c.ColIdx, int32(j))
		}
		c.RowPtr = append(c.RowPtr, int64(len(c.Val)))
	}
	return c
}

func checkAdd[V Value](t *testing.T, alpha V, a *CSR[V], beta V, b *CSR[V]) {
	t.Helper()
	for _, workers := range []int{1, 3} {
		before := runtime.GOMAXPROCS(workers)
		c, err := Add(alpha, a, beta, b)
		runtime.GOMAXPROCS(before)
		require.NoError(t, err)
		require.NoError(t, c.Validate())
		require.Equal(t, plainSum(alpha, a, beta, b), c)
	}
}

func TestAddMergesRowsInAnyOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for _, s := range [][3]int{{0, 0, 0}, {0, 5, 0}, {5, 0, 0}, {1, 1, 1}, {1, 1, 4}, {7, 3, 2}, {300, 40, 9}, {4000, 50, 30}} {
		a, b := randomRows[float64](r, s[0], s[1], s[2]), randomRows[float64](r, s[0], s[1], s[2])
		checkAdd(t, 2.5, a, -1.25, b)
		checkAdd(t, 1, a, -1, a)
		checkAdd(t, 0, a, 0, b)
		single, other := Convert[float32](a), Convert[float32](b)
		checkAdd(t, 0.1, single, 3, other)
		sorted, err := Permute(a, nil, nil)
		require.NoError(t, err)
		checkAdd(t, 1, sorted, 1, b)
	}
}

func TestAddKeepsEntriesThatCancelAndPropagatesNaN(t *testing.T) {
	a := &CSR[float64]{Rows: 1, Cols: 4, RowPtr: []int64{0, 3}, ColIdx: []int32{0, 1, 3}, Val: []float64{1, math.NaN(), math.Inf(1)}}
	c, err := Add(1, a, -1, a)
	require.NoError(t, err)
	require.Equal(t, []int32{0, 1, 3}, c.ColIdx)
	require.Zero(t, c.Val[0])
	require.True(t, math.IsNaN(c.Val[1]) && math.IsNaN(c.Val[2]))
	c, err = Add(0, a, 0, a)
	require.NoError(t, err)
	require.True(t, math.IsNaN(c.Val[1]), "0 times NaN is NaN")
}

func TestAddRefusesWhatDoesNotFit(t *testing.T) {
	a := &CSR[float64]{Rows: 2, Cols: 3, RowPtr: []int64{0, 1, 2}, ColIdx: []int32{0, 2}, Val: []float64{1, 2}}
	b := &CSR[float64]{Rows: 3, Cols: 2, RowPtr: []int64{0, 0, 0, 0}}
	bad := &CSR[float64]{Rows: 2, Cols: 3, RowPtr: []int64{0, 1, 2}, ColIdx: []int32{0, 3}, Val: []float64{1, 2}}
	for _, c := range []struct {
		a, b *CSR[float64]
		says string
	}{
		{a, b, "B: 3 x 2: A is 2 x 3"}, {nil, a, "A: is nil"}, {a, nil, "B: is nil"}, {bad, a, "column"}, {a, bad, "column"},
	} {
		_, err := Add(1, c.a, 1, c.b)
		require.True(t, IsInput(err), "%v", err)
		require.ErrorContains(t, err, c.says)
	}
}

func TestAddRefusesASumBeyondMemory(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	a := randomRows[float64](r, 30_000, 1000, 60)
	sorted, err := Permute(a, nil, nil)
	require.NoError(t, err)
	sorted.sumDuplicates()
	defer mem.SetAvailable(1 << 20)()
	for _, m := range []*CSR[float64]{a, sorted} {
		_, err := Add(1, m, 1, m)
		require.True(t, IsInput(err), "%v", err)
		require.ErrorContains(t, err, "are available")
	}
}
