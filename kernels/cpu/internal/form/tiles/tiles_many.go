package tiles

import (
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// MultiplyMany multiplies as many columns at a time as fill a register. It allocates the sums of a
// block of rows on the Go heap.
func (f *tilesForm[V]) MultiplyMany(alpha, beta V, x, y form.MultiVector[V]) {
	x, y = x.First(f.cols), y.First(f.rows)
	p := tileVectors[V]{f: f, alpha: alpha, beta: beta}
	p.stream = beta == 0 && y.StreamsWhole(f.level)
	if p.stream {
		defer form.Fence(f.level)
	}
	width := TileColumns[V](f.level, y.Cols)
	p.sums = allocAligned[V](min(f.height, f.rows) * width)
	for c := 0; c < y.Cols; c += width {
		n := min(width, y.Cols-c)
		p.columns(x.Columns(c, n), y.Columns(c, n))
	}
}

// tileVectors computes a product of tiles with several vectors.
type tileVectors[V sparse.Value] struct {
	f           *tilesForm[V]
	alpha, beta V
	sums        []V
	values      form.Expansion[V]
	stream      bool
}

// columns computes some columns of y from the same columns of x.
func (p *tileVectors[V]) columns(x, y form.MultiVector[V]) {
	f, width := p.f, TileColumns[V](p.f.level, x.Cols)
	for row, t := 0, 0; row < f.rows; row, t = row+f.height, t+f.across {
		rows := min(f.height, f.rows-row)
		sums := p.sums[:rows*width]
		clear(sums)
		for c := range f.across {
			lo, hi, part := f.first[t+c], f.first[t+c+1], x.From(c<<f.shift)
			next, nextPart := hi, form.MultiVector[V]{}
			if c+1 < f.across {
				next, nextPart = f.first[t+c+2], x.From((c+1)<<f.shift)
			}
			if end := (c + 1) << f.shift; (end-1)*x.Stride+width <= len(x.Val) {
				part.Cols = width // x has elements after these columns: full registers are faster
			}
			AddTileMany(f.level, &f.entries, int(lo), int(hi), int(next), part, nextPart, sums, &p.values)
		}
		finishRows(f.level, p.alpha, p.beta, sums, width, rows, y.From(row), p.stream)
	}
}

// rowBytes is the largest size of a row of x for which tiles are faster than rows in CSR, if it
// fits the caches. It is shortRowBytes if rows have fewer than shortRow entries on average: CSR
// multiplies these without branches on their number, and tiles load and store as many sums as
// elements of x.
const (
	rowBytes      = 32
	shortRowBytes = 16
	shortRow      = 4
)

// RowsFrom returns a small number: for each entry, tiles read and write a row of sums, while CSR
// reads only a row of x.
func (f *tilesForm[V]) RowsFrom() int {
	bytes := rowBytes
	if f.level >= simd.AVX2 && f.first[len(f.first)-1] < shortRow*int64(f.rows) {
		bytes = shortRowBytes
	}
	return bytes/int(mem.Size[V]()) + 1
}
