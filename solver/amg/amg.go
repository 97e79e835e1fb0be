package amg

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/multigrid"
	"github.com/msrep-go/msrep/internal/rescue"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver/internal/probe"
	"github.com/msrep-go/msrep/sparse"
)

// Preconditioner is an approximate inverse M of a square matrix A: z = M r is one multigrid cycle for A z = r that begins
// with z = 0. Its methods may be called from any goroutine; cycles run one after the other.
type Preconditioner struct {
	mu     sync.Mutex
	sys    *msrep.System
	n      int
	levels []Level
	run    engine
	closed bool

	symmetric bool // A' = A
}

// Level describes a level of a hierarchy.
type Level struct {
	Rows int
	NNZ  int64   // entries of the matrix of the level
	Rho  float64 // upper bound of the absolute eigenvalues of D^-1 A; 0 on a level solved with its inverse
}

// engine runs cycles.
type engine interface {
	apply(r, z []float64) error
	applyVector(ctx context.Context, r, z *msrep.Vector[float64]) error
	bytes() int64
	close() error
}

// New builds the hierarchy of a square matrix without zeros on the diagonal, with plans on the devices of sys. Plans may use
// the arrays of a: they must not change before Close, which frees the memory.
//
// Wrong arguments and matrices, and a hierarchy that does not fit in memory, give a *sparse.InputError.
func New(ctx context.Context, sys *msrep.System, a sparse.Matrix[float64], opt Options) (p *Preconditioner, err error) {
	defer rescue.To(&err)
	if err := cmp.Or(given.Context(ctx), given.Check("matrix", a), given.Check("system", sys)); err != nil {
		return nil, err
	}
	if len(sys.Devices()) == 0 {
		return nil, fmt.Errorf("system: %w", msrep.ErrClosed)
	}
	m, err := probe.Tidy(a)
	if err != nil {
		return nil, err
	}
	if m.Rows != m.Cols {
		return nil, sparse.Inputf("matrix", "%d x %d: a multigrid cycle needs a square one", m.Rows, m.Cols)
	}
	if m.Rows == 0 {
		return nil, sparse.Inputf("matrix", "has no rows")
	}
	if err := opt.fill(m); err != nil {
		return nil, err
	}
	if err := multigrid.CheckNearNull(multigrid.Largest(opt.NearNull)); err != nil {
		return nil, err
	}
	if have, ok := mem.Fits(memoryOf(m, opt)); !ok {
		return nil, sparse.Inputf("matrix", "%d rows, %d entries: a multigrid hierarchy takes about %d bytes, %d are available", m.Rows, m.NNZ(), memoryOf(m, opt), have)
	}
	isSymmetric := symmetric(m)
	levels, err := build(ctx, m, isSymmetric, opt)
	if err != nil {
		return nil, err
	}
	p = &Preconditioner{sys: sys, n: m.Rows, symmetric: isSymmetric}
	for _, l := range levels {
		p.levels = append(p.levels, Level{Rows: l.a.Rows, NNZ: l.a.NNZ(), Rho: l.rho})
	}
	switch {
	case !opt.Deterministic && sys.Devices()[0].Kind != "cpu":
		p.run, err = asEngine(newOnDevices(ctx, sys, levels, opt))
	case !opt.Double && multigrid.FitsFloat32(m, 0):
		p.run, err = asEngine(newHost[float32](ctx, sys, levels, opt))
	default:
		p.run, err = asEngine(newHost[float64](ctx, sys, levels, opt))
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

func asEngine[E engine](e E, err error) (engine, error) { return e, err }

// memoryOf is about the number of bytes that a hierarchy for a takes while it is built: its matrices, coarse ones included,
// as plans and in CSR, vectors, and the inverse on the coarsest level.
func memoryOf(a *sparse.CSR[float64], opt Options) int64 {
	n, coarse := int64(a.Rows), int64(min(a.Rows, opt.CoarseSize))
	return 4*sparse.EntryBytes*a.NNZ() + int64(80+16*max(len(opt.NearNull), opt.Block))*n + 48*coarse*coarse
}

// none reports whether p was not made by New.
func (p *Preconditioner) none() bool { return p == nil || p.run == nil }

var errNone = sparse.Inputf("preconditioner", "is nil, or was not made by amg.New")

// Size returns the number of rows of A.
func (p *Preconditioner) Size() int {
	if p == nil {
		return 0
	}
	return p.n
}

// Apply computes z = M r by one cycle. r and z have Size elements and do not overlap.
func (p *Preconditioner) Apply(r, z []float64) (err error) {
	defer rescue.To(&err)
	switch {
	case p.none():
		return errNone
	case len(r) != p.n:
		return sparse.Inputf("r", "%d elements: the preconditioner has %d rows", len(r), p.n)
	case len(z) != p.n:
		return sparse.Inputf("z", "%d elements: the preconditioner has %d rows", len(z), p.n)
	case mem.Overlap(r, z):
		return sparse.Inputf("z", "shares memory with r")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return errClosed
	}
	return p.run.apply(r, z)
}

var errClosed = fmt.Errorf("preconditioner: %w", msrep.ErrClosed)

// ApplyVector is Apply for vectors of the System, each with Size elements, that stay on the devices. On devices with their
// own memory the host does not wait. With Options.Deterministic, however, the vectors are copied to the host and back.
func (p *Preconditioner) ApplyVector(ctx context.Context, r, z *msrep.Vector[float64]) (err error) {
	defer rescue.To(&err)
	if err := given.Context(ctx); err != nil {
		return err
	}
	switch {
	case p.none():
		return errNone
	case r.Len() != p.n:
		return sparse.Inputf("r", "%d elements: the preconditioner has %d rows", r.Len(), p.n)
	case z.Len() != p.n:
		return sparse.Inputf("z", "%d elements: the preconditioner has %d rows", z.Len(), p.n)
	case r == z:
		return sparse.Inputf("z", "is r")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return errClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return p.run.applyVector(ctx, r, z)
}

// Levels describes the levels, the finest first.
func (p *Preconditioner) Levels() []Level {
	if p == nil {
		return nil
	}
	return append([]Level(nil), p.levels...)
}

// OperatorComplexity returns the number of entries in the matrices of all levels over the number in A.
func (p *Preconditioner) OperatorComplexity() float64 {
	if p.none() {
		return 0
	}
	total := 0.0
	for _, l := range p.levels {
		total += float64(l.NNZ)
	}
	return total / max(float64(p.levels[0].NNZ), 1)
}

// Bytes returns the memory of the plans and vectors of all levels, in bytes.
func (p *Preconditioner) Bytes() int64 {
	if p.none() {
		return 0
	}
	return p.run.bytes()
}

// Close frees the memory. It may be called again.
func (p *Preconditioner) Close() error {
	if p.none() {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	p.closed = true
	return p.run.close()
}
