package form

import (
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// MultiplyMany multiplies by a cache line of x for each entry, or where rows of x do not lie so and
// are short, two columns at a time.
func (f *binsForm[V]) MultiplyMany(alpha, beta V, x, y simd.MultiVector[V]) {
	if f.Suits(x, y) || y.Cols >= simd.BinLine[V]() {
		f.multiplyLines(alpha, beta, x.First(f.cols), y.First(f.rows))
		return
	}
	f.multiplyPairs(alpha, beta, x, y)
}

// multiplyPairs multiplies two columns at a time, whose elements of x lie side by side, so that there
// is room for those of half a group, and then the last one where their number is odd.
func (f *binsForm[V]) multiplyPairs(alpha, beta V, x, y simd.MultiVector[V]) {
	x, y = x.First(f.cols), y.First(f.rows)
	most := min(2, y.Cols)
	p := binVectors[V]{f: f, alpha: alpha, beta: beta, sums: room[V](most * (f.height + 1))}
	if y.Cols > most || x.Stride > most || y.Stride > most {
		p.part, p.rows = room[V](most*min(1<<f.shift, f.cols)), room[V](most*min(f.height, f.rows))
	}
	for j := 0; j < y.Cols; j += most {
		n := min(most, y.Cols-j)
		p.columns(x.Columns(j, n), y.Columns(j, n))
	}
}

// room is room for n elements, from the Go heap, that begins at a cache line.
func room[V sparse.Value](n int) []V {
	s, _ := mem.Slice[V](mem.Aligned(int64(n)*mem.Size[V]()), int64(n))
	return s
}

// binVectors is a product of bins with several vectors.
type binVectors[V sparse.Value] struct {
	f           *binsForm[V]
	alpha, beta V
	sums        []V // of a block of rows, and for places that hold no entry
	part, rows  []V // what a block of columns takes of x, and a block of rows gives of y, side by side
}

// columns makes one or two columns of y by the same columns of x.
func (p *binVectors[V]) columns(x, y simd.MultiVector[V]) {
	f, n := p.f, y.Cols
	stream := p.beta == 0 && y.StreamsWhole(f.level)
	if stream {
		defer simd.Fence(f.level)
	}
	for g := range len(f.groups) - 1 {
		for first, end := f.groups[g], 0; first < f.groups[g+1]; first = end {
			for end = first + 1; end < f.groups[g+1] && int64(n)*(f.blocks[end+1]-f.blocks[first]) <= int64(len(f.between)); {
				end++
			}
			for c := range f.across {
				p.copy(g, c, first, end, x)
			}
			simd.Fence(f.level)
			for b := first; b < end; b++ {
				p.add(first, b, y.From(b*f.height), stream)
			}
		}
	}
}

// copy copies what some blocks of rows, of group g, take of block c of columns.
func (p *binVectors[V]) copy(g, c, first, end int, x simd.MultiVector[V]) {
	f := p.f
	strip, k := f.strip(g, c), f.first[g*f.across+c]
	if k == f.first[g*f.across+c+1] {
		return
	}
	for _, run := range strip[:first-f.groups[g]] {
		k += inLines[V](int64(run.Entries))
	}
	strip = strip[first-f.groups[g] : end-f.groups[g]]
	from := int(f.blocks[first]-f.blocks[f.groups[g]]) / simd.BinLine[V]()
	part, next := p.x(x, c), []V(nil)
	if x.Stride == x.Cols && c+1 < f.across && f.worthAhead(g*f.across+c+1, len(part)) {
		next = p.x(x, c+1)
	}
	if x.Cols == 2 {
		f.entries.CopyOfTwo(f.level, int(k), strip, from, part, next, f.between)
		return
	}
	f.entries.Copy(f.level, int(k), strip, part, next, f.between)
}

// x is the rows of x in block c of columns, which follow each other.
func (p *binVectors[V]) x(x simd.MultiVector[V], c int) []V {
	lo := c << p.f.shift
	n := x.Cols * (min(lo+1<<p.f.shift, p.f.cols) - lo)
	x = x.From(lo)
	if x.Stride == x.Cols {
		return x.Val[:n]
	}
	part := p.part[:n]
	pack(part, x)
	return part
}

// add multiplies and adds up block b of rows, of those from first on, for its rows of y.
func (p *binVectors[V]) add(first, b int, y simd.MultiVector[V], stream bool) {
	f, n := p.f, y.Cols
	sums := p.sums[:n*(f.height+1)]
	clear(sums)
	lo, hi := f.blocks[b], f.blocks[b+1]
	of := f.between[int64(n)*(lo-f.blocks[first]):]
	if n == 2 {
		f.entries.MultiplyOfTwo(f.level, int(lo), int(hi-lo), of, sums)
	} else {
		f.entries.Multiply(f.level, int(lo), int(hi-lo), of, sums)
	}
	sums = sums[:n*min(f.height, f.rows-b*f.height)]
	if y.Stride == n {
		simd.StoreRows(f.level, p.alpha, p.beta, sums, y.Val[:len(sums)], stream)
		return
	}
	rows := p.rows[:len(sums)]
	if p.beta != 0 {
		pack(rows, y)
	}
	simd.StoreRows(f.level, p.alpha, p.beta, sums, rows, false)
	unpack(y, rows)
}

// pack copies rows of one or two elements side by side.
func pack[V sparse.Value](to []V, from simd.MultiVector[V]) {
	if from.Cols == 1 {
		for i := range to {
			to[i] = from.Val[i*from.Stride]
		}
		return
	}
	for at := 0; len(to) >= 2; at += from.Stride {
		row := from.Val[at : at+2]
		to[0], to[1] = row[0], row[1]
		to = to[2:]
	}
}

// unpack copies back what pack would copy.
func unpack[V sparse.Value](to simd.MultiVector[V], from []V) {
	if to.Cols == 1 {
		for i, v := range from {
			to.Val[i*to.Stride] = v
		}
		return
	}
	for at := 0; len(from) >= 2; at += to.Stride {
		row := to.Val[at : at+2]
		row[0], row[1] = from[0], from[1]
		from = from[2:]
	}
}

// RowsFrom tells that the rows in CSR, which read x once for all vectors, are for more than
// a few, but where Suits says otherwise.
func (f *binsForm[V]) RowsFrom() int { return 4 }
