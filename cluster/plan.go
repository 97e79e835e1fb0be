package cluster

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"
	"time"

	"github.com/msrep-go/msrep/internal/devvec"
	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/sparse"
)

// Plan is a matrix over ranks, placed on the devices once and multiplied many times. With float64 it is an operator
// of package solver.
//
// All ranks call SpMV, Sum and Max in the same order. The vectors of a Plan are the pieces of this rank; see the
// package comment.
type Plan[V sparse.Value] struct {
	sys            *System
	rank           int
	rows, cols     int // of the whole matrix
	nnz            int64
	rowCut, colCut []int
	ownRows        int
	ownCols        int

	mu         sync.Mutex
	local      *msrep.Plan[V] // local columns; all columns if whole
	remote     *msrep.Plan[V] // remote columns; nil if there are none or if whole
	rowsOf     []int32        // row of each row of remote
	whole      bool           // deterministic: local has all columns
	transposed *Plan[V]       // deterministic: the transposed matrix; nil if no transposed products are expected

	want     wanted
	halo     port[V]         // elements of other ranks; if whole, preceded by the rank's own elements
	out      port[V]         // elements for other ranks
	sums     []V             // y of the remote product
	forth    Link            // from out to halo
	back     Link            // from halo to out
	kernels  []time.Duration // of the devices, in the latest local product
	last     msrep.Timing    // of the last product
	times    Times
	products int64
	dev      onDevices[V]
}

// Times holds the times of products, added up. Devices may work asynchronously: for products of vectors on devices
// (Plan.Apply), Local and Remote are the times to queue the work, and the next phase that waits includes the
// execution.
type Times struct {
	Pack     time.Duration // copying elements into and out of messages
	Exchange time.Duration // from the first message to the last
	Wait     time.Duration // part of Exchange that no product overlapped
	Local    time.Duration // products of the local matrix
	Remote   time.Duration // products of the remote matrix
	Total    time.Duration
}

var _ solver.Distributed = (*Plan[float64])(nil)

