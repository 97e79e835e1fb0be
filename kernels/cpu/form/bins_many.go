package form

import (
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// MultiplyMany multiplies a cache line of columns at a time if rows of x are aligned or long
// enough, and two columns at a time otherwise.
func (f *binsForm[V]) MultiplyMany(alpha, beta V, x, y simd.MultiVector[V]) {
	if f.Suits(x, y) || y.Cols >= simd.BinLine[V]() {
		f.multiplyLines(alpha, beta, x.First(f.cols), y.First(f.rows))
		return
	}
	f.multiplyPairs(alpha, beta, x, y)
}

// multiplyPairs multiplies two columns at a time and interleaves their elements of x in the buffer,
// which then holds half of a group. If the number of columns is odd, the last column is multiplied
// alone.
func (f *binsForm[V]) multiplyPairs(alpha, beta V, x, y simd.MultiVector[V]) {
	x, y = x.First(f.cols), y.First(f.rows)
	most := min(2, y.Cols)
	p := binVectors[V]{f: f, alpha: alpha, beta: beta, sums: allocAligned[V](most * (f.height + 1))}
	if y.Cols > most || x.Stride > most || y.Stride > most {
		p.part, p.rows = allocAligned[V](most*min(1<<f.shift, f.cols)), allocAligned[V](most*min(f.height, f.rows))
	}
	for j := 0; j < y.Cols; j += most {
		n := min(most, y.Cols-j)
		p.columns(x.Columns(j, n), y.Columns(j, n))
	}
}

// allocAligned allocates n elements on the Go heap, aligned to a cache line.
func allocAligned[V sparse.Value](n int) []V {
	s, _ := mem.Slice[V](mem.Aligned(int64(n)*mem.Size[V]()), int64(n))
	return s
}

// binVectors computes a product of bins with several vectors.
type binVectors[V sparse.Value] struct {
	f           *binsForm[V]
	alpha, beta V
	sums        []V // the sums of a block of rows, and those of slots without an entry
	part, rows  []V // contiguous copies of the rows of x of a block of columns, and of the rows of y of a block of rows
}

// columns computes one or two columns of y from the same columns of x.
func (p *binVectors[V]) columns(x, y simd.MultiVector[V]) {
	f, n := p.f, y.Cols
	stream := p.beta == 0 && y.StreamsWhole(f.level)
	if stream {
		defer simd.Fence(f.level)
	}
	for g := range len(f.groups) - 1 {
		for first, end := f.groups[g], 0; first < f.groups[g+1]; first = end {
			for end = first + 1; end < f.groups[g+1] && int64(n)*(f.blocks[end+1]-f.blocks[first]) <= int64(len(f.buffer)); {
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

// copy runs the first pass for the blocks of rows first <= b < end of group g in block c of
// columns.
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
	if x.Stride == x.Cols && c+1 < f.across && f.worthPrefetching(g*f.across+c+1, len(part)) {
		next = p.x(x, c+1)
	}
	if x.Cols == 2 {
		f.entries.CopyOfTwo(f.level, int(k), strip, from, part, next, f.buffer)
		return
	}
	f.entries.Copy(f.level, int(k), strip, part, next, f.buffer)
}

// x returns the rows of x in block c of columns, contiguous.
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

// add runs the second pass for block b of rows and stores its rows of y. first is the first block
// in the buffer.
func (p *binVectors[V]) add(first, b int, y simd.MultiVector[V], stream bool) {
	f, n := p.f, y.Cols
	sums := p.sums[:n*(f.height+1)]
	clear(sums)
	lo, hi := f.blocks[b], f.blocks[b+1]
	of := f.buffer[int64(n)*(lo-f.blocks[first]):]
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

// pack copies rows of one or two elements to consecutive elements.
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

// unpack is the inverse of pack.
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

// RowsFrom is 4: rows in CSR read x once for all vectors, which is faster for four or more, except
// where Suits reports true.
func (f *binsForm[V]) RowsFrom() int { return 4 }
