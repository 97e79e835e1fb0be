package msrep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/msrep-go/msrep/internal/devvec"
	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/internal/rescue"
	"github.com/msrep-go/msrep/msrep/internal/layout"
	"github.com/msrep-go/msrep/msrep/internal/triangular"
	"github.com/msrep-go/msrep/sparse"
)

// TriangularOptions says which triangle of a matrix a Triangular takes.
type TriangularOptions struct {
	Upper bool // the upper triangle, otherwise the lower one
	Unit  bool // the diagonal is 1; elements that the matrix stores there are ignored
}

// Triangular is a triangular matrix T that is stored on the devices of a System, for many solves of op(T)*x = alpha*b.
//
// With one device, the device has all rows. With several, each has a range of rows; while one of them solves its rows,
// those that have solved rows before it are idle, and those after it subtract the products with rows that are known.
// For most triangles one device is therefore as fast as several.
//
// A solve gives the same bits each time, whatever the number of threads of a CPU device. They depend on the kind and
// number of the devices. Rounding errors are as small as those of substitution: the computed x satisfies
// |T*x - alpha*b| <= c*eps*(|T||x| + |alpha*b|) element by element, where c is about the length of the row.
//
// Do not change the arrays of the matrix while the Triangular is open, except through UpdateValues. The methods may be
// called from any goroutine; solves run one after the other. After a device error (*kernels.DeviceError) it can only be
// closed.
type Triangular[V sparse.Value] struct {
	sys *System
	opt TriangularOptions

	mu         sync.Mutex
	src        sparse.Matrix[V] // nil after Close
	n          int
	info       TriangularInfo
	plain      *triangular.Plan[V]
	transposed *triangular.Plan[V] // for solves with Trans; nil before the first one
	resident   [2]*Vector[V]       // for NoTrans and Trans: with the pieces of the plan; nil if not needed yet
	broken     error
	closed     bool
}

// TriangularInfo describes a Triangular.
type TriangularInfo struct {
	Rows    int
	Entries int64 // of the triangle, with its diagonal unless that is 1
	// Levels is the number of rows of the longest chain in which each row depends on the one before. Rows/Levels bounds
	// how many rows can be solved at the same time.
	Levels  int
	Bytes   int64         // memory on the devices, with the transposed triangle if a solve has needed it
	Cuts    []int         // device i has the rows [Cuts[i], Cuts[i+1])
	Devices []PackInfo    // how the devices store the triangles of their rows
	Took    time.Duration // time of NewTriangular
}

// NewTriangular stores a triangle of a square matrix on the devices of sys. It ignores the entries of a outside the
// triangle, as MKL and cuSPARSE do, and adds duplicates. An element of the diagonal that is 0 or missing gives a
// *sparse.InputError that names the row, unless Unit is set; so do other bad arguments. After an error nothing stays
// allocated.
func NewTriangular[V sparse.Value](ctx context.Context, sys *System, a sparse.Matrix[V], opt TriangularOptions) (t *Triangular[V], err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer rescue.To(&err) // a type that embeds a nil matrix panics
	if err := cmp.Or(given.Check("system", sys), given.Context(ctx), given.Check("matrix", a)); err != nil {
		return nil, err
	}
	begin := time.Now()
	a = layout.Unwrap(a)
	if err := cmp.Or(given.Check("matrix", a), ctx.Err()); err != nil {
		return nil, err
	}
	if err := a.Validate(); err != nil {
		return nil, err
	}
	t = &Triangular[V]{sys: sys, opt: opt, src: a}
	if err := sys.devices().Register(t); err != nil {
		return nil, err
	}
	made := t
	defer func() { // also after a panic
		if err != nil {
			err = errors.Join(err, made.Close())
			t = nil
		}
	}()
	defer rescue.To(&err)
	m, err := t.extract(a, NoTrans)
	if err != nil {
		return nil, err
	}
	t.n = m.N
	if t.plain, err = triangular.New(sys.devices(), m, ctx.Err); err != nil {
		return nil, err
	}
	t.info = TriangularInfo{Rows: m.N, Entries: m.Entries(), Levels: m.Levels(), Cuts: slices.Clone(t.plain.Cuts()), Took: time.Since(begin)}
	return t, nil
}

