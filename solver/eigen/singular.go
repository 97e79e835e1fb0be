package eigen

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/solver/internal/space"
	"github.com/msrep-go/msrep/sparse"
)

// Singular finds the largest singular values of any operator A, for example a *msrep.Plan[float64], by thick-restart
// Lanczos bidiagonalisation (Baglama and Reichel, "Augmented implicitly restarted Lanczos bidiagonalization methods", SIAM
// J. Sci. Comput. 27, 2005). It multiplies by A and by A', not by A'A: small singular values keep their accuracy of
// Tol*|A|. The smallest ones are found by SolveSingular only.
//
// An iteration takes one product with A and one with A', and makes the vectors with min(rows, cols) elements orthogonal to their
// basis of m vectors: 4 m min(rows, cols) operations. The longer vectors are then nearly orthogonal; they are made so only where
// much cancels. Options.Start has an element for each column.
// Options.Precond and Options.Method are not used. Errors are those of Symmetric. Operators over several processes are
// refused.
func Singular(ctx context.Context, a solver.Operator, opt Options) (res *SVD, err error) {
	g, err := newBidiagonal(ctx, a, opt)
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := g.Free(); e != nil && err == nil {
			res, err = nil, e
		}
	}()
	g.reserve(g.vectors()+mostSpare, g.n+g.wide)
	return g.solve()
}

// bidiagonal is a run for singular values. v are orthonormal vectors with as many elements as the smaller dimension of A, u
// with as many as the larger one. With forward and backward products, by A and A' or by A' and A,
//
//	A v = u B
//	A'u = v B' + beta_m v_m e_m'
//
//	B = [ sigma_0             s_0                    ]
//	    [          sigma_1    s_1                    ]
//	    [                   alpha_2   beta_2         ]
//	    [                             alpha_3  ...   ]
type bidiagonal struct {
	*run
	swapped bool  // A has more columns than rows: forward products are by A'
	wide    int   // larger dimension of A
	left    *pool // vectors u; run has the pool of vectors v

	count            int
	lockedV, lockedU []space.Vector
	past             *edge // of eigenvalues of A'A; see lanczos
	v, u             []space.Vector
	sigma, s         []float64
	alpha, beta      []float64 // alpha[0] is that of column len(sigma); beta[i] is in row i
	full             bool
	grown            int
}

func newBidiagonal(ctx context.Context, a solver.Operator, opt Options) (*bidiagonal, error) {
	if err := cmp.Or(given.Context(ctx), given.Check("matrix", a)); err != nil {
		return nil, err
	}
	if _, several := a.(solver.Distributed); several {
		return nil, sparse.Inputf("matrix", "is spread over several processes: singular values need it in one")
	}
	rows, cols := a.Dims()
	g := &bidiagonal{swapped: cols > rows, wide: max(rows, cols)}
	g.run = &run{method: methodBidiagonal, n: min(rows, cols), begin: time.Now(), scale: 1}
	if err := g.checkSingular(rows, cols, opt); err != nil {
		return nil, err
	}
	g.piece = max(rows, cols)
	device := space.OnDevices(a, nil, true)
	if g.fixed = device != nil; !g.fixed { // devices report lack of memory themselves
		if err := g.fit(2 * g.vectors()); err != nil {
			return nil, err
		}
	}
	if device != nil {
		g.Space = space.NewDevice(ctx, device, nil, nil)
	} else {
		g.Space = space.NewHost(ctx, a, nil, nil)
	}
	start := make([]float64, cols)
	copy(start, g.opt.Start)
	_, g.x = g.Load(nil, start)
	g.seed, g.piece = g.opt.Seed*1000+1, g.n
	g.zero, g.left = g.Column, &pool{zero: g.Zero}
	if g.swapped {
		g.zero, g.left.zero = g.Zero, g.Column
	}
	middle := space.None
	g.apply = func(v, w space.Vector) {
		if middle == space.None {
			middle = g.left.take(1)[0]
		}
		g.forward(v, middle)
		length := math.Sqrt(g.Dot(middle, middle))
		if length > 0 && space.Finite(length) { // A'A v may overflow or underflow before it is scaled
			g.Set(1/length, middle, middle)
		} else {
			length = 1
		}
		g.backward(middle, w)
		g.Set(length, w, w)
	}
	return g, nil
}

