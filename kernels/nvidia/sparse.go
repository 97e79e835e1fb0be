//go:build cuda

package nvidia

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/internal/cuda/launch"
	"github.com/msrep-go/msrep/kernels/nvidia/internal/cusparse"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// sparsePart is a part that cuSPARSE multiplies by. A first row that an earlier part
// owns is cut off, because its sum goes elsewhere: the merge kernels compute it.
type sparsePart[V sparse.Value] struct {
	dev    *Device
	own    *launch.Packed[V] // the arrays
	minors int64
	rows   int64 // number that the part owns
	skip   int64 // 1 if a first row is cut off
	before int64 // entries of the row that is cut off
	head   kernels.Array[int64]
	ptr    kernels.Array[int32] // pointers of the owned rows, from their first entry; none if they exceed 32 bits
	idx    kernels.Array[int32] // copies for cuSPARSE of arrays that are not aligned to sparseAlign
	val    kernels.Array[V]
	buffer kernels.Buffer
	info   kernels.PackInfo
	freed  atomic.Bool

	// Only the thread of the device uses these fields.
	matrix *cusparse.Matrix
	x, y   *cusparse.Vector
	plan   cusparse.Product
	clears bool // the algorithm reads y also if beta is 0, so that NaNs must go before
}

// newSparse creates a part from arrays that are already on the device, for one
// algorithm. If it fails, the caller still owns the arrays. x and y are vectors like
// those of the products; they serve to prepare the products.
func newSparse[V sparse.Value](d *Device, s *stream, own *launch.Packed[V], local []int64, alg cusparse.Algorithm, x, y kernels.Array[V]) (*sparsePart[V], error) {
	p := &sparsePart[V]{dev: d, own: own, minors: own.Minors}
	part := own.A.Part
	if part.StartFlag {
		p.skip, p.before = 1, local[1]
	}
	p.rows = int64(part.Majors()) - p.skip
	if err := p.build(s, local, alg, x, y); err != nil {
		return nil, errors.Join(err, p.drop())
	}
	return p, nil
}

// build creates the further arrays that cuSPARSE needs: 32-bit pointers of the owned
// rows, if 32 bits suffice. cuSPARSE does not accept 64-bit pointers from the middle of
// a part.
func (p *sparsePart[V]) build(s *stream, local []int64, alg cusparse.Algorithm, x, y kernels.Array[V]) (err error) {
	nnz := p.own.A.Part.NNZ() - p.before
	switch {
	case nnz == 0 || p.rows == 0:
		return fmt.Errorf("%w: no entries in the rows that the part owns", kernels.ErrNotSupported)
	case alg == cusparse.CSR2 && (p.rows == 1 || p.minors == 1):
		return fmt.Errorf("%w: one row or one column, which it multiplies wrongly before 13.0 (NVIDIA/cuopt 735, 1856)", kernels.ErrNotSupported)
	case nnz > math.MaxInt32 && p.before > 0:
		return fmt.Errorf("%w: %d entries behind a shared row", kernels.ErrNotSupported, nnz)
	case nnz <= math.MaxInt32:
		ptr := make([]int32, p.rows+1)
		for i, k := range local[p.skip:] {
			ptr[i] = int32(k - p.before)
		}
		if p.ptr, err = putArray(p.dev, s, ptr); err != nil {
			return err
		}
	}
	if p.skip == 1 {
		if p.head, err = putArray(p.dev, s, local[:2]); err != nil {
			return err
		}
	}
	if err := s.Sync(); err != nil {
		return err
	}
	return p.open(s, nnz, alg, x, y)
}

// open creates the cuSPARSE descriptions of the part and the vectors, and prepares
// products.
func (p *sparsePart[V]) open(s *stream, nnz int64, alg cusparse.Algorithm, x, y kernels.Array[V]) error {
	d, a := p.dev, p.own.A
	single := mem.Size[V]() == 4
	idx, err := aligned(s, a.Idx.Sub(p.before, p.before+nnz), &p.idx)
	if err != nil {
		return err
	}
	val, err := aligned(s, a.Val.Sub(p.before, p.before+nnz), &p.val)
	if err != nil {
		return err
	}
	xAt, err := d.own(x.Buf, x.Off, x.Len*mem.Size[V]())
	if err != nil {
		return err
	}
	yAt, err := d.own(y.Buf, y.Off, y.Len*mem.Size[V]())
	if err != nil {
		return err
	}
	ptr, wide := p.ptr.Buf, false
	if ptr == nil {
		ptr, wide = a.Ptr.Buf, true
	}
	rowPtr, err := d.own(ptr, 0, ptr.Bytes())
	if err != nil {
		return err
	}
	var need int64
	err = d.run("cusparse", 0, func() (err error) {
		if d.sparse == nil {
			if d.sparse, err = cusparse.New(); err != nil {
				return err
			}
		}
		if p.matrix, err = cusparse.CSR(p.rows, p.minors, nnz, uint64(rowPtr), idx, val, wide, single); err != nil {
			return err
		}
		// Each product sets its vectors. Preprocessing uses these, because it may write
		// to y.
		if p.x, err = cusparse.NewVector(p.minors, uint64(xAt), single); err != nil {
			return err
		}
		if p.y, err = cusparse.NewVector(p.rows, uint64(yAt), single); err != nil {
			return err
		}
		p.plan = cusparse.Product{A: p.matrix, X: p.x, Y: p.y, Algorithm: alg}
		need, err = d.sparse.BufferBytes(&p.plan)
		return err
	})
	if err != nil {
		return err
	}
	if err := p.prepare(s, need); err != nil || alg != cusparse.Op {
		return err
	}
	return p.seeWhetherYIsRead(s, y)
}

