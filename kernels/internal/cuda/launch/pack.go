package launch

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/internal/cuda"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// Packed is a part of a matrix in CSR on a device. It implements kernels.Packed.
type Packed[V sparse.Value] struct {
	A      kernels.Compressed[V] // with local pointers
	Minors int64

	start kernels.Array[int32] // for kernels.FormMerge
	info  kernels.PackInfo
	freed atomic.Bool
}

// checkPacking checks the arrays (kernels.Packing.Check) and returns an error that
// wraps kernels.ErrArgument, or kernels.ErrNotSupported for what no GPU form supports.
func checkPacking[V sparse.Value](op *kernels.Packing[V]) error {
	if err := op.Check(); err != nil {
		return err
	}
	switch {
	case op.Fixed:
		return fmt.Errorf("%w: a packed part cannot be summed in a fixed order", kernels.ErrNotSupported)
	case op.Segments != kernels.Segments{}:
		return fmt.Errorf("%w: %d of %d segments of values", kernels.ErrNotSupported, op.Segments.Read, op.Segments.Count)
	}
	return nil
}

// Pack copies a part to a device in kernels.FormCSR or kernels.FormMerge. For kernels.FormAuto,
// choose decides. Any other form is an error that wraps kernels.ErrNotSupported. If
// Pack fails, it frees its memory.
func Pack[V sparse.Value](d kernels.Device, s kernels.Stream, op *kernels.Packing[V]) (*Packed[V], error) {
	if err := checkPacking(op); err != nil {
		return nil, err
	}
	begin := time.Now()
	g, why := Vector, "asked for"
	switch op.Form {
	case kernels.FormCSR:
	case kernels.FormMerge:
		g = Merge
	case "", kernels.FormAuto:
		g, why = choose(op.Ptr)
	default:
		return nil, fmt.Errorf("%w: form %q", kernels.ErrNotSupported, string(op.Form))
	}
	if Streams(op, kernels.ErrOutOfMemory) && !hasRoom(d, op) {
		return nil, fmt.Errorf("%w: no room for the vectors beside the part", kernels.ErrOutOfMemory)
	}
	p := &Packed[V]{Minors: int64(op.Minors)}
	err := p.upload(d, s, op)
	if err == nil {
		err = p.Prepare(s, g, why)
	}
	if err == nil {
		err = s.Sync()
	}
	if err != nil {
		return nil, errors.Join(err, p.Free())
	}
	p.info.Took = time.Since(begin)
	return p, nil
}