// extract returns op(T) for a matrix like that of NewTriangular.
func (t *Triangular[V]) extract(a sparse.Matrix[V], op Transpose) (*triangular.Matrix[V], error) {
	if op == Trans {
		switch m := a.(type) {
		case *sparse.CSR[V]:
			a = m.Transpose()
		case *sparse.CSC[V]:
			a = m.Transpose()
		case *sparse.COO[V]:
			a = m.Transpose()
		}
	}
	l, err := layout.New(a, sparse.FormatCSR, false)
	if err != nil {
		return nil, err
	}
	rows := &sparse.CSR[V]{Rows: l.Majors, Cols: l.Minors, RowPtr: l.Ptr, ColIdx: l.Minor, Val: l.Val}
	return triangular.Extract(rows, t.opt.Upper != bool(op), t.opt.Unit)
}

// Info describes t.
func (t *Triangular[V]) Info() TriangularInfo {
	if t == nil {
		return TriangularInfo{}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	info := t.info
	if t.plain != nil {
		info.Bytes, info.Devices = t.plain.Bytes(), t.plain.Packs()
	}
	if t.transposed != nil {
		info.Bytes += t.transposed.Bytes()
	}
	return info
}

// Size returns the number of rows.
func (t *Triangular[V]) Size() int {
	if t == nil {
		return 0
	}
	return t.n
}

// Solve solves op(T)*x = alpha*b. b and x have Size elements; they may be the same slice, but must not overlap
// otherwise. alpha = 0 sets x to 0. An element of b that is infinite or NaN reaches the elements of x that depend on it.
// The first solve with Trans stores the transposed triangle, too. Bad arguments give a *sparse.InputError and leave x
// unchanged; after any other error x is unspecified.
func (t *Triangular[V]) Solve(ctx context.Context, op Transpose, alpha V, b, x []V) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	return t.use(ctx, op, func(p *triangular.Plan[V]) error {
		switch {
		case len(b) != t.n:
			return sparse.Inputf("b", "%d elements: the matrix has %d rows", len(b), t.n)
		case len(x) != t.n:
			return sparse.Inputf("x", "%d elements: the matrix has %d rows", len(x), t.n)
		case alpha == 0:
			clear(x)
			return nil
		case t.n == 0:
			return nil
		case t.sys.devices().OnHost():
			return t.failed(ctx, p.Host(ctx, alpha, b, x))
		}
		return t.failed(ctx, t.onDevices(op, p, func(v *Vector[V]) error {
			return roundTrip(ctx, p, alpha, v, b, x, 1)
		}))
	})
}

// use calls f with the plan for op. It makes the plan for Trans if there is none yet.
func (t *Triangular[V]) use(ctx context.Context, op Transpose, f func(p *triangular.Plan[V]) error) (err error) {
	defer rescue.To(&err)
	if t == nil || t.sys == nil {
		return sparse.Inputf("triangular", "is nil, or was not made by NewTriangular")
	}
	if err := given.Context(ctx); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
		return fmt.Errorf("triangular: %w", ErrClosed)
	case t.broken != nil:
		return fmt.Errorf("triangular: unusable after an earlier error: %w", t.broken)
	case ctx.Err() != nil:
		return ctx.Err()
	}
	p := t.plain
	if op == Trans {
		if t.transposed == nil {
			m, err := t.extract(t.src, Trans)
			if err != nil {
				return err
			}
			if t.transposed, err = triangular.New(t.sys.devices(), m, ctx.Err); err != nil {
				return err
			}
		}
		p = t.transposed
	}
	return f(p)
}

