package diagonals

func (d *diagonalForm[V]) MultiplyTransposed(alpha V, x []V, to func(lo, hi int) []V) {
	AddDiagonalsTransposed(d.level, &d.slices, alpha, x[:d.rows], d.cols, to)
}
