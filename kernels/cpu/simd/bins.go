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

// Bins is entries of a matrix in runs, each of which takes whole lines of BinLine places.
// Place k of Columns and Values is an entry's column within a block of columns and its
// value. Places that hold no entry have column 0.
type Bins[V sparse.Value] struct {
	Columns []uint16
	Values  Values[V] // stored Full, Short or Same
}

// BinLine is the places of a line: the products of 64 bytes.
func BinLine[V sparse.Value]() int { return 64 / int(unsafe.Sizeof(*new(V))) }

// BinRun is the entries of a block of rows in a block of columns.
type BinRun struct {
	To      uint32 // the line of its first product
	Entries uint32
}

// Products multiplies runs that follow each other from place k on, which begins a line:
//
//	to[run.To*BinLine + i] = value(k+i) * x[Columns[k+i]] for every place i of a run
//
// It writes past the caches: Fence must follow. next is what the call after this one reads
// of x: it is brought to the cache meanwhile. Columns and lines must be in x and to,
// which begins at a multiple of 64 bytes; they are not checked.
func (b *Bins[V]) Products(l Level, k int, runs []BinRun, x, next, to []V) {
	if len(runs) == 0 || k == len(b.Columns) {
		return
	}
	if l != Generic {
		binProductsAssembly(b, k, runs, x, next, to)
		return
	}
	line := BinLine[V]()
	for _, r := range runs {
		at := int(r.To) * line
		for end := k + (int(r.Entries)+line-1)/line*line; k < end; k++ {
			to[at] = b.Values.At(k) * x[b.Columns[k]]
			at++
		}
	}
}

// ProductsOfTwo is Products for two vectors side by side, where to is the place of the products of
// line from:
//
//	to[2*((run.To-from)*BinLine+i)+j] = value(k+i) * x[2*Columns[k+i]+j] for j = 0, 1
func (b *Bins[V]) ProductsOfTwo(l Level, k int, runs []BinRun, from int, x, next, to []V) {
	if len(runs) == 0 || k == len(b.Columns) {
		return
	}
	if l != Generic {
		productsOfTwoAssembly(b, k, runs, from, x, next, to)
		return
	}
	line := BinLine[V]()
	for _, r := range runs {
		at := 2 * (int(r.To) - from) * line
		for end := k + (int(r.Entries)+line-1)/line*line; k < end; k++ {
			v, c := b.Values.At(k), 2*int(b.Columns[k])
			to[at], to[at+1] = v*x[c], v*x[c+1]
			at += 2
		}
	}
}

// AddTransposed is the second pass of transposed products, for runs that follow each other from
// place k on, which begins a line:
//
//	y[Columns[k+i]] += after * (value(k+i) * factors[run.To*BinLine+i]) for every entry i of a run
//
// Places that hold no entry need the factor 0. next is what the call after this one adds to: it
// is brought to the cache meanwhile. Columns and lines must be in y and factors; they are not
// checked.
func (b *Bins[V]) AddTransposed(l Level, k int, runs []BinRun, after V, factors, y, next []V) {
	if len(runs) == 0 || k == len(b.Columns) {
		return
	}
	line := BinLine[V]()
	if l != Generic && after*0 == 0 && b.finitePadding() {
		addRunsAssembly(b, k, runs, after, factors, y, next)
		return
	}
	for _, r := range runs {
		from := factors[int(r.To)*line:][:r.Entries]
		for i, v := range from {
			y[b.Columns[k+i]] += after * (b.Values.At(k+i) * v)
		}
		k += (len(from) + line - 1) / line * line
	}
}

// finitePadding reports whether the values of places that hold no entry, times 0, are 0.
func (b *Bins[V]) finitePadding() bool {
	return b.Values.Storage != Same || b.Values.Table[0]*0 == 0
}

// AddBin adds products to the sums of their rows, in whole lines:
//
//	sums[rows[k]] += products[k]
//
// Rows must be in sums; they are not checked.
func AddBin[V sparse.Value](l Level, products []V, rows []uint16, sums []V) {
	switch {
	case len(rows) == 0:
	case l != Generic:
		addBinAssembly(products[:len(rows)], rows, sums)
	default:
		products = products[:len(rows)]
		for k, r := range rows {
			sums[r] += products[k]
		}
	}
}

// MultiplyBin is AddBin where x has been copied instead of multiplied, in the fixed order of
// kernels.GatherFixed: one place after the other, with one rounding for a product and its sum,
//
//	sums[rows[k]] += value(first+k) * x[k]
//
// Values are stored Full, Short or Same.
func MultiplyBin[V sparse.Value](l Level, values *Values[V], first int, x []V, rows []uint16, sums []V) {
	switch {
	case len(rows) == 0:
	case l != Generic:
		multiplyBinAssembly(values, first, x[:len(rows)], rows, sums)
	default:
		x = x[:len(rows)]
		for k, r := range rows {
			sums[r] = FMA(values.At(first+k), x[k], sums[r])
		}
	}
}

// AddBinOfTwo is AddBin for two vectors side by side:
//
//	sums[2*rows[k]+j] += products[2*k+j] for j = 0, 1
func AddBinOfTwo[V sparse.Value](l Level, products []V, rows []uint16, sums []V) {
	products = products[:2*len(rows)]
	switch {
	case len(rows) == 0:
	case l != Generic:
		addBinOfTwoAssembly(products, rows, sums)
	default:
		for k, r := range rows {
			sums[2*int(r)] += products[2*k]
			sums[2*int(r)+1] += products[2*k+1]
		}
	}
}
