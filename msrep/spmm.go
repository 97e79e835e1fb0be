package msrep

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"time"

	"github.com/msrep-go/msrep/internal/devvec"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// SpMM computes Y = alpha*op(A)*X + beta*Y for several vectors at once. LastTiming returns the time of each phase.
//
// op(A) is m x n, the vectors of X have n elements, those of Y have m. X and Y have the same number of vectors and
// must not overlap. beta = 0 overwrites Y without reading it; alpha = 0 reads neither A nor X. Bad arguments give a
// *sparse.InputError and leave Y unchanged. After any other error, such as that of ctx, Y is unspecified.
//
// # How often the matrix is read
//
//   - Major products, in which each element of y is the sum over one stored row or column (op(A) = A in CSR; op(A) = A'
//     in CSC or with Expected.Transposed): CPU devices read the matrix once for all vectors, in its form or in CSR.
//   - The other products (minor products) on a single CPU device that has the matrix in CSR or CSC, not released: once
//     for each group of vectors that fills 64 bytes (8 vectors of float64), and once for the rest if it has more than 3
//     vectors.
//   - Otherwise, and for two vectors by column with a small matrix on a single device: once for each vector.
//
// # Memory that a plan keeps for the next product
//
//   - For minor products, each worker keeps a partial result for a group of vectors.
//   - Vectors by column are transposed to a copy by row, whose memory the plan keeps; if memory is scarce, it makes none.
//   - If X has more than 16 MB and the product uses CSR, CPU devices try a copy of X in another order in the fourth and
//     fifth product with the same number of vectors. If it is faster, they keep the column numbers for this order (4
//     bytes per entry) for any number of vectors. Results do not change.
func (p *Plan[V]) SpMM(ctx context.Context, op Transpose, alpha V, x MultiVector[V], beta V, y MultiVector[V]) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer p.rescue(&err)
	if err := p.lock(ctx); err != nil {
		return err
	}
	defer p.mu.Unlock()
	defer p.traceCall("spmm", &err)()
	p.last = Timing{} // also where a panic ends the product
	t, err := p.multiplyMany(ctx, op, alpha, x, beta, y)
	if err == nil {
		p.last = t
	}
	return err
}

// multiplyMany is SpMM for callers that hold the lock of the plan.
func (p *Plan[V]) multiplyMany(ctx context.Context, op Transpose, alpha V, x MultiVector[V], beta V, y MultiVector[V]) (t Timing, err error) {
	if err := p.usable(ctx); err != nil {
		return t, err
	}
	if err := p.checkMultiVectors(op, x, y); err != nil {
		return t, err
	}
	if q := p.transposedFor(op); q != nil && p.order == nil {
		err := q.SpMM(ctx, op, alpha, x, beta, y)
		return q.LastTiming(), err
	}
	first := x.Count // number of vectors to multiply at once
	if !p.lay.ByMajor(bool(op)) {
		first = minorAtOnce[V](first)
	}
	if first == 0 || alpha == 0 || p.order != nil || !p.atOnce(op) || p.pairInCaches(x, y) || !p.canTransposeVectors(op, x, y) {
		return p.multiplyOneByOne(ctx, op, alpha, x, beta, y)
	}
	if err := p.retuneIfDue(ctx); err != nil {
		return t, err
	}
	var begin time.Duration
	onlyKernel := p.isDirect() && !x.ByColumn && !y.ByColumn // small products save the time of reading the clock
	if !onlyKernel {
		begin = time.Since(clockStart)
	}
	if err := p.multiplyAtOnce(ctx, op, alpha, x.vectors(0, first), beta, y.vectors(0, first), &t); err != nil {
		if !p.lay.ByMajor(bool(op)) && errors.Is(err, kernels.ErrOutOfMemory) { // y is unchanged
			return p.multiplyOneByOne(ctx, op, alpha, x, beta, y)
		}
		return t, p.fail(ctx, err)
	}
	if t.Total = t.Kernel; !onlyKernel {
		t.Total = time.Since(clockStart) - begin
	}
	p.retuning.productTime += t.Total
	if first < x.Count {
		rest, err := p.multiplyOneByOne(ctx, op, alpha, x.vectors(first, x.Count), beta, y.vectors(first, x.Count))
		t.add(rest)
		return t, err
	}
	return t, nil
}

