package bins

import (
	"unsafe"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// BinRows and BinCols are the greatest numbers of rows and columns of a bin.
const (
	BinRows = 1<<16 - 1 // one more row is for slots without an entry
	BinCols = 1 << 16
)

// Bins stores the entries of a matrix in runs. A run occupies whole lines of BinLine slots. The
// slots have two orders: by block of columns and by block of rows. Slots without an entry have
// column 0, and the value 0 unless one value is stored for all.
type Bins[V sparse.Value] struct {
	Columns []uint16       // columns in their block of columns; slots by block of columns
	Rows    []uint16       // rows in their block of rows; slots by block of rows
	Values  form.Values[V] // slots by block of rows; the storage is Full, Short or Same
	// Fused makes plain Go round a product and its sum once, as assembly does.
	Fused bool
}

// BinRun is the entries of one block of rows in one block of columns.
type BinRun struct {
	To      uint32 // its first line in the order by block of rows
	Entries uint32
}

// Copy copies elements of x for successive runs. k is the first slot of the first run, in the order
// by block of columns; it begins a line.
//
//	to[run.To*BinLine+i] = x[Columns[k+i]]  for every slot i of a run; then k += slots of the run
//
// Copy writes past the caches: Fence must follow. It prefetches next, the x of the next call.
// Columns and lines are not checked; they must be in x and to. to is aligned to 64 bytes.
func (b *Bins[V]) Copy(l simd.Level, k int, runs []BinRun, x, next, to []V) {
	if len(runs) == 0 || k == len(b.Columns) {
		return
	}
	if l != simd.Generic {
		kernel := simd.ForType[copyBinKernel[V]](copyBinKernels)
		kernel(unsafe.SliceData(to), unsafe.SliceData(x), unsafe.SliceData(b.Columns[k:]), &runs[0].To, len(runs), unsafe.SliceData(next), len(next)/form.BinLine[V]())
		return
	}
	line := form.BinLine[V]()
	for _, r := range runs {
		at := int(r.To) * line
		for end := k + (int(r.Entries)+line-1)/line*line; k < end; k++ {
			to[at] = x[b.Columns[k]]
			at++
		}
	}
}

// CopyOfTwo is Copy for two interleaved vectors; to begins with the elements of line from:
//
//	to[2*((run.To-from)*BinLine+i)+j] = x[2*Columns[k+i]+j]  for j = 0, 1
func (b *Bins[V]) CopyOfTwo(l simd.Level, k int, runs []BinRun, from int, x, next, to []V) {
	if len(runs) == 0 || k == len(b.Columns) {
		return
	}
	if l != simd.Generic {
		kernel := simd.ForType[copyBinOfTwoKernel[V]](copyBinOfTwoKernels)
		kernel(unsafe.SliceData(to), unsafe.SliceData(x), unsafe.SliceData(b.Columns[k:]), &runs[0].To, len(runs), from, unsafe.SliceData(next), len(next)/form.BinLine[V]())
		return
	}
	line := form.BinLine[V]()
	for _, r := range runs {
		at := 2 * (int(r.To) - from) * line
		for end := k + (int(r.Entries)+line-1)/line*line; k < end; k++ {
			c := 2 * int(b.Columns[k])
			to[at], to[at+1] = x[c], x[c+1]
			at += 2
		}
	}
}

// Multiply multiplies the entries of n slots, whole lines, by the elements of x that Copy has
// copied for them. k is the first slot, in the order by block of rows. For i = 0 ... n-1, in this
// order,
//
//	sums[Rows[k+i]] += value(k+i) * x[i]
//
// Rows are not checked; they must be in sums.
func (b *Bins[V]) Multiply(l simd.Level, k, n int, x, sums []V) {
	x = x[:n]
	switch {
	case n == 0:
	case l != simd.Generic:
		b.byRows(multiplyBinTables, k, n, x, sums)
	default:
		b.add(k, x, sums)
	}
}

// add is Multiply in plain Go.
func (b *Bins[V]) add(k int, x, sums []V) {
	var room form.Expanded[V]
	for len(x) > 0 {
		val := b.Values.ValuesFrom(k, len(x), &room)
		rows, u := b.Rows[k:][:len(val)], x[:len(val)]
		k, x = k+len(val), x[len(val):]
		if b.Fused {
			for i, r := range rows {
				sums[r] = form.FMA(val[i], u[i], sums[r])
			}
			continue
		}
		for i, r := range rows {
			sums[r] += val[i] * u[i]
		}
	}
}

// MultiplyOfTwo is Multiply for two interleaved vectors:
//
//	sums[2*Rows[k+i]+j] += value(k+i) * x[2*i+j]  for j = 0, 1
func (b *Bins[V]) MultiplyOfTwo(l simd.Level, k, n int, x, sums []V) {
	x = x[:2*n]
	switch {
	case n == 0:
	case l != simd.Generic:
		b.byRows(multiplyBinOfTwoTables, k, n, x, sums)
	default:
		for i, r := range b.Rows[k : k+n] {
			v, sum := b.Values.At(k+i), sums[2*int(r):2*int(r)+2]
			sum[0], sum[1] = form.MulAdd(b.Fused, v, x[2*i], sum[0]), form.MulAdd(b.Fused, v, x[2*i+1], sum[1])
		}
	}
}

// Spread is the first pass of transposed products, for n slots, whole lines. k is the first slot,
// in the order by block of rows.
//
//	to[i] = value(k+i) * x[Rows[k+i]]  for i < n
//
// Spread writes past the caches: Fence must follow. Rows are not checked; they must be in x.
func (b *Bins[V]) Spread(l simd.Level, k, n int, x, to []V) {
	to = to[:n]
	switch {
	case n == 0:
	case l != simd.Generic:
		b.byRows(spreadBinTables, k, n, x, to)
	default:
		b.Values.Expand(k, to)
		for i, r := range b.Rows[k : k+n] {
			to[i] *= x[r]
		}
	}
}

// AddTransposed is the second pass of transposed products, for successive runs. k is the first slot
// of the first run, in the order by block of columns; it begins a line.
//
//	y[Columns[k+i]] += after * products[run.To*BinLine+i]  for every entry i of a run
//
// The products of slots without an entry are 0 if the value of all is finite. AddTransposed
// prefetches next, the y of the next call. Columns and lines are not checked; they must be in y and
// products.
func (b *Bins[V]) AddTransposed(l simd.Level, k int, runs []BinRun, after V, products, y, next []V) {
	if len(runs) == 0 || k == len(b.Columns) {
		return
	}
	line := form.BinLine[V]()
	if l != simd.Generic && after*0 == 0 && b.finitePadding() {
		kernel := simd.ForType[addBinRunKernel[V]](addBinRunKernels)
		kernel(unsafe.SliceData(y), unsafe.SliceData(products), unsafe.SliceData(b.Columns[k:]), &runs[0].To, len(runs), unsafe.SliceData(next), len(next)/form.BinLine[V](), after)
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

// finitePadding reports whether the value of slots without an entry is finite.
func (b *Bins[V]) finitePadding() bool {
	return b.Values.Storage != form.Same || b.Values.Table[0]*0 == 0
}

type (
	copyBinKernel[V sparse.Value]      func(to, x *V, columns *uint16, runs *uint32, n int, next *V, lines int)
	copyBinOfTwoKernel[V sparse.Value] func(to, x *V, columns *uint16, runs *uint32, n, from int, next *V, lines int)
	addBinRunKernel[V sparse.Value]    func(y, products *V, columns *uint16, runs *uint32, n int, next *V, lines int, after V)
	// binTable has kernels by Storage. They take whole lines of slots in the order by block of
	// rows, and add products to to, or write them to to.
	binTable[V sparse.Value] [4]func(to, x *V, rows *uint16, values *byte, lines int)
)

// byRows calls a kernel of tables for n slots from slot k on, in the order by block of rows.
func (b *Bins[V]) byRows(tables simd.Kernels, k, n int, x, to []V) {
	kernel := simd.ForType[*binTable[V]](tables)[b.Values.Storage]
	kernel(unsafe.SliceData(to), unsafe.SliceData(x), unsafe.SliceData(b.Rows[k:k+n]), b.Values.Entry(k), n/form.BinLine[V]())
}

// These have no kernels on processors without assembly.
var (
	multiplyBinTables, multiplyBinOfTwoTables, spreadBinTables, copyBinKernels, copyBinOfTwoKernels, addBinRunKernels simd.Kernels
)
