package slices

import (
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/bins"
	"github.com/msrep-go/msrep/sparse"
)

// MultiplyMany copies rows of x as Multiply copies elements, a cache line of columns at a time. It
// copies the far entries of one block at a time.
func (f *nearFarForm[V]) MultiplyMany(alpha, beta V, x, y form.MultiVector[V]) {
	x, y = x.First(f.cols), y.First(f.rows)
	most := min(form.BinLine[V](), y.Cols)
	local := form.MultiVector[V]{Val: form.AllocAligned[V](len(f.local) * most)}
	next := make([]int64, f.far.Across)
	for j := 0; j < y.Cols; j += most {
		n := min(most, y.Cols-j)
		local.Cols, local.Stride = n, n
		f.columns(alpha, beta, x.Columns(j, n), y.Columns(j, n), local, next)
	}
}

// columns computes the columns of y from the same columns of x. local has room for the rows of a
// local vector, next for one number per block of columns.
func (f *nearFarForm[V]) columns(alpha, beta V, x, y, local form.MultiVector[V], next []int64) {
	group, row, line := 0, 0, form.BinLine[V]()
	for i := range f.blocks {
		if i == f.far.Groups[group] {
			copy(next, f.far.First[group*f.far.Across:])
			group++
		}
		b := &f.blocks[i]
		to := 0
		for _, l := range b.lines {
			first := (b.base + int(l)) * line
			copyRows(local, to, x, first, min(line, f.cols-first))
			to += line
		}
		copyFarRows(&f.far, group-1, i, next, x, local.From(to))
		b.slices.MultiplyMany(alpha, beta, local, y.From(row))
		row += b.slices.rows
	}
}

// copyFarRows copies the rows of x that the entries of block i of rows, in group g, read. next has the
// position of these entries in each block of columns; copyFarRows advances it to those of block i+1.
func copyFarRows[V sparse.Value](f *bins.BinRuns[V], g, i int, next []int64, x, to form.MultiVector[V]) {
	row := 0
	for c := range f.Across {
		n := bins.InLines[V](int64(f.Strip(g, c)[i-f.Groups[g]].Entries))
		for _, column := range f.Entries.Columns[next[c]:][:n] {
			copyRows(to, row, x, c<<f.Shift+int(column), 1)
			row++
		}
		next[c] += n
	}
}

// copyRows copies the n rows of from that begin with first to the rows of to that begin with row.
func copyRows[V sparse.Value](to form.MultiVector[V], row int, from form.MultiVector[V], first, n int) {
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
