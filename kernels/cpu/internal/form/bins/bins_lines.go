package bins

import (
	"unsafe"

	"github.com/klauspost/cpuid/v2"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// binLines computes a product of bins with several vectors; a row of x fits in a cache line. It
// needs no buffer: it multiplies the runs of several blocks of rows directly, as many blocks as
// have their sums in the second-level cache. It reads x block of columns by block of columns, so
// that the lines it reads share pages; rows in CSR read from all over x. Meanwhile it prefetches
// the lines of the next block of columns.
type binLines[V sparse.Value] struct {
	f           *binsForm[V]
	alpha, beta V
	stream      bool
	sums        []V
	next        []int64 // the next entry of each block of columns
	values      form.Expansion[V]
}

// Suits implements Suited. It reports whether rows of x fill a cache line or half of one, are
// aligned, and have more than two columns. Bins are then faster than rows in CSR. An unaligned row
// would need two cache lines.
func (f *binsForm[V]) Suits(x, _ form.MultiVector[V]) bool {
	row := int64(x.Stride) * mem.Size[V]()
	return f.fillLines(x) && (row == form.CacheLine || row == form.CacheLine/2) && int64(uintptr(unsafe.Pointer(unsafe.SliceData(x.Val))))%row == 0
}

// GainsFromAlignedCopy implements Lined: copying x takes little time compared with one cache line per
// entry.
func (f *binsForm[V]) GainsByLines(x form.MultiVector[V]) bool {
	return f.fillLines(x) && !f.Suits(x, x)
}

// fillLines reports whether rows of x fit in a cache line and are too long for multiplyPairs.
func (f *binsForm[V]) fillLines(x form.MultiVector[V]) bool {
	return x.Cols > 2 && x.Cols <= form.BinLine[V]()
}

// lineBlocks returns the number of blocks of rows that are multiplied together by cols columns.
func (f *binsForm[V]) lineBlocks(cols int) int {
	block := f.height * BinColumns[V](cols)
	return max(1, min(form.HalfCache[V](cpuid.CPU.Cache.L2, form.SecondCache)/max(1, block), len(f.Blocks)-1))
}

// multiplyLines multiplies as many columns at a time as fill a cache line.
func (f *binsForm[V]) multiplyLines(alpha, beta V, x, y form.MultiVector[V]) {
	p := binLines[V]{f: f, alpha: alpha, beta: beta, next: make([]int64, f.Across), stream: beta == 0 && y.StreamsWhole(f.Level)}
	if p.stream {
		defer form.Fence(f.Level)
	}
	line := form.BinLine[V]()
	for j := 0; j < y.Cols; j += line {
		n := min(line, y.Cols-j)
		p.columns(x.Columns(j, n), y.Columns(j, n))
	}
}

// columns computes at most one cache line of columns of y from the same columns of x.
func (p *binLines[V]) columns(x, y form.MultiVector[V]) {
	f, most := p.f, p.f.lineBlocks(y.Cols)
	if n := most * f.height * BinColumns[V](y.Cols); len(p.sums) < n {
		p.sums = form.AllocAligned[V](n)
	}
	for g := range len(f.Groups) - 1 {
		copy(p.next, f.First[g*f.Across:])
		for b := f.Groups[g]; b < f.Groups[g+1]; b += most {
			end := min(b+most, f.Groups[g+1])
			p.blocks(g, b, end, x)
			row := b * f.height
			form.FinishRows(f.Level, p.alpha, p.beta, p.sums, BinColumns[V](y.Cols), min(end*f.height, f.rows)-row, y.From(row), p.stream)
		}
	}
}

// blocks computes the sums of the blocks of rows first <= b < end of group g.
func (p *binLines[V]) blocks(g, first, end int, x form.MultiVector[V]) {
	f := p.f
	block := f.height * BinColumns[V](x.Cols) // number of sums of a block
	clear(p.sums[:(end-first)*block])
	from := f.Blocks[f.Groups[g]]
	line := int64(form.BinLine[V]())
	for c := range f.Across {
		strip := f.Strip(g, c)[first-f.Groups[g] : end-f.Groups[g]]
		part, ahead := x.From(c<<f.Shift), p.toPrefetch(g, c, first, end, x)
		k, last := p.next[c], min(c+2, f.Across-1)
		for i, run := range strip {
			now := ahead
			if n := int(InLines[V](int64(run.Entries))); i+1 < len(strip) && n < len(ahead.Rows) {
				now.Rows, ahead.Rows = ahead.Rows[:n], ahead.Rows[n:]
				ahead.Entries = min(ahead.Entries+n, len(f.Entries.Columns))
			}
			now.Values = int(from + int64(f.Strip(g, last)[first-f.Groups[g]+i].To)*line)
			f.Entries.AddMany(f.Level, int(k), int(from+int64(run.To)*line), int(run.Entries), part, p.sums[i*block:], now, &p.values)
			k += InLines[V](int64(run.Entries))
		}
		p.next[c] = k
	}
}

// maxPrefetch is the greatest number of rows of x that one call prefetches.
const maxPrefetch = 1 << 12

// toPrefetch returns the rows of x that the same blocks of rows read in the next block of columns,
// and the position of their entries in the block of columns after that.
func (p *binLines[V]) toPrefetch(g, c, first, end int, x form.MultiVector[V]) (a BinPrefetch[V]) {
	f := p.f
	if c+1 == f.Across {
		return a
	}
	a.Entries = int(p.next[min(c+2, f.Across-1)])
	places := int64(0)
	for _, run := range f.Strip(g, c+1)[first-f.Groups[g] : end-f.Groups[g]] {
		places += InLines[V](int64(run.Entries))
	}
	k := p.next[c+1]
	a.X, a.Rows = x.From((c+1)<<f.Shift), f.Entries.Columns[k:k+min(places, maxPrefetch)]
	return a
}