// failed returns the error of a solve. After a device error t is unusable.
func (t *Triangular[V]) failed(ctx context.Context, err error) error {
	if err != nil && ctx.Err() == nil && !sparse.IsInput(err) {
		t.broken = err
	}
	return err
}

// onDevices calls f with a vector that has the pieces of p.
func (t *Triangular[V]) onDevices(op Transpose, p *triangular.Plan[V], f func(v *Vector[V]) error) (err error) {
	k := 0
	if op == Trans {
		k = 1
	}
	if t.resident[k] == nil {
		if t.resident[k], err = devvec.New[V](t.sys.devices(), p.Cuts()); err != nil {
			return err
		}
	}
	return f(t.resident[k])
}

// SolveVector is Solve for vectors that stay on the devices. b may be x. The vectors belong to the System of t; those
// of RowVector are used in place, others are copied. On devices with their own memory the host does not wait.
func (t *Triangular[V]) SolveVector(ctx context.Context, op Transpose, alpha V, b, x *Vector[V]) error {
	return t.use(ctx, op, func(p *triangular.Plan[V]) error {
		switch {
		case b == nil:
			return sparse.Inputf("b", "is nil")
		case x == nil:
			return sparse.Inputf("x", "is nil")
		case !devvec.BelongsTo(b, t.sys.devices()) || !devvec.BelongsTo(x, t.sys.devices()):
			return sparse.Inputf("vector", "belongs to another system than the matrix")
		case b.Len() != t.n:
			return sparse.Inputf("b", "%d elements: the matrix has %d rows", b.Len(), t.n)
		case x.Len() != t.n:
			return sparse.Inputf("x", "%d elements: the matrix has %d rows", x.Len(), t.n)
		case alpha == 0 || t.n == 0:
			return x.Fill(0)
		case t.sys.devices().OnHost():
			return t.failed(ctx, devvec.Queued(x, []*Vector[V]{b}, func(*devvec.Queue) error { return p.Host(ctx, alpha, b.Host(), x.Host()) }))
		case slices.Equal(devvec.Cuts(x), p.Cuts()):
			return t.failed(ctx, inOrder(
				func() error { return x.Copy(b) },
				func() error { return p.Queue(ctx, alpha, x, 1) },
			))
		}
		return t.failed(ctx, t.onDevices(op, p, func(v *Vector[V]) error {
			return inOrder(
				func() error { return v.Copy(b) },
				func() error { return p.Queue(ctx, alpha, v, 1) },
				func() error { return x.Copy(v) },
			)
		}))
	})
}

// RowVector returns a vector of zeros with Size elements. Its pieces are the rows that the devices solve.
func (t *Triangular[V]) RowVector() (v *Vector[V], err error) {
	err = t.use(context.Background(), NoTrans, func(p *triangular.Plan[V]) error {
		v, err = devvec.New[V](t.sys.devices(), p.Cuts())
		return err
	})
	return v, err
}

// SolveMany is Solve for several right-hand sides, op(T)*X = alpha*B. B and X have the same number of vectors; they may
// be the same vectors in the same layout, but must not overlap otherwise. The workers of a CPU device share the vectors.
func (t *Triangular[V]) SolveMany(ctx context.Context, op Transpose, alpha V, b, x MultiVector[V]) error {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	return t.use(ctx, op, func(p *triangular.Plan[V]) error {
		err := cmp.Or(b.Check("b", t.n), x.Check("x", t.n))
		if err == nil && b.Count != x.Count {
			err = sparse.Inputf("x", "%d vectors: b has %d", x.Count, b.Count)
		}
		if err == nil && t.n > math.MaxInt/x.Count {
			err = sparse.Inputf("b", "%d vectors of %d elements: too many elements", x.Count, t.n)
		}
		if err != nil || t.n == 0 {
			return err
		}
		rows, err := devvec.OnHost[V](t.n * x.Count)
		if err != nil {
			return err
		}
		if alpha != 0 {
			for i := range t.n {
				for j := range x.Count {
					rows[i*x.Count+j] = b.Val[b.index(i, j)]
				}
			}
			if err := t.failed(ctx, t.solveRows(ctx, op, p, alpha, rows, x.Count)); err != nil {
				return err
			}
		}
		for i := range t.n {
			for j := range x.Count {
				x.Val[x.index(i, j)] = rows[i*x.Count+j]
			}
		}
		return nil
	})
}

