package form

import "github.com/msrep-go/msrep/kernels/cpu/simd"

// MultiplyMany computes Multiply for the columns of x and y. Their number must be one that
// simd.SymmetricColumns returns. to returns the rows lo <= i < hi.
func (s *Symmetric[V]) MultiplyMany(alpha, beta V, x, y simd.MultiVector[V], to func(lo, hi int) simd.MultiVector[V]) {
	for i, w := range s.windows {
		row := i * symmetricWindow
		scaleRows(beta, y.From(row), w.rows)
		simd.AddSymmetricMany(s.level, &w.slices, alpha, x, s.first+row, w.rows, to)
	}
}

// MultiplyMany computes Multiply for the columns of x and y. Their number must be one that
// simd.SymmetricColumns returns. to returns the rows lo <= i < hi.
func (s *SymmetricBlocks[V]) MultiplyMany(alpha, beta V, x, y simd.MultiVector[V], to func(lo, hi int) simd.MultiVector[V]) {
	slice, column, row := 0, 0, 0
	for _, w := range s.windows {
		n := min(blockWindow*s.blocks.Size, s.rows-row)
		scaleRows(beta, y.From(row), n)
		row += n
		low := int(w.low)
		simd.MultiplySymmetricBlocksMany(s.level, &s.blocks, slice, column, int(w.slices), alpha, x, to(low, s.first+row), low)
		slice, column = slice+int(w.slices), column+int(w.columns)
	}
}
