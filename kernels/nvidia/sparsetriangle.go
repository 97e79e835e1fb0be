//go:build cuda

package nvidia

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/nvidia/internal/cusparse"
	"github.com/msrep-go/msrep/sparse"
)

// sparseTriangle is a triangle that cuSPARSE solves, for one right-hand side. Only
// benchmarks use it.
type sparseTriangle[V sparse.Value] struct {
	dev    *Device
	rows   int64
	ptr    kernels.Array[int32]
	idx    kernels.Array[int32]
	val    kernels.Array[V]
	buffer kernels.Buffer
	info   kernels.PackInfo
	freed  atomic.Bool

	// Only the thread of the device uses these fields.
	matrix *cusparse.Matrix
	x, y   *cusparse.Vector
	solve  *cusparse.Solve
}

// PackTriangleCuSPARSE packs a triangle for cuSPARSE, to compare it with Pack. op is a
// *kernels.TrianglePacking. A TriangularSolve with the result has one right-hand side.
func (d *Device) PackTriangleCuSPARSE(op kernels.Operation) (p kernels.Packed, err error) {
	switch op := op.(type) {
	case *kernels.TrianglePacking[float64]:
		p, err = newSparseTriangle(d, op)
	case *kernels.TrianglePacking[float32]:
		p, err = newSparseTriangle(d, op)
	default:
		err = kernels.ErrNotSupported
	}
	if err != nil {
		return nil, d.fail("cusparse", 0, err)
	}
	return p, nil
}

func newSparseTriangle[V sparse.Value](d *Device, op *kernels.TrianglePacking[V]) (kernels.Packed, error) {
	n := op.Rows()
	switch err := op.Check(); {
	case err != nil:
		return nil, err
	case n == 0 || int64(len(op.Idx)) > math.MaxInt32-int64(n):
		return nil, fmt.Errorf("%w: a triangle of %d rows and %d entries", kernels.ErrNotSupported, n, len(op.Idx))
	}
	st, err := d.NewStream()
	if err != nil {
		return nil, err
	}
	s := st.(*stream)
	t := &sparseTriangle[V]{dev: d, rows: int64(n)}
	err = t.upload(s, op)
	if err == nil {
		err = t.open(s, op.Upper, op.Diag == nil)
	}
	if err = errors.Join(err, s.Close()); err != nil {
		return nil, errors.Join(err, t.Free())
	}
	t.info = kernels.PackInfo{Form: FormCuSPARSE, Why: "cusparseSpSV"}
	for _, b := range t.Buffers() {
		t.info.Bytes += b.Bytes()
	}
	return t, nil
}

// upload copies the triangle with its diagonal to the device.
func (t *sparseTriangle[V]) upload(s *stream, op *kernels.TrianglePacking[V]) (err error) {
	ptr, idx, val := make([]int32, 1, t.rows+1), make([]int32, 0, len(op.Idx)+len(op.Diag)), make([]V, 0, len(op.Idx)+len(op.Diag))
	for r := range int(t.rows) {
		lo, hi := op.Ptr[r], op.Ptr[r+1]
		if op.Upper && op.Diag != nil {
			idx, val = append(idx, int32(r)), append(val, op.Diag[r])
		}
		idx, val = append(idx, op.Idx[lo:hi]...), append(val, op.Val[lo:hi]...)
		if !op.Upper && op.Diag != nil {
			idx, val = append(idx, int32(r)), append(val, op.Diag[r])
		}
		ptr = append(ptr, int32(len(idx)))
	}
	if t.ptr, err = putArray(t.dev, s, ptr); err != nil {
		return err
	}
	if t.idx, err = putArray(t.dev, s, idx); err != nil {
		return err
	}
	if t.val, err = putArray(t.dev, s, val); err != nil {
		return err
	}
	return s.Sync()
}

