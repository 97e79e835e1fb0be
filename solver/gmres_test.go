package solver

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/solver/internal/space"
	"github.com/msrep-go/msrep/sparse"
)

// The basis of a cycle is orthonormal to working precision, V'V = I, even where a product is almost in the span of the
// basis. After only one projection the error would be 3e-13 to 1. The last vector has had only one projection, but a
// solution does not use it. The columns a[j] are A times the basis.
func TestTheBasisOfGMRESStaysOrthonormal(t *testing.T) {
	const n, m = SumChunk + 904, 40
	diagonal := func(at func(x float64) float64) *sparse.CSR[float64] {
		a := &sparse.CSR[float64]{Rows: n, Cols: n, RowPtr: make([]int64, n+1)}
		for i := range n {
			a.ColIdx, a.Val = append(a.ColIdx, int32(i)), append(a.Val, at(float64(i)/(n-1)))
			a.RowPtr[i+1] = int64(i + 1)
		}
		return a
	}
	for name, a := range map[string]*sparse.CSR[float64]{
		"condition 1e14":         diagonal(func(x float64) float64 { return math.Pow(10, -14*x) }),
		"almost the unit matrix": diagonal(func(x float64) float64 { return 1 + 1e-6*x }),
		"stencil":                laplacian(t, "stencil:n=100,points=5"),
	} {
		t.Run(name, func(t *testing.T) {
			b := sines(a.Rows)
			s := space.NewHost(t.Context(), planOn(t, "cpu:2", a), nil, nil)
			r, _ := s.Load(b, make([]float64, a.Rows))
			k := &krylov{task: &task{Space: s}, v: []space.Vector{r}, size: []float64{math.Sqrt(s.Dot(r, r))}, g: []float64{1}}
			for j := range m + 1 {
				require.False(t, k.extend(j), "vector %d", j)
			}
			worst := 0.0
			for i := range m + 1 {
				for j := range i + 1 {
					d := k.Dot(k.v[i], k.v[j]) / k.size[i] / k.size[j]
					if i == j {
						d--
					}
					worst = max(worst, math.Abs(d)) // NaN stays
				}
			}
			require.LessOrEqual(t, worst, 5e-15)
			w := k.Zero()
			for j, col := range k.a[:m] {
				for i := range col {
					col[i] /= k.size[i]
				}
				k.Product(1/k.size[j], k.v[j], 0, w)
				k.Add(-1, col, k.v[:j+2], w)
				require.LessOrEqual(t, math.Sqrt(k.Dot(w, w)), 1e-14, "column %d", j)
			}
			require.NoError(t, s.Failed())
		})
	}
}

// A direction that is only rounding error after the second projection ends the cycle one iteration later and adds no
// column.
func TestADirectionInTheSpanOfTheBasisEndsTheCycle(t *testing.T) {
	a := laplacian(t, "stencil:n=10,points=5")
	s := space.NewHost(t.Context(), planOn(t, "cpu:1", a), nil, nil)
	r, _ := s.Load(sines(a.Rows), make([]float64, a.Rows))
	k := &krylov{task: &task{Space: s}, v: []space.Vector{r}, size: []float64{math.Sqrt(s.Dot(r, r))}, g: []float64{1}}
	require.False(t, k.extend(0))
	k.Set(1e-15, k.v[0], k.v[1])
	k.size[1], k.a[0][1] = 1e-15*k.size[0], 5e-15*k.length
	require.True(t, k.extend(1))
	require.Len(t, k.h, 1)
	require.InDeltaSlice(t, []float64{1, 0}, []float64{math.Abs(k.g[0]), k.g[1]}, 1e-15)
}

// Where squares of the lengths of products would underflow or overflow, the basis vectors are unit vectors.
func TestGMRESSolvesSystemsWithTinyAndHugeElements(t *testing.T) {
	for _, devices := range []string{"cpu:2", "sim:2"} {
		for _, s := range []float64{1e-155, 1e-120, 1e-60, 1e60, 1e150} {
			a := dense(t, []float64{2 * s, s, 0}, []float64{0, 3 * s, s}, []float64{s, 0, 5 * s})
			x := make([]float64, 3)
			res, err := GMRES(t.Context(), planOn(t, devices, a), []float64{3, 4, 6}, x, Options{})
			require.NoError(t, err, "%g on %s", s, devices)
			require.Equal(t, 3, res.Iterations)
			for _, v := range x {
				require.InDelta(t, 1, v*s, 1e-8)
			}
		}
	}
}
