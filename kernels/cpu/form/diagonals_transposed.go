package form

import "github.com/msrep-go/msrep/kernels/cpu/simd"

func (d *diagonalForm[V]) MultiplyTransposed(alpha V, x []V, to func(lo, hi int) []V) {
	simd.AddDiagonalsTransposed(d.level, &d.slices, alpha, x[:d.rows], d.cols, to)
}
