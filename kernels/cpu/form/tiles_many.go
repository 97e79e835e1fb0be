package form

import (
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// MultiplyMany multiplies a register of columns at a time, with as many sums as a
// block of rows needs, which it takes from the Go heap.
func (f *tilesForm[V]) MultiplyMany(alpha, beta V, x, y simd.MultiVector[V]) {
	x, y = x.First(f.cols), y.First(f.rows)
	p := tileVectors[V]{f: f, alpha: alpha, beta: beta}
	p.stream = beta == 0 && y.StreamsWhole(f.level)
	if p.stream {
		defer simd.Fence(f.level)
	}
	width := simd.TileColumns[V](f.level, y.Cols)
	p.sums = room[V](min(f.height, f.rows) * width)
	for c := 0; c < y.Cols; c += width {
		n := min(width, y.Cols-c)
		p.columns(x.Columns(c, n), y.Columns(c, n))
	}
}

// tileVectors is a product of tiles with several vectors.
type tileVectors[V sparse.Value] struct {
	f           *tilesForm[V]
	alpha, beta V
	sums        []V
	values      simd.Expansion[V]
	stream      bool
}

// columns makes some columns of y by the same columns of x.
func (p *tileVectors[V]) columns(x, y simd.MultiVector[V]) {
	f, width := p.f, simd.TileColumns[V](p.f.level, x.Cols)
	for row, t := 0, 0; row < f.rows; row, t = row+f.height, t+f.across {
		rows := min(f.height, f.rows-row)
		sums := p.sums[:rows*width]
		clear(sums)
		for c := range f.across {
			lo, hi, part := f.first[t+c], f.first[t+c+1], x.From(c<<f.shift)
			next, nextPart := hi, simd.MultiVector[V]{}
			if c+1 < f.across {
				next, nextPart = f.first[t+c+2], x.From((c+1)<<f.shift)
			}
			if end := (c + 1) << f.shift; (end-1)*x.Stride+width <= len(x.Val) {
				part.Cols = width // there is more of x behind: filled registers are faster
			}
			simd.AddTileMany(f.level, &f.entries, int(lo), int(hi), int(next), part, nextPart, sums, &p.values)
		}
		finishRows(f.level, p.alpha, p.beta, sums, width, rows, y.From(row), p.stream)
	}
}

// rowBytes is up to how many bytes of a row of x, which is not too much for the caches that
// tiles are made for, they are faster than the rows in CSR: fewer where rows are short, with fewer
// entries than shortRow on average, which CSR multiplies without a branch on their number, and
// whose sums tiles move as often as x.
const (
	rowBytes      = 32
	shortRowBytes = 16
	shortRow      = 4
)

// RowsFrom tells that CSR is for more than a few vectors: entry by entry, tiles read and
// write a row of sums where CSR reads one of x alone.
func (f *tilesForm[V]) RowsFrom() int {
	bytes := rowBytes
	if f.level >= simd.AVX2 && f.first[len(f.first)-1] < shortRow*int64(f.rows) {
		bytes = shortRowBytes
	}
	return bytes/int(mem.Size[V]()) + 1
}
