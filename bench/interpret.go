package bench

import (
	"errors"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/ptx"
	"github.com/msrep-go/msrep/kernels/sim"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// interpret counts what the kernels of the format do for one product.
func (r *FormatRun) interpret(a *sparse.CSR[float64]) (err error) {
	d, err := sim.Open(sim.Config{Unchecked: true, Trace: func(_ string, c ptx.Counters) {
		t := c.Total()
		r.Sectors += t.LoadSectors + t.StoreSectors + t.AtomicSectors
		for _, b := range c.Buffers {
			r.Distinct += b.DistinctSectors + b.StoreSectors + b.AtomicSectors
		}
		r.Instructs += c.WarpInstructions
	}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	parts, _, err := partition.Split(a.RowPtr, 1, partition.RuleNNZ)
	if err != nil {
		return err
	}
	packed, err := d.Pack(&kernels.Packing[float64]{
		Part: parts[0], Ptr: a.RowPtr, Idx: a.ColIdx, Val: a.Val, Minors: a.Cols, Form: kernels.Form(r.Format),
	})
	if sparse.IsInput(err) {
		return nil // padding takes too much
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, packed.Free()) }()
	s, err := d.NewStream()
	if err != nil {
		return err
	}
	x, err := kernels.NewArray[float64](d, int64(a.Cols))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Free()) }()
	y, err := kernels.NewArray[float64](d, int64(a.Rows))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, y.Free()) }()
	r.Sectors, r.Distinct, r.Instructs = 0, 0, 0 // of packing
	return s.Launch(&kernels.GatherPacked[float64]{A: packed, Alpha: 1, X: x, Y: y})
}
