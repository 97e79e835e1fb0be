package bench

import (
	"errors"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/sim"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// Counted holds what the interpreter of GPU code counted for one product.
type Counted struct {
	Sectors   int64 // sectors of 32 bytes that the kernels request
	Distinct  int64 // sectors, each counted once per thread block: those that pass the first-level cache
	Instructs int64 // instructions of warps
}

// Interpret counts the work of the kernels of a product with a on a simulated GPU. The arrays of a, except its
// values, are added to pack, which describes the packing; product makes the operation. A form whose padding takes too
// much memory is a *sparse.InputError.
func Interpret(a *sparse.CSR[float64], pack kernels.Packing[float64], product func(a kernels.Packed, x, y kernels.Array[float64]) kernels.Operation) (n Counted, err error) {
	d, err := sim.Open(sim.Config{Unchecked: true, Trace: func(_ string, c sim.Counters) {
		t := c.Total()
		n.Sectors += t.LoadSectors + t.StoreSectors + t.AtomicSectors
		for _, b := range c.Buffers {
			n.Distinct += b.DistinctSectors + b.StoreSectors + b.AtomicSectors
		}
		n.Instructs += c.WarpInstructions
	}})
	if err != nil {
		return n, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	parts, _, err := partition.Split(a.RowPtr, 1, partition.RuleNNZ)
	if err != nil {
		return n, err
	}
	pack.Part, pack.Ptr, pack.Idx, pack.Minors = parts[0], a.RowPtr, a.ColIdx, a.Cols
	packed, err := d.Pack(&pack)
	if err != nil {
		return n, err
	}
	defer func() { err = errors.Join(err, packed.Free()) }()
	s, err := d.NewStream()
	if err != nil {
		return n, err
	}
	x, err := kernels.NewArray[float64](d, int64(a.Cols))
	if err != nil {
		return n, err
	}
	defer func() { err = errors.Join(err, x.Free()) }()
	y, err := kernels.NewArray[float64](d, int64(a.Rows))
	if err != nil {
		return n, err
	}
	defer func() { err = errors.Join(err, y.Free()) }()
	n = Counted{} // drop the counts of packing
	err = s.Launch(product(packed, x, y))
	return n, err
}

// interpret counts a product in the format, and nothing if its padding takes too much memory.
func (r *FormatRun) interpret(a *sparse.CSR[float64]) error {
	n, err := Interpret(a, kernels.Packing[float64]{Val: a.Val, Form: kernels.Form(r.Format)},
		func(a kernels.Packed, x, y kernels.Array[float64]) kernels.Operation {
			return &kernels.MajorProductPacked[float64]{A: a, Alpha: 1, X: x, Y: y}
		})
	if sparse.IsInput(err) {
		return nil
	}
	r.Counted = n
	return err
}
