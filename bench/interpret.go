package bench

import (
	"errors"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/ptx"
	"github.com/msrep-go/msrep/kernels/sim"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// Counted is what the interpreter of GPU code counted of a product.
type Counted struct {
	Sectors   int64 // of 32 bytes that the kernels ask for
	Distinct  int64 // of those, each once for each block: what the first-level cache lets through
	Instructs int64 // instructions of warps
}

// Interpret counts what the kernels of a product with a do on a simulated GPU. The matrix is packed as pack says,
// which the arrays of a are added to but for the values; product makes the operation. Forms whose padding takes too
// much are *sparse.InputError.
func Interpret(a *sparse.CSR[float64], pack kernels.Packing[float64], product func(a kernels.Packed, x, y kernels.Array[float64]) kernels.Operation) (n Counted, err error) {
	d, err := sim.Open(sim.Config{Unchecked: true, Trace: func(_ string, c ptx.Counters) {
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
	n = Counted{} // of packing
	err = s.Launch(product(packed, x, y))
	return n, err
}

// interpret counts a product in the format; nothing where its padding takes too much.
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
