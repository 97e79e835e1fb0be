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

// The rivals of the PELLR paper: CSR with one thread for each row, and with half a
// warp for each row.
const (
	FormCSRScalar kernels.Form = "csrs"
	FormCSRVector kernels.Form = "csrv"
)

// PackForm is Pack for all forms: those of Pack, those of sparse/ellpack by their
// names there, FormSlices, FormCSRScalar and FormCSRVector. With a precision, values are read in
// segments, in csr, ell or pellr.
func PackForm[V sparse.Value](d kernels.Device, s kernels.Stream, op *kernels.Packing[V]) (kernels.Packed, error) {
	if op.Precision.Segments != 0 {
		return packSegments(d, s, op)
	}
	if op.Form == FormSlices {
		return packSlices(d, s, op)
	}
	ell := slices.Contains(ellpack.Formats(), sparse.Format(op.Form))
	if !ell && op.Form != FormCSRScalar && op.Form != FormCSRVector {
		return packCSR(d, s, op)
	}
	if err := CheckPacking(op); err != nil {
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

// Rows is a part in a form that one kernel multiplies by, one or several rows to a
// warp. It implements kernels.Packed.
type Rows[V sparse.Value] struct {
	dev    kernels.Device
	stream kernels.Stream
	part   partition.Part
	minors int64
	all    []kernels.Buffer
	info   kernels.PackInfo
	freed  atomic.Bool
	// calls adds the kernels of a product to a program.
	calls func(b *builder, v vectors[V])
}

// vectors is the arguments of a product beside the matrix.
type vectors[V sparse.Value] struct {
	x, y, carry Addr
	rows, skip  int64
	alpha, beta V
}

// Info describes the packed part.
func (p *Rows[V]) Info() kernels.PackInfo { return p.info }

// Describe puts what was measured before what the form says of itself.
func (p *Rows[V]) Describe(why string, tried []kernels.PackTrial) {
	p.info.Why, p.info.Tried = why+"; "+p.info.Why, tried
}

// Buffers is the memory that it holds.
func (p *Rows[V]) Buffers() []kernels.Buffer {
	if p.freed.Load() {
		return nil
	}
	return slices.Clone(p.all)
}

// Free releases the memory.
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

// gather puts a product together.
func (p *Rows[V]) gather(b *builder, op *kernels.GatherPacked[V]) {
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

// upload copies an array to the device and gives what finds it there; nothing for an
// empty one.
func upload[T mem.Elem, V sparse.Value](p *Rows[V], name string, src []T) (func(b *builder) Addr, error) {
	if len(src) == 0 {
		return func(*builder) Addr { return 0 }, nil
	}
	a, err := put(p.dev, p.stream, src)
	if err != nil {
		return nil, err
	}
	p.all = append(p.all, a.Buf)
	p.info.Bytes += a.Buf.Bytes()
	return func(b *builder) Addr { return array(b, name, a, a.Len) }, nil
}

// compressed keeps the part as it is, for the rivals.
func (p *Rows[V]) compressed(op *kernels.Packing[V]) error {
	local := make([]int64, len(op.Ptr))
	if err := partition.LocalPtr(local, op.Ptr, op.Part); err != nil {
		return err
	}
	ptr, err1 := upload(p, "ptr", local)
	idx, err2 := upload(p, "idx", op.Idx)
	val, err3 := upload(p, "val", op.Val)
	name, nnz := "msrep_gather_"+string(op.Form)+suffix[V](), op.Part.NNZ()
	p.calls = func(b *builder, v vectors[V]) {
		b.call(name, v.rows, ptr(b), idx(b), val(b), v.x, v.y, v.carry, v.rows, int64(0), nnz, v.skip, v.alpha, v.beta)
	}
	return errors.Join(err1, err2, err3, p.stream.Sync())
}

// ellpack builds a format on the host and copies it.
func (p *Rows[V]) ellpack(op *kernels.Packing[V]) error {
	rows := ellpack.Rows[V]{Ptr: op.Ptr, First: op.Part.StartIdx, End: op.Part.EndIdx + 1, Idx: op.Idx, Val: op.Val}
	f := sparse.Format(op.Form)
	o, err := p.room(f, rows)
	if err != nil {
		return err
	}
	switch f {
	case ellpack.FormatELL:
		return p.ell(rows, o)
	case ellpack.FormatELLR, ellpack.FormatPELLR, ellpack.FormatPELLRWarp:
		return p.ellr(f, rows, o)
	case ellpack.FormatBiELL, ellpack.FormatBiJAD:
		return p.bisected(f, rows, o)
	case ellpack.FormatJAD:
		return p.jad(rows, o)
	case ellpack.FormatHYB, ellpack.FormatHYBMean:
		return p.hyb(f, rows, o)
	}
	return p.sell(rows, o)
}

// room checks that the device has memory for the format, before the host takes any:
// a format that the bound for padding allows may still be larger than the device.
func (p *Rows[V]) room(f sparse.Format, r ellpack.Rows[V]) (o ellpack.Options, err error) {
	limit := p.dev.Info().Memory
	if limit == 0 {
		return o, nil
	}
	free := max(limit-p.dev.InUse(), 1)
	size := mem.Size[V]()
	csr := 8*int64(len(r.Ptr)) + (4+size)*(r.End-r.First)
	bound := ellpack.Bound(csr)
	o.MaxBytes = min(bound, free)
	l, err := ellpack.Measure(r.Ptr, r.First, r.End, o)
	if err != nil {
		return o, err
	}
	shape, _ := l.Shape(f, size)
	if need := shape.Bytes(size); need > free && need <= bound {
		return o, &kernels.DeviceError{Device: p.dev.Info().ID, Call: "pack", Bytes: need,
			Err: fmt.Errorf("%w: %s of %d entries, %d bytes are free", kernels.ErrOutOfMemory, f, shape.NNZ, free)}
	}
	return o, nil
}

func (p *Rows[V]) ell(r ellpack.Rows[V], o ellpack.Options) error {
	e, err := ellpack.NewELL(r, o)
	if err != nil {
		return err
	}
	p.info.Padding = e.Shape.Padding()
	p.calls, err = p.ellCalls(e)
	return err
}

func (p *Rows[V]) ellCalls(e *ellpack.ELL[V]) (func(*builder, vectors[V]), error) {
	idx, err1 := upload(p, "idx", e.Idx)
	val, err2 := upload(p, "val", e.Val)
	stride, width := e.Stride, e.Width
	return func(b *builder, v vectors[V]) {
		b.call("msrep_gather_ell"+suffix[V](), v.rows, idx(b), val(b), v.x, v.y, v.carry, v.rows, stride, width, v.skip, v.alpha, v.beta)
	}, errors.Join(err1, err2, p.stream.Sync())
}

func (p *Rows[V]) ellr(f sparse.Format, r ellpack.Rows[V], o ellpack.Options) error {
	e, err := ellpack.NewELLR(f, r, o)
	if err != nil {
		return err
	}
	p.info.Padding = e.Shape.Padding()
	if e.Shape.Sliced {
		p.info.Why += "; cut into warps, because padding all rows to the longest takes too much memory"
	}
	idx, err1 := upload(p, "idx", e.Idx)
	val, err2 := upload(p, "val", e.Val)
	length, err3 := upload(p, "length", e.Length)
	start, err4 := upload(p, "start", e.Start)
	perm, err5 := upload(p, "perm", e.Perm)
	name, stride := "msrep_gather_ellr", e.Stride
	if e.ByWarp {
		name = "msrep_gather_pellr_warp"
	}
	p.calls = func(b *builder, v vectors[V]) {
		b.call(name+suffix[V](), v.rows, idx(b), val(b), length(b), start(b), perm(b), v.x, v.y, v.carry,
			v.rows, stride, v.skip, v.alpha, v.beta)
	}
	return errors.Join(err1, err2, err3, err4, err5, p.stream.Sync())
}

func (p *Rows[V]) sell(r ellpack.Rows[V], o ellpack.Options) error {
	e, err := ellpack.NewSELL(r, o)
	if err != nil {
		return err
	}
	p.info.Padding = e.Shape.Padding()
	return p.byStarts("msrep_gather_sell", e.Idx, e.Val, e.Start, e.Perm)
}

func (p *Rows[V]) bisected(f sparse.Format, r ellpack.Rows[V], o ellpack.Options) error {
	e, err := ellpack.NewBisected(f, r, o)
	if err != nil {
		return err
	}
	p.info.Padding = e.Shape.Padding()
	return p.byStarts("msrep_gather_bisected", e.Idx, e.Val, e.Start, e.Perm)
}

func (p *Rows[V]) jad(r ellpack.Rows[V], o ellpack.Options) error {
	e, err := ellpack.NewJAD(r, o)
	if err != nil {
		return err
	}
	return p.byStarts("msrep_gather_jad", e.Idx, e.Val, e.Start, e.Perm, int64(len(e.Start)-1))
}

// byStarts uploads a format of places with starts and a permutation, for a kernel
// that takes more after the number of rows.
func (p *Rows[V]) byStarts(kernel string, idx []int32, val []V, start []int64, perm []int32, more ...any) error {
	i, err1 := upload(p, "idx", idx)
	v, err2 := upload(p, "val", val)
	s, err3 := upload(p, "start", start)
	m, err4 := upload(p, "perm", perm)
	p.calls = func(b *builder, a vectors[V]) {
		args := []any{i(b), v(b), s(b), m(b), a.x, a.y, a.carry, a.rows}
		args = append(append(args, more...), a.skip, a.alpha, a.beta)
		b.call(kernel+suffix[V](), a.rows, args...)
	}
	return errors.Join(err1, err2, err3, err4, p.stream.Sync())
}

// hyb multiplies by the ell, and adds the coordinates to its result.
func (p *Rows[V]) hyb(f sparse.Format, r ellpack.Rows[V], o ellpack.Options) error {
	e, err := ellpack.NewHYB(f, r, o)
	if err != nil {
		return err
	}
	p.info.Padding = e.Shape.Padding()
	ell, err := p.ellCalls(&e.ELL)
	if err != nil {
		return err
	}
	row, err1 := upload(p, "major", e.Row)
	col, err2 := upload(p, "minor", e.Col)
	val, err3 := upload(p, "rest", e.RestVal)
	rest := int64(len(e.Row))
	p.calls = func(b *builder, v vectors[V]) {
		ell(b, v)
		if rest > 0 {
			addCoordinates[V](b, row(b), col(b), val(b), v.x, v.y, v.carry, rest, v.rows-v.skip, v.skip, v.alpha)
		}
	}
	return errors.Join(err1, err2, err3, p.stream.Sync())
}
