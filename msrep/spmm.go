package msrep

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// SpMM computes Y = alpha*op(A)*X + beta*Y for all vectors of two blocks. LastTiming
// returns the time of each phase.
//
// op(A) is m x n; the vectors of X have n elements and those of Y have m, and the
// blocks must not overlap. beta = 0 overwrites Y without reading it; alpha = 0
// reads neither A nor X. Bad arguments are *sparse.InputError and leave Y alone; after
// any other error, also when ctx ends, Y is unspecified. State Expected.Vectors where
// products have several vectors.
//
// # How often the matrix is read
//
// CPU devices read it once for all vectors, in the form that they packed it in or in CSR,
// when op gathers in the format of the plan (A in CSR, its transpose in CSC, or as
// expected by Expected.Transposed). Where op adds to Y instead, one CPU device that has the
// matrix in CSR or CSC, not released, reads it once for as many vectors as fill 64 bytes (8
// of float64), and once for those that remain, unless these are 3 or fewer. All others are
// multiplied one after the other, and so are two vectors by column of a small matrix on one
// device.
//
// # What a plan keeps for the next product
//
//   - Where op adds to Y, each worker keeps a block as long as Y of as many vectors as
//     fill 64 bytes.
//   - Blocks by column are turned to rows first, and an X of 3 to 8 vectors (16 of float32)
//     that bins multiply is copied where its rows are not cache lines. The plan keeps the
//     memory for both, and does without where memory is scarce.
//   - Where X has more than 16 MB and the matrix is multiplied in CSR, CPU devices try a
//     copy of X in another order in the fourth and fifth product with as many vectors. If
//     that was faster they keep the column numbers for it, 4 bytes an entry, for other
//     numbers of vectors too. No result changes by it.
func (p *Plan[V]) SpMM(ctx context.Context, op Transpose, alpha V, x MultiVector[V], beta V, y MultiVector[V]) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer p.rescue(&err)
	if err := p.enter(ctx); err != nil {
		return err
	}
	defer p.mu.Unlock()
	defer p.span("spmm", &err)()
	if p.last, err = p.multiplyMany(ctx, op, alpha, x, beta, y); err != nil {
		p.last = Timing{}
	}
	return err
}

// multiplyMany is SpMM for callers that hold the lock of the plan.
func (p *Plan[V]) multiplyMany(ctx context.Context, op Transpose, alpha V, x MultiVector[V], beta V, y MultiVector[V]) (t Timing, err error) {
	if err := p.usable(ctx); err != nil {
		return t, err
	}
	if err := p.checkBlocks(op, x, y); err != nil {
		return t, err
	}
	if q := p.instead(op); q != nil {
		err := q.SpMM(ctx, op, alpha, x, beta, y)
		return q.LastTiming(), err
	}
	some := x.Count // vectors at once
	if !p.lay.byMajor(op) {
		some = minorAtOnce[V](some)
	}
	if some == 0 || alpha == 0 || !p.atOnce(op) || p.pairInCaches(x, y) || !p.canTransposeVectors(op, x, y) {
		return p.oneByOne(ctx, op, alpha, x, beta, y)
	}
	if err := p.lookAgain(ctx); err != nil {
		return t, err
	}
	begin := time.Since(began)
	if err := p.allAtOnce(ctx, op, alpha, x.vectors(0, some), beta, y.vectors(0, some), &t); err != nil {
		if !p.lay.byMajor(op) && errors.Is(err, kernels.ErrOutOfMemory) { // y is as it was
			return p.oneByOne(ctx, op, alpha, x, beta, y)
		}
		return t, p.fail(ctx, err)
	}
	t.Total = time.Since(began) - begin
	p.later.busy += t.Total
	if some < x.Count {
		rest, err := p.oneByOne(ctx, op, alpha, x.vectors(some, x.Count), beta, y.vectors(some, x.Count))
		t.add(rest)
		return t, err
	}
	return t, nil
}

// minorAtOnce is how many of count vectors are multiplied at once where products add to
// y: as many as fill cache lines, and all but a few others, which are faster one by one.
func minorAtOnce[V sparse.Value](count int) int {
	const few = 3
	if rest := count % int(64/mem.Size[V]()); rest <= few {
		return count - rest
	}
	return count
}

func (p *Plan[V]) checkBlocks(op Transpose, x, y MultiVector[V]) error {
	rows, cols := p.dims(op)
	if err := x.Check("x", cols); err != nil {
		return err
	}
	if x.Count != y.Count {
		return sparse.Inputf("y", "%d vectors: x has %d", y.Count, x.Count)
	}
	if err := y.Check("y", rows); err != nil {
		return err
	}
	if mem.Overlap(x.Val, y.Val) {
		return sparse.Inputf("y", "shares memory with x: the product would read what it has written")
	}
	return p.checkResult(y.Val)
}

// atOnce reports whether all devices read the matrix once for all vectors: in its
// form, or in CSR unless that was released, which transposed products need, of one device.
func (p *Plan[V]) atOnce(op Transpose) bool {
	if p.lay.ptr == nil || p.opt.Deterministic || p.opt.Storage.Segments.Count != 0 || !p.inPlace() {
		return false
	}
	if !p.lay.byMajor(op) {
		return p.src != nil && len(p.shares) == 1
	}
	return p.src != nil || !slices.ContainsFunc(p.shares, func(s *share[V]) bool { return !s.packsMany() })
}

// pairInCaches reports whether two vectors by column are multiplied sooner one by one, as one device has the
// matrix in its caches: to turn them takes longer than reading it again.
func (p *Plan[V]) pairInCaches(x, y MultiVector[V]) bool {
	return x.Count == 2 && x.ByColumn && y.ByColumn && p.nnz <= cachedEntries && p.direct()
}

// canTransposeVectors reports whether there is memory to turn those blocks that lie by column.
func (p *Plan[V]) canTransposeVectors(op Transpose, x, y MultiVector[V]) bool {
	m, n := p.dims(op)
	var forX, forY int64
	if x.ByColumn {
		forX = int64(n) * int64(x.Count)
	}
	if y.ByColumn {
		forY = int64(m) * int64(y.Count)
	}
	return p.byRow.fits(forX, forY)
}

// dims is the rows and columns of op(A).
func (p *Plan[V]) dims(op Transpose) (m, n int) {
	m, n = p.Dims()
	if op == Trans {
		return n, m
	}
	return m, n
}

// packsMany reports whether the form of the part multiplies several vectors at once.
func (s *share[V]) packsMany() bool {
	m, ok := s.packed.(kernels.ManyMultiplier)
	return ok && m.MultipliesMany()
}

// oneByOne multiplies one vector after the other.
func (p *Plan[V]) oneByOne(ctx context.Context, op Transpose, alpha V, x MultiVector[V], beta V, y MultiVector[V]) (t Timing, err error) {
	begin := time.Now()
	rows, cols := p.dims(op)
	var xj, yj []V // copies of what lies by row
	if !x.ByColumn {
		if xj, err = hostVector[V](cols); err != nil {
			return t, err
		}
	}
	if !y.ByColumn {
		if yj, err = hostVector[V](rows); err != nil {
			return t, err
		}
	}
	for j := range x.Count {
		in, out := x.vector(j, cols, xj), yj
		if y.ByColumn || beta != 0 {
			out = y.vector(j, rows, yj)
		}
		one, err := p.multiply(ctx, op, alpha, in, beta, out)
		if err != nil {
			return t, err
		}
		if !y.ByColumn {
			y.Set(j, out)
		}
		t.add(one)
	}
	t.Total = time.Since(begin) // with the copies
	return t, nil
}
