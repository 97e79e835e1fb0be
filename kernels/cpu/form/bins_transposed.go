package form

import (
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// MultiplyTransposed changes the places of both passes: the first one writes the element of x
// of each entry, block of rows by block of rows, to where products are else, and the second
// one, block of columns by block of columns, multiplies them by the entries and adds them to y.
func (f *binsForm[V]) MultiplyTransposed(alpha V, x []V, to func(lo, hi int) []V) {
	var products [runPlaces]V
	for g := range len(f.groups) - 1 {
		first, end := f.groups[g], f.groups[g+1]
		after := f.spread(first, end, alpha, x)
		for c := range f.across {
			k, next := f.first[g*f.across+c], f.first[g*f.across+c+1]
			if k == next {
				continue
			}
			y := to(c<<f.shift, min((c+1)<<f.shift, f.cols))
			strip := f.strip(g, c)
			for i, run := range strip {
				f.loadAhead(strip, i+runsAhead)
				f.addRun(int(k), run, after, products[:], y)
				k += inLines[V](int64(run.Entries))
			}
		}
	}
}

// runsAhead is how many runs before its turn one is asked for.
const runsAhead = 4

// loadAhead asks for what was written for a run, if there is a run i.
func (f *binsForm[V]) loadAhead(strip []simd.BinRun, i int) {
	if i < len(strip) {
		from := int(strip[i].To) * simd.BinLine[V]()
		simd.LoadAhead(f.level, f.products, from, from+int(strip[i].Entries))
	}
}

// spread writes the factors of the entries of some blocks of rows, and gives what is left of
// alpha to multiply by: see simd.Factors. A place that holds no entry gets 0.
func (f *binsForm[V]) spread(first, end int, alpha V, x []V) (after V) {
	x = x[first*f.height : min(end*f.height, f.rows)]
	before, after := simd.Factors(f.level, alpha, x)
	one := simd.Values[V]{Storage: simd.Same, Table: []V{1}}
	from := f.blocks[first]
	for b := first; b < end; b++ {
		part := x[:min(f.height, len(x))]
		x = x[len(part):]
		for i, v := range part {
			f.sums[i] = before * v
		}
		f.sums[f.height] = 0
		lo, hi := f.blocks[b], f.blocks[b+1]
		places := simd.Bins[V]{Columns: f.places[lo:hi], Values: one}
		for len(places.Columns) > 0 {
			n := min(len(places.Columns), mostPlaces)
			places.Products(f.level, 0, []simd.BinRun{{Entries: uint32(n)}}, f.sums, nil, f.products[lo-from:])
			places.Columns = places.Columns[n:]
			lo += int64(n)
		}
	}
	simd.Fence(f.level)
	return after
}

const (
	// mostPlaces is how many places are written at once, whole lines.
	mostPlaces = 1 << 30
	// runPlaces is how many products are held in the first cache before they are added.
	runPlaces = 512
)

// addRun adds the run from place k on to y: products has room for runPlaces of them.
func (f *binsForm[V]) addRun(k int, run simd.BinRun, after V, products, y []V) {
	from := f.products[int(run.To)*simd.BinLine[V]():]
	for left := int(run.Entries); left > 0; {
		n := min(left, runPlaces)
		multiplyValues(&f.entries.Values, k, after, from[:n], products)
		whole := int(inLines[V](int64(n)))
		clear(products[n:whole]) // these have no entry, but the column 0
		simd.AddBin(f.level, products[:whole], f.entries.Columns[k:k+whole], y)
		k, from, left = k+n, from[n:], left-n
	}
}

// multiplyValues is to[i] = after * (value k+i * factors[i]).
func multiplyValues[V sparse.Value](values *simd.Values[V], k int, after V, factors, to []V) {
	to = to[:len(factors)]
	switch values.Storage {
	case simd.Full:
		for i, v := range values.Full[k:][:len(factors)] {
			to[i] = after * (v * factors[i])
		}
	case simd.Short:
		for i, v := range values.Short[k:][:len(factors)] {
			to[i] = after * (V(v) * factors[i])
		}
	default:
		v := values.At(k)
		for i, w := range factors {
			to[i] = after * (v * w)
		}
	}
}
