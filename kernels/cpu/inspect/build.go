package inspect

import (
	"github.com/msrep-go/msrep/kernels/cpu/form"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// The forms as the device builds them: for the instructions that it has, with
// values in as few bytes as hold them exactly.

func newSlices[V sparse.Value](r form.Rows[V]) (form.Form[V], error) {
	return form.NewSlices(r, form.SliceOptions[V]{Level: simd.Default(), Values: form.FindValues(r.Val)})
}

func newDiagonals[V sparse.Value](r form.Rows[V]) (form.Form[V], error) {
	return form.NewDiagonals(r, form.DiagonalOptions[V]{Level: simd.Default(), Values: form.FindValues(r.Val)})
}

func newBlocks[V sparse.Value](r form.Rows[V]) (form.Form[V], error) {
	shape, ok := form.FindBlocks(r)
	if !ok {
		return nil, sparse.Inputf("blocks", "the rows do not fall into dense blocks")
	}
	return form.NewBlocks(r, form.BlockOptions[V]{Level: simd.Default(), Shape: shape, Values: form.FindValues(r.Val)})
}

func newTiles[V sparse.Value](r form.Rows[V]) (form.Form[V], error) {
	return form.NewTiles(r, form.TileOptions[V]{Level: simd.Default(), Values: form.FindValues(r.Val)})
}
