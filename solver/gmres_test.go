package solver

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
)

// The basis of a cycle is orthonormal to working precision, V'V = I, also where almost all of a
// product lies in the basis already. One projection alone leaves 3e-13 to 1.
func TestTheBasisOfGMRESStaysOrthonormal(t *testing.T) {
	const n, m = SumBlock + 904, 40
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
			s, r, _ := newHostSpace(t.Context(), planOn(t, "cpu:2", a), nil, nil, b, make([]float64, a.Rows))
			k := &krylov{task: &task{space: s}, v: []vector{r}, g: []float64{1}}
			k.set(1/math.Sqrt(k.dot(r, r)), r, r)
			for j := range m {
				require.False(t, k.extend(j), "vector %d", j)
			}
			h, worst := make([]float64, m+1), 0.0
			for i, v := range k.v {
				k.project(h, k.v, v)
				h[i]--
				for _, d := range h {
					worst = max(worst, math.Abs(d)) // NaN stays
				}
			}
			require.NoError(t, s.failed())
			require.LessOrEqual(t, worst, 5e-15)
		})
	}
}
