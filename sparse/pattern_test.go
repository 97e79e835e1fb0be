package sparse

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
)

// randomTriples returns n triples of a rows x cols matrix; most positions occur several times if n is large.
func randomTriples(n, rows, cols int) (rowIdx, colIdx []int32, val []float64) {
	r := rand.New(rand.NewPCG(uint64(n), 7))
	for range n {
		rowIdx, colIdx, val = append(rowIdx, r.Int32N(int32(rows))), append(colIdx, r.Int32N(int32(cols))), append(val, r.NormFloat64())
	}
	return rowIdx, colIdx, val
}

func TestPatternsGiveTheBitsOfFromTriples(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	for _, c := range []struct{ n, rows, cols int }{{0, 0, 0}, {0, 3, 2}, {1, 1, 1}, {50, 5, 5}, {1000, 5000, 3}, {300_000, 700, 600}, {300_000, 1 << 20, 1 << 20}, {100_000, 3, 100_000}} {
		rowIdx, colIdx, val := randomTriples(c.n, max(c.rows, 1), max(c.cols, 1))
		p, err := NewPattern[float64](c.rows, c.cols, rowIdx, colIdx)
		require.NoError(t, err)
		m := p.Matrix()
		for range 2 {
			want, err := FromTriples(c.rows, c.cols, rowIdx, colIdx, val)
			require.NoError(t, err)
			require.NoError(t, p.Fill(val, m.Val))
			require.NoError(t, m.Validate())
			require.Equal(t, want.RowPtr, m.RowPtr)
			require.Equal(t, len(want.ColIdx), len(m.ColIdx))
			for e, j := range want.ColIdx {
				if j != m.ColIdx[e] || math.Float64bits(want.Val[e]) != math.Float64bits(m.Val[e]) {
					t.Fatalf("%+v: entry %d is %g in column %d, not %g in column %d", c, e, m.Val[e], m.ColIdx[e], want.Val[e], j)
				}
			}
			for k := range val {
				val[k] *= -1.25
			}
		}
	}
}

func TestPatternsKeepSignedZerosAndNaNs(t *testing.T) {
	p, err := NewPattern[float32](2, 2, []int32{1, 0, 1}, []int32{1, 0, 1})
	require.NoError(t, err)
	out := p.Matrix().Val
	negative := float32(math.Copysign(0, -1))
	require.NoError(t, p.Fill([]float32{negative, float32(math.NaN()), negative}, out))
	require.True(t, math.IsNaN(float64(out[0])))
	require.True(t, math.Signbit(float64(out[1])))
}

func TestWrongArgumentsOfPatternsAreRefused(t *testing.T) {
	for want, call := range map[string]func() error{
		"2 row indices and 1 column indices": func() error { _, err := NewPattern[float64](2, 2, []int32{0, 1}, []int32{0}); return err },
		"row":                                func() error { _, err := NewPattern[float64](2, 2, []int32{0, 2}, []int32{0, 1}); return err },
		"column":                             func() error { _, err := NewPattern[float64](2, 2, []int32{0, 1}, []int32{0, -1}); return err },
		"-1":                                 func() error { _, err := NewPattern[float64](-1, 2, nil, nil); return err },
		"are available": func() error {
			defer mem.SetAvailable(1000)()
			_, err := NewPattern[float64](1, 1, make([]int32, 1<<20), make([]int32, 1<<20))
			return err
		},
		"pattern: was not made by NewPattern": func() error { return (*TriplePattern[float64])(nil).Fill(nil, nil) },
		"val: has 1 elements for the 2 triples": func() error {
			p, _ := NewPattern[float64](2, 2, []int32{0, 1}, []int32{0, 1})
			return p.Fill(make([]float64, 1), make([]float64, 2))
		},
		"out: has 2 elements for the 1 entries": func() error {
			p, _ := NewPattern[float64](2, 2, []int32{1, 1}, []int32{1, 1})
			return p.Fill(make([]float64, 2), make([]float64, 2))
		},
		"out: overlaps val": func() error {
			p, _ := NewPattern[float64](2, 2, []int32{0, 1}, []int32{0, 1})
			v := make([]float64, 3)
			return p.Fill(v[:2], v[1:])
		},
	} {
		err := call()
		require.ErrorContains(t, err, want)
		require.True(t, IsInput(err), "%v", err)
	}
	require.NoError(t, (*TriplePattern[float64])(nil).Matrix().Validate())
}