// minorAtOnce returns how many of count vectors a minor product multiplies at once: as many as fill whole cache
// lines, and the rest too unless it is so small that one vector after the other is faster.
func minorAtOnce[V sparse.Value](count int) int {
	const few = 3
	if rest := count % int(64/mem.Size[V]()); rest <= few {
		return count - rest
	}
	return count
}

func (p *Plan[V]) checkMultiVectors(op Transpose, x, y MultiVector[V]) error {
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

// atOnce reports whether all devices can multiply several vectors at once. Major products use the form of the part,
// or CSR if the matrix was not released. Minor products need the matrix and a single device.
func (p *Plan[V]) atOnce(op Transpose) bool {
	if _, ok := p.route.(manyRoute[V]); !ok || p.lay.COO() || p.opt.Deterministic || p.opt.Storage.Segments.Count != 0 {
		return false
	}
	if !p.lay.ByMajor(bool(op)) {
		return p.src != nil && len(p.shares) == 1
	}
	return p.src != nil || !slices.ContainsFunc(p.shares, func(s *share[V]) bool { return !s.multipliesMany() })
}

// pairInCaches reports whether x and y are two vectors by column and the matrix stays in the caches of a single device.
// Reading the matrix twice is then faster than transposing the vectors.
func (p *Plan[V]) pairInCaches(x, y MultiVector[V]) bool {
	return x.Count == 2 && x.ByColumn && y.ByColumn && p.nnz <= cachedEntries && p.isDirect()
}

// canTransposeVectors reports whether there is memory for copies by row of those of x and y that are by column.
func (p *Plan[V]) canTransposeVectors(op Transpose, x, y MultiVector[V]) bool {
	if !x.ByColumn && !y.ByColumn {
		return true
	}
	m, n := p.dims(op)
	var forX, forY int64
	if x.ByColumn {
		forX = int64(n) * int64(x.Count)
	}
	if y.ByColumn {
		forY = int64(m) * int64(y.Count)
	}
	return p.rowBuffers.fits(forX, forY)
}

// dims returns the number of rows and columns of op(A).
func (p *Plan[V]) dims(op Transpose) (m, n int) {
	m, n = p.Dims()
	if op == Trans {
		return n, m
	}
	return m, n
}

// multipliesMany reports whether the form of the part multiplies several vectors at once.
func (s *share[V]) multipliesMany() bool {
	m, ok := s.packed.(kernels.ManyMultiplier)
	return ok && m.MultipliesMany()
}

// multiplyOneByOne multiplies one vector after the other.
func (p *Plan[V]) multiplyOneByOne(ctx context.Context, op Transpose, alpha V, x MultiVector[V], beta V, y MultiVector[V]) (t Timing, err error) {
	begin := time.Now()
	rows, cols := p.dims(op)
	var xj, yj []V // copies of vectors by row
	if !x.ByColumn {
		if xj, err = devvec.OnHost[V](cols); err != nil {
			return t, err
		}
	}
	if !y.ByColumn {
		if yj, err = devvec.OnHost[V](rows); err != nil {
			return t, err
		}
	}
	for j := range x.Count {
		in, out := x.vector(j, cols, xj), yj
		if y.ByColumn || beta != 0 {
			out = y.vector(j, rows, yj)
		}
		one, err := p.multiplyGiven(ctx, op, alpha, in, beta, out)
		if err != nil {
			return t, err
		}
		if !y.ByColumn {
			y.Set(j, out)
		}
		t.add(one)
	}
	t.Total = time.Since(begin) // including the copies
	return t, nil
}
