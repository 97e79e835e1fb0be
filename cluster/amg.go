package cluster

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/multigrid"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/solver/amg"
	"github.com/msrep-go/msrep/sparse"
)

// AMG is the multigrid preconditioner of package amg for a matrix whose rows are distributed over ranks. Vectors are pieces
// in host memory.
//
// Large levels are distributed over the ranks like the matrix. Small levels are on every rank as a whole, because messages
// would take longer than their products. All ranks compute the same there, and only the right-hand side of the first such
// level is sent.
type AMG struct {
	mu     sync.Mutex
	sys    *System
	n      int // rows of this rank
	levels []AMGLevel
	cycles cycles
	closed bool
}

var _ solver.Preconditioner = (*AMG)(nil)

// AMGLevel describes a level of an AMG. Rows and NNZ are those of all ranks together.
type AMGLevel struct {
	amg.Level
	Whole           bool  // every rank has the level as a whole
	Bytes, Messages int64 // what this rank sends in one visit to the level, including restriction and prolongation
}

// gatherEntries is the largest number of entries of a level that is on every rank as a whole. The products of a visit to
// such a level take about 0.4 ms on one core, as long as 80 messages of 5 us. On the coarser levels a rank of 64 sends more
// messages than that (docs/cluster.md).
const gatherEntries = 1 << 17

// NewAMG builds the hierarchy of a square matrix over ranks, with plans on the devices of sys. All ranks call it with the
// same options, except that opt.NearNull has the elements for the rows of this rank. The first row of each rank must be a
// multiple of opt.Block (Align). m stays as it is, and is not used after NewAMG returns. All ranks get the same error: a
// *sparse.InputError for wrong arguments and matrices, and for a hierarchy that does not fit in memory.
//
// The rows of an aggregate belong to one rank, so that NewAMG sends few messages. The number of iterations therefore
// depends on the number of ranks, more so if the matrix is unsymmetric. With opt.Deterministic, aggregates and the bits of
// z are those of amg.New in one process. During NewAMG each rank then stores the strong couplings and the near null
// space of all ranks.
func NewAMG(ctx context.Context, sys *System, m *Matrix[float64], opt amg.Options) (*AMG, error) {
	return newAMG(ctx, sys, m, opt, gatherEntries)
}

// newAMG is NewAMG with levels of up to gather entries on every rank.
func newAMG(ctx context.Context, sys *System, m *Matrix[float64], opt amg.Options, gather int64) (*AMG, error) {
	if sys.none() {
		return nil, errNoSystem
	}
	err := given.Context(ctx)
	if err == nil {
		err = m.valid(sys.comm)
	}
	if err = sys.Agree(err); err != nil {
		return nil, err
	}
	switch {
	case m.Rows != m.Cols:
		return nil, &agreed{sparse.Inputf("matrix", "%d x %d: a multigrid cycle needs a square one", m.Rows, m.Cols)}
	case m.Rows == 0:
		return nil, &agreed{sparse.Inputf("matrix", "has no rows")}
	}
	rest := opt
	rest.NearNull = nil
	if err := sys.Same("options", fmt.Sprintf("%s, %+v, %d vectors", shapeOf(m), rest, len(opt.NearNull))); err != nil {
		return nil, err
	}
	a, err := m.tidy()
	if err := sys.Agree(err); err != nil {
		return nil, err
	}
	traits, err := traitsOf(sys.comm, a)
	if err := sys.Agree(err); err != nil {
		return nil, err
	}
	if opt.Block == 0 {
		opt.Block = traits.block
	}
	err = opt.Fill(a.Part.Rows)
	if err == nil && a.First()%opt.Block != 0 {
		err = sparse.Inputf("block", "%d: the first row of rank %d is %d, which must be a multiple of it", opt.Block, a.rank, a.First())
	}
	if err == nil {
		need := 4*sparse.EntryBytes*a.Part.NNZ() + int64(80+16*max(len(opt.NearNull), opt.Block))*int64(a.Part.Rows)
		if have, ok := mem.Fits(need); !ok {
			err = sparse.Inputf("matrix", "%d rows, %d entries on this rank: a multigrid hierarchy takes about %d bytes, %d are available", a.Part.Rows, a.Part.NNZ(), need, have)
		}
	}
	if err := sys.Agree(err); err != nil {
		return nil, err
	}
	if near := multigrid.Largest(opt.NearNull); len(near) > 0 {
		if err := sys.Agree(sys.comm.Max(near)); err != nil {
			return nil, err
		}
		if err := multigrid.CheckNearNull(near); err != nil {
			return nil, &agreed{err}
		}
	}
	b := &hierarchy{ctx: ctx, team: sys, opt: opt, gather: gather, unsymmetric: !traits.symmetric}
	if err := b.build(a); err != nil {
		return nil, err
	}
	p := &AMG{sys: sys, n: a.Part.Rows}
	if traits.fitsFloat32 && !opt.Double {
		p.cycles, err = asCycles(newPieces[float32](b))
	} else {
		p.cycles, err = asCycles(newPieces[float64](b))
	}
	if err != nil {
		return nil, err
	}
	p.levels = p.cycles.describe(b.described)
	return p, nil
}

// cycles runs cycles.
type cycles interface {
	apply(r, z []float64) error
	describe(levels []amg.Level) []AMGLevel
	close() error
}

func asCycles[C cycles](c C, err error) (cycles, error) { return c, err }

// none reports whether p was not made by NewAMG.
func (p *AMG) none() bool { return p == nil || p.cycles == nil }

// Size returns the number of rows of this rank.
func (p *AMG) Size() int {
	if p == nil {
		return 0
	}
	return p.n
}