// packCSR is Pack, or packStreamed if that was requested or nothing else fits.
func packCSR[V sparse.Value](d kernels.Device, s kernels.Stream, op *kernels.Packing[V]) (kernels.Packed, error) {
	why := "asked for"
	if op.Form != kernels.FormStreamed {
		p, err := Pack(d, s, op)
		if err == nil {
			return p, nil
		}
		if !Streams(op, err) {
			return nil, err
		}
		why = "the part does not fit on the device"
	}
	p, err := packStreamed(d, op, why)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Streams reports whether a part that failed to be packed with err is to be streamed
// instead.
func Streams[V sparse.Value](op *kernels.Packing[V], err error) bool {
	return errors.Is(err, kernels.ErrOutOfMemory) && op.InPlace && (op.Form == "" || op.Form == kernels.FormAuto)
}

// hasRoom reports whether a device has room for a part in kernels.FormMerge and its vectors.
func hasRoom[V sparse.Value](d kernels.Device, op *kernels.Packing[V]) bool {
	free, bounded := free(d)
	rows, nnz := int64(op.Part.Majors()), op.Part.NNZ()
	need := 8*(rows+1) + (4+mem.Size[V]())*nnz + mem.Size[V]()*(int64(op.Minors)+rows) + (rows+nnz)/64
	return !bounded || need <= usable(free)
}

// upload copies the arrays to the device, with local pointers.
func (p *Packed[V]) upload(d kernels.Device, s kernels.Stream, op *kernels.Packing[V]) error {
	local, err := partition.OwnPtr(op.Ptr, op.Part)
	if err != nil {
		return err
	}
	p.A.Part = op.Part.Shift(0, op.Part.StartIdx)
	if p.A.Ptr, err = put(d, s, local); err != nil {
		return err
	}
	if p.A.Idx, err = put(d, s, op.Idx); err != nil {
		return err
	}
	if p.A.Val, err = put(d, s, op.Val); err != nil {
		return err
	}
	return s.Sync() // local must stay reachable until the copy ends
}

func put[T mem.Elem](d kernels.Device, s kernels.Stream, src []T) (kernels.Array[T], error) {
	a, err := kernels.NewArray[T](d, int64(len(src)))
	if err != nil {
		return a, err
	}
	if err := a.Write(s, src); err != nil {
		return kernels.Array[T]{}, errors.Join(err, a.Free())
	}
	return a, nil
}

// Prepare prepares the part for the kernels of g; why is the reason for the choice.
func (p *Packed[V]) Prepare(s kernels.Stream, g CSRKernel, why string) error {
	form := kernels.FormCSR
	if g == Merge {
		form = kernels.FormMerge
		if err := p.findStarts(s); err != nil {
			return err
		}
	}
	p.info.Form, p.info.Why, p.info.Bytes = form, why, 0
	for _, b := range p.Buffers() {
		p.info.Bytes += b.Bytes()
	}
	return nil
}

// findStarts computes start, once.
func (p *Packed[V]) findStarts(s kernels.Stream) error {
	if p.start.Buf != nil {
		return nil
	}
	info, err := cuda.Lookup("msrep_major_merge" + suffix[V]())
	if err != nil {
		return err
	}
	tiles := info.Carries(int64(p.A.Part.Majors()) + p.A.Part.NNZ())
	if p.start, err = kernels.NewArray[int32](p.A.Ptr.Buf.Device(), tiles+1); err != nil {
		return err
	}
	part := p.A.Part
	return s.Launch(&mergePath{ptr: p.A.Ptr, start: p.start, rows: int64(part.Majors()), first: part.StartIdx, end: part.EndIdx + 1})
}

// DropStarts frees the memory that only the merge kernels need.
func (p *Packed[V]) DropStarts() error {
	err := p.start.Free()
	p.start = kernels.Array[int32]{}
	return err
}

// Info describes the packed part.
func (p *Packed[V]) Info() kernels.PackInfo { return p.info }

// Describe records the measured forms.
func (p *Packed[V]) Describe(tried []kernels.PackTrial) { p.info.Tried = tried }

// Buffers returns the buffers of the part.
func (p *Packed[V]) Buffers() (out []kernels.Buffer) {
	if p.freed.Load() {
		return nil
	}
	for _, b := range []kernels.Buffer{p.A.Ptr.Buf, p.A.Idx.Buf, p.A.Val.Buf, p.start.Buf} {
		if b != nil {
			out = append(out, b)
		}
	}
	return out
}

// Free frees the memory.
func (p *Packed[V]) Free() error {
	if p.freed.Swap(true) {
		return nil
	}
	return errors.Join(p.A.Ptr.Free(), p.A.Idx.Free(), p.A.Val.Free(), p.start.Free())
}

// mergePath is an operation that finds the starts of the merge-path tiles.
type mergePath struct {
	ptr              kernels.Array[int64]
	start            kernels.Array[int32]
	rows, first, end int64
}

// Name returns the name of the operation.
func (*mergePath) Name() string { return "merge-path" }

func (op *mergePath) plan(b *builder) {
	ptr, start := array(b, "ptr", op.ptr, op.rows+1), array(b, "start", op.start, op.start.Len)
	b.call("msrep_merge_path", op.start.Len, ptr, start, op.rows, op.first, op.end)
}

func majorProductPacked[V sparse.Value](b *builder, op *kernels.MajorProductPacked[V]) {
	if _, ok := op.A.(*packedSegments); ok {
		if op, ok := any(op).(*kernels.MajorProductPacked[float64]); ok {
			majorProductSegments(b, &kernels.MajorProductSegments{
				A: op.A, Alpha: op.Alpha, Beta: op.Beta, X: kernels.SegmentVector{Val: op.X}, Y: kernels.SegmentVector{Val: op.Y}, Carry: op.Carry,
			})
			return
		}
	}
	if p, ok := op.A.(*Rows[V]); ok && p != nil {
		p.majorProduct(b, op)
		return
	}
	p, ok := op.A.(*Packed[V])
	switch {
	case !ok || p == nil:
		b.err = fmt.Errorf("%w: a packed part of another kind of device, or of other values", kernels.ErrArgument)
		return
	case p.freed.Load():
		b.err = fmt.Errorf("%w: the packed part was freed", kernels.ErrClosed)
		return
	case op.X.Len != p.Minors:
		b.err = fmt.Errorf("%w: x has %d elements, it needs %d", kernels.ErrArgument, op.X.Len, p.Minors)
		return
	}
	g := &kernels.MajorProduct[V]{A: p.A, Alpha: op.Alpha, Beta: op.Beta, X: op.X, Y: op.Y, Carry: op.Carry}
	if p.info.Form == kernels.FormMerge {
		majorProduct(b, g, Merge, &p.start)
		return
	}
	majorProduct(b, g, Vector, nil)
}
