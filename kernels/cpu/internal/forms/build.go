package forms

import (
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/blocks"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/diagonals"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/slices"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/tiles"
	"github.com/msrep-go/msrep/sparse"
)

// The functions below build forms as the device does: for its instructions, and with values in as few bytes as hold
// them exactly. Estimates assume values as they are, because looking at all of them costs as much as a part of a
// product.

// powerLawWindow is the number of rows of power-law graphs that slices sort together. Windows of 1024 rows have some
// 5 % of padding, these 1 %, and distant rows find x in the second cache.
const powerLawWindow = 8192

func newSlices[V sparse.Value](r form.Rows[V]) (form.Form[V], error) {
	o := slices.SliceOptions[V]{Level: simd.Default(), Values: form.FindValues(r.Val)}
	if powerLaw(r) {
		o.Window = powerLawWindow
	}
	return slices.NewSlices(r, o)
}

func newDiagonals[V sparse.Value](r form.Rows[V]) (form.Form[V], error) {
	return diagonals.NewDiagonals(r, diagonals.DiagonalOptions[V]{Level: simd.Default(), Values: form.FindValues(r.Val)})
}

func estimateDiagonals[V sparse.Value](r form.Rows[V]) (form.Estimate, error) {
	return diagonals.EstimateDiagonals(r, diagonals.DiagonalOptions[V]{Level: simd.Default()})
}

func blockOptions[V sparse.Value](r form.Rows[V]) (o blocks.BlockOptions[V], err error) {
	shape, ok := blocks.FindBlocks(r)
	if !ok {
		return o, sparse.Inputf("blocks", "the rows do not fall into dense blocks")
	}
	return blocks.BlockOptions[V]{Level: simd.Default(), Shape: shape}, nil
}

func newBlocks[V sparse.Value](r form.Rows[V]) (form.Form[V], error) {
	o, err := blockOptions(r)
	if err != nil {
		return nil, err
	}
	o.Values = form.FindValues(r.Val)
	return blocks.NewBlocks(r, o)
}

// newBlocks57 is newBlocks with values in 57 bits if most values are close enough to each other for that and no
// shorter storage suits them.
func newBlocks57[V sparse.Value](r form.Rows[V]) (form.Form[V], error) {
	values, ok := bits57(r.Val)
	if !ok {
		return newBlocks(r)
	}
	o, err := blockOptions(r)
	if err != nil {
		return nil, err
	}
	o.Values = values
	f, err := form.Try(r.Mem, func() (form.Form[V], error) { return blocks.NewBlocks(r, o) })
	if sparse.IsInput(err) { // for values that the sample did not show
		return newBlocks(r)
	}
	return f, err
}

// large reports whether the values of a piece take more than half the last cache. Within the caches it is faster to
// read them as they are.
func large[V sparse.Value](r form.Rows[V]) bool {
	return form.ExceedsLastCache(2 * mem.Size[V]() * int64(len(r.Val)))
}

// namedBlocks is newBlocks57 for large pieces, and newBlocks for others.
func namedBlocks[V sparse.Value](r form.Rows[V]) (form.Form[V], error) {
	if large(r) {
		return newBlocks57(r)
	}
	return newBlocks(r)
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

func estimateBlocks[V sparse.Value](r form.Rows[V]) (form.Estimate, error) {
	o, err := blockOptions(r)
	if err != nil {
		return form.Estimate{}, err
	}
	return blocks.EstimateBlocks(r, o)
}

func newTiles[V sparse.Value](r form.Rows[V]) (form.Form[V], error) {
	return tiles.NewTiles(r, tiles.TileOptions[V]{Level: simd.Default(), Values: form.FindValues(r.Val)})
}
