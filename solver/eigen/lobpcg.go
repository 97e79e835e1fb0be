package eigen

import (
	"context"
	"math"
	"slices"

	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/solver/internal/space"
	"github.com/msrep-go/msrep/sparse"
)

// LOBPCG finds the smallest or the largest eigenvalues of a symmetric operator by the locally optimal block preconditioned
// conjugate gradient method (Knyazev, "Toward the optimal preconditioned eigensolver", SIAM J. Sci. Comput. 23, 2001). With
// a good Options.Precond, an approximate inverse of A that is symmetric and positive definite, it finds the smallest
// eigenvalues of a positive definite matrix in few iterations and without factors.
//
// An iteration minimises over the span of the approximations X, the preconditioned residuals W and the last directions P. It
// takes one product with a block of vectors, by SpMM where the operator has it. W is made orthonormal to X and P, and P to X
// (Hetmaniuk and Lehoucq, "Basis selection in LOBPCG", J. Comput. Phys. 218, 2006; Duersch, Shao, Yang and Gu, "A robust and
// efficient implementation of LOBPCG", SIAM J. Sci. Comput. 40, 2018), so that the projected problem stays well conditioned.
// A vector within the tolerance stays in X but gets no W and P. Without a preconditioner the span also contains the two Ritz
// vectors at the other end of the spectrum: a few eigenvalues far from all others, which would dominate the residuals, then
// do not slow the convergence. The blocks have a few vectors more than Count, and six of them are stored. Where three blocks would span the whole space, Symmetric is used.
//
// Options.Which may be Largest or Smallest; Options.Basis and Options.Start are not used. Multiple eigenvalues are found as
// often as the block has vectors. Errors are those of Symmetric.
func LOBPCG(ctx context.Context, a solver.Operator, opt Options) (res *Result, err error) {
	if opt.Which == Magnitude {
		return nil, sparse.Inputf("which", "%s: lobpcg finds the %s or the %s", Magnitude, Largest, Smallest)
	}
	r, err := newRun(ctx, MethodLOBPCG, a, opt.Precond, opt)
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := r.Free(); e != nil && err == nil {
			res, err = nil, e
		}
	}()
	size := r.blockSize()
	if 3*size > r.n {
		r.method = MethodLanczos
		return r.lanczos()
	}
	b := &block{run: r, x: r.take(size), ax: r.take(size)}
	gaveUp := b.solve()
	if err := r.Failed(); err != nil {
		return nil, err
	}
	if b.theta == nil {
		return nil, gaveUp
	}
	res, err = r.pairs(b.x[:r.opt.Count])
	if err != nil {
		return nil, err
	}
	res.permute(r.opt.Which.order(res.Values))
	return res, res.accurate(gaveUp)
}

// block is the vectors of LOBPCG and their products with scale*A. All vectors x, far, w and p are orthonormal.
type block struct {
	*run
	x, far, w, p     []space.Vector // far has the Ritz vectors at the other end of the spectrum
	ax, afar, aw, ap []space.Vector
	theta            []float64 // Ritz values of x
}

// farVectors is the number of vectors far.
const farVectors = 2

// solve improves x until its first Count vectors are within the tolerance.
func (b *block) solve() error {
	if err := b.start(); err != nil {
		return err
	}
	fresh := false // ax is the product itself
	for {
		active, converged, worst := b.residuals()
		if err := b.Failed(); err != nil {
			return err
		}
		if err := b.Ended(); err != nil {
			return err
		}
		b.opt.report(Step{Iteration: b.iterations, Converged: converged, Residual: worst / max(b.norm, math.SmallestNonzeroFloat64)})
		switch {
		case converged == b.opt.Count && fresh:
			return nil
		case converged == b.opt.Count || len(active) == 0:
			b.MultiplyAll(b.scale, b.x, b.ax)
			if len(active) == 0 && fresh {
				return nil
			}
			fresh = true
			continue
		case b.iterations >= b.opt.MaxIter:
			return b.failure(solver.ErrNotConverged, worst, "%d of %d eigenvalues are within the tolerance", converged, b.opt.Count)
		case b.iterations%20 == 19 && !fresh: // products by combination gather rounding errors
			b.MultiplyAll(b.scale, b.x, b.ax)
			b.MultiplyAll(b.scale, b.far, b.afar)
			b.MultiplyAll(b.scale, b.p, b.ap)
		}
		fresh = false
		b.directions()
		if err := b.project(active); err != nil {
			return err
		}
		b.iterations++
	}
}

