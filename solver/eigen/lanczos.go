package eigen

import (
	"cmp"
	"context"
	"math"

	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/solver/internal/space"
)

// Symmetric finds eigenvalues of a symmetric operator, for example a *msrep.Plan[float64], by the thick-restart Lanczos
// method (Wu and Simon, "Thick-restart Lanczos method for large symmetric eigenvalue problems", SIAM J. Matrix Anal. Appl.
// 22, 2000). Options.Which may be Largest, Smallest or Magnitude; Solve also has Near.
//
// An iteration multiplies one vector, and makes the result orthogonal to the last two vectors of the basis. It makes it
// orthogonal to all m vectors, which takes 4 m n operations for n elements and reads the basis twice, only where estimated
// rounding errors have grown to Tol/100 or 1e-11 (partial reorthogonalisation), and around restarts. The basis and one vector
// more are stored. At a restart the basis is replaced by its best approximations of eigenvectors.
//
// The operator must be symmetric, which is not checked for all its elements: Solve does that. Where products show that it
// is not, the error wraps solver.ErrBreakdown. If fewer than Count pairs reach the tolerance within MaxIter iterations,
// the error is a *solver.ConvergenceError that wraps solver.ErrNotConverged; the Result then has the best approximations.
func Symmetric(ctx context.Context, a solver.Operator, opt Options) (res *Result, err error) {
	r, err := newRun(ctx, MethodLanczos, a, nil, opt)
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := r.Free(); e != nil && err == nil {
			res, err = nil, e
		}
	}()
	r.reserve(r.vectors()+mostSpare, r.piece)
	return r.lanczos()
}

// mostSpare is the number of vectors beside the basis and the one after it.
const mostSpare = 2

// lanczos finds the eigenvalues of the operator of r.
func (r *run) lanczos() (*Result, error) {
	start := r.take(2)
	r.Set(1, r.x, start[0])
	if !r.orthogonal(start[0], nil) && !r.random(start[0], nil) {
		return nil, r.Failed()
	}
	if err := r.chooseScale(start[0], start[1]); err != nil {
		return nil, err
	}
	r.give(start[1])
	l := &lanczos{run: r, count: r.opt.Count}
	found, gaveUp := l.find(start[0])
	if err := r.Failed(); err != nil {
		return nil, err
	}
	if found == nil {
		return nil, gaveUp
	}
	search := func(count int, found []space.Vector, start space.Vector, past *edge) ([]space.Vector, error) {
		return (&lanczos{run: r, count: count, locked: found, past: past}).find(start)
	}
	copies := 0
	if gaveUp == nil && r.relative {
		if found, gaveUp = r.purified(found, search); found == nil {
			return nil, gaveUp
		}
	}
	if gaveUp == nil && !l.full && !r.opt.SkipCheck {
		if found, copies, gaveUp = r.completed(found, search); found == nil {
			return nil, gaveUp
		}
	}
	res, err := r.pairs(found)
	if err != nil {
		return nil, err
	}
	res.Copies = copies
	res.permute(r.opt.Which.order(res.Values))
	return res, res.accurate(gaveUp)
}

// lanczos is a basis v of orthonormal vectors and the projected matrix T = V'(scale*A)V, which is tridiagonal, also after a
// restart:
//
//	(scale*A) V = V T + beta_m v_m e_m'
//
// where e_m is the last unit vector and m the number of vectors.
type lanczos struct {
	*run
	count  int            // eigenvalues to find
	locked []space.Vector // eigenvectors found before, to which the basis is orthogonal
	past   *edge          // values that are not past it are not wanted; nil: count are

	v     []space.Vector // m+1 vectors
	t     tridiagonal    // m rows; beta has m elements
	full  bool           // v and locked span the whole space, and beta_m is 0
	grown int            // vectors that the basis may have
	kept  int            // vectors that stayed at the last restart
	turns []turn         // memory of the last decomposition
	look  look

	semi   bool // vectors are made orthogonal to all others only where estimates of their levels demand it
	again  bool // the next vector is made orthogonal to all others
	levels levels
}

// basisSize returns the number of vectors of the first basis, where Options.Basis is given, count vectors are to be found,
// and there is room for most.
func basisSize(given, count, most int) int {
	return max(min(cmp.Or(given, max(2*count+8, 24)), most), 1)
}

// slow is the number of restarts after which a basis grows again.
const slow = 8

// growth returns the number of vectors of a basis of size vectors after a number of restarts; see basisSize. More vectors save
// few products where these are few, and cost as much as they save.
func growth(given, count, size, most, restarts int) int {
	if given != 0 || restarts > 1 && restarts%slow != 0 {
		return size
	}
	return max(size, min(size+size/2, most, 6*count+60))
}

