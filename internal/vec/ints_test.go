package vec_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/internal/vec"
)

// randomInts returns count vectors of n integers and the same numbers as float64.
func randomInts(random *rand.Rand, count, n int) (q [][]int32, v [][]float64) {
	for range count {
		x, y := make([]int32, n), make([]float64, n)
		for i := range x {
			x[i] = random.Int32N(1<<31-1) - 1<<30
			y[i] = float64(x[i])
		}
		q, v = append(q, x), append(v, y)
	}
	return q, v
}

// Loops over integers have the bits of the same loops over these numbers in float64, on every level.
func TestLoopsOverIntegersEqualThoseOverFloat64(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	eachLevel(t, func(t *testing.T) {
		for _, n := range []int{0, 1, 7, 8, 9, 23, 64, 101} {
			for m := 1; m <= 9; m++ {
				q, v := randomInts(random, m, n)
				_, uw := randomInts(random, 2, n)
				u, w := uw[0], uw[1]
				at := n / 3
				sums, want := make([]vec.Sum, 2*m), make([]vec.Sum, 2*m)
				vec.ProjectInts(q, at, u[at:], w[at:], sums[:m], sums[m:])
				vec.Project(v, at, u[at:], w[at:], want[:m], want[m:])
				require.Equal(t, want, sums, "%d elements, %d vectors", n, m)
				wantW := slices.Clone(w)
				vec.CombineInts(coefficients[:m], q, at, w[at:])
				vec.Combine(1, coefficients[:m], v, at, wantW[at:], new(vec.Sum))
				require.Equal(t, wantW, w, "%d elements, %d vectors", n, m)
			}
		}
	})
}

func TestRoundToIntsRoundsToTheNearestMultipleOfItsStep(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for _, exp := range []int{-1060, -990, -300, 0, 1, 500, 1023} {
		for n := range 20 {
			v := make([]float64, n)
			for i := range v {
				v[i] = math.Ldexp(random.Float64()*2-1, exp)
			}
			if n > 3 {
				v[1], v[2], v[3] = 0, math.Copysign(0, -1), math.Ldexp(v[3], -40)
			}
			old, q, largest := slices.Clone(v), make([]int32, n), 0.0
			step := vec.RoundToInts(v, q)
			for _, e := range old {
				largest = max(largest, math.Abs(e))
			}
			f, _ := math.Frexp(step)
			require.Equal(t, 0.5, f, "the step is a power of two")
			for i, e := range v {
				require.Equal(t, float64(q[i])*step, e)
				require.LessOrEqual(t, math.Abs(float64(q[i])), math.Ldexp(1, 30))
				require.LessOrEqual(t, math.Abs(e-old[i]), step/2)
			}
			if largest > math.Ldexp(1, -950) {
				require.Less(t, step, math.Ldexp(largest, -28))
			}
			again := slices.Clone(v)
			vec.RoundToInts(again, q)
			require.Equal(t, v, again, "rounded numbers stay")
		}
	}
	for _, e := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		v, q := []float64{1, e, 3}, []int32{4, 5, 6}
		require.Zero(t, vec.RoundToInts(v, q))
		require.Equal(t, []int32{0, 0, 0}, q)
		require.Equal(t, []float64{1, 3}, []float64{v[0], v[2]})
	}
}

// BenchmarkInts measures the loops over integers beside those over float64, in ns per element and vector.
func BenchmarkInts(b *testing.B) {
	const n, m = 1 << 12, 24
	random := rand.New(rand.NewPCG(9, 10))
	q, v := randomInts(random, m, n)
	_, uw := randomInts(random, 2, n)
	h := make([]float64, m)
	sums := make([]vec.Sum, 2*m)
	for _, l := range simd.Levels() {
		for name, f := range map[string]func(){
			"project":      func() { vec.ProjectInts(q, 0, uw[0], uw[1], sums[:m], sums[m:]) },
			"project wide": func() { vec.Project(v, 0, uw[0], uw[1], sums[:m], sums[m:]) },
			"combine":      func() { vec.CombineInts(h, q, 0, uw[1]) },
			"combine wide": func() { vec.Combine(1, h, v, 0, uw[1], &sums[0]) },
			"round × 24": func() {
				for _, q := range q {
					vec.RoundToInts(uw[0], q)
				}
			},
		} {
			b.Run(fmt.Sprint(name, "/", l), func(b *testing.B) {
				defer vec.SetLevel(l)()
				for b.Loop() {
					f()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n/m, "ns/element")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
