package merge

import (
	"math"
	"math/rand"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/cases"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

func TestMain(m *testing.M) { cases.Main(m, "3000") }

// product is one random y = alpha*A*x + beta*y.
type product struct {
	a           *sparse.CSR[float64]
	x, y        []float64
	alpha, beta float64
	parts       int
	rule        partition.Rule
}

func products() *rapid.Generator[product] {
	value := rapid.Float64Range(-10, 10)
	scalar := rapid.OneOf(rapid.Just(0.0), rapid.Just(1.0), value)
	sizes := rapid.SliceOfN(rapid.OneOf(rapid.Just(0), rapid.IntRange(0, 4), rapid.IntRange(30, 60)), 0, 15)
	return rapid.Custom(func(t *rapid.T) product {
		cols := rapid.IntRange(1, 8).Draw(t, "cols")
		a := &sparse.CSR[float64]{Cols: cols, RowPtr: []int64{0}}
		for _, n := range sizes.Draw(t, "sizes") {
			a.RowPtr = append(a.RowPtr, a.RowPtr[a.Rows]+int64(n))
			a.Rows++
		}
		n := int(a.RowPtr[a.Rows])
		rng := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
		a.Val, a.ColIdx = randoms[float64](rng, n), make([]int32, n)
		for k := range a.ColIdx {
			a.ColIdx[k] = int32(rng.Intn(cols))
		}
		return product{
			a:     a,
			x:     randoms[float64](rng, cols),
			y:     randoms[float64](rng, a.Rows),
			alpha: scalar.Draw(t, "alpha"), beta: scalar.Draw(t, "beta"),
			parts: rapid.IntRange(1, 20).Draw(t, "parts"),
			rule:  rapid.SampledFrom([]partition.Rule{partition.RuleNNZ, partition.RuleMergePath, partition.RuleMajor}).Draw(t, "rule"),
		}
	})
}

// reference is the product by the definition, and for each row the sum of the
// magnitudes of all terms, which bounds the rounding error.
func (p product) reference() (y, size []float64) {
	y, size = make([]float64, p.a.Rows), make([]float64, p.a.Rows)
	for i := range p.a.Rows {
		if p.beta != 0 {
			y[i] = p.beta * p.y[i]
			size[i] = math.Abs(y[i])
		}
		for k := p.a.RowPtr[i]; k < p.a.RowPtr[i+1]; k++ {
			term := p.alpha * p.a.Val[k] * p.x[p.a.ColIdx[k]]
			y[i] += term
			size[i] += math.Abs(term)
		}
	}
	return y, size
}

// start is y before the product. It is NaN if beta = 0, which shows that y is not read.
func (p product) start() []float64 {
	y := append([]float64(nil), p.y...)
	if p.beta == 0 {
		for i := range y {
			y[i] = math.NaN()
		}
	}
	return y
}

// partial is alpha*A*x of the entries of part q in row r.
func (p product) partial(q partition.Part, r int) float64 {
	var sum float64
	for k := max(p.a.RowPtr[r], q.StartIdx); k < min(p.a.RowPtr[r+1], q.EndIdx+1); k++ {
		sum += p.a.Val[k] * p.x[p.a.ColIdx[k]]
	}
	return p.alpha * sum
}

func requireClose(t require.TestingT, want, size, got []float64, terms int) {
	require.Len(t, got, len(want))
	for i := range want {
		require.InDelta(t, want[i], got[i], 4e-16*float64(terms+4)*size[i]+1e-300, "row %d", i)
	}
}

// onEachCore calls f with different GOMAXPROCS and returns all results.
func onEachCore[T any](f func() T) []T {
	old := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(old)
	var out []T
	for _, n := range []int{1, 2, 3, 8} {
		runtime.GOMAXPROCS(n)
		out = append(out, f())
	}
	return out
}