// checkSingular checks the arguments for an operator of rows x cols and sets the defaults.
func (r *run) checkSingular(rows, cols int, opt Options) error {
	r.opt = opt
	switch {
	case r.n == 0:
		return sparse.Inputf("matrix", "%d x %d: an empty matrix has no singular values", rows, cols)
	case r.opt.Which == Smallest:
		return sparse.Inputf("which", "smallest: the smallest singular values need the matrix itself; use SolveSingular")
	case r.opt.Which != "" && r.opt.Which != Largest:
		return sparse.Inputf("which", "%q: singular values are %s or %s", r.opt.Which, Largest, Smallest)
	}
	return r.opt.fill(r.n, cols)
}

// forward computes u = scale*A v, where v has as many elements as the smaller dimension.
func (g *bidiagonal) forward(v, u space.Vector) {
	if g.swapped {
		g.Transposed(g.scale, v, 0, u)
	} else {
		g.Product(g.scale, v, 0, u)
	}
}

// backward computes v = scale*A'u.
func (g *bidiagonal) backward(u, v space.Vector) {
	if g.swapped {
		g.Product(g.scale, u, 0, v)
	} else {
		g.Transposed(g.scale, u, 0, v)
	}
}

// solve finds the singular values.
func (g *bidiagonal) solve() (*SVD, error) {
	work := g.take(2)
	start, spare := work[0], work[1]
	if g.swapped {
		g.Product(1, g.x, 0, start)
	} else {
		g.Set(1, g.x, start)
	}
	if !g.orthogonal(start, nil) && !g.random(start, nil) {
		return nil, g.Failed()
	}
	if err := g.chooseScale(start, spare); err != nil {
		return nil, err
	}
	g.give(spare)
	g.count = g.opt.Count
	v, u, gaveUp := g.find(start)
	if err := g.Failed(); err != nil {
		return nil, err
	}
	if v == nil {
		return nil, gaveUp
	}
	copies := 0
	if gaveUp == nil && !g.full && !g.opt.SkipCheck {
		v, u, copies, gaveUp = g.completed(v, u)
		if v == nil {
			return nil, gaveUp
		}
	}
	res, err := g.triples(v, u)
	if err != nil {
		return nil, err
	}
	res.Copies = copies
	res.permute(Largest.order(res.Values))
	return res, res.accurate(gaveUp)
}

// completed is run.completed for pairs of vectors v and u. Eigenvalues and the norm are those of A'A in it.
func (g *bidiagonal) completed(v, u []space.Vector) ([]space.Vector, []space.Vector, int, error) {
	of := map[space.Vector]space.Vector{}
	for i := range v {
		of[v[i]] = u[i]
	}
	norm := g.norm
	g.norm = norm * norm
	found, copies, gaveUp := g.run.completed(v, func(count int, found []space.Vector, start space.Vector, past *edge) ([]space.Vector, error) {
		more := &bidiagonal{run: g.run, swapped: g.swapped, wide: g.wide, left: g.left, count: count, lockedV: found, past: past}
		for _, v := range found {
			more.lockedU = append(more.lockedU, of[v])
		}
		g.norm = norm
		v, u, err := more.find(start)
		norm = max(norm, g.norm)
		g.norm = norm * norm
		for i := range v {
			of[v[i]] = u[i]
		}
		return v, err
	})
	g.norm = norm
	u = nil
	for _, v := range found {
		u = append(u, of[v])
	}
	return found, u, copies, gaveUp
}

// triples computes the singular value and the residual of each pair of unit vectors, and copies the vectors.
func (g *bidiagonal) triples(v, u []space.Vector) (*SVD, error) {
	res := &SVD{}
	a, b := g.left.take(1)[0], g.take(1)[0]
	for i := range v {
		g.forward(v[i], a)
		value := g.Dot(u[i], a)
		forward := math.Sqrt(g.Axpy(-value, u[i], a))
		g.backward(u[i], b)
		backward := math.Sqrt(g.Axpy(-value, v[i], b))
		right, left := make([]float64, g.n), make([]float64, g.wide)
		g.Read(v[i], right)
		g.Read(u[i], left)
		if value < 0 { // of a zero singular value
			value = -value
			for k := range left {
				left[k] = -left[k]
			}
		}
		if g.swapped {
			left, right = right, left
		}
		g.norm = max(g.norm, value)
		res.Values, res.Residuals = append(res.Values, value/g.scale), append(res.Residuals, max(forward, backward))
		res.U, res.V = append(res.U, left), append(res.V, right)
	}
	if err := g.Failed(); err != nil {
		return nil, err
	}
	res.Info = g.info(res.Residuals)
	return res, nil
}

// permute puts the results into an order: result order[i] becomes result i.
func (res *SVD) permute(order []int) {
	values, residuals, u, v := slices.Clone(res.Values), slices.Clone(res.Residuals), slices.Clone(res.U), slices.Clone(res.V)
	for i, k := range order {
		res.Values[i], res.Residuals[i], res.U[i], res.V[i] = values[k], residuals[k], u[k], v[k]
	}
}

