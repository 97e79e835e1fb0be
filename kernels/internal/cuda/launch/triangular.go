package launch

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/internal/cuda/leveled"
	"github.com/msrep-go/msrep/sparse"
)

// FormLeveled has the rows of a triangle in the order of their levels (package leveled).
const FormLeveled kernels.Form = "leveled"

const (
	// triangularPolls is the number of rounds without progress after which a warp gives
	// up. A round takes about half a microsecond.
	triangularPolls = 1 << 26
	// manyColumns is the number of columns that msrep_triangular_many solves at once.
	manyColumns = 4
)

// Triangle is a triangular matrix on a device. It implements kernels.PackedTriangle.
type Triangle[V sparse.Value] struct {
	dev    kernels.Device
	rows   int64
	unit   bool
	host   *leveled.Triangle[V] // for Update: which value goes where
	ptr    kernels.Array[int64]
	idx    kernels.Array[int32]
	val    kernels.Array[V]
	diag   kernels.Array[V]
	perm   kernels.Array[int32]
	task   kernels.Array[int32]
	failed kernels.Array[int32]
	info   kernels.PackInfo
	freed  atomic.Bool
}

// PackTriangle stores a triangle on a device. An error wraps kernels.ErrArgument if the
// lengths of the arrays do not fit, and kernels.ErrOutOfMemory for memory of the device
// or the host. If PackTriangle fails, it frees its memory.
func PackTriangle[V sparse.Value](d kernels.Device, s kernels.Stream, op *kernels.TrianglePacking[V]) (*Triangle[V], error) {
	if err := op.Check(); err != nil {
		return nil, err
	}
	begin := time.Now()
	n, nnz := int64(op.Rows()), int64(len(op.Idx))
	need := nnz*(4+8+mem.Size[V]()) + n*(8+11*4+mem.Size[V]()) // arrays, levels and places
	if have, ok := mem.Fits(need); !ok {
		return nil, fmt.Errorf("%w of the host: to order the rows by levels takes %d bytes, %d are available", kernels.ErrOutOfMemory, need, have)
	}
	host, err := leveled.New(op)
	if err != nil {
		return nil, err
	}
	t := &Triangle[V]{dev: d, rows: n, host: host}
	if err := t.upload(s); err != nil {
		return nil, errors.Join(err, t.Free())
	}
	t.info = kernels.PackInfo{
		Form: FormLeveled, Why: fmt.Sprintf("%d levels, %d warps", host.Levels, t.task.Len-1), Padding: t.val.Len - nnz, Took: time.Since(begin),
	}
	for _, b := range t.Buffers() {
		t.info.Bytes += b.Bytes()
	}
	return t, nil
}

func (t *Triangle[V]) upload(s kernels.Stream) (err error) {
	h := t.host
	if t.ptr, err = put(t.dev, s, h.Ptr); err != nil {
		return err
	}
	if t.idx, err = put(t.dev, s, h.Idx); err != nil {
		return err
	}
	if t.val, err = put(t.dev, s, h.Val); err != nil {
		return err
	}
	if h.Diag != nil {
		if t.diag, err = put(t.dev, s, h.Diag); err != nil {
			return err
		}
	}
	if t.perm, err = put(t.dev, s, h.Perm); err != nil {
		return err
	}
	if t.task, err = put(t.dev, s, h.Task); err != nil {
		return err
	}
	if t.failed, err = kernels.NewArray[int32](t.dev, 1); err != nil {
		return err
	}
	err = s.Sync()
	t.unit = h.Diag == nil
	h.Ptr, h.Idx, h.Val, h.Diag, h.Task = nil, nil, nil, nil, nil // Update needs only Perm
	return err
}

// Update implements kernels.PackedTriangle.
func (t *Triangle[V]) Update(op kernels.Operation) (err error) {
	p, ok := op.(*kernels.TrianglePacking[V])
	switch {
	case !ok:
		return fmt.Errorf("%w: values of another type", kernels.ErrArgument)
	case t.freed.Load():
		return fmt.Errorf("%w: the packed triangle was freed", kernels.ErrClosed)
	}
	if err := p.Check(); err != nil {
		return err
	}
	if int64(p.Rows()) != t.rows || int64(len(p.Idx)) != t.val.Len-t.info.Padding || (p.Diag == nil) != t.unit {
		return fmt.Errorf("%w: another pattern", kernels.ErrArgument)
	}
	s, err := t.dev.NewStream()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	t.host.Update(p)
	err = t.val.Write(s, t.host.Val)
	if err == nil && !t.unit {
		err = t.diag.Write(s, t.host.Diag)
	}
	err = errors.Join(err, s.Sync())
	t.host.Val, t.host.Diag = nil, nil
	return err
}

