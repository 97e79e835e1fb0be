package search

import (
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// stretch is consecutive rows of a piece, with the place of their results in the y of the part.
type stretch[V sparse.Value] struct {
	rows form.Rows[V]
	y    int
}

const (
	// sampleCaches is the size of a sample in last caches, so that timing it is like timing the whole. A matrix of
	// fewer than wholeUpTo samples is not sampled.
	sampleCaches = 2
	wholeUpTo    = 3
	// stretchRows is the number of rows for which one more stretch pays, and stretches the most stretches of a piece.
	// Tiles are as high.
	stretchRows = 1 << 16
	stretches   = 8
	// A row is long if it has more than 1/longShare of the entries of a stretch.
	longShare = 8
)

// lastCache is simd.LastCache. Tests replace it.
var lastCache = form.LastCache

// sample returns rows to time forms on, and the fraction of all entries in them. Of a large matrix it takes some
// stretches of every piece at equal distances, otherwise all rows.
func sample[V sparse.Value](p *choosing[V]) (rows [][]stretch[V], fraction float64) {
	most, all := sampleSize[V](), p.NNZ()
	if all <= wholeUpTo*most {
		return cut(p, 1, 1, 0), 1
	}
	fraction = float64(most) / float64(all)
	rows = cut(p, fraction, stretches, stretchRows)
	return rows, float64(entries(rows)) / float64(all)
}

// sampleSize is the number of entries of a sample. A matrix with more entries is read from memory.
func sampleSize[V sparse.Value]() int64 { return sampleCaches * lastCache() / (4 + mem.Size[V]()) }

// entries returns the number of entries of stretches.
func entries[V sparse.Value](rows [][]stretch[V]) (sum int64) {
	for _, piece := range rows {
		for _, s := range piece {
			sum += int64(len(s.rows.Idx))
		}
	}
	return sum
}

// cut returns at most n stretches of every piece that together have about the given fraction of its entries. It takes
// as many stretches as have the given number of rows on average. Long rows at the ends of a stretch are cut, so that
// a stretch has no more and no less than its fraction.
func cut[V sparse.Value](p *choosing[V], fraction float64, n, rows int) [][]stretch[V] {
	out := make([][]stretch[V], len(p.Bodies))
	for i := range p.Bodies {
		r, y := p.Bodies[i].Rows, p.Bodies[i].First
		all := int64(len(r.Idx))
		if fraction >= 1 || all == 0 {
			out[i] = []stretch[V]{{r, y}}
			continue
		}
		n := int64(min(max(int(fraction*float64(len(r.Ptr)-1))/max(rows, 1), 1), n))
		length := max(1, int64(fraction*float64(all)/float64(n)))
		for s := range n {
			// The middle of stretch s is the middle of the s-th of n equal ranges of entries.
			from := max(0, all*(2*s+1)/(2*n)-length/2)
			lo, first := begin(r.Ptr, r.Ptr[0]+from, length/longShare)
			hi, end := begin(r.Ptr, r.Ptr[0]+min(from+length, all), length/longShare)
			if end > r.Ptr[hi] {
				hi++
			}
			if hi == lo { // all within one row that is not long
				hi, end = lo+1, r.Ptr[lo+1]
			}
			rows := r
			rows.Ptr = form.Clip(r.Ptr[lo:hi+1], first, end)
			first, end = first-r.Ptr[0], end-r.Ptr[0]
			rows.Idx, rows.Val = r.Idx[first:end], r.Val[first:end]
			out[i] = append(out[i], stretch[V]{rows, y + lo})
		}
	}
	return out
}

// begin returns the row of entry k and the entry to begin with: the first of the row, or k itself if the row has more
// than most entries.
func begin(ptr []int64, k, most int64) (row int, first int64) {
	row = form.RowOf(ptr, k)
	if row == len(ptr)-1 || ptr[row+1]-ptr[row] <= most {
		return row, ptr[row]
	}
	return row, k
}
