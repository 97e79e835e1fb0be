package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// BinRows and BinCols are the most rows and columns that a bin can have.
const (
	BinRows = 1<<16 - 1 // one more is for places that hold no entry
	BinCols = 1 << 16
)

// Bins is entries of a matrix in runs, each of which takes whole lines of BinLine places, in two
// orders: of blocks of columns, and of blocks of rows. Places that hold no entry have column 0, and
// the value 0 where each has its own.
type Bins[V sparse.Value] struct {
	Columns []uint16  // of entries by blocks of columns, within their block
	Rows    []uint16  // of entries by blocks of rows, within their block
	Values  Values[V] // by blocks of rows, stored Full, Short or Same
	// Fused says to round a product and its sum once in plain Go too, as assembly does.
	Fused bool
}

// BinLine is the places of a line: the elements of 64 bytes.
func BinLine[V sparse.Value]() int { return 64 / int(unsafe.Sizeof(*new(V))) }

// BinRun is the entries of a block of rows in a block of columns.
type BinRun struct {
	To      uint32 // its first line among those of the blocks of rows
	Entries uint32
}

// Copy copies elements of x for runs that follow each other from place k by columns on, which
// begins a line:
//
//	to[run.To*BinLine+i] = x[Columns[k+i]] for every place i of a run
//
// It writes past the caches: Fence must follow. next is what the call after this one reads
// of x: it is brought to the cache meanwhile. Columns and lines must be in x and to,
// which begins at a multiple of 64 bytes; they are not checked.
func (b *Bins[V]) Copy(l Level, k int, runs []BinRun, x, next, to []V) {
	if len(runs) == 0 || k == len(b.Columns) {
		return
	}
	if l != Generic {
		kernel := of[copyBinKernel[V]](copyBinKernels)
		kernel(unsafe.SliceData(to), unsafe.SliceData(x), unsafe.SliceData(b.Columns[k:]), &runs[0].To, len(runs), unsafe.SliceData(next), len(next)/BinLine[V]())
		return
	}
	line := BinLine[V]()
	for _, r := range runs {
		at := int(r.To) * line
		for end := k + (int(r.Entries)+line-1)/line*line; k < end; k++ {
			to[at] = x[b.Columns[k]]
			at++
		}
	}
}

// CopyOfTwo is Copy for two vectors side by side, where to is the place of the elements of line from:
//
//	to[2*((run.To-from)*BinLine+i)+j] = x[2*Columns[k+i]+j] for j = 0, 1
func (b *Bins[V]) CopyOfTwo(l Level, k int, runs []BinRun, from int, x, next, to []V) {
	if len(runs) == 0 || k == len(b.Columns) {
		return
	}
	if l != Generic {
		kernel := of[copyBinOfTwoKernel[V]](copyBinOfTwoKernels)
		kernel(unsafe.SliceData(to), unsafe.SliceData(x), unsafe.SliceData(b.Columns[k:]), &runs[0].To, len(runs), from, unsafe.SliceData(next), len(next)/BinLine[V]())
		return
	}
	line := BinLine[V]()
	for _, r := range runs {
		at := 2 * (int(r.To) - from) * line
		for end := k + (int(r.Entries)+line-1)/line*line; k < end; k++ {
			c := 2 * int(b.Columns[k])
			to[at], to[at+1] = x[c], x[c+1]
			at += 2
		}
	}
}

// Multiply multiplies n entries from place k by rows on, whole lines, by the elements of x that were
// copied for them, and adds them to the sums of their rows, one after the other:
//
//	sums[Rows[k+i]] += value(k+i) * x[i] for i < n
//
// Rows must be in sums; they are not checked.
func (b *Bins[V]) Multiply(l Level, k, n int, x, sums []V) {
	x = x[:n]
	switch {
	case n == 0:
	case l != Generic:
		b.byRows(multiplyBinTables, k, n, x, sums)
	default:
		b.add(k, x, sums)
	}
}

