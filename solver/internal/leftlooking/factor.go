package leftlooking

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

// LU has the factors of a matrix: P R A C Q = L U + F. Its solves may run at the same time,
// but not beside Refactor.
type LU struct {
	sym   *Symbolic
	rows  []int32   // position k has row rows[k] of the matrix, after pivoting
	after []int32   // position of a row after pivoting, by its position before
	scale []float64 // R, by rows of the matrix

	// Column k of L, below its diagonal, has llen[k] rows at li[lp[k]] of its store and their
	// values at lx[xp[k]]; column k of U, above its diagonal, has ulen[k] at ui[up[k]] and
	// ux[up[k]]. The rows are numbered from the first of the block.
	//
	// Columns of L that belong to one run, k to runLast[k], share the rows: those of column
	// k+1 are those of column k without the first, which is k+1. Their values are a dense
	// trapezoid in column-major order, with room for the diagonal and zeros above it:
	// xp[k+1] is xp[k] plus 1 and the leading dimension. runLast is numbered from the first
	// of the block.
	lp, xp, up          []int
	llen, ulen, runLast []int32
	diag                []float64 // diagonal of U
	stores              []store
	groups              []int // first block of each store, then the number of blocks

	// Column k of F has the rows offRow[p:q], where p and q are sym.offPtr[k] and the next.
	offRow []int32
	offVal []float64

	info Info
}

// Factor analyses and factors a square matrix with sorted rows and no duplicates.
//
// Errors: *SingularError if there is no nonzero pivot, *MemoryError if the factors need
// more than Options.MaxBytes or the available memory, *sparse.InputError for a matrix that
// is not square or not finite, and that of ctx.
func Factor(ctx context.Context, a *sparse.CSR[float64], opt Options) (*LU, error) {
	s, err := Analyze(ctx, a, opt)
	if err != nil {
		return nil, err
	}
	return s.Factor(ctx, a)
}

// Factor factors a matrix with the pattern of the one that was analysed. See the function
// Factor for errors.
func (s *Symbolic) Factor(ctx context.Context, a *sparse.CSR[float64]) (*LU, error) {
	n := s.n
	limit := &limit{most: s.opt.MaxBytes}
	limit.used.Store(factorBytes(n, 0, 0, s.counts.F))
	if need := factorBytes(n, 0, 0, int64(len(s.colIdx))); s.opt.MaxBytes > 0 && need > s.opt.MaxBytes {
		return nil, &MemoryError{Need: need, Have: s.opt.MaxBytes, Count: n}
	} else if have, ok := mem.Fits(2 * need); !ok {
		return nil, &MemoryError{Need: 2 * need, Have: have, Count: n}
	}
	v, err := s.gather(a)
	if err != nil {
		return nil, err
	}
	f := &LU{
		sym: s, rows: make([]int32, n), after: make([]int32, n), scale: v.scale,
		lp: make([]int, n), xp: make([]int, n), up: make([]int, n),
		llen: make([]int32, n), ulen: make([]int32, n), runLast: make([]int32, n),
		diag:   make([]float64, n),
		offRow: make([]int32, len(s.offRow)), offVal: v.offVal,
	}
	f.groups = s.groups()
	f.stores = make([]store, len(f.groups)-1)
	for g := range f.stores {
		f.stores[g].limit = limit
	}
	if err := f.eachGroup(func(g int) error { return f.factorGroup(ctx, v, g) }); err != nil {
		return nil, err
	}
	for p, k := range s.offRow {
		f.offRow[p] = f.after[k]
	}
	f.describe(v)
	return f, nil
}

// minGroupWork is the least predicted work, in multiply-add operations, for which a group
// of blocks gets a store of its own, so that a goroutine may factor it.
const minGroupWork = 1 << 18

// groups cuts the blocks into groups of consecutive ones with enough work each. The cuts do
// not depend on the number of goroutines.
func (s *Symbolic) groups() []int {
	cuts, work := []int{0}, 0.0
	blocks := len(s.start) - 1
	for b := range blocks {
		l, m := float64(s.predicted[b]), float64(s.start[b+1]-s.start[b])
		work += 16 + l*l/m
		if work >= minGroupWork || b == blocks-1 {
			cuts = append(cuts, b+1)
			work = 0
		}
	}
	return cuts
}

// eachGroup calls do for each group of blocks, on up to GOMAXPROCS goroutines, and returns
// the error of the first group that has one.
func (f *LU) eachGroup(do func(g int) error) error {
	groups := len(f.stores)
	errs := make([]error, groups)
	var next, failed atomic.Int64
	failed.Store(int64(groups))
	var mutex sync.Mutex
	par.Do(max(min(runtime.GOMAXPROCS(0), groups), 1), func(int) {
		for {
			g := next.Add(1) - 1
			if g >= int64(groups) || g > failed.Load() {
				return
			}
			if errs[g] = do(int(g)); errs[g] != nil {
				mutex.Lock()
				failed.Store(min(failed.Load(), g))
				mutex.Unlock()
			}
		}
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