// find returns count pairs of vectors that approximate the singular vectors within the tolerance, or fewer where there are no others
// past the edge, or those that it has with an error. It overwrites start.
func (g *bidiagonal) find(start space.Vector) (v, u []space.Vector, err error) {
	g.grown = basisSize(g.opt.Basis, g.count, g.n-len(g.lockedV))
	g.v = append(g.v, start)
	for {
		if err := g.extend(); err != nil {
			return nil, nil, err
		}
		if err := g.Failed(); err != nil {
			return nil, nil, err
		}
		if err := g.Ended(); err != nil {
			return nil, nil, err
		}
		values, p, q, err := g.project()
		if err != nil {
			return nil, nil, g.failure(solver.ErrBreakdown, math.Inf(1), "%v", err)
		}
		m, last, converged, worst := len(values), 0.0, 0, 0.0
		if !g.full {
			last = g.beta[m-1]
		}
		count := g.wanted(values, func(k int) float64 { return math.Abs(last * p[k][m-1]) })
		for i := range count {
			residual := math.Abs(last * p[i][m-1])
			if residual <= g.limit(values[i]) && converged == i {
				converged++
			}
			worst = max(worst, residual)
		}
		g.opt.report(Step{Iteration: g.iterations, Converged: converged, Residual: worst / max(g.norm, math.SmallestNonzeroFloat64)})
		var gaveUp error
		if converged < count && g.iterations >= g.opt.MaxIter {
			gaveUp = g.failure(solver.ErrNotConverged, worst, "%d of %d singular values are within the tolerance", converged, count)
		}
		if converged == count || gaveUp != nil {
			v, u = g.end(count, p, q)
			for i, v := range v {
				g.found(v, values[i]*values[i])
			}
			return v, u, gaveUp
		}
		g.restart(values, p, q, converged)
	}
}

// wanted returns how many of some singular values are wanted. residual is that of value k.
func (g *bidiagonal) wanted(values []float64, residual func(k int) float64) int {
	count := min(g.count, len(values))
	if g.past == nil {
		return count
	}
	squares := make([]float64, len(values))
	for i, v := range values {
		squares[i] = v * v
	}
	return min(count, g.past.wanted(Largest, squares, func(k int) float64 { return residual(k) * g.norm }))
}

// near reports whether the results seem to be within the tolerance, by the eigenvalues of B B', which is tridiagonal but for its
// part of kept vectors; gathered is this part, made tridiagonal.
func (g *bidiagonal) near(gathered tridiagonal) bool {
	kept, steps := len(g.sigma), len(g.alpha)
	t := tridiagonal{append([]float64(nil), gathered.alpha...), append([]float64(nil), gathered.beta...)}
	if kept > 0 {
		t.beta[kept-1] *= g.alpha[0]
	}
	for i, alpha := range g.alpha {
		beta := 0.0
		if i < steps-1 {
			beta = g.beta[kept+i]
			t.beta = append(t.beta, beta*g.alpha[i+1])
		}
		t.alpha = append(t.alpha, alpha*alpha+beta*beta)
	}
	squares, last, ok := t.lasts()
	if !ok {
		return true // find computes them in another way
	}
	order, values := Largest.order(squares), make([]float64, len(squares))
	for i, k := range order {
		values[i] = math.Sqrt(max(squares[k], 0))
	}
	residual := func(i int) float64 { return math.Abs(g.beta[kept+steps-1] * last[order[i]]) }
	for i := range g.wanted(values, residual) {
		if !(residual(i) <= g.limit(values[i])) {
			return false
		}
	}
	return true
}

// extend adds pairs of vectors until the bases have g.grown of them, or until the results seem to be within the tolerance.
func (g *bidiagonal) extend() error {
	var gathered tridiagonal
	begin := len(g.sigma) + len(g.alpha)
	if begin > 0 {
		squares := make([]float64, len(g.sigma))
		for i, v := range g.sigma {
			squares[i] = v * v
		}
		gathered, _ = gather(squares, g.s, 1)
	}
	for m := begin; m < g.grown; m++ {
		if m == g.n-len(g.lockedV) {
			g.full = true
			return nil
		}
		if m > g.count && (m-begin)%lookEvery == lookEvery-1 {
			if g.near(gathered) {
				return nil
			}
			if err := g.Ended(); err != nil {
				return err
			}
		}
		if g.iterations >= g.opt.MaxIter && m >= g.count {
			return nil
		}
		if err := g.step(m); err != nil || g.full {
			return err
		}
	}
	return nil
}

