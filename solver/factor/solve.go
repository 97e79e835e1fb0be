package factor

import (
	"math"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

// Apply computes x = A^-1 b, with iterative refinement until the largest |b - A x| / (|A| |x| + |b|) of an equation is a
// few units of rounding or no longer falls. b and x have Size elements and do not overlap.
//
// An *AccuracyError is the error of a solution with a backward error above 1e-10; x has the best one that was found.
func (f *LU) Apply(b, x []float64) error { return f.apply(b, x, false) }

// ApplyTransposed computes x = A'^-1 b; see Apply.
func (f *LU) ApplyTransposed(b, x []float64) error { return f.apply(b, x, true) }

// ApplyMany computes x[k] = A^-1 b[k] for each k; see Apply. It reads the factors once for several right-hand sides, and
// is faster than one Apply after the other. The error is that of the first right-hand side that has one.
func (f *LU) ApplyMany(b, x [][]float64) error {
	if err := checkMany(f.Size(), b, x); err != nil {
		return err
	}
	if f.failed != nil {
		return f.failed
	}
	var first error
	for k := 0; k < len(b); k += maxTogether {
		end := min(k+maxTogether, len(b))
		if err := f.applyTogether(b[k:end], x[k:end]); first == nil {
			first = err
		}
	}
	return first
}

// maxTogether is the number of right-hand sides that ApplyMany solves at a time.
const maxTogether = 16

// applyTogether solves with some right-hand sides and then refines one solution after the other.
func (f *LU) applyTogether(b, x [][]float64) (first error) {
	n, count := f.Size(), len(b)
	m := f.m
	scaled, y := make([]float64, n*count), make([]float64, n*count)
	for c := range b {
		m.toFactors(b[c], scaled[c*n:][:n])
	}
	f.solveMany(count, scaled, y)
	w := f.vector()
	defer f.work.Put(w)
	for c := range x {
		a := f.refineWith(scaled[c*n:][:n], y[c*n:][:n], (*w)[2*n:], false)
		m.fromFactors(y[c*n:][:n], x[c])
		if err := f.judge(a.backward, b[c]); first == nil {
			first = err
		}
	}
	return first
}

// toFactors computes the right-hand side of the factors, R b[rows].
func (m *matching) toFactors(b, scaled []float64) {
	for i := range scaled {
		scaled[i] = b[at(m.rows, i)]
		if m.rowScale != nil {
			scaled[i] *= m.rowScale[i]
		}
	}
}

// fromFactors computes the solution x from that of the factors, x[cols] = C y.
func (m *matching) fromFactors(y, x []float64) {
	for i, v := range y {
		if m.colScale != nil {
			v *= m.colScale[i]
		}
		x[at(m.cols, i)] = v
	}
}

// judge returns the error of a solution with a backward error.
func (f *LU) judge(backward float64, b []float64) error {
	if backward <= accurate {
		return nil
	}
	for i, v := range b {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return sparse.Inputf("b", "element %d is %g", i, v)
		}
	}
	return &AccuracyError{Backward: backward, Replaced: f.Info().Replaced}
}

// solveMany is solve for count vectors.
func (f *LU) solveMany(count int, b, x []float64) {
	if f.left != nil {
		f.left.SolveMany(b, x, count, nil)
		return
	}
	n, p := f.Size(), f.front.Order()
	y := make([]float64, len(b))
	for c := range count {
		for i, k := range p {
			y[c*n+i] = b[c*n+int(k)]
		}
	}
	f.front.Solve(count, y, make([]float64, f.front.Workspace(count)))
	for c := range count {
		for i, k := range p {
			x[c*n+int(k)] = y[c*n+i]
		}
	}
}

func (f *LU) apply(b, x []float64, transposed bool) error {
	if err := checkApply(f.Size(), b, x); err != nil {
		return err
	}
	if f.failed != nil {
		return f.failed
	}
	n := f.Size()
	w := f.vector()
	defer f.work.Put(w)
	scaled, y := (*w)[:n], (*w)[n:2*n]
	m := f.m
	if transposed {
		m = matching{rowScale: m.colScale, colScale: m.rowScale}
		if f.m.rows != nil {
			m.cols = f.m.rows
		}
	}
	m.toFactors(b, scaled)
	a := f.refinedWith(scaled, y, (*w)[2*n:], transposed)
	m.fromFactors(y, x)
	return f.judge(a.backward, b)
}