func TestPatternsOfTheLeastSizes(t *testing.T) {
	for _, c := range []struct {
		rows, cols int
		idx        []int32
		entries    int
	}{{0, 0, nil, 0}, {0, 3, nil, 0}, {3, 0, nil, 0}, {1, 1, nil, 0}, {1, 1, []int32{0}, 1}, {1, 1, make([]int32, 1000), 1}} {
		p, err := NewPattern[float32](c.rows, c.cols, c.idx, c.idx)
		require.NoError(t, err)
		m := p.Matrix()
		require.NoError(t, m.Validate())
		require.Len(t, m.Val, c.entries)
		val := make([]float32, len(c.idx))
		for k := range val {
			val[k] = 1
		}
		require.NoError(t, p.Fill(val, m.Val))
		for _, v := range m.Val {
			require.Equal(t, float32(len(c.idx)), v)
		}
	}
	sizes := []int{math.MinInt}
	if most := int64(MaxDim); math.MaxInt > most { // not on 32-bit systems
		sizes = append(sizes, int(most+1), math.MaxInt)
	}
	for _, rows := range sizes {
		_, err := NewPattern[float64](rows, 1, nil, nil)
		require.True(t, IsInput(err), "%d rows: %v", rows, err)
		_, err = NewPattern[float64](1, rows, nil, nil)
		require.True(t, IsInput(err), "%d columns: %v", rows, err)
	}
}

func TestGoroutinesFillMatricesOfOnePattern(t *testing.T) {
	const n = 3 * fillGrain
	rowIdx, colIdx := make([]int32, n), make([]int32, n)
	for k := range int32(n) {
		rowIdx[k], colIdx[k] = k%100, k%7
	}
	p, err := NewPattern[float64](100, 7, rowIdx, colIdx)
	require.NoError(t, err)
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			val, m := make([]float64, n), p.Matrix()
			for k := range val {
				val[k] = float64(g)
			}
			sum := 0.0
			for range 3 {
				if err := p.Fill(val, m.Val); err != nil {
					t.Error(err)
				}
			}
			for _, v := range m.Val {
				sum += v
			}
			if sum != float64(g*n) {
				t.Errorf("goroutine %d: sum %g", g, sum)
			}
		})
	}
	all.Wait()
}

// BenchmarkPattern is the time to assemble the 3.6 million triples of 400,000 triangles of a 2D mesh, once by sorting
// them and once by a TriplePattern.
func BenchmarkPattern(b *testing.B) {
	const k = 448 // 2 k^2 triangles, 9 triples each
	var rowIdx, colIdx []int32
	for c := range int32(k * k) {
		at := c/k*(k+1) + c%k
		for _, nodes := range [][3]int32{{at, at + 1, at + k + 2}, {at, at + k + 1, at + k + 2}} {
			for _, i := range nodes {
				for _, j := range nodes {
					rowIdx, colIdx = append(rowIdx, i), append(colIdx, j)
				}
			}
		}
	}
	val := make([]float64, len(rowIdx))
	for i := range val {
		val[i] = float64(i % 5)
	}
	const n = (k + 1) * (k + 1)
	b.Run("FromTriples", func(b *testing.B) {
		for b.Loop() {
			if _, err := FromTriples(n, n, rowIdx, colIdx, val); err != nil {
				b.Fatal(err)
			}
		}
	})
	p, err := NewPattern[float64](n, n, rowIdx, colIdx)
	if err != nil {
		b.Fatal(err)
	}
	out := p.Matrix().Val
	b.Run("Fill", func(b *testing.B) {
		for b.Loop() {
			if err := p.Fill(val, out); err != nil {
				b.Fatal(err)
			}
		}
	})
}