// open creates the descriptions, with vectors of its own for the analysis, and analyses
// the triangle.
func (t *sparseTriangle[V]) open(s *stream, upper, unit bool) (err error) {
	d, single := t.dev, mem.Size[V]() == 4
	vectors, err := kernels.NewArray[V](d, 2*t.rows)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, vectors.Free()) }()
	var at [4]uint64
	for i, b := range []kernels.Buffer{t.ptr.Buf, t.idx.Buf, t.val.Buf, vectors.Buf} {
		p, err := d.own(b, 0, b.Bytes())
		if err != nil {
			return err
		}
		at[i] = uint64(p)
	}
	var need int64
	err = d.run("cusparse", 0, func() (err error) {
		if d.sparse == nil {
			if d.sparse, err = cusparse.New(); err != nil {
				return err
			}
		}
		if t.matrix, err = cusparse.CSR(t.rows, t.rows, t.idx.Len, at[0], at[1], at[2], false, single); err != nil {
			return err
		}
		if t.x, err = cusparse.NewVector(t.rows, at[3], single); err != nil {
			return err
		}
		if t.y, err = cusparse.NewVector(t.rows, at[3]+uint64(t.rows*mem.Size[V]()), single); err != nil {
			return err
		}
		if t.solve, err = d.sparse.NewSolve(t.matrix, upper, unit, t.x, t.y); err != nil {
			return err
		}
		need, err = d.sparse.SolveBytes(t.solve)
		return err
	})
	if err != nil {
		return err
	}
	if t.buffer, err = d.Alloc(max(need, 1)); err != nil {
		return err
	}
	to, err := d.own(t.buffer, 0, t.buffer.Bytes())
	if err != nil {
		return err
	}
	return d.run("cusparse analysis", 0, func() error {
		if err := d.sparse.SetStream(unsafe.Pointer(s.s.C())); err != nil {
			return err
		}
		if err := d.sparse.Analyse(t.solve, uint64(to)); err != nil {
			return err
		}
		return d.sync(s.s)
	})
}

// run checks the vectors and returns a function that enqueues a solve on a stream.
func (t *sparseTriangle[V]) run(s *stream, op *kernels.TriangularSolve[V]) (func() error, error) {
	d := t.dev
	switch {
	case t.freed.Load():
		return nil, fmt.Errorf("%w: the packed triangle was freed", kernels.ErrClosed)
	case d != s.dev:
		return nil, fmt.Errorf("%w: the packed triangle is on device %s", kernels.ErrArgument, d.info.ID)
	case op.B.Cols != 1 || op.B.Stride != 1 || op.X.Cols != 1 || op.X.Stride != 1:
		return nil, fmt.Errorf("%w: several right-hand sides", kernels.ErrNotSupported)
	case op.B.Val.Len < t.rows || op.X.Val.Len < t.rows:
		return nil, fmt.Errorf("%w: b and x have %d and %d elements, they need %d", kernels.ErrArgument, op.B.Val.Len, op.X.Val.Len, t.rows)
	}
	b, err := d.own(op.B.Val.Buf, op.B.Val.Off, t.rows*mem.Size[V]())
	if err != nil {
		return nil, fmt.Errorf("b: %w", err)
	}
	x, err := d.own(op.X.Val.Buf, op.X.Val.Off, t.rows*mem.Size[V]())
	if err != nil {
		return nil, fmt.Errorf("x: %w", err)
	}
	return func() error {
		if err := cmp.Or(d.sparse.SetStream(unsafe.Pointer(s.s.C())), t.x.Set(uint64(b)), t.y.Set(uint64(x))); err != nil {
			return err
		}
		return d.sparse.Solve(t.solve, float64(op.Alpha))
	}, nil
}

// Info describes the packed triangle.
func (t *sparseTriangle[V]) Info() kernels.PackInfo { return t.info }

// Buffers returns the buffers of the triangle.
func (t *sparseTriangle[V]) Buffers() (out []kernels.Buffer) {
	if t.freed.Load() {
		return nil
	}
	for _, b := range []kernels.Buffer{t.ptr.Buf, t.idx.Buf, t.val.Buf, t.buffer} {
		if b != nil {
			out = append(out, b)
		}
	}
	return out
}

// Free frees the memory.
func (t *sparseTriangle[V]) Free() error {
	if t.freed.Swap(true) {
		return nil
	}
	d := t.dev
	err := d.worker.call(func() error {
		var errs []error // descriptions are host memory, so they can be freed on a lost device
		if t.solve != nil {
			errs = append(errs, t.solve.Close())
		}
		if t.x != nil {
			errs = append(errs, t.x.Close())
		}
		if t.y != nil {
			errs = append(errs, t.y.Close())
		}
		if t.matrix != nil {
			errs = append(errs, t.matrix.Close())
		}
		if d.dead.Load() != nil {
			return nil
		}
		return errors.Join(errs...)
	})
	if errors.Is(err, kernels.ErrClosed) {
		return nil
	}
	errs := []error{d.fail("free", 0, err), t.ptr.Free(), t.idx.Free(), t.val.Free()}
	if t.buffer != nil {
		errs = append(errs, t.buffer.Free())
	}
	return errors.Join(errs...)
}