// step multiplies v[m], which gives u[m] and column m of B, and then u[m], which gives v[m+1].
func (g *bidiagonal) step(m int) error {
	u := g.left.take(1)[0]
	g.forward(g.v[m], u)
	g.iterations++
	var h []float64
	var near []space.Vector
	switch kept := len(g.sigma); {
	case m == kept:
		h, near = g.s, g.u[:kept]
	default:
		h, near = []float64{g.beta[m-1]}, []space.Vector{g.u[m-1]}
	}
	length := 0.0
	if len(near) > 0 {
		length = math.Sqrt(g.Combine(-1, h, near, u))
	} else {
		length = math.Sqrt(g.Dot(u, u))
	}
	if err := g.Failed(); err != nil {
		return err
	}
	if !space.Finite(length) {
		return g.failure(solver.ErrBreakdown, math.Inf(1), "|A v| is not finite")
	}
	all := append(slices.Clip(g.u[:m]), g.lockedU...)
	var alpha float64
	if length > oneSided*g.norm && len(g.lockedU) == 0 {
		alpha = g.unit(u, length, length)
	} else {
		alpha = g.remainder(u, all, length)
	}
	if alpha == 0 && !g.random(u, all) {
		return g.failure(solver.ErrBreakdown, math.Inf(1), "no vector is orthogonal to the basis")
	}
	g.norm = max(g.norm, alpha)
	g.u, g.alpha = append(g.u[:m], u), append(g.alpha, alpha)
	w := g.take(1)[0]
	g.backward(u, w)
	length = math.Sqrt(g.Axpy(-alpha, g.v[m], w))
	all = append(slices.Clip(g.v[:m+1]), g.lockedV...)
	beta := g.remainder(w, all, length)
	if beta == 0 {
		if g.full = len(all) == g.n || !g.random(w, all); g.full {
			g.give(w)
			w = space.None
		}
	}
	g.norm = max(g.norm, beta)
	g.beta, g.v = append(g.beta[:m], beta), append(g.v[:m+1], w)
	return g.Failed()
}

// oneSided is the length of A v - beta u, relative to the norm of A, from which on the next u is not made orthogonal to all others:
// it is nearly so because the v are orthogonal (Simon and Zha, "Low-rank matrix approximation using the Lanczos
// bidiagonalization process with applications", SIAM J. Sci. Comput. 21, 2000).
const oneSided = 0.1

// project returns the singular values of B, the largest first, and their left and right vectors.
func (g *bidiagonal) project() (values []float64, p, q [][]float64, err error) {
	kept := len(g.sigma)
	m := kept + len(g.alpha)
	b := make([]float64, m*m)
	for i, sigma := range g.sigma {
		b[i*m+i], b[i*m+kept] = sigma, g.s[i]
	}
	for i, alpha := range g.alpha {
		b[(kept+i)*m+kept+i] = alpha
		if i > 0 {
			b[(kept+i-1)*m+kept+i] = g.beta[kept+i-1]
		}
	}
	values, p, q, err = smallSVD(m, b)
	if err == nil {
		g.norm = values[0]
	}
	return values, p, q, err
}

// restart replaces the bases by their best approximations of singular vectors, and the v that follows.
func (g *bidiagonal) restart(values []float64, p, q [][]float64, converged int) {
	m := len(values)
	g.restarts++
	keep := kept(g.count, converged, m, 2)
	last := g.beta[m-1]
	g.sigma, g.s = append(g.sigma[:0], values[:keep]...), g.s[:0]
	for i := range keep {
		g.s = append(g.s, last*p[i][m-1])
	}
	next := g.v[m]
	g.Rotate(g.v[:m], q[:keep])
	g.Rotate(g.u[:m], p[:keep])
	g.give(g.v[keep:m]...)
	g.left.give(g.u[keep:m]...)
	g.v, g.u = append(g.v[:keep], next), g.u[:keep]
	g.alpha, g.beta = g.alpha[:0], append(g.beta[:0], make([]float64, keep)...)
	if grown := growth(g.opt.Basis, g.count, g.grown, g.n-len(g.lockedV), g.restarts); grown > g.grown && g.mayGrow(2*(grown-g.grown)) {
		g.grown = grown
	}
}

// end returns the approximate singular vectors and gives back the other vectors.
func (g *bidiagonal) end(count int, p, q [][]float64) (v, u []space.Vector) {
	m := len(q)
	g.Rotate(g.v[:m], q[:count])
	g.Rotate(g.u[:m], p[:count])
	for _, v := range g.v[count:] {
		if v != space.None {
			g.give(v)
		}
	}
	g.left.give(g.u[count:]...)
	return g.v[:count:count], g.u[:count:count]
}
