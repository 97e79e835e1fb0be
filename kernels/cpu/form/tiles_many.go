package form

import (
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
)

// MultiplyMany multiplies a register of columns at a time, with as many sums as a
// block of rows needs, which it takes from the Go heap.
func (f *tilesForm[V]) MultiplyMany(alpha, beta V, x, y simd.Block[V]) {
	var values simd.Expansion[V]
	width := simd.TileColumns[V](f.level)
	x, y = x.First(f.cols), y.First(f.rows)
	all, _ := mem.Slice[V](mem.Aligned(int64(min(f.height, f.rows)*width)*mem.Size[V]()), int64(min(f.height, f.rows)*width))
	for c := 0; c < y.Cols; c += width {
		n := min(width, y.Cols-c)
		xc := x.Columns(c, n)
		for row, t := 0, 0; row < f.rows; row, t = row+f.height, t+f.across {
			rows := min(f.height, f.rows-row)
			sums := all[:rows*width]
			clear(sums)
			for across := range f.across {
				simd.AddTileMany(f.level, &f.entries, int(f.first[t+across]), int(f.first[t+across+1]), xc.From(across<<f.shift), sums, &values)
			}
			out := y.From(row)
			for i := range rows {
				simd.Finish(f.level, alpha, beta, sums[i*width:], out.Val[i*out.Stride+c:][:n], false)
			}
		}
	}
}

// PrefersRows is true: entry by entry, tiles read and write a row of sums where CSR
// reads one of x alone.
func (f *tilesForm[V]) PrefersRows() bool { return true }
