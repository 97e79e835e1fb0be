package msrep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/internal/rescue"
	"github.com/msrep-go/msrep/msrep/internal/layout"
	"github.com/msrep-go/msrep/msrep/internal/matmul"
	"github.com/msrep-go/msrep/sparse"
)

// SpGEMM returns C = A B in CSR, computed once on all devices of the machine.
//
// The columns of each row of C strictly ascend. C has an entry (i, j) if A has an entry (i, k) and B an entry (k, j) for some
// k, even if their products add to 0. The products of an entry are added in the order of row i of A, and each product and
// each sum is rounded: |C - A B| <= k eps |A||B| for an entry of k products. The bits are the same on any devices. A and B
// may be in any format; their rows may be unsorted and have duplicates.
//
// SpGEMM validates A and B. Bad arguments, shapes that do not match and a product that does not fit into memory give a
// *sparse.InputError. To multiply repeatedly with the same structure, make a MatrixProduct.
func SpGEMM[V sparse.Value](ctx context.Context, a, b sparse.Matrix[V]) (*sparse.CSR[V], error) {
	sys, err := defaultSystem.get()
	if err != nil {
		return nil, err
	}
	p, err := NewMatrixProduct(ctx, sys, a, b)
	if err != nil {
		return nil, err
	}
	return p.Result(), p.Close()
}

// MatrixProduct is the product C = A B of two sparse matrices. It keeps the structure of C, so that UpdateValues computes
// only values. C is in host memory.
//
// The workers of CPU devices take groups of rows of A as they become idle. If a device has its own memory, the rows of A
// are divided among the devices instead, with about equal numbers of multiplications; the device keeps its rows of A, and
// the rows of B that they need, until Close.
//
// Do not change the arrays of A and B while the MatrixProduct is open. The methods may be called from any goroutine;
// updates run one after the other. After a device error only Close succeeds.
type MatrixProduct[V sparse.Value] struct {
	sys *System

	mu     sync.Mutex
	a, b   sparse.Matrix[V] // as given; nil after Close
	rowsA  *sparse.CSR[V]   // a and b in CSR
	rowsB  *sparse.CSR[V]
	result *sparse.CSR[V]
	info   MatrixProductInfo
	plan   *matmul.Plan[V]
	broken error
	closed bool
}

// MatrixProductInfo describes a MatrixProduct.
type MatrixProductInfo struct {
	Multiplications int64               // the number of products of two entries
	Bytes           int64               // memory on devices with their own memory
	Timing          MatrixProductTiming // of NewMatrixProduct or the last UpdateValues
}

// MatrixProductTiming has the times of the phases of a product.
type MatrixProductTiming struct {
	Convert   time.Duration // validating A and B, converting them to CSR
	Analyze   time.Duration // counting the multiplications of each row, dividing the rows among workers and devices
	Compute   time.Duration // values; on devices with their own memory also columns and copies
	Structure time.Duration // finding the columns of C
	Total     time.Duration
}

// NewMatrixProduct computes C = A B on the devices of sys; see SpGEMM. After an error nothing stays allocated.
func NewMatrixProduct[V sparse.Value](ctx context.Context, sys *System, a, b sparse.Matrix[V]) (p *MatrixProduct[V], err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer rescue.To(&err) // a type that embeds a nil matrix panics
	if err := cmp.Or(given.Check("system", sys), given.Context(ctx), given.Check("A", a, "B", b)); err != nil {
		return nil, err
	}
	begin := time.Now()
	a, b = layout.Unwrap(a), layout.Unwrap(b)
	if err := cmp.Or(given.Check("A", a, "B", b), ctx.Err(), validate("A", a)); err != nil {
		return nil, err
	}
	if rowsOf(a) == nil || rowsOf(a) != rowsOf(b) {
		if err := validate("B", b); err != nil {
			return nil, err
		}
	}
	_, colsA := a.Dims()
	if rowsB, _ := b.Dims(); rowsB != colsA {
		return nil, sparse.Inputf("B", "%d rows; A has %d columns, so their product needs %[2]d", rowsB, colsA)
	}
	p = &MatrixProduct[V]{sys: sys, a: a, b: b}
	if err := sys.devices().Register(p); err != nil {
		return nil, err
	}
	made := p
	defer func() { // also after a panic
		if err != nil {
			err = errors.Join(err, made.Close())
			p = nil
		}
	}()
	defer rescue.To(&err)
	if p.rowsA, err = inRows(a); err != nil {
		return nil, err
	}
	if p.rowsB, err = inRows(b); err != nil {
		return nil, err
	}
	convert := time.Since(begin)
	if p.plan, err = matmul.New(ctx, sys.devices().List, sys.devices().OnHost(), p.rowsA, p.rowsB); err != nil {
		return nil, err
	}
	p.result = p.plan.Result()
	p.info.Multiplications = p.plan.Timing.Multiplications
	p.info.Bytes = p.plan.Bytes()
	p.timed(begin, convert)
	return p, nil
}

