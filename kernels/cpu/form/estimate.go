package form

import (
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

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

// diagonalStretch is how many rows an estimate for diagonals looks at in one place, and
// mostDiagonals the most entries that it lets them have on average: to bring longer
// ones together takes longer than it is worth.
const (
	diagonalStretch = 512
	mostDiagonals   = 1 << 12
)

// EstimateDiagonals is the estimate for NewDiagonals. It fails with a
// *sparse.InputError where NewDiagonals would, as far as the sample shows.
func EstimateDiagonals[V sparse.Value](r Rows[V], o DiagonalOptions[V]) (Estimate, error) {
	if err := r.noChunks(); err != nil {
		return Estimate{}, err
	}
	e, err := estimateDiagonals(r, o, true)
	if err == errVary {
		return estimateDiagonals(r, o, false)
	}
	return e, err
}

func estimateDiagonals[V sparse.Value](r Rows[V], o DiagonalOptions[V], same bool) (Estimate, error) {
	b := newDiagonalBuilder(r, o.Level, same)
	rows := len(r.Ptr) - 1
	var entries int64
	last := -1
	for s := range samples {
		first := s * rows / samples / b.lanes * b.lanes
		if first <= last {
			continue
		}
		for i := first; i < min(first+diagonalStretch, rows); i += b.lanes {
			end := min(i+b.lanes, rows)
			if n := r.Ptr[end] - r.Ptr[i]; n > int64(b.lanes)*mostDiagonals {
				return Estimate{}, sparse.Inputf("matrix", "no diagonals: %d entries in %d rows", n, end-i)
			}
			if err := b.add(i, end); err != nil {
				return Estimate{}, err
			}
			entries += r.Ptr[end] - r.Ptr[i]
			last = i
			if err := b.worthIt(entries); err != nil {
				return Estimate{}, err
			}
		}
	}
	value := o.Values.Bytes()
	if same {
		value = 0
	}
	places := b.columns * int64(b.lanes)
	return estimate(float64(places)*value+2*float64(b.masks)+32*float64(len(b.out.Runs)), places, entries), nil
}

// EstimateBlocks is the estimate for NewBlocks. It fails with a *sparse.InputError
// where NewBlocks would, as far as the sample shows.
func EstimateBlocks[V sparse.Value](r Rows[V], o BlockOptions[V]) (Estimate, error) {
	if err := r.noChunks(); err != nil {
		return Estimate{}, err
	}
	b := newBlockBuilder(r, o)
	size := int64(o.Shape.Height * o.Shape.Width)
	value := b.values.Bytes()
	var bytes float64
	var places, blocks int64
	n := len(b.out.windows)
	for s := range min(samples, n) {
		if err := b.window(s * n / min(samples, n)); err != nil {
			return Estimate{}, err
		}
		g, _ := b.rows.group(b.lanes)
		here := int64(g.columns) * int64(b.lanes)
		bytes += float64(here)*(value*float64(size)+4) + 8*float64(g.slices) + 2*float64(g.masks) + 2*float64(len(b.rows.of))
		places += here
		for _, c := range b.rows.of {
			blocks += int64(c)
		}
	}
	return estimate(bytes, places*size, blocks*size), nil
}

// EstimateRuns is the estimate for NewRuns. It fails with a *sparse.InputError where NewRuns
// would, and where runs are so short, as far as the sample shows, that the form is not
// likely to be faster than CSR.
func EstimateRuns[V sparse.Value](r Rows[V], o RunOptions[V]) (Estimate, error) {
	if err := r.noRuns(); err != nil {
		return Estimate{}, err
	}
	b := newRunsBuilder(r.heads(), o.Level)
	if err := b.cut(); err != nil {
		return Estimate{}, err
	}
	end := b.end()
	if b.cost > costCSR*end.Entry+costCSRRow*b.rows || end.Entry < fewPerRow*b.rows {
		return Estimate{}, sparse.Inputf("matrix", "the runs of columns are short")
	}
	bytes := 4*(end.Group+end.Piece) + end.Mask + int(mem.Size[V]())*end.Entry
	return estimate(float64(bytes), int64(end.Entry), int64(end.Entry)), nil
}

// What EstimateRuns takes for the time of an entry and a row in CSR, in the units of
// runsBuilder, and how many entries a row must have on average: with fewer, slices are
// faster.
const (
	costCSR, costCSRRow = 3, 15
	fewPerRow           = 4
)

// How many entries heads looks at in one place: a sixteenth of all, within these limits.
// A row counts with a part of them at most.
const (
	leastHead, mostHead = 8 * simd.RunRows, 128 * simd.RunRows
	headStretch         = 64 // rows in one place at most
)

// heads is the first entries of rows in several places, without values.
func (r *Rows[V]) heads() Rows[V] {
	rows, n := len(r.Ptr)-1, min(max(len(r.Idx)/(16*samples), leastHead), mostHead)
	out := Rows[V]{Ptr: make([]int64, 1, samples*headStretch+1), Idx: make([]int32, 0, samples*n), Cols: r.Cols}
	last := 0
	for s := range samples {
		first, full := max(s*rows/samples/simd.RunRows*simd.RunRows, last), len(out.Idx)+n
		for last = first; last < min(first+headStretch, rows) && (last < first+simd.RunRows || len(out.Idx) < full); last++ {
			columns := r.columns(last)
			out.Idx = append(out.Idx, columns[:min(len(columns), n/simd.RunRows)]...)
			out.Ptr = append(out.Ptr, int64(len(out.Idx)))
		}
	}
	return out
}
