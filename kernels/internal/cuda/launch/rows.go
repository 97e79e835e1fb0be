package launch

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
)

// PackForm is Pack for all forms: those of Pack, those of sparse/ellpack by their names
// there, kernels.FormSlices, kernels.FormTiles, kernels.FormCSRScalar and kernels.FormCSRVector. With a precision, values are read
// in segments, in csr, ell or pellr.
func PackForm[V sparse.Value](d kernels.Device, s kernels.Stream, op *kernels.Packing[V]) (kernels.Packed, error) {
	if op.Segments.Count != 0 {
		return packSegments(d, s, op)
	}
	switch op.Form {
	case kernels.FormSlices:
		return packSlices(d, s, op)
	case kernels.FormTiles:
		return packTiles(d, s, op)
	}
	ell := slices.Contains(ellpack.Formats(), sparse.Format(op.Form))
	if !ell && op.Form != kernels.FormCSRScalar && op.Form != kernels.FormCSRVector {
		return packCSR(d, s, op)
	}
	if err := checkPacking(op); err != nil {
		return nil, err
	}
	begin := time.Now()
	p := &Rows[V]{dev: d, stream: s, part: op.Part, minors: int64(op.Minors)}
	p.info.Form, p.info.Why = op.Form, "asked for"
	var err error
	if ell {
		err = p.ellpack(op)
	} else {
		err = p.compressed(op)
	}
	if err == nil {
		err = s.Sync()
	}
	if errors.Is(err, ellpack.ErrMemory) {
		err = fmt.Errorf("%w of the host: %w", kernels.ErrOutOfMemory, err)
	}
	if err != nil {
		return nil, errors.Join(err, p.Free())
	}
	p.info.Took = time.Since(begin)
	return p, nil
}

// Rows is a part in a form that one kernel multiplies by, with one or several rows for
// each warp. It implements kernels.Packed.
type Rows[V sparse.Value] struct {
	dev    kernels.Device
	stream kernels.Stream
	part   partition.Part
	minors int64
	all    []kernels.Buffer
	info   kernels.PackInfo
	freed  atomic.Bool
	// calls adds the kernel calls of a product to a program.
	calls func(b *builder, v vectors[V])
}

// vectors holds the arguments of a product except the matrix.
type vectors[V sparse.Value] struct {
	x, y, carry Addr
	rows, skip  int64
	alpha, beta V
}

// Info describes the packed part.
func (p *Rows[V]) Info() kernels.PackInfo { return p.info }

// Describe records the measured forms; why precedes the description of the form.
func (p *Rows[V]) Describe(why string, tried []kernels.PackTrial) {
	p.info.Why, p.info.Tried = why+"; "+p.info.Why, tried
}

// Buffers returns the buffers of the part.
func (p *Rows[V]) Buffers() []kernels.Buffer {
	if p.freed.Load() {
		return nil
	}
	return slices.Clone(p.all)
}

// Free frees the memory.
func (p *Rows[V]) Free() error {
	if p.freed.Swap(true) {
		return nil
	}
	var errs []error
	for _, b := range p.all {
		errs = append(errs, b.Free())
	}
	return errors.Join(errs...)
}

// majorProduct plans a product.
func (p *Rows[V]) majorProduct(b *builder, op *kernels.MajorProductPacked[V]) {
	switch {
	case p.freed.Load():
		b.err = fmt.Errorf("%w: the packed part was freed", kernels.ErrClosed)
		return
	case op.X.Len != p.minors:
		b.err = fmt.Errorf("%w: x has %d elements, it needs %d", kernels.ErrArgument, op.X.Len, p.minors)
		return
	}
	v := vectors[V]{
		x: array(b, "x", op.X, p.minors), y: array(b, "y", op.Y, int64(p.part.OwnEnd-p.part.OwnFirst)),
		carry: openCarry(b, p.part, op.Carry), rows: int64(p.part.Majors()), skip: skip(p.part), alpha: op.Alpha, beta: op.Beta,
	}
	if b.err == nil && v.rows > 0 {
		p.calls(b, v)
	}
}

// upload copies an array to the device and returns a function that finds its address.
// An empty array has no memory.
func upload[T mem.Elem, V sparse.Value](p *Rows[V], name string, src []T) (func(b *builder) Addr, error) {
	if len(src) == 0 {
		return none, nil
	}
	a, err := put(p.dev, p.stream, src)
	if err != nil {
		return nil, err
	}
	return keep(p, name, a), nil
}

// none is the address of an array without memory.
func none(*builder) Addr { return 0 }

// keep makes an array part of p and returns a function that finds its address.
func keep[T mem.Elem, V sparse.Value](p *Rows[V], name string, a kernels.Array[T]) func(b *builder) Addr {
	if a.Buf == nil {
		return none
	}
	p.all = append(p.all, a.Buf)
	p.info.Bytes += a.Buf.Bytes()
	return func(b *builder) Addr { return array(b, name, a, a.Len) }
}

// compressed uploads the part in CSR, for the baselines.
func (p *Rows[V]) compressed(op *kernels.Packing[V]) error {
	local, err := partition.OwnPtr(op.Ptr, op.Part)
	if err != nil {
		return err
	}
	ptr, err1 := upload(p, "ptr", local)
	idx, err2 := upload(p, "idx", op.Idx)
	val, err3 := upload(p, "val", op.Val)
	name, nnz := "msrep_major_"+string(op.Form)+suffix[V](), op.Part.NNZ()
	p.calls = func(b *builder, v vectors[V]) {
		b.call(name, v.rows, ptr(b), idx(b), val(b), v.x, v.y, v.carry, v.rows, int64(0), nnz, v.skip, v.alpha, v.beta)
	}
	return errors.Join(err1, err2, err3, p.stream.Sync())
}
