package factor

import (
	"math"

	"github.com/msrep-go/msrep/internal/dense"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

const (
	// enough is the strict accuracy at which refinement ends, if the residual is at most small times the largest element
	// of b. A larger residual, of a system with a bad condition, may fall until the accuracy is best.
	enough = 0x1p-48
	best   = 0x1p-51
	small  = 1e-13
	// accurate is the largest backward error of a solution that is accepted.
	accurate = 1e-10
	// maxSteps is the largest number of steps of refinement.
	maxSteps = 5
)

// accuracy is how well x solves A x = b: the largest |b - A x| / s of an equation, or NaN.
type accuracy struct {
	// strict has s = |A| |x| + |b|: it is the relative change of the entries of A and b that makes x exact (Oettli and
	// Prager, Numer. Math. 6 (1964) 405-409).
	strict float64
	// backward adds to s, where it may be no more than rounding errors, the sum of the magnitudes of the row times the
	// largest |x| (Arioli, Demmel and Duff, SIAM J. Matrix Anal. Appl. 10 (1989) 165-190).
	backward float64
}

// add adds an equation of n unknowns with the residual r. size is |A| |x|, most the sum of the row times the largest |x|.
func (a *accuracy) add(n int, r, size, b, most float64) {
	r, b = math.Abs(r), math.Abs(b)
	s := size + b
	larger(&a.strict, r, s)
	if s <= 1000*0x1p-52*float64(n)*(most+b) {
		s += most
	}
	larger(&a.backward, r, s)
}

// better reports whether a is more accurate than other.
func (a accuracy) better(other accuracy) bool {
	return a.strict < other.strict || a.strict == other.strict && a.backward < other.backward
}

// larger replaces most by p/q if that is larger, where 0/0 is 0 and NaN is the largest.
func larger(most *float64, p, q float64) {
	switch {
	case p <= *most*q || math.IsNaN(*most):
	case math.IsInf(q, 0):
		*most = nan
	default:
		*most = p / q
	}
}

// residual computes r = b - A x.
func residual(a *sparse.CSR[float64], b, x, r []float64) accuracy {
	n := int64(a.Rows)
	goroutines := par.Workers(a.NNZ()+n, 1<<16)
	worst := make([]accuracy, goroutines)
	largest := dense.Largest(0, x)
	par.Do(goroutines, func(w int) {
		for i := par.Cut(n, goroutines, w); i < par.Cut(n, goroutines, w+1); i++ {
			sum, size, row := b[i], 0.0, 0.0
			col, val := a.ColIdx[a.RowPtr[i]:a.RowPtr[i+1]], a.Val[a.RowPtr[i]:a.RowPtr[i+1]]
			for k, j := range col {
				p := val[k] * x[j]
				sum -= p
				size += math.Abs(p)
				row += math.Abs(val[k])
			}
			r[i] = sum
			worst[w].add(a.Rows, sum, size, b[i], row*largest)
		}
	})
	all := worst[0]
	for _, w := range worst[1:] {
		larger(&all.strict, w.strict, 1)
		larger(&all.backward, w.backward, 1)
	}
	return all
}

// residualTransposed is residual for A'x = b.
func residualTransposed(a *sparse.CSR[float64], b, x, r []float64) (all accuracy) {
	size, col := make([]float64, len(b)), make([]float64, len(b))
	copy(r, b)
	for i, v := range x {
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			j, p := a.ColIdx[k], a.Val[k]*v
			r[j] -= p
			size[j] += math.Abs(p)
			col[j] += math.Abs(a.Val[k])
		}
	}
	largest := dense.Largest(0, x)
	for i, v := range r {
		all.add(a.Rows, v, size[i], b[i], col[i]*largest)
	}
	return all
}

// refine refines a solution x of A x = b: x += A^-1 (b - A x), where solve computes A^-1. It returns the accuracy of x, which
// residual(x, r) returns with r = b - A x. r and step are working memory of the size of x.
//
// It ends after maxSteps, or when the strict accuracy is good (see enough) or has not halved. The result is the best x.
func refine(b, x, r, step []float64, solve func(b, x []float64), residual func(x, r []float64) accuracy) accuracy {
	now, largest := residual(x, r), dense.Largest(0, b)
	for range maxSteps {
		if now.strict <= enough && (now.strict <= best || dense.Largest(0, r) <= small*largest) || math.IsNaN(now.strict) {
			break
		}
		solve(r, step)
		for i := range x {
			step[i], x[i] = x[i], x[i]+step[i]
		}
		next := residual(x, r)
		if !next.better(now) {
			copy(x, step)
			break
		}
		stalled := next.strict > now.strict/2
		now = next
		if stalled {
			break
		}
	}
	return now
}
