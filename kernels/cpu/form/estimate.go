package form

import "github.com/msrep-go/msrep/kernels/cpu/simd"

// Estimate is what a form would need, from a sample of the rows.
type Estimate struct {
	EntryBytes float64 // that a product reads for each entry of the matrix, beside x and y
	Padding    float64 // places without an entry, for each entry
}

// samples is how many stretches of rows the estimates look at.
const samples = 16

// estimate puts the counts of a sample together.
func estimate(bytes float64, places, entries int64) Estimate {
	n := float64(max(entries, 1))
	return Estimate{EntryBytes: bytes / n, Padding: float64(places-entries) / n}
}

// How many entries heads looks at in one place: a sixteenth of all, within these limits.
// A row counts with a part of them at most.
const (
	leastHead, mostHead = 8 * simd.RunRows, 128 * simd.RunRows
	headStretch         = 64 // rows in one place at most
)

// heads is the first entries of rows in several places, or in every so many of these, without values.
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
