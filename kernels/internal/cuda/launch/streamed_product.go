package launch

import (
	"errors"
	"fmt"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// StreamedProduct returns a function that multiplies by a part in kernels.FormStreamed; ok is
// false for any other operation. The function waits for the stream, then for the
// pieces, and puts only the addition of the pieces' carries on the stream.
func StreamedProduct(op kernels.Operation) (multiply func(s kernels.Stream) error, ok bool) {
	switch op := op.(type) {
	case *kernels.MajorProductPacked[float64]:
		return streamedProduct(op)
	case *kernels.MajorProductPacked[float32]:
		return streamedProduct(op)
	}
	return nil, false
}

func streamedProduct[V sparse.Value](op *kernels.MajorProductPacked[V]) (func(kernels.Stream) error, bool) {
	p, ok := op.A.(*streamed[V])
	return func(s kernels.Stream) error { return p.multiply(s, op) }, ok
}

func (p *streamed[V]) multiply(s kernels.Stream, op *kernels.MajorProductPacked[V]) error {
	p.use.Lock()
	defer p.use.Unlock()
	part := p.op.Part
	var bad error
	switch owned := int64(part.OwnEnd - part.OwnFirst); {
	case p.freed.Load():
		bad = fmt.Errorf("%w: the packed part was freed", kernels.ErrClosed)
	case op.X.Len != int64(p.op.Minors) || op.Y.Len != owned:
		bad = fmt.Errorf("%w: x and y have %d and %d elements, they need %d and %d", kernels.ErrArgument, op.X.Len, op.Y.Len, p.op.Minors, owned)
	}
	if bad != nil {
		return &kernels.DeviceError{Device: p.dev.Info().ID, Call: op.Name(), Err: bad}
	}
	if err := s.Sync(); err != nil { // x and y may not be complete yet
		return err
	}
	carries := int64(0)
	var errs []error
	for j, q := range p.pieces {
		carry := op.Carry
		if q.StartFlag && j != p.first() {
			carry = p.carry.Sub(carries, carries+1)
			carries++
		}
		y := op.Y.Sub(int64(q.OwnFirst-part.OwnFirst), int64(q.OwnEnd-part.OwnFirst))
		g := &kernels.MajorProduct[V]{Alpha: op.Alpha, Beta: op.Beta, X: op.X, Y: y, Carry: carry}
		if err := p.put(&p.sets[j%len(p.sets)], q, g); err != nil {
			errs = append(errs, err)
			break
		}
	}
	for _, set := range p.sets {
		errs = append(errs, set.stream.Sync())
	}
	if err := errors.Join(errs...); err != nil || carries == 0 {
		return err
	}
	return s.Launch(&addCarriesOp[V]{part: part, rows: p.rows, vals: p.carry, y: op.Y, carry: op.Carry})
}

// put copies a piece to the device and multiplies by it, after the previous piece in
// the same memory.
func (p *streamed[V]) put(set *pieceSet[V], q partition.Part, g *kernels.MajorProduct[V]) error {
	lo, hi := q.StartIdx-p.op.Part.StartIdx, q.EndIdx+1-p.op.Part.StartIdx
	g.A = kernels.Compressed[V]{
		Part: q.Shift(q.First(), 0),
		Ptr:  set.ptr.Sub(0, int64(q.Majors())+1), Idx: set.idx.Sub(0, hi-lo), Val: set.val.Sub(0, hi-lo),
	}
	if err := g.A.Ptr.Write(set.stream, p.op.Ptr[q.First():q.End()+1]); err != nil {
		return err
	}
	if err := g.A.Idx.Write(set.stream, p.op.Idx[lo:hi]); err != nil {
		return err
	}
	if err := g.A.Val.Write(set.stream, p.op.Val[lo:hi]); err != nil {
		return err
	}
	return set.stream.Launch(g)
}

// addCarriesOp adds the carries of pieces to their rows.
type addCarriesOp[V sparse.Value] struct {
	part     partition.Part
	rows     kernels.Array[int32]
	vals     kernels.Array[V]
	y, carry kernels.Array[V]
}

// Name returns the name of the operation.
func (*addCarriesOp[V]) Name() string { return "add-carries" }

func (op *addCarriesOp[V]) plan(b *builder) {
	rows, vals := array(b, "row", op.rows, op.rows.Len), array(b, "val", op.vals, op.rows.Len)
	y := array(b, "y", op.y, op.y.Len)
	carry := openCarry(b, op.part, op.carry)
	addCarries[V](b, rows, vals, y, carry, op.rows.Len, int64(op.part.Majors()), skip(op.part))
}