// vector returns working memory for apply.
func (f *LU) vector() *[]float64 {
	need := 5*f.Size() + f.workspace()
	if w, _ := f.work.Get().(*[]float64); w != nil && len(*w) >= need {
		return w
	}
	w := make([]float64, need)
	return &w
}

func (f *LU) workspace() int {
	if f.left != nil {
		return f.Size()
	}
	return f.front.Workspace(1)
}

// refined solves with f.a or its transpose and refines x.
func (f *LU) refined(b, x []float64, transposed bool) accuracy {
	return f.refinedWith(b, x, make([]float64, 3*f.Size()+f.workspace()), transposed)
}

// refinedWith is refined with working memory.
func (f *LU) refinedWith(b, x, w []float64, transposed bool) accuracy {
	f.solve(b, x, w[2*f.Size():], transposed)
	return f.refineWith(b, x, w, transposed)
}

// refineWith refines the solution x, see refine.
func (f *LU) refineWith(b, x, w []float64, transposed bool) accuracy {
	n := f.Size()
	solve := func(b, x []float64) { f.solve(b, x, w[2*n:], transposed) }
	return refine(b, x, w[:n], w[n:2*n], solve, func(x, r []float64) accuracy {
		if transposed {
			return residualTransposed(f.a, b, x, r)
		}
		return residual(f.a, b, x, r)
	})
}

// solve computes x with B x = b, or B'x = b, for the matrix B of the factors. w has n elements and the workspace.
func (f *LU) solve(b, x, w []float64, transposed bool) {
	if f.left != nil {
		if transposed {
			f.left.SolveTransposed(b, x, w)
		} else {
			f.left.Solve(b, x, w)
		}
		return
	}
	p := f.front.Order()
	y, w := w[:len(p)], w[len(p):]
	for i, k := range p {
		y[i] = b[k]
	}
	if transposed {
		f.front.SolveTransposed(1, y, w)
	} else {
		f.front.Solve(1, y, w)
	}
	for i, k := range p {
		x[k] = y[i]
	}
}

// Condition returns an estimate of the condition of A in the 1-norm, |A| |A^-1|: the relative error of a solution is at
// most about that times the backward error, and a value above 1e16 means that A is numerically singular. It takes up to
// 11 solves. The estimate is seldom less than a third of the true value (Higham, ACM Trans. Math. Softw. 14 (1988)
// 381-396). It is +Inf if solutions leave the range of float64, or if the last Refactor failed.
func (f *LU) Condition() float64 {
	n := f.Size()
	x := make([]float64, n)
	by := func(transposed bool) func(v []float64) error {
		return func(v []float64) error {
			err := f.apply(v, x, transposed)
			copy(v, x)
			if _, inaccurate := err.(*AccuracyError); inaccurate {
				return nil
			}
			return err
		}
	}
	return condition(n, f.norm, by(false), by(true))
}

func condition(n int, norm float64, solve, transposed func(x []float64) error) float64 {
	if n == 0 {
		return 0
	}
	inverse, err := inverseNorm(n, solve, transposed)
	if err != nil || math.IsNaN(inverse) {
		return math.Inf(1)
	}
	return norm * inverse
}

// checkMany checks the arguments of ApplyMany.
func checkMany(n int, b, x [][]float64) error {
	if len(b) != len(x) {
		return sparse.Inputf("x", "%d vectors for %d right-hand sides", len(x), len(b))
	}
	for k := range b {
		if err := checkApply(n, b[k], x[k]); err != nil {
			return err
		}
		for i := range k {
			if mem.Overlap(x[i], x[k]) || mem.Overlap(b[i], x[k]) || mem.Overlap(x[i], b[k]) {
				return sparse.Inputf("x", "vector %d shares memory with vector %d", k, i)
			}
		}
	}
	return nil
}
