package form

import "github.com/msrep-go/msrep/kernels/cpu/simd"

func (d *diagonalForm[V]) MultiplyMany(alpha, beta V, x, y simd.Block[V]) {
	var values simd.Expansion[V]
	simd.MultiplyDiagonalsMany(d.level, &d.slices, alpha, beta, x.First(d.cols), y.First(d.rows), &values)
}

// RowsFrom is 0: rows have more bytes.
func (d *diagonalForm[V]) RowsFrom() int { return 0 }