// kept returns how many of m vectors stay at a restart: count, and at least so many fifths of the others.
func kept(count, converged, m, fifths int) int {
	keep := min(count+max(converged, fifths*(m-count)/5), m-2)
	return max(keep, min(count, m-1))
}

// find returns l.count vectors of length 1 that approximate the eigenvectors within the tolerance, or fewer where there are no others
// past the edge, or those that it has with an error. It overwrites start.
func (l *lanczos) find(start space.Vector) ([]space.Vector, error) {
	l.grown = basisSize(l.opt.Basis, l.count, l.n-len(l.locked))
	l.semi = !l.relative
	l.v, l.look.next = append(l.v, start), l.iterations+2*lookEvery-1
	l.levels.reset(0)
	for {
		if err := l.extend(); err != nil {
			return nil, err
		}
		if err := l.Ended(); err != nil {
			return nil, err
		}
		d, err := l.t.decompose(l.turns[:0])
		if err != nil {
			return nil, l.failure(solver.ErrBreakdown, math.Inf(1), "%v", err)
		}
		l.turns = d.turns
		order, count, converged, worst := l.converged(d.values, d.last)
		l.opt.report(Step{Iteration: l.iterations, Converged: converged, Residual: worst / max(l.norm, math.SmallestNonzeroFloat64)})
		if converged == count {
			return l.end(d, order[:count]), nil
		}
		if l.iterations >= l.opt.MaxIter {
			return l.end(d, order[:count]), l.failure(solver.ErrNotConverged, worst, "%d of %d eigenvalues are within the tolerance", converged, count)
		}
		l.restart(d, order, converged)
	}
}

// converged returns the order of Ritz values, how many of them are wanted, how many of these are within the tolerance before the
// first that is not, and the largest residual of those wanted. last has the last element of the eigenvector of T for each value.
func (l *lanczos) converged(values, last []float64) (order []int, count, converged int, worst float64) {
	beta := 0.0
	if !l.full {
		beta = l.t.beta[len(values)-1]
	}
	l.norm = max(l.norm, space.LargestOf(values)) // those of T may have been larger before a restart
	order, count = l.opt.Which.order(values), min(l.count, len(values))
	if l.past != nil {
		count = min(count, l.past.wanted(l.opt.Which, values, func(k int) float64 { return math.Abs(beta * last[k]) }))
	}
	for i, k := range order[:count] {
		residual := math.Abs(beta * last[k])
		if residual <= l.limit(values[k]) && converged == i {
			converged++
		}
		worst = max(worst, residual)
	}
	return order, count, converged, worst
}

// The least and the largest number of steps after which Lanczos looks whether its results are within the tolerance.
const lookEvery, lookRarely = 6, 24

// look says when to look next, by how fast the residuals have decreased since the last time.
type look struct {
	at, next int     // iterations at the last look, and at the next one
	excess   float64 // the largest residual over its limit, at the last look
}

// seen adds a look with this excess, and chooses the next one: before the residuals reach their limit if they decrease as since
// the last look.
func (o *look) seen(iterations int, excess float64) {
	steps := float64(lookEvery)
	if gain := math.Log(o.excess/excess) / float64(iterations-o.at); o.excess > 0 && gain > 0 {
		steps = min(max(0.7*math.Log(excess)/gain, lookEvery), lookRarely)
	}
	*o = look{iterations, iterations + int(steps), excess}
}

// extend adds vectors until the basis has l.grown vectors, and one more that is not part of T, or until the results are within
// the tolerance.
func (l *lanczos) extend() error {
	for m := len(l.t.alpha); m < l.grown; m++ {
		if m == l.n-len(l.locked) {
			l.full = true
			return nil
		}
		if m > l.count && l.iterations >= l.look.next {
			values, last, ok := l.t.lasts()
			if !ok {
				return nil // find looks again
			}
			order, count, converged, worst := l.converged(values, last)
			if converged == count {
				return nil
			}
			if l.look.seen(l.iterations, worst/l.limit(values[order[0]])); l.past != nil {
				l.look.next = l.iterations + lookEvery // other ends settle long before their values are within the tolerance
			}
			if err := l.Ended(); err != nil {
				return err
			}
		}
		if l.iterations >= l.opt.MaxIter && m >= l.count {
			return nil
		}
		if err := l.step(m); err != nil || l.full {
			return err
		}
	}
	return nil
}

