package slices

import (
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// Name is the name of slices.
const Name = "slices"

// inPowerLaw is the name of the share of the pieces in which row lengths vary as in power-law graphs.
const inPowerLaw = "power law"

// Kind returns what slices say of themselves.
func Kind[V sparse.Value]() form.Kind[V] {
	return form.Kind[V]{
		Name: Name,
		Look: func(r form.Rows[V], l *form.Look) {
			if powerLaw(r) {
				l.Share(inPowerLaw, 1)
			}
		},
		Suit:  suit[V],
		Build: build[V],
		New: func(r form.Rows[V], o form.Options[V]) (form.Form[V], error) {
			return NewSlices(r, SliceOptions[V]{Level: o.Level, Values: o.Values, Window: o.Sizes["window"]})
		},
		Fixed: true,
		Test:  form.Test[V]{Sizes: map[string][]int{"window": {0, 1, 5, 64}}},
	}
}

// suit suggests slices for all rows. They are Large where they save more than tiles.
func suit[V sparse.Value](l *form.Look) []form.Candidate[V] {
	value, graph, most := float64(mem.Size[V]()), l.Shares[inPowerLaw] == 1, longRowsTime
	if graph {
		most = fastLongRowsTime
	}
	return []form.Candidate[V]{{
		Why:   "rows of similar length are multiplied side by side",
		Bytes: value + 2, Cached: cached(value, l.EntriesPerRow(), most), Turn: form.Late, SteadierThan: "tiles",
		Large: graph || l.Misses >= form.OftenMissed && !l.Wide,
	}}
}

// longRowsTime is the time of a product of slices of long rows in the caches. fastLongRowsTime is the same in
// power-law graphs, where csr pays for unpredictable row lengths.
const (
	longRowsTime     = .67
	fastLongRowsTime = .57
)

// cached returns the cost in the caches of slices with values of the given bytes, for rows with the given mean number
// of entries. The product takes at most the time most.
func cached(value, entries, most float64) form.Cached {
	c := form.Cached{Product: min(.5+.008*entries, most), Build: 10}
	if value == 4 {
		c.Product -= .08
	}
	return c
}

// powerLawWindow is the number of rows of power-law graphs that slices sort together. Windows of 1024 rows have some
// 5 % of padding, these 1 %, and distant rows find x in the second cache.
const powerLawWindow = 8192

func build[V sparse.Value](r form.Rows[V]) (form.Form[V], error) {
	o := SliceOptions[V]{Level: simd.Default(), Values: form.FindValues(r.Val)}
	if powerLaw(r) {
		o.Window = powerLawWindow
	}
	return NewSlices(r, o)
}

// powerLaw reports whether row lengths vary as in power-law graphs, x fits the second cache, and the entries do not
// fit it. Lengths vary so if their variance is larger than the square of their mean. Longer rows count as 8 times the
// mean, so that a few dense rows are no power law.
func powerLaw[V sparse.Value](r form.Rows[V]) bool {
	size, rows, nnz := mem.Size[V](), len(r.Ptr)-1, int64(len(r.Idx))
	if size*int64(r.Cols) > form.WideX || (4+size)*nnz <= form.WideX {
		return false
	}
	mean, squares := float64(nnz)/float64(rows), 0.
	for i := range rows {
		n := min(float64(r.Ptr[i+1]-r.Ptr[i]), 8*mean)
		squares += n * n
	}
	return squares/float64(rows) > 2*mean*mean
}