// start makes x a random block and computes its Ritz vectors.
func (b *block) start() error {
	if !b.random(b.x[0], nil) {
		return b.Failed()
	}
	if err := b.chooseScale(b.x[0], b.ax[0]); err != nil {
		return err
	}
	for range 8 { // the norm, by the power method
		b.Product(b.scale, b.x[0], 0, b.ax[0])
		length := math.Sqrt(b.Dot(b.ax[0], b.ax[0]))
		if b.norm = max(b.norm, length); !(length > 0) || !space.Finite(length) {
			break
		}
		b.Set(1/length, b.ax[0], b.x[0])
	}
	for i, v := range b.x {
		if !b.random(v, b.x[:i]) {
			return b.Failed()
		}
	}
	b.MultiplyAll(b.scale, b.x, b.ax)
	return b.project(nil)
}

// residuals makes w the preconditioned residuals of the vectors that are not within the tolerance, whose indices it returns.
// converged is the number of results within it before the first that is not.
func (b *block) residuals() (active []int, converged int, worst float64) {
	b.give(b.w...)
	b.w = nil
	r := b.take(2)
	defer b.give(r...)
	for i := range b.x {
		b.Set(1, b.ax[i], r[0])
		residual := math.Sqrt(b.Axpy(-b.theta[i], b.x[i], r[0]))
		if i < b.opt.Count {
			worst = max(worst, residual)
		}
		if residual <= b.limit(b.theta[i]) {
			if converged == i && i < b.opt.Count {
				converged++
			}
			continue
		}
		active = append(active, i)
		w := b.take(1)[0]
		b.Set(1, b.Preconditioned(r[0], r[1]), w)
		b.w = append(b.w, w)
	}
	return active, converged, worst
}

// directions makes w orthonormal and orthogonal to x, far and p, and multiplies it. Vectors that depend on the others are left
// out.
func (b *block) directions() {
	all := slices.Concat(b.x, b.far, b.p)
	var w []space.Vector
	for _, v := range b.w {
		if b.orthogonal(v, all) {
			w, all = append(w, v), append(all, v)
		} else {
			b.give(v)
		}
	}
	b.w, b.aw = w, b.take(len(w))
	b.MultiplyAll(b.scale, b.w, b.aw)
}

// project replaces x by the best vectors in the span of x, far, w and p, far by the worst ones, and p by the directions to x, for
// the active ones.
func (b *block) project(active []int) error {
	s := slices.Concat(b.x, b.far, b.w, b.p)
	as := slices.Concat(b.ax, b.afar, b.aw, b.ap)
	g := b.Inner(s, as)
	t := newSymmetric(len(s))
	for j := range g {
		for i := range j + 1 {
			if difference := math.Abs(g[j][i] - g[i][j]); difference > asymmetric*b.norm {
				return b.failure(solver.ErrBreakdown, math.Inf(1), "the matrix is not symmetric")
			}
			t.set(i, j, (g[j][i]+g[i][j])/2)
		}
	}
	values, y, err := t.eigen()
	if err != nil {
		return b.failure(solver.ErrBreakdown, math.Inf(1), "%v", err)
	}
	b.norm = max(b.norm, math.Abs(values[0]), math.Abs(values[len(values)-1]))
	order, size := b.opt.Which.order(values), len(b.x)
	c := make([][]float64, 0, 2*size)
	b.theta = b.theta[:0]
	for _, k := range order[:size] {
		c, b.theta = append(c, y[k]), append(b.theta, values[k])
	}
	last := size
	if b.opt.Precond == nil {
		last += min(farVectors, len(s)-size)
		for _, k := range order[len(s)-(last-size):] {
			c = append(c, y[k])
		}
	}
	for _, i := range active { // the part of a new x outside the old ones, orthogonal to the new ones
		p := append([]float64(nil), c[i]...)
		clear(p[:size])
		if orthogonalSmall(p, c) {
			c = append(c, p)
		}
	}
	b.Rotate(s, c)
	b.Rotate(as, c)
	b.give(s[len(c):]...)
	b.give(as[len(c):]...)
	b.x, b.far, b.p, b.w = s[:size:size], s[size:last:last], s[last:len(c):len(c)], nil
	b.ax, b.afar, b.ap, b.aw = as[:size:size], as[size:last:last], as[last:len(c):len(c)], nil
	return nil
}

// orthogonalSmall makes p a unit vector that is orthogonal to the orthonormal vectors c, or returns false where it is in
// their span but for rounding.
func orthogonalSmall(p []float64, c [][]float64) bool {
	dot := func(x, y []float64) (sum float64) {
		for i, v := range x {
			sum += v * y[i]
		}
		return sum
	}
	first := math.Sqrt(dot(p, p))
	for range 3 {
		for _, v := range c {
			d := dot(v, p)
			for i := range p {
				p[i] -= d * v[i]
			}
		}
	}
	length := math.Sqrt(dot(p, p))
	if !(length > 1e-10*first) || first == 0 {
		return false
	}
	for i := range p {
		p[i] /= length
	}
	return true
}
