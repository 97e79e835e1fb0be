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

// An estimate for diagonals looks at an eighth of the rows, within these limits in one place.
// mostDiagonals is the most entries that it lets them have on average: to bring longer ones
// together takes longer than it is worth.
const (
	mostDiagonalStretch = 512
	mostDiagonals       = 1 << 12
	// The most bytes for each entry, beside its value, with which diagonals may be faster than
	// slices, and some more that few rows may take in all.
	worthDiagonals = 3.5
	spareDiagonals = 1 << 12
)

// EstimateDiagonals is the estimate for NewDiagonals. It fails with a
// *sparse.InputError where NewDiagonals would, as far as the sample shows.
func EstimateDiagonals[V sparse.Value](r Rows[V], o DiagonalOptions[V]) (Estimate, error) {
	if err := r.noChunks(); err != nil {
		return Estimate{}, err
	}
	e, err := estimateDiagonals(r, o, false)
	if err != nil {
		return e, err
	}
	if same, err := estimateDiagonals(r, o, true); err == nil {
		return same, nil
	}
	return e, nil
}

func estimateDiagonals[V sparse.Value](r Rows[V], o DiagonalOptions[V], same bool) (Estimate, error) {
	b := newDiagonalBuilder(r, o.Level, same)
	rows := len(r.Ptr) - 1
	stretch := min(max(rows/(8*samples)/b.lanes, 1)*b.lanes, mostDiagonalStretch)
	value := o.Values.Bytes()
	if same {
		value = 0
	}
	var entries int64
	so := func() Estimate {
		places := b.columns * int64(b.lanes)
		bytes := float64(places)*value + 2*float64(b.masks) + 32*float64(len(b.out.Runs)) + 8*float64(len(b.out.Offsets))
		return estimate(bytes, places, entries)
	}
	worthIt := func(spare float64) error {
		if e := so(); e.EntryBytes <= value+worthDiagonals+spare/float64(max(entries, 1)) {
			return nil
		}
		return sparse.Inputf("matrix", "no diagonals: the %d entries looked at would take %d places or more", entries, b.columns*int64(b.lanes))
	}
	last := -1
	for s := range samples {
		first := s * rows / samples / b.lanes * b.lanes
		if first <= last {
			continue
		}
		for i := first; i < min(first+stretch, rows); i += b.lanes {
			end := min(i+b.lanes, rows)
			if n := r.Ptr[end] - r.Ptr[i]; n > int64(b.lanes)*mostDiagonals {
				return Estimate{}, sparse.Inputf("matrix", "no diagonals: %d entries in %d rows", n, end-i)
			}
			entries += r.Ptr[end] - r.Ptr[i]
			longest := int64(0)
			for row := i; row < end; row++ {
				longest = max(longest, r.Ptr[row+1]-r.Ptr[row])
			}
			b.columns += longest // at least so many
			if err := worthIt(spareDiagonals); err != nil {
				return Estimate{}, err
			}
			b.columns -= longest
			if err := b.add(i, end); err != nil {
				return Estimate{}, err
			}
			last = i
			if err := worthIt(spareDiagonals); err != nil {
				return Estimate{}, err
			}
		}
	}
	return so(), worthIt(0)
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
	if _, err := estimateRuns(r.heads(4), o, 1.5); err != nil { // most rows have none
		return Estimate{}, err
	}
	return estimateRuns(r.heads(1), o, mostRuns[V](o.Level))
}

// mostRuns is the share of the time of CSR that runs may take by their costs. Those of float32 with AVX2 are
// too low: on a Zen 5 matrices for which it is .877 to 1 all took longer in runs than in slices, by 1.3 times
// and more.
func mostRuns[V sparse.Value](l simd.Level) float64 {
	if mem.Size[V]() == 4 && l == simd.AVX2 {
		return .87
	}
	return 1
}

// estimateRuns is the estimate of all of these rows, which may take so many times as long as in CSR.
func estimateRuns[V sparse.Value](heads Rows[V], o RunOptions[V], most float64) (Estimate, error) {
	b := newRunsBuilder(heads, o.Level)
	b.costs = runCostsOf(o.Level) // with AVX-512 those say which float32 matrices suit, too
	if err := b.cut(); err != nil {
		return Estimate{}, err
	}
	end := b.end()
	if float64(b.cost) > most*float64(costCSR*end.Entry+costCSRRow*b.rows) || end.Entry < fewPerRow*b.rows {
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
