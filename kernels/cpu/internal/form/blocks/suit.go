package blocks

import (
	"fmt"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// Name is the name of blocks.
const Name = "blocks"

// in57 is the name of the estimate of the bytes of a value alone if most values fit in 57 bits.
const in57 = "values in 57 bits"

// cached is the cost of blocks in the caches.
var cached = form.Cached{Product: .45, Build: 12}

// Kind returns what blocks say of themselves.
func Kind[V sparse.Value]() form.Kind[V] {
	return form.Kind[V]{
		Name:  Name,
		Look:  look[V],
		Suit:  suit[V],
		Build: build[V],
		New:   newFound[V],
		Fixed: true,
		Test:  form.Test[V]{Patterns: []string{"blocks"}, MayRefuse: form.AnyRows[V]},
	}
}

func look[V sparse.Value](r form.Rows[V], l *form.Look) {
	o, err := findOptions(r, form.Options[V]{Level: simd.Default()})
	if err != nil {
		return
	}
	e, err := EstimateBlocks(r, o)
	l.Estimate(Name, e, err)
	if err == nil && l.Plain && large(r) {
		if s, ok := bits57(r.Val); ok {
			l.Estimate(in57, form.Estimate{EntryBytes: s.Bytes()}, nil)
		}
	}
}

// suit suggests blocks for rows that consist of them, with values in 57 bits first where these suffice for most.
func suit[V sparse.Value](l *form.Look) (out []form.Candidate[V]) {
	e := l.Estimates[Name]
	if e == nil {
		return nil
	}
	if v := l.Estimates[in57]; v != nil {
		bytes := e.EntryBytes - (1+e.Padding)*(float64(mem.Size[V]())-v.EntryBytes)
		out = append(out, form.Candidate[V]{Turn: form.Early, Bytes: bytes, Cached: cached, Build: build57[V],
			Why: fmt.Sprintf("%.1f bytes for each entry with values in 57 bits", bytes)})
	}
	return append(out, form.Candidate[V]{Turn: form.Early, Bytes: e.EntryBytes, Cached: cached, Build: buildShort[V], Why: e.String()})
}

// build is build57 for large pieces, and buildShort for others.
func build[V sparse.Value](r form.Rows[V]) (form.Form[V], error) {
	if large(r) {
		return build57(r)
	}
	return buildShort(r)
}

// buildShort stores values as they are or in fewer bytes, but not in 57 bits.
func buildShort[V sparse.Value](r form.Rows[V]) (form.Form[V], error) {
	return newFound(r, form.Options[V]{Level: simd.Default(), Values: form.FindValues(r.Val)})
}

// build57 is buildShort with values in 57 bits if most values are close enough to each other for that and no shorter
// storage suits them.
func build57[V sparse.Value](r form.Rows[V]) (form.Form[V], error) {
	values, ok := bits57(r.Val)
	if !ok {
		return buildShort(r)
	}
	f, err := form.Try(r.Mem, func() (form.Form[V], error) {
		return newFound(r, form.Options[V]{Level: simd.Default(), Values: values})
	})
	if sparse.IsInput(err) { // for values that the sample did not show
		return buildShort(r)
	}
	return f, err
}

// newFound is NewBlocks with the shape that FindBlocks finds.
func newFound[V sparse.Value](r form.Rows[V], o form.Options[V]) (form.Form[V], error) {
	found, err := findOptions(r, o)
	if err != nil {
		return nil, err
	}
	return NewBlocks(r, found)
}

func findOptions[V sparse.Value](r form.Rows[V], o form.Options[V]) (BlockOptions[V], error) {
	shape, ok := FindBlocks(r)
	if !ok {
		return BlockOptions[V]{}, sparse.Inputf("blocks", "the rows do not fall into dense blocks")
	}
	return BlockOptions[V]{Level: o.Level, Shape: shape, Values: o.Values}, nil
}

// large reports whether the values of a piece take more than half the last cache. Within the caches it is faster to
// read them as they are.
func large[V sparse.Value](r form.Rows[V]) bool {
	return form.ExceedsLastCache(2 * mem.Size[V]() * int64(len(r.Val)))
}

// bits57 is form.Find57 if there are kernels for 57 bits and form.FindValues finds no shorter storage.
func bits57[V sparse.Value](val []V) (s form.ValueSet[V], ok bool) {
	if !form.Fast57(simd.Default()) {
		return s, false
	}
	if found := form.FindValues(val); found.Storage() != form.Full {
		return s, false
	}
	return form.Find57(val)
}