// add is Multiply in plain Go.
func (b *Bins[V]) add(k int, x, sums []V) {
	var room expanded[V]
	for len(x) > 0 {
		val := b.Values.some(k, len(x), &room)
		rows, u := b.Rows[k:][:len(val)], x[:len(val)]
		k, x = k+len(val), x[len(val):]
		if b.Fused {
			for i, r := range rows {
				sums[r] = FMA(val[i], u[i], sums[r])
			}
			continue
		}
		for i, r := range rows {
			sums[r] += val[i] * u[i]
		}
	}
}

// MultiplyOfTwo is Multiply for two vectors side by side:
//
//	sums[2*Rows[k+i]+j] += value(k+i) * x[2*i+j] for j = 0, 1
func (b *Bins[V]) MultiplyOfTwo(l Level, k, n int, x, sums []V) {
	x = x[:2*n]
	switch {
	case n == 0:
	case l != Generic:
		b.byRows(multiplyBinOfTwoTables, k, n, x, sums)
	default:
		for i, r := range b.Rows[k : k+n] {
			v, sum := b.Values.At(k+i), sums[2*int(r):2*int(r)+2]
			sum[0], sum[1] = mulAdd(b.Fused, v, x[2*i], sum[0]), mulAdd(b.Fused, v, x[2*i+1], sum[1])
		}
	}
}

// Spread is the first pass of transposed products, for n entries from place k by rows on, whole
// lines:
//
//	to[i] = value(k+i) * x[Rows[k+i]] for i < n
//
// It writes past the caches: Fence must follow. Rows must be in x; they are not checked.
func (b *Bins[V]) Spread(l Level, k, n int, x, to []V) {
	to = to[:n]
	switch {
	case n == 0:
	case l != Generic:
		b.byRows(spreadBinTables, k, n, x, to)
	default:
		b.Values.expand(k, to)
		for i, r := range b.Rows[k : k+n] {
			to[i] *= x[r]
		}
	}
}

// AddTransposed is the second pass of transposed products, for runs that follow each other from
// place k by columns on, which begins a line:
//
//	y[Columns[k+i]] += after * products[run.To*BinLine+i] for every entry i of a run
//
// The products of places that hold no entry are 0 where the value of all is finite. next is what
// the call after this one adds to: it is brought to the cache meanwhile. Columns and lines must be
// in y and products; they are not checked.
func (b *Bins[V]) AddTransposed(l Level, k int, runs []BinRun, after V, products, y, next []V) {
	if len(runs) == 0 || k == len(b.Columns) {
		return
	}
	line := BinLine[V]()
	if l != Generic && after*0 == 0 && b.finitePadding() {
		kernel := of[addBinRunKernel[V]](addBinRunKernels)
		kernel(unsafe.SliceData(y), unsafe.SliceData(products), unsafe.SliceData(b.Columns[k:]), &runs[0].To, len(runs), unsafe.SliceData(next), len(next)/BinLine[V](), after)
		return
	}
	for _, r := range runs {
		from := products[int(r.To)*line:][:r.Entries]
		for i, v := range from {
			y[b.Columns[k+i]] += after * v
		}
		k += (len(from) + line - 1) / line * line
	}
}

// finitePadding reports whether the values of places that hold no entry, times 0, are 0.
func (b *Bins[V]) finitePadding() bool {
	return b.Values.Storage != Same || b.Values.Table[0]*0 == 0
}

type (
	copyBinKernel[V sparse.Value]      func(to, x *V, columns *uint16, runs *uint32, n int, next *V, lines int)
	copyBinOfTwoKernel[V sparse.Value] func(to, x *V, columns *uint16, runs *uint32, n, from int, next *V, lines int)
	addBinRunKernel[V sparse.Value]    func(y, products *V, columns *uint16, runs *uint32, n int, next *V, lines int, after V)
	// binTable is kernels by Storage, which take whole lines of entries by rows: they add to sums
	// what these and x give, or write it to to.
	binTable[V sparse.Value] [4]func(to, x *V, rows *uint16, values *byte, lines int)
)

// byRows calls one of the kernels for n entries from place k by rows on.
func (b *Bins[V]) byRows(tables kernels, k, n int, x, to []V) {
	kernel := of[*binTable[V]](tables)[b.Values.Storage]
	kernel(unsafe.SliceData(to), unsafe.SliceData(x), unsafe.SliceData(b.Rows[k:k+n]), b.Values.entry(k), n/BinLine[V]())
}