// NewPlan places the rows of all ranks on their devices. All ranks call it with the same options, for pieces of the
// same matrix. It compares the arguments that affect the exchange, and returns an error on all ranks if they differ.
//
// NewPlan takes ownership of m: m.Part is nil afterwards. opt is the argument of msrep.NewPlan for the rows of each
// rank; opt.Variant.Split is the split among its devices. With opt.Deterministic, products with Trans require
// opt.Expected.Transposed. opt.Reorder has no effect.
func NewPlan[V sparse.Value](ctx context.Context, sys *System, m *Matrix[V], opt msrep.PlanOptions) (*Plan[V], error) {
	if sys.none() {
		return nil, errNoSystem
	}
	opt.Reorder = false // the ranks exchange elements in the order of the matrix
	var missing error
	switch {
	case ctx == nil:
		missing = given.Context(ctx)
	case m == nil || m.Part == nil:
		missing = errNoPart
	case devvec.Device(sys.local, 0) == nil:
		missing = fmt.Errorf("system: %w", msrep.ErrClosed)
	}
	if err := sys.Agree(missing); err != nil {
		return nil, err
	}
	if err := sys.Same("plan", planned(m, opt)); err != nil {
		return nil, err
	}
	p := &Plan[V]{
		sys: sys, rank: sys.comm.Rank(), rows: m.Rows, cols: m.Cols, nnz: m.NNZ, rowCut: m.RowCut, colCut: m.ColCut,
		ownRows: m.RowCut[m.rank+1] - m.RowCut[m.rank], ownCols: m.ColCut[m.rank+1] - m.ColCut[m.rank], whole: opt.Deterministic,
	}
	err := p.build(ctx, m, opt)
	m.Part = nil
	if e := p.prepareDevices(err != nil); err == nil {
		err = e
	}
	if err = sys.Agree(err); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// planned describes the properties that ranks must have in common.
func planned[V sparse.Value](m *Matrix[V], opt msrep.PlanOptions) string {
	var v V
	return fmt.Sprintf("%d x %d of %T, cut by %08x, deterministic %t, transposed %t", m.Rows, m.Cols, v, checksum(m.RowCut, m.ColCut),
		opt.Deterministic, opt.Deterministic && opt.Expected.Transposed > 0)
}

// checksum identifies the cuts of a matrix.
func checksum(rowCut, colCut []int) uint32 {
	return crc32.ChecksumIEEE(fmt.Append(nil, rowCut, colCut))
}

// build runs the steps of NewPlan. A step that needs the other ranks is reached by all ranks.
func (p *Plan[V]) build(ctx context.Context, m *Matrix[V], opt msrep.PlanOptions) error {
	if opt.Deterministic && opt.Expected.Transposed > 0 {
		t, err := m.Transpose(p.sys.comm)
		if err != nil {
			return err
		}
		transposed := opt
		transposed.Expected.Products, transposed.Expected.Transposed = max(opt.Expected.Transposed, 1), 0
		if p.transposed, err = NewPlan(ctx, p.sys, t, transposed); err != nil {
			return err
		}
	}
	var parts split[V]
	if p.whole {
		parts.local, parts.halo = joined(m)
		opt.Expected.Transposed = 0
	} else {
		parts = newSplit(m)
	}
	m.Part = nil
	if err := p.connect(parts.halo); err != nil {
		return err
	}
	var err error
	opt.SkipValidation = true // every rank has checked its indices
	if p.local, err = msrep.NewPlan(ctx, p.sys.local, parts.local, opt); err != nil {
		return err
	}
	parts.local = nil
	if !p.whole && len(parts.halo) > 0 {
		p.rowsOf, p.sums = parts.rows, make([]V, len(parts.rows))
		p.remote, err = msrep.NewPlan(ctx, p.sys.local, parts.remote, opt)
	}
	return err
}

// connect exchanges the needs of the ranks and sets up their messages.
func (p *Plan[V]) connect(halo []int32) (err error) {
	c := p.sys.comm
	if p.want, err = requestHalo(c, p.colCut, halo); err != nil {
		return err
	}
	front := 0
	if p.whole {
		front = p.ownCols
	}
	onDevice := !p.whole && p.sys.ownMemory()
	if p.halo, err = openPort[V](p.sys, front, len(halo), onDevice); err == nil {
		p.out, err = openPort[V](p.sys, 0, length(p.want.out), onDevice)
	}
	var gives, gets []Message
	if err == nil {
		gives, gets = p.out.messages(p.want.out), p.halo.messages(p.want.in)
	} // after an error, too, this rank makes as many links as the others
	var forth, back error
	p.forth, forth = c.Link(gives, gets)
	p.back, back = c.Link(gets, gives)
	return errors.Join(err, forth, back)
}

// none reports whether p was not made by NewPlan.
func (p *Plan[V]) none() bool { return p == nil || p.sys == nil }

// Dims returns the numbers of rows and columns of this rank's pieces: the lengths of y and x in a product with A.
func (p *Plan[V]) Dims() (rows, cols int) { return p.ownRows, p.ownCols }

// Whole returns the numbers of rows, columns and entries of the matrix of all ranks.
func (p *Plan[V]) Whole() (rows, cols int, nnz int64) { return p.rows, p.cols, p.nnz }

// Local returns the plan of the local columns for products with op. With Deterministic it is a plan for op(A) with
// all columns.
func (p *Plan[V]) Local(op msrep.Transpose) *msrep.Plan[V] {
	if p.transposed != nil && op == msrep.Trans {
		return p.transposed.local
	}
	return p.local
}

// Remote returns the plan of the remote columns; nil if there are none, and with Deterministic.
func (p *Plan[V]) Remote() *msrep.Plan[V] { return p.remote }

// Times returns the times of all products so far, and their number.
func (p *Plan[V]) Times() (t Times, products int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t, products = p.times, p.products
	if p.transposed != nil {
		u, n := p.transposed.Times()
		t = Times{t.Pack + u.Pack, t.Exchange + u.Exchange, t.Wait + u.Wait, t.Local + u.Local, t.Remote + u.Remote, t.Total + u.Total}
		products += n
	}
	return t, products
}

// ResetTimes resets the times and the number of products to 0.
func (p *Plan[V]) ResetTimes() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.times, p.products = Times{}, 0
	if p.transposed != nil {
		p.transposed.ResetTimes()
	}
}

// Sent returns the bytes and messages of vector elements that this rank has sent in all products so far; 0 after
// Close.
func (p *Plan[V]) Sent() (bytes, messages int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range []Link{p.forth, p.back} {
		if l != nil {
			b, m := l.Sent()
			bytes, messages = bytes+b, messages+m
		}
	}
	if p.transposed != nil {
		b, m := p.transposed.Sent()
		bytes, messages = bytes+b, messages+m
	}
	return bytes, messages
}

// Halo returns the number of elements of x that this rank receives in a product with A.
func (p *Plan[V]) Halo() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.halo.host)
}

// Close releases the plan's memory on this rank.
func (p *Plan[V]) Close() error {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	errs := []error{p.transposed.Close(), p.local.Close(), p.remote.Close()}
	for _, l := range []Link{p.forth, p.back} {
		if l != nil {
			errs = append(errs, l.Close())
		}
	}
	errs = append(errs, p.dev.close(), p.halo.close(), p.out.close())
	p.local, p.remote, p.transposed, p.forth, p.back = nil, nil, nil, nil, nil
	return errors.Join(errs...)
}