// solveRows solves in place for count vectors that are stored row by row without gaps. Several devices with their own
// memory, which have no product with several vectors, solve for one after the other.
func (t *Triangular[V]) solveRows(ctx context.Context, op Transpose, p *triangular.Plan[V], alpha V, rows []V, count int) (err error) {
	if t.sys.devices().OnHost() {
		return p.HostMany(ctx, alpha, rows, count)
	}
	if len(p.Cuts()) == 2 {
		v, err := devvec.New[V](t.sys.devices(), []int{0, len(rows)})
		if err != nil {
			return err
		}
		return errors.Join(roundTrip(ctx, p, alpha, v, rows, rows, count), v.Close())
	}
	return t.onDevices(op, p, func(v *Vector[V]) error {
		all, one := MultiVectorByRow(rows, count), make([]V, t.n)
		for j := range count {
			all.Get(j, one)
			if err := roundTrip(ctx, p, alpha, v, one, one, 1); err != nil {
				return err
			}
			all.Set(j, one)
		}
		return nil
	})
}

// roundTrip copies b to the devices, solves there in v, and copies the solution to x.
func roundTrip[V sparse.Value](ctx context.Context, p *triangular.Plan[V], alpha V, v *Vector[V], b, x []V, count int) error {
	return inOrder(
		func() error { return v.Write(b) },
		func() error { return p.Queue(ctx, alpha, v, count) },
		func() error { return v.Read(x) },
	)
}

// UpdateValues replaces the values and keeps the structure. val has NNZ elements: val[k] is the new value of the entry
// whose value is Val[k] in the matrix of NewTriangular. Another length, and an element of the diagonal that becomes 0,
// give a *sparse.InputError, and nothing changes. From then on t may use val in place.
func (t *Triangular[V]) UpdateValues(ctx context.Context, val []V) error {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	return t.use(ctx, NoTrans, func(p *triangular.Plan[V]) error {
		if int64(len(val)) != t.src.NNZ() {
			return sparse.Inputf("val", "%d values: the matrix has %d entries", len(val), t.src.NNZ())
		}
		src := layout.WithValues(t.src, val)
		m, err := t.extract(src, NoTrans)
		if err != nil {
			return err
		}
		var turned *triangular.Matrix[V]
		if t.transposed != nil {
			if turned, err = t.extract(src, Trans); err != nil {
				return err
			}
		}
		if err := cmp.Or(t.plain.Wait(), t.transposed.Wait()); err != nil {
			return err
		}
		t.broken = errHalfUpdated // in case of a panic
		err = p.Update(m)
		if err == nil && turned != nil {
			err = t.transposed.Update(turned)
		}
		t.broken = err
		if err == nil {
			t.src = src
		}
		return err
	})
}

// Close waits for a running solve and frees the memory. It may be called again.
func (t *Triangular[V]) Close() error {
	if t == nil || t.sys == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil
	}
	t.closed = true
	defer t.sys.devices().Unregister(t)
	errs := []error{t.plain.Wait(), t.transposed.Wait()}
	for _, v := range t.resident {
		errs = append(errs, v.Close())
	}
	errs = append(errs, t.plain.Close(), t.transposed.Close())
	t.src, t.plain, t.transposed, t.resident = nil, nil, nil, [2]*Vector[V]{}
	return errors.Join(errs...)
}
