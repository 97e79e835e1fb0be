package merge

import (
	"math"
	"math/bits"
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/sparse"
)

func randoms[V sparse.Value](rng *rand.Rand, n int) []V {
	out := make([]V, n)
	for i := range out {
		out[i] = V(rng.Float64()*2 - 1)
	}
	return out
}

// byStrides is the sum of the documented shape, pairs at strides 1, 2, 4, ...
func byStrides[V sparse.Value](in []V) V {
	p := append([]V(nil), in...)
	for stride := 1; stride < len(p); stride *= 2 {
		for i := 0; i+stride < len(p); i += 2 * stride {
			p[i] += p[i+stride]
		}
	}
	return p[0]
}

func TestSumIsATreeOfFixedShape(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{0, 1, 2, 3, 5, 8, 13, 21, 34, chunk - 1, chunk, chunk + 1, 2*chunk + 3}).Draw(t, "n")
		count := rapid.IntRange(1, 33).Draw(t, "partials")
		beta := rapid.OneOf(rapid.Just(0.0), rapid.Just(1.0), rapid.Float64Range(-3, 3)).Draw(t, "beta")
		rng := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
		partials := make([][]float64, count)
		for i := range partials {
			partials[i] = randoms[float64](rng, n)
		}
		start := randoms[float64](rng, n)
		want := make([]float64, n)
		column := make([]float64, count)
		for j := range want {
			for i := range partials {
				column[i] = partials[i][j]
			}
			want[j] = byStrides(column)
			if beta != 0 {
				want[j] = float64(beta*start[j]) + want[j]
			} else {
				start[j] = math.NaN()
			}
		}
		before := make([][]float64, count)
		for i := range partials {
			before[i] = slices.Clone(partials[i])
		}
		serial := append([]float64(nil), start...)
		require.NoError(t, Sum(start, beta, partials))
		require.True(t, slices.Equal(want, start), "want %v, got %v", want, start)
		for i := range partials {
			require.True(t, slices.Equal(before[i], partials[i]), "partials must not change")
		}
		require.NoError(t, SumSerial(serial, beta, partials))
		for j := range want {
			if math.Abs(want[j]-serial[j]) > 4e-16*float64(count*count+4) {
				require.Equal(t, want[j], serial[j], "element %d", j)
			}
		}
	})
}

func TestSumGivesTheSameBitsOnAnyNumberOfCores(t *testing.T) {
	rng := rand.New(rand.NewSource(5))
	partials := make([][]float32, 7)
	for i := range partials {
		partials[i] = randoms[float32](rng, 100_003)
	}
	start := randoms[float32](rng, 100_003)
	got := onEachCore(func() []float32 {
		y := append([]float32(nil), start...)
		require.NoError(t, Sum(y, 0.3, partials))
		return y
	})
	for _, y := range got[1:] {
		require.Equal(t, got[0], y)
	}
}

// The tree of p vectors loses at most ceil(log2 p) roundings per term.
func TestSumKeepsItsErrorBound(t *testing.T) {
	rng := rand.New(rand.NewSource(6))
	const n = 2000
	for _, count := range []int{2, 5, 64, 100} {
		partials := make([][]float32, count)
		for i := range partials {
			partials[i] = randoms[float32](rng, n)
		}
		y := make([]float32, n)
		require.NoError(t, Sum(y, 0, partials))
		for j := range y {
			var exact, size float64
			for i := range partials {
				exact += float64(partials[i][j])
				size += math.Abs(float64(partials[i][j]))
			}
			depth := float64(bits.Len(uint(count - 1)))
			require.LessOrEqual(t, math.Abs(float64(y[j])-exact), 1.01*depth*size/(1<<24))
		}
	}
}

func TestSumOfNoPartialsScalesY(t *testing.T) {
	for name, sum := range map[string]func([]float64, float64, [][]float64) error{"Sum": Sum[float64], "SumSerial": SumSerial[float64]} {
		y := []float64{math.NaN(), math.Inf(1)}
		require.NoError(t, sum(y, 0, nil), name)
		require.Equal(t, []float64{0, 0}, y, name)
		y = []float64{1, 2}
		require.NoError(t, sum(y, 1, nil), name)
		require.NoError(t, sum(y, 3, nil), name)
		require.Equal(t, []float64{3, 6}, y, name)
		require.NoError(t, sum(nil, 3, [][]float64{{}, nil}), name)
	}
}

func TestSumRefusesLengthsThatDiffer(t *testing.T) {
	for _, sum := range []func([]float64, float64, [][]float64) error{Sum[float64], SumSerial[float64]} {
		y := []float64{1, 2}
		err := sum(y, 0, [][]float64{{1, 2}, {1, 2, 3}})
		require.True(t, sparse.IsInput(err))
		require.ErrorContains(t, err, "vector 1 has 3 elements: y has 2")
		require.Equal(t, []float64{1, 2}, y)
	}
}
