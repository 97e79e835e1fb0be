package blocks

import (
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// EstimateBlocks estimates NewBlocks from a sample. It fails with a *sparse.InputError if the
// sample shows that NewBlocks would.
func EstimateBlocks[V sparse.Value](r form.Rows[V], o BlockOptions[V]) (form.Estimate, error) {
	if err := r.NoChunks(); err != nil {
		return form.Estimate{}, err
	}
	b := newBlockBuilder(r, o)
	size := int64(o.Shape.Height * o.Shape.Width)
	value := b.values.Bytes()
	var bytes float64
	var places, blocks int64
	n := len(b.out.windows)
	for s := range min(form.Samples, n) {
		if err := b.window(s * n / min(form.Samples, n)); err != nil {
			return form.Estimate{}, err
		}
		g, _ := b.rows.Group(b.lanes)
		here := int64(g.Columns) * int64(b.lanes)
		bytes += float64(here)*(value*float64(size)+4) + 8*float64(g.Slices) + 2*float64(g.Masks) + 2*float64(len(b.rows.Counts))
		places += here
		for _, c := range b.rows.Counts {
			blocks += int64(c)
		}
	}
	return form.NewEstimate(bytes, places*size, blocks*size), nil
}
