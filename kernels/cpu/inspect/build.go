package inspect

import (
	"github.com/msrep-go/msrep/kernels/cpu/form"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// The forms as the device builds them: for the instructions that it has, with
// values in as few bytes as hold them exactly. Estimates leave values as they are:
// to look at all of them costs as much as a part of a product.

func newSlices[V sparse.Value](r form.Rows[V]) (form.Form[V], error) {
	return form.NewSlices(r, form.SliceOptions[V]{Level: simd.Default(), Values: form.FindValues(r.Val)})
}

func newDiagonals[V sparse.Value](r form.Rows[V]) (form.Form[V], error) {
	return form.NewDiagonals(r, form.DiagonalOptions[V]{Level: simd.Default(), Values: form.FindValues(r.Val)})
}

func estimateDiagonals[V sparse.Value](r form.Rows[V]) (form.Estimate, error) {
	return form.EstimateDiagonals(r, form.DiagonalOptions[V]{Level: simd.Default()})
}

func blockOptions[V sparse.Value](r form.Rows[V]) (o form.BlockOptions[V], err error) {
	shape, ok := form.FindBlocks(r)
	if !ok {
		return o, sparse.Inputf("blocks", "the rows do not fall into dense blocks")
	}
	return form.BlockOptions[V]{Level: simd.Default(), Shape: shape}, nil
}

func newBlocks[V sparse.Value](r form.Rows[V]) (form.Form[V], error) {
	o, err := blockOptions(r)
	if err != nil {
		return nil, err
	}
	o.Values = form.FindValues(r.Val)
	return form.NewBlocks(r, o)
}

func estimateBlocks[V sparse.Value](r form.Rows[V]) (form.Estimate, error) {
	o, err := blockOptions(r)
	if err != nil {
		return form.Estimate{}, err
	}
	return form.EstimateBlocks(r, o)
}

func newTiles[V sparse.Value](r form.Rows[V]) (form.Form[V], error) {
	return form.NewTiles(r, form.TileOptions[V]{Level: simd.Default(), Values: form.FindValues(r.Val)})
}
