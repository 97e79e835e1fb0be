package form

import "github.com/msrep-go/msrep/kernels/cpu/simd"

// MultiplyMany multiplies one column after the other, on copies from the Go heap.
func (f *binsForm[V]) MultiplyMany(alpha, beta V, x, y simd.Block[V]) {
	from, to := make([]V, f.cols), make([]V, f.rows)
	for c := range y.Cols {
		for i := range from {
			from[i] = x.Val[i*x.Stride+c]
		}
		if beta != 0 {
			for i := range to {
				to[i] = y.Val[i*y.Stride+c]
			}
		}
		f.Multiply(alpha, beta, from, to)
		for i, v := range to {
			y.Val[i*y.Stride+c] = v
		}
	}
}

// RowsFrom tells that the rows in CSR, which read x once for all vectors, are for more than
// a few.
func (f *binsForm[V]) RowsFrom() int { return 4 }
