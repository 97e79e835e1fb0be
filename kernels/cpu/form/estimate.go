package form

import "github.com/msrep-go/msrep/kernels/cpu/simd"

// An Estimate is the expected size of a form, computed from a sample of the rows.
type Estimate struct {
	EntryBytes float64 // bytes that a product reads per entry of the matrix, without x and y
	Padding    float64 // slots without an entry, per entry
}

// samples is the number of ranges of rows that estimates inspect.
const samples = 16

// estimate returns the Estimate for a sample with these counts.
func estimate(bytes float64, places, entries int64) Estimate {
	n := float64(max(entries, 1))
	return Estimate{EntryBytes: bytes / n, Padding: float64(places-entries) / n}
}

// The number of entries that heads copies from one range: a sixteenth of all entries divided by the
// number of ranges, within these limits. A row contributes at most 1/RunRows of that number.
const (
	leastHead, mostHead = 8 * simd.RunRows, 128 * simd.RunRows
	headStretch         = 64 // most rows of a range
)

// heads returns the first entries of the rows of samples ranges, or of every every-th range,
// without values.
func (r *Rows[V]) heads(every int) Rows[V] {
	rows, n := len(r.Ptr)-1, min(max(len(r.Idx)/(16*samples), leastHead), mostHead)
	out := Rows[V]{Ptr: make([]int64, 1, samples*headStretch+1), Idx: make([]int32, 0, samples*n), Cols: r.Cols}
	last := 0
	for s := 0; s < samples; s += every {
		first, full := max(s*rows/samples/simd.RunRows*simd.RunRows, last), len(out.Idx)+n
		for last = first; last < min(first+headStretch, rows) && (last < first+simd.RunRows || len(out.Idx) < full); last++ {
			columns := r.columns(last)
			out.Idx = append(out.Idx, columns[:min(len(columns), n/simd.RunRows)]...)
			out.Ptr = append(out.Ptr, int64(len(out.Idx)))
		}
	}
	return out
}
