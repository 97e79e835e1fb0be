package amg

import (
	"math"
	"math/rand/v2"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

// symmetric reports whether A' = A up to rounding: whether x'A y = y'A x for vectors x and y of random numbers. It detects
// differences between A' and A above about 1e-12 of the sum of all entries, so one pair of different entries among 1e10.
func symmetric(a *sparse.CSR[float64]) bool {
	r := rand.New(rand.NewPCG(1, 2))
	x, y := make([]float64, a.Rows), make([]float64, a.Rows)
	for i := range x {
		x[i], y[i] = r.Float64()-0.5, r.Float64()-0.5
	}
	const chunk = 1 << 12 // rows
	chunks := (a.Rows + chunk - 1) / chunk
	difference, total := make([]float64, chunks), make([]float64, chunks)
	par.Range(int64(chunks), 4, func(lo, hi int64) {
		for c := lo; c < hi; c++ {
			d, t := 0.0, 0.0
			for i := int(c) * chunk; i < min(int(c+1)*chunk, a.Rows); i++ {
				dx, dy, sum := 0.0, 0.0, 0.0
				for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
					v := a.Val[k]
					dx, dy, sum = dx+v*x[a.ColIdx[k]], dy+v*y[a.ColIdx[k]], sum+math.Abs(v)
				}
				d, t = d+x[i]*dy-y[i]*dx, t+sum
			}
			difference[c], total[c] = d, t
		}
	})
	d, t := 0.0, 0.0
	for c := range difference {
		d, t = d+difference[c], t+total[c]
	}
	return math.Abs(d) <= 1e-12*t
}
