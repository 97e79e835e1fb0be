package slices

import (
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// fewInPanel is the least average number of entries of a row in the panels in which it has any: if
// there are fewer, tiles or slices are faster.
const fewInPanel = 16

// EstimatePanels estimates NewPanels from a sample, without padding. It fails with a
// *sparse.InputError if NewPanels would, except for columns outside x, or if the rows of the sample
// have few entries in a panel.
func EstimatePanels[V sparse.Value](r form.Rows[V], o PanelOptions[V]) (form.Estimate, error) {
	p, err := newPanelBuilder(r, o)
	if err != nil {
		return form.Estimate{}, err
	}
	var entries, pieces int64
	sample := r.ByRows()
	for i, end := range sample.Ptr[1:] {
		last := int32(-1)
		for _, c := range sample.Idx[sample.Ptr[i]:end] {
			if c >>= p.out.shift; c != last {
				pieces++
				last = c
			}
		}
		entries += end - sample.Ptr[i]
	}
	if entries < fewInPanel*pieces {
		return form.Estimate{}, sparse.Inputf("matrix", "rows have few entries in each panel of columns: %d entries in %d pieces of rows", entries, pieces)
	}
	bytes := (o.Values.Bytes() + 2) * float64(entries)
	return form.NewEstimate(bytes+2*float64(pieces), entries, entries), nil
}