// seeWhetherYIsRead sets p.clears. It multiplies with beta = 0 and a y of NaNs, because nothing states whether SpMVOp reads y
// then.
func (p *sparsePart[V]) seeWhetherYIsRead(s *stream, y kernels.Array[V]) error {
	host := make([]V, y.Len)
	for i := range host {
		host[i] = V(math.NaN())
	}
	err := cmp.Or(y.Write(s, host), s.Sync(), p.dev.run("cusparse", 0, func() error { return p.dev.sparse.Multiply(&p.plan, 1, 0) }), y.Read(s, host), s.Sync())
	p.clears = slices.ContainsFunc(host, func(v V) bool { return v != v })
	return err
}

// prepare allocates the buffer and runs cuSPARSE's preprocessing on s.
func (p *sparsePart[V]) prepare(s *stream, bytes int64) (err error) {
	d := p.dev
	if p.buffer, err = d.Alloc(max(bytes, 1)); err != nil { // an address even if no memory is needed
		return err
	}
	at, err := d.own(p.buffer, 0, bytes)
	if err != nil {
		return err
	}
	return d.run("cusparse preprocess", 0, func() error {
		p.plan.Buffer = uint64(at)
		if err := d.sparse.SetStream(unsafe.Pointer(s.s.C())); err != nil {
			return err
		}
		if err := d.sparse.Preprocess(&p.plan); err != nil {
			return err
		}
		return d.sync(s.s)
	})
}

// product checks the vectors and returns a function that enqueues the product on a
// stream.
func (p *sparsePart[V]) product(s *stream, op *kernels.MajorProductPacked[V]) (func() error, error) {
	d := p.dev
	switch {
	case p.freed.Load():
		return nil, fmt.Errorf("%w: the packed part was freed", kernels.ErrClosed)
	case d != s.dev:
		return nil, fmt.Errorf("%w: the packed part is on device %s", kernels.ErrArgument, d.info.ID)
	case op.X.Len != p.minors || op.Y.Len != p.rows:
		return nil, fmt.Errorf("%w: x and y have %d and %d elements, they need %d and %d", kernels.ErrArgument, op.X.Len, op.Y.Len, p.minors, p.rows)
	}
	x, err := d.own(op.X.Buf, op.X.Off, op.X.Len*mem.Size[V]())
	if err != nil {
		return nil, fmt.Errorf("x: %w", err)
	}
	y, err := d.own(op.Y.Buf, op.Y.Off, op.Y.Len*mem.Size[V]())
	if err != nil {
		return nil, fmt.Errorf("y: %w", err)
	}
	if y%sparseAlign != 0 || p.plan.Algorithm == cusparse.Op && x%sparseAlign != 0 {
		own := *op
		own.A = p.own
		prog, err := launch.Plan(&own, d, launch.Vector)
		return func() error { return s.run(prog) }, err
	}
	first, err := p.first(op)
	if err != nil {
		return nil, err
	}
	return func() error {
		if err := s.run(first); err != nil {
			return err
		}
		if err := cmp.Or(d.sparse.SetStream(unsafe.Pointer(s.s.C())), p.x.Set(uint64(x)), p.y.Set(uint64(y))); err != nil {
			return err
		}
		if p.clears && op.Beta == 0 {
			if err := cu.MemsetD8Async(y, 0, op.Y.Len*mem.Size[V](), s.s); err != nil {
				return err
			}
		}
		return d.sparse.Multiply(&p.plan, float64(op.Alpha), float64(op.Beta))
	}, nil
}

// first plans the product of the row that is cut off; its sum goes to the carry.
func (p *sparsePart[V]) first(op *kernels.MajorProductPacked[V]) (*launch.Program, error) {
	if p.skip == 0 {
		return &launch.Program{}, nil
	}
	a, n := p.own.A, p.before
	row := kernels.Compressed[V]{
		Part: partition.Part{EndIdx: n - 1, StartFlag: true, OwnFirst: 1, OwnEnd: 1},
		Ptr:  p.head, Idx: a.Idx.Sub(0, n), Val: a.Val.Sub(0, n),
	}
	return launch.Plan(&kernels.MajorProduct[V]{A: row, Alpha: op.Alpha, X: op.X, Y: op.Y.Sub(0, 0), Carry: op.Carry}, p.dev, launch.Merge)
}

// Info describes the packed part.
func (p *sparsePart[V]) Info() kernels.PackInfo { return p.info }
