package amg

import (
	"math"
	"math/rand/v2"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

// symmetric reports whether A' = A up to rounding: whether x'A y = y'A x for a vector x of random numbers and y_i = x_i^2. It
// detects differences between A' and A above about 1e-12 of the sum of all entries, so one pair of different entries among
// 1e10.
func symmetric(a *sparse.CSR[float64]) bool {
	const chunk = 1 << 12 // rows
	chunks := (a.Rows + chunk - 1) / chunk
	rows := func(c int64) (lo, hi int) { return int(c) * chunk, min(int(c+1)*chunk, a.Rows) }
	x := mem.Uncleared[float64](a.Rows)
	par.Range(int64(chunks), 4, func(from, to int64) {
		for c := from; c < to; c++ {
			r := rand.NewPCG(1, uint64(c))
			lo, hi := rows(c)
			for i := lo; i < hi; i++ {
				x[i] = 0x1p-63 * float64(int64(r.Uint64())) // between -1 and 1
			}
		}
	})
	difference, total := make([]float64, chunks), make([]float64, chunks)
	par.Range(int64(chunks), 4, func(from, to int64) {
		for c := from; c < to; c++ {
			d, t := 0.0, 0.0
			lo, hi := rows(c)
			for i := lo; i < hi; i++ {
				dx, dy := 0.0, 0.0
				val := a.Val[a.RowPtr[i]:a.RowPtr[i+1]]
				for k, j := range a.ColIdx[a.RowPtr[i]:a.RowPtr[i+1]][:len(val)] {
					product := val[k] * x[j]
					dx, dy, t = dx+product, dy+product*x[j], t+math.Abs(val[k])
				}
				d += x[i] * (dy - x[i]*dx)
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
