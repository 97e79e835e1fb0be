package bins

import (
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// MultiplyMany multiplies a cache line of columns at a time if rows of x are aligned or long
// enough, and two columns at a time otherwise.
func (f *binsForm[V]) MultiplyMany(alpha, beta V, x, y form.MultiVector[V]) {
	if f.Suits(x, y) || y.Cols >= form.BinLine[V]() {
		f.multiplyLines(alpha, beta, x.First(f.Cols), y.First(f.rows))
		return
	}
	f.multiplyPairs(alpha, beta, x, y)
}

// multiplyPairs multiplies two columns at a time and interleaves their elements of x in the buffer,
// which then holds half of a group. If the number of columns is odd, the last column is multiplied
// alone.
func (f *binsForm[V]) multiplyPairs(alpha, beta V, x, y form.MultiVector[V]) {
	x, y = x.First(f.Cols), y.First(f.rows)
	most := min(2, y.Cols)
	p := binVectors[V]{f: f, alpha: alpha, beta: beta, sums: form.AllocAligned[V](most * (f.height + 1))}
	if y.Cols > most || x.Stride > most || y.Stride > most {
		p.part, p.rows = form.AllocAligned[V](most*min(1<<f.Shift, f.Cols)), form.AllocAligned[V](most*min(f.height, f.rows))
	}
	for j := 0; j < y.Cols; j += most {
		n := min(most, y.Cols-j)
		p.columns(x.Columns(j, n), y.Columns(j, n))
	}
}

// binVectors computes a product of bins with several vectors.
type binVectors[V sparse.Value] struct {
	f           *binsForm[V]
	alpha, beta V
	sums        []V // the sums of a block of rows, and those of slots without an entry
	part, rows  []V // contiguous copies of the rows of x of a block of columns, and of the rows of y of a block of rows
}

// columns computes one or two columns of y from the same columns of x.
func (p *binVectors[V]) columns(x, y form.MultiVector[V]) {
	f, n := p.f, y.Cols
	stream := p.beta == 0 && y.StreamsWhole(f.Level)
	if stream {
		defer form.Fence(f.Level)
	}
	for g := range len(f.Groups) - 1 {
		for first, end := f.Groups[g], 0; first < f.Groups[g+1]; first = end {
			for end = first + 1; end < f.Groups[g+1] && int64(n)*(f.Blocks[end+1]-f.Blocks[first]) <= int64(len(f.buffer)); {
				end++
			}
			for c := range f.Across {
				p.copy(g, c, first, end, x)
			}
			form.Fence(f.Level)
			for b := first; b < end; b++ {
				p.add(first, b, y.From(b*f.height), stream)
			}
		}
	}
}

// copy runs the first pass for the blocks of rows first <= b < end of group g in block c of
// columns.
func (p *binVectors[V]) copy(g, c, first, end int, x form.MultiVector[V]) {
	f := p.f
	strip, k := f.Strip(g, c), f.First[g*f.Across+c]
	if k == f.First[g*f.Across+c+1] {
		return
	}
	for _, run := range strip[:first-f.Groups[g]] {
		k += InLines[V](int64(run.Entries))
	}
	strip = strip[first-f.Groups[g] : end-f.Groups[g]]
	from := int(f.Blocks[first]-f.Blocks[f.Groups[g]]) / form.BinLine[V]()
	part, next := p.x(x, c), []V(nil)
	if x.Stride == x.Cols && c+1 < f.Across && f.WorthPrefetching(g*f.Across+c+1, len(part)) {
		next = p.x(x, c+1)
	}
	if x.Cols == 2 {
		f.Entries.CopyOfTwo(f.Level, int(k), strip, from, part, next, f.buffer)
		return
	}
	f.Entries.Copy(f.Level, int(k), strip, part, next, f.buffer)
}

// x returns the rows of x in block c of columns, contiguous.
func (p *binVectors[V]) x(x form.MultiVector[V], c int) []V {
	lo := c << p.f.Shift
	n := x.Cols * (min(lo+1<<p.f.Shift, p.f.Cols) - lo)
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
func (p *binVectors[V]) add(first, b int, y form.MultiVector[V], stream bool) {
	f, n := p.f, y.Cols
	sums := p.sums[:n*(f.height+1)]
	clear(sums)
	lo, hi := f.Blocks[b], f.Blocks[b+1]
	of := f.buffer[int64(n)*(lo-f.Blocks[first]):]
	if n == 2 {
		f.Entries.MultiplyOfTwo(f.Level, int(lo), int(hi-lo), of, sums)
	} else {
		f.Entries.Multiply(f.Level, int(lo), int(hi-lo), of, sums)
	}
	sums = sums[:n*min(f.height, f.rows-b*f.height)]
	if y.Stride == n {
		form.StoreRows(f.Level, p.alpha, p.beta, sums, y.Val[:len(sums)], stream)
		return
	}
	rows := p.rows[:len(sums)]
	if p.beta != 0 {
		pack(rows, y)
	}
	form.StoreRows(f.Level, p.alpha, p.beta, sums, rows, false)
	unpack(y, rows)
}

// pack copies rows of one or two elements to consecutive elements.
func pack[V sparse.Value](to []V, from form.MultiVector[V]) {
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
func unpack[V sparse.Value](to form.MultiVector[V], from []V) {
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