// validate is a.Validate with the name of the matrix in the error.
func validate[V sparse.Value](name string, a sparse.Matrix[V]) error {
	err := a.Validate()
	var bad *sparse.InputError
	if errors.As(err, &bad) {
		return &sparse.InputError{Subject: name, Err: err}
	}
	return err
}

// rowsOf returns a if it is a CSR matrix, else nil.
func rowsOf[V sparse.Value](a sparse.Matrix[V]) *sparse.CSR[V] {
	rows, _ := a.(*sparse.CSR[V])
	return rows
}

// inRows returns a in CSR. It fails if a copy does not fit into memory.
func inRows[V sparse.Value](a sparse.Matrix[V]) (*sparse.CSR[V], error) {
	lay, err := layout.New(a, sparse.FormatCSR, false)
	if err != nil {
		return nil, err
	}
	rows, cols := a.Dims()
	return &sparse.CSR[V]{Rows: rows, Cols: cols, RowPtr: lay.Ptr, ColIdx: lay.Minor, Val: lay.Val}, nil
}

// timed sets the times of a product that began at begin.
func (p *MatrixProduct[V]) timed(begin time.Time, convert time.Duration) {
	t := p.plan.Timing
	p.info.Timing = MatrixProductTiming{Convert: convert, Analyze: t.Analyze, Compute: t.Compute, Structure: t.Structure, Total: time.Since(begin)}
}

// Result returns C. It belongs to the caller and stays valid after Close. UpdateValues overwrites its values: do not read or
// change C during an update, and do not change its structure before Close.
func (p *MatrixProduct[V]) Result() *sparse.CSR[V] {
	if p == nil {
		return nil
	}
	return p.result
}

// Info returns the size and the times of the product.
func (p *MatrixProduct[V]) Info() MatrixProductInfo {
	if p == nil {
		return MatrixProductInfo{}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.info
}

// UpdateValues computes C again with new values of A and B. a[k] replaces Val[k] of the matrix A given to NewMatrixProduct,
// and b[k] that of B. nil keeps the values of the last product. Another length gives a *sparse.InputError. The MatrixProduct
// keeps a and b; do not change them while it is open.
//
// If ctx ends, the values of C are unspecified until the next update.
func (p *MatrixProduct[V]) UpdateValues(ctx context.Context, a, b []V) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer rescue.To(&err)
	if p == nil || p.sys == nil {
		return sparse.Inputf("matrix product", "is nil, or was not made by NewMatrixProduct")
	}
	if err := given.Context(ctx); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return fmt.Errorf("matrix product: %w", ErrClosed)
	case p.broken != nil:
		return fmt.Errorf("matrix product: unusable after an earlier error: %w", p.broken)
	case ctx.Err() != nil:
		return ctx.Err()
	}
	begin := time.Now()
	newA, rowsA, err := withValues("a", p.a, p.rowsA, a)
	if err != nil {
		return err
	}
	newB, rowsB, err := withValues("b", p.b, p.rowsB, b)
	if err != nil {
		return err
	}
	convert := time.Since(begin)
	p.broken = errHalfUpdated // in case of a panic
	err = p.plan.Update(ctx, rowsA, rowsB)
	p.broken = nil
	if err != nil && ctx.Err() == nil && !sparse.IsInput(err) {
		p.broken = err
	}
	p.a, p.b, p.rowsA, p.rowsB = newA, newB, rowsA, rowsB
	if err == nil {
		p.timed(begin, convert)
	}
	return err
}

// withValues returns the matrix m, whose rows in CSR are rows, with the values val, as given and in CSR. It returns m and
// rows if val is nil.
func withValues[V sparse.Value](name string, m sparse.Matrix[V], rows *sparse.CSR[V], val []V) (sparse.Matrix[V], *sparse.CSR[V], error) {
	if val == nil {
		return m, rows, nil
	}
	if int64(len(val)) != m.NNZ() {
		return nil, nil, sparse.Inputf(name, "%d values: the matrix has %d entries", len(val), m.NNZ())
	}
	m = layout.WithValues(m, val)
	changed, err := inRows(m)
	if err != nil {
		return nil, nil, err
	}
	changed.RowPtr, changed.ColIdx = rows.RowPtr, rows.ColIdx
	return m, changed, nil
}

// Close waits for a running update and frees the memory of the devices. It may be called again.
func (p *MatrixProduct[V]) Close() error {
	if p == nil || p.sys == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	p.closed = true
	defer p.sys.devices().Unregister(p)
	p.a, p.b, p.rowsA, p.rowsB = nil, nil, nil, nil
	if p.plan == nil {
		return nil
	}
	err := p.plan.Close()
	p.plan = nil
	return err
}