// step multiplies v[m], which gives row m of T and v[m+1].
func (l *lanczos) step(m int) error {
	v := l.v[m]
	w := l.take(1)[0]
	l.apply(v, w)
	l.iterations++
	alpha := l.Dot(v, w)
	h, near := []float64{alpha}, []space.Vector{v}
	if m > 0 {
		h, near = append(h, l.t.beta[m-1]), append(near, l.v[m-1])
	}
	length := math.Sqrt(l.Combine(-1, h, near, w))
	if len(l.locked) > 0 && l.semi {
		length = l.subtract(l.locked, w)
	}
	if err := l.Failed(); err != nil {
		return err
	}
	if !space.Finite(length) || !space.Finite(alpha) {
		return l.failure(solver.ErrBreakdown, math.Inf(1), "|A v| is not finite")
	}
	l.norm = max(l.norm, math.Abs(alpha))
	l.t.alpha = append(l.t.alpha, alpha)
	beta := 0.0
	if !l.orthogonalise(m, length) {
		beta = l.unit(w, length, length)
	}
	if beta == 0 {
		var err error
		if beta, w, err = l.orthogonalised(m, w, length); err != nil {
			return err
		}
	}
	l.norm = max(l.norm, beta)
	l.t.beta = append(l.t.beta[:m], beta)
	l.v = append(l.v[:m+1], w)
	return nil
}

// orthogonalised returns the unit vector v[m+1] and beta[m], from w = v[m+1]*beta[m] of this length, which may have small parts of
// all others.
func (l *lanczos) orthogonalised(m int, w space.Vector, length float64) (beta float64, v space.Vector, err error) {
	all := append(append([]space.Vector(nil), l.v[:m+1]...), l.locked...)
	g := l.Inner(all, []space.Vector{w})[0]
	for _, e := range g[:m] {
		if math.Abs(e) > asymmetric*max(l.norm, length) {
			return 0, w, l.failure(solver.ErrBreakdown, math.Inf(1), "the matrix is not symmetric")
		}
		l.semi = l.semi && math.Abs(e) <= 1e4*l.threshold()*length
	}
	l.t.alpha[m] += g[m]
	beta = l.remainderOf(g, w, all, length)
	l.levels.reset(m + 1)
	if beta == 0 { // v spans an invariant space: go on from anywhere else
		if l.full = len(all) == l.n || !l.random(w, all); l.full {
			l.give(w)
			w = space.None
		}
	}
	return beta, w, nil
}

// orthogonalise reports whether the vector that follows row m, of this length, is to be made orthogonal to all others: where its
// level or that of the vector before it exceeds the threshold, and around restarts.
func (l *lanczos) orthogonalise(m int, length float64) bool {
	if !l.semi {
		return true
	}
	high := l.levels.next(l.t, m, length, 0x1p-51*l.norm) > l.threshold()
	due := high || l.again || m < 4 || m+1 == l.grown || m == l.kept || length < 1e-3*l.norm
	l.again = due && !l.again
	return due
}

// threshold is the largest level of a vector.
func (l *lanczos) threshold() float64 { return max(min(0.01*l.opt.Tol, 1e-11), 1e-14) }

// asymmetric is the least difference between A and its transpose, relative to the norm, that is found. Products in float32
// differ by less.
const asymmetric = 1e-4

// restart replaces the basis by vectors that span its best approximations of eigenvectors, and the vector that follows.
func (l *lanczos) restart(d decomposed, order []int, converged int) {
	m := len(d.values)
	l.restarts++
	keep := kept(l.count, converged, m, 1)
	theta, s := make([]float64, keep), make([]float64, keep)
	for i, k := range order[:keep] {
		theta[i], s[i] = d.values[k], l.t.beta[m-1]*d.last[k]
	}
	y := d.vectors(order[:keep])
	t, q := gather(theta, s, 0)
	rotation := rowsOf(make([]float64, keep*m), m)
	for j, q := range q {
		for i, y := range y {
			for e, v := range y {
				rotation[j][e] += q[i] * v
			}
		}
	}
	next := l.v[m]
	l.Rotate(l.v[:m], rotation)
	l.give(l.v[keep:m]...)
	l.v, l.t, l.kept = append(l.v[:keep], next), t, keep
	l.levels.reset(keep)
	if grown := growth(l.opt.Basis, l.count, l.grown, l.n-len(l.locked), l.restarts); grown > l.grown && l.mayGrow(grown-l.grown) {
		l.grown = grown
	}
}

// end returns the approximate eigenvectors of some values and gives back the other vectors.
func (l *lanczos) end(d decomposed, order []int) []space.Vector {
	l.Rotate(l.v[:len(d.values)], d.vectors(order))
	found := l.v[:len(order)]
	for i, k := range order {
		l.found(found[i], d.values[k])
	}
	for _, v := range l.v[len(order):] {
		if v != space.None {
			l.give(v)
		}
	}
	return found
}