// Collective returns true: all ranks call Apply.
func (p *AMG) Collective() bool { return true }

// Apply computes this rank's piece of z = M r by one cycle. r and z have Size elements and do not overlap. All ranks call
// it. A rank that fails, or whose r or z is wrong, still sends what the others wait for.
func (p *AMG) Apply(r, z []float64) error {
	if p.none() {
		return sparse.Inputf("preconditioner", "is nil, or was not made by NewAMG")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return fmt.Errorf("preconditioner: %w", msrep.ErrClosed)
	}
	var wrong error
	switch {
	case len(r) != p.n:
		wrong = sparse.Inputf("r", "%d elements: the preconditioner has %d rows on this rank", len(r), p.n)
	case len(z) != p.n:
		wrong = sparse.Inputf("z", "%d elements: the preconditioner has %d rows on this rank", len(z), p.n)
	case mem.Overlap(r, z):
		wrong = sparse.Inputf("z", "shares memory with r")
	}
	if wrong != nil {
		r, z = make([]float64, p.n), make([]float64, p.n)
	}
	return errors.Join(wrong, p.cycles.apply(r, z))
}

// Levels describes the levels, the finest first.
func (p *AMG) Levels() []AMGLevel {
	if p == nil {
		return nil
	}
	return append([]AMGLevel(nil), p.levels...)
}

// OperatorComplexity returns the number of entries in the matrices of all levels over the number in A.
func (p *AMG) OperatorComplexity() float64 {
	if p.none() {
		return 0
	}
	total := 0.0
	for _, l := range p.levels {
		total += float64(l.NNZ)
	}
	return total / max(float64(p.levels[0].NNZ), 1)
}

// Close frees the memory of this rank. It may be called again.
func (p *AMG) Close() error {
	if p.none() {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	p.closed = true
	return p.cycles.close()
}

// tidy returns m with sorted rows without duplicates, or an error that names the first value that is not finite.
func (m *Matrix[V]) tidy() (*Matrix[V], error) {
	sorted, a := true, m.Part
	for i := range a.Rows {
		last := int32(-1)
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			if v := a.Val[k]; v-v != 0 {
				return nil, sparse.Inputf("matrix", "the entry in row %d, column %d is %g: all must be finite", m.First()+i, a.ColIdx[k], v)
			}
			sorted = sorted && a.ColIdx[k] > last
			last = a.ColIdx[k]
		}
	}
	if sorted {
		return m, nil
	}
	c := sparse.ToCOO[V](a)
	b, err := sparse.FromTriples(a.Rows, a.Cols, c.RowIdx, c.ColIdx, c.Val)
	if err != nil {
		return nil, err
	}
	for i := range b.Rows {
		for k := b.RowPtr[i]; k < b.RowPtr[i+1]; k++ {
			if v := b.Val[k]; v-v != 0 {
				return nil, sparse.Inputf("matrix", "the entries in row %d, column %d add up to %g: all sums must be finite", m.First()+i, b.ColIdx[k], v)
			}
		}
	}
	out := *m
	out.Part = b
	return &out, nil
}

// traits are properties of a whole matrix.
type traits struct {
	symmetric   bool // up to rounding
	fitsFloat32 bool // see multigrid.FitsFloat32
	block       int  // rows of a node, at most multigrid.MostUnknowns, of which the matrix consists as dense blocks
}

// traitsOf returns the properties of a square, tidy matrix. All ranks call it.
//
// It takes A to be symmetric where amg.New does, which compares x'A y with y'A x for random vectors: the 2-norm of A' - A
// is at most about 1e-11 of the sum of all entries.
func traitsOf(c Comm, m *Matrix[float64]) (traits, error) {
	t, err := m.Transpose(c)
	if err != nil {
		return traits{}, err
	}
	not := make([]float64, 1+multigrid.MostUnknowns+1) // 1 where a property is missing: float32, blocks of b
	if !multigrid.FitsFloat32(m.Part, m.First()) {
		not[0] = 1
	}
	for b := 2; b <= multigrid.MostUnknowns; b++ {
		if m.Part.Rows > 0 && (m.First()%b != 0 || !multigrid.HasBlocks(m.Part, b)) {
			not[b] = 1
		}
	}
	if err := c.Max(not); err != nil {
		return traits{}, err
	}
	sums := []float64{0, 0} // of (a_ij - a_ji)^2, and of |a_ij|
	for i := range m.Part.Rows {
		difference(m.Part, t.Part, i, func(a, b float64) {
			sums[0], sums[1] = sums[0]+(a-b)*(a-b), sums[1]+math.Abs(a)
		})
	}
	if err := c.Sum(sums); err != nil {
		return traits{}, err
	}
	out := traits{symmetric: math.Sqrt(sums[0]) <= 1e-11*sums[1], fitsFloat32: not[0] == 0, block: 1}
	for b := 2; b <= multigrid.MostUnknowns; b++ {
		if not[b] == 0 {
			out.block = b
		}
	}
	return out, nil
}

// difference calls f with the elements of row i of a and b where one of them has an entry. Their rows ascend.
func difference(a, b *sparse.CSR[float64], i int, f func(a, b float64)) {
	k, l := a.RowPtr[i], b.RowPtr[i]
	for k < a.RowPtr[i+1] || l < b.RowPtr[i+1] {
		switch {
		case l == b.RowPtr[i+1] || k < a.RowPtr[i+1] && a.ColIdx[k] < b.ColIdx[l]:
			f(a.Val[k], 0)
			k++
		case k == a.RowPtr[i+1] || a.ColIdx[k] > b.ColIdx[l]:
			f(0, b.Val[l])
			l++
		default:
			f(a.Val[k], b.Val[l])
			k, l = k+1, l+1
		}
	}
}
