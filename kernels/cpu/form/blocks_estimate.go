package form

import "github.com/msrep-go/msrep/sparse"

// EstimateBlocks estimates NewBlocks from a sample. It fails with a *sparse.InputError if the
// sample shows that NewBlocks would.
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
		bytes += float64(here)*(value*float64(size)+4) + 8*float64(g.slices) + 2*float64(g.masks) + 2*float64(len(b.rows.counts))
		places += here
		for _, c := range b.rows.counts {
			blocks += int64(c)
		}
	}
	return estimate(bytes, places*size, blocks*size), nil
}
