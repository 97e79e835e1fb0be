package form

import (
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// MultiplyMany copies rows of x as Multiply copies elements, a cache line of columns at a time. It
// copies the far entries of one block at a time.
func (f *nearFarForm[V]) MultiplyMany(alpha, beta V, x, y simd.MultiVector[V]) {
	x, y = x.First(f.cols), y.First(f.rows)
	most := min(simd.BinLine[V](), y.Cols)
	local := simd.MultiVector[V]{Val: allocAligned[V](len(f.local) * most)}
	next := make([]int64, f.far.across)
	for j := 0; j < y.Cols; j += most {
		n := min(most, y.Cols-j)
		local.Cols, local.Stride = n, n
		f.columns(alpha, beta, x.Columns(j, n), y.Columns(j, n), local, next)
	}
}

// columns computes the columns of y from the same columns of x. local has room for the rows of a
// local vector, next for one number per block of columns.
func (f *nearFarForm[V]) columns(alpha, beta V, x, y, local simd.MultiVector[V], next []int64) {
	group, row, line := 0, 0, simd.BinLine[V]()
	for i := range f.blocks {
		if i == f.far.groups[group] {
			copy(next, f.far.first[group*f.far.across:])
			group++
		}
		b := &f.blocks[i]
		to := 0
		for _, l := range b.lines {
			first := (b.base + int(l)) * line
			copyRows(local, to, x, first, min(line, f.cols-first))
			to += line
		}
		f.far.copyRows(group-1, i, next, x, local.From(to))
		b.slices.MultiplyMany(alpha, beta, local, y.From(row))
		row += b.slices.rows
	}
}

// copyRows copies the rows of x that the entries of block i of rows, in group g, read. next has the
// position of these entries in each block of columns; copyRows advances it to those of block i+1.
func (f *binRuns[V]) copyRows(g, i int, next []int64, x, to simd.MultiVector[V]) {
	row := 0
	for c := range f.across {
		n := inLines[V](int64(f.strip(g, c)[i-f.groups[g]].Entries))
		for _, column := range f.entries.Columns[next[c]:][:n] {
			copyRows(to, row, x, c<<f.shift+int(column), 1)
			row++
		}
		next[c] += n
	}
}

// copyRows copies the n rows of from that begin with first to the rows of to that begin with row.
func copyRows[V sparse.Value](to simd.MultiVector[V], row int, from simd.MultiVector[V], first, n int) {
	if to.Stride == to.Cols && from.Stride == to.Cols {
		copy(to.Val[row*to.Cols:], from.Val[first*to.Cols:][:n*to.Cols])
		return
	}
	for i := range n {
		copy(to.Val[(row+i)*to.Stride:][:to.Cols], from.Val[(first+i)*from.Stride:])
	}
}

// RowsFrom is 1: rows in CSR read a whole row of x per entry, and few of these reads miss the
// caches.
func (f *nearFarForm[V]) RowsFrom() int { return 1 }