// GaveUp returns a row whose solve waited in vain for another row, -1 if there is none.
// It happens only if memory of the device was overwritten: a packed triangle has no
// cycles. Such a row, and those that depend on it, are NaN in X.
func (t *Triangle[V]) GaveUp() (row int64, err error) {
	if t.freed.Load() {
		return -1, fmt.Errorf("%w: the packed triangle was freed", kernels.ErrClosed)
	}
	s, err := t.dev.NewStream()
	if err != nil {
		return -1, err
	}
	var failed [1]int32
	err = errors.Join(t.failed.Read(s, failed[:]), s.Sync(), s.Close())
	return int64(failed[0]) - 1, err
}

// Info describes the packed triangle.
func (t *Triangle[V]) Info() kernels.PackInfo { return t.info }

// Buffers returns the buffers of the triangle.
func (t *Triangle[V]) Buffers() (out []kernels.Buffer) {
	if t.freed.Load() {
		return nil
	}
	for _, b := range t.all() {
		if b != nil {
			out = append(out, b)
		}
	}
	return out
}

func (t *Triangle[V]) all() []kernels.Buffer {
	return []kernels.Buffer{t.ptr.Buf, t.idx.Buf, t.val.Buf, t.diag.Buf, t.perm.Buf, t.task.Buf, t.failed.Buf}
}

// Free frees the memory.
func (t *Triangle[V]) Free() error {
	if t.freed.Swap(true) {
		return nil
	}
	var errs []error
	for _, b := range t.all() {
		if b != nil {
			errs = append(errs, b.Free())
		}
	}
	t.host = nil
	return errors.Join(errs...)
}

// triangularSolve plans a solve: up to manyColumns columns at a time.
func triangularSolve[V sparse.Value](b *builder, op *kernels.TriangularSolve[V]) {
	t, ok := op.A.(*Triangle[V])
	switch {
	case !ok || t == nil:
		b.err = fmt.Errorf("%w: a triangle of another kind of device, or of other values", kernels.ErrArgument)
		return
	case t.freed.Load():
		b.err = fmt.Errorf("%w: the packed triangle was freed", kernels.ErrClosed)
		return
	case op.B.Cols != op.X.Cols:
		b.err = fmt.Errorf("%w: b has %d columns, x has %d", kernels.ErrArgument, op.B.Cols, op.X.Cols)
		return
	}
	from, to := columns(b, "b", op.B, t.rows), columns(b, "x", op.X, t.rows)
	if b.err != nil || t.rows == 0 {
		return
	}
	places, tasks := t.perm.Len, t.task.Len-1
	matrix := []any{
		array(b, "ptr", t.ptr, places+1), array(b, "idx", t.idx, t.idx.Len), array(b, "val", t.val, t.idx.Len), array(b, "diag", t.diag, t.diag.Len),
		array(b, "perm", t.perm, places), array(b, "task", t.task, tasks+1),
	}
	width := int64(1)
	if op.B.Cols > 1 {
		width = manyColumns
	}
	w, ticket := temp[V](b, "results", width*places), temp[int32](b, "ticket", 1)
	failed := array(b, "failed", t.failed, 1)
	for j := 0; j < op.B.Cols; j += manyColumns {
		cols := int64(min(op.B.Cols-j, manyColumns))
		at := Addr(int64(j) * mem.Size[V]())
		args := append(append([]any(nil), matrix...), from+at, to+at, w, ticket, failed, tasks)
		name, used := "msrep_triangular", places
		if cols > 1 {
			name, used = "msrep_triangular_many", manyColumns*places
			args = append(args, cols)
		}
		b.call("msrep_triangular_start"+suffix[V](), used, w, ticket, used)
		b.call(name+suffix[V](), tasks, append(args, int64(op.B.Stride), int64(op.X.Stride), int64(triangularPolls), op.Alpha)...)
	}
}

// columns returns the address of several vectors of n elements.
func columns[V sparse.Value](b *builder, name string, v kernels.MultiVector[V], n int64) Addr {
	if b.err != nil {
		return 0
	}
	if v.Cols < 1 || v.Stride < v.Cols {
		b.err = fmt.Errorf("%w: %s has %d columns at a stride of %d", kernels.ErrArgument, name, v.Cols, v.Stride)
		return 0
	}
	need := int64(0)
	if n > 0 {
		need = (n-1)*int64(v.Stride) + int64(v.Cols)
	}
	if v.Val.Len < need {
		b.err = fmt.Errorf("%w: %s has %d elements, it needs %d", kernels.ErrArgument, name, v.Val.Len, need)
		return 0
	}
	return array(b, name, v.Val.Sub(0, need), need)
}
