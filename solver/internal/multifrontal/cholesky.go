package multifrontal

import (
	"context"
	"fmt"

	"github.com/msrep-go/msrep/internal/dense"
)

// CholeskyFactor is a factorisation A = L L'.
type CholeskyFactor struct {
	*Analysis
	factors []float64
}

// NotPositiveError means that a pivot is not positive, so the matrix is not positive definite.
type NotPositiveError struct{ Row int }

func (e *NotPositiveError) Error() string {
	return fmt.Sprintf("row %d: its pivot is not positive", e.Row)
}

// FactorCholesky computes the factor of the matrix with the values given, in the order of the entries of the analysed
// matrix. If f is not nil, it uses the memory of f. The error is a *NotPositiveError if the matrix is not positive
// definite in working precision.
func (s *Analysis) FactorCholesky(ctx context.Context, values []float64, f *CholeskyFactor) (*CholeskyFactor, error) {
	r := &run{Analysis: s, ctx: ctx, values: values}
	if f == nil {
		f = &CholeskyFactor{Analysis: s, factors: make([]float64, s.Stored())}
		r.clean = true
	}
	r.factors = f.factors
	r.eliminate = r.cholesky
	if err := r.factor(); err != nil {
		return nil, err
	}
	return f, nil
}

func (r *run) cholesky(t *team, i int32) error {
	l := r.assemble(i)
	f := r.front[i]
	k, m, n := f.pivots, f.rows(), f.below
	s := r.contribution[i]
	for _, c := range r.childrenOf(i) {
		r.addLower(t, c, f, l, s)
	}
	failed := -1
	if frontWork(f) > 2*minLoopWork {
		failed = r.largeCholesky(t, f, l, s)
	} else {
		failed = dense.Cholesky(k, l, m)
		if failed < 0 && n > 0 {
			dense.LowerRightTransSolve(n, k, l, m, l[k:], m)
			dense.Syrk(n, k, l[k:], m, s, n)
		}
	}
	if err := r.ctx.Err(); err != nil {
		return err
	}
	if failed >= 0 {
		return &NotPositiveError{int(r.perm[int(r.first[i])+failed])}
	}
	return nil
}

// addLower adds the lower triangle of the contribution of c to the front f of its parent.
func (r *run) addLower(t *team, c int32, f front, l, s []float64) {
	n := r.front[c].below
	place := r.place[r.rowPtr[c]:r.rowPtr[c+1]]
	from := r.contribution[c]
	k, m := f.pivots, f.rows()
	r.share(t, n, float64(n)*float64(n)*2, func(lo, hi int) {
		for j := lo; j < hi; j++ {
			col, q := from[j*n+j:][:n-j], int(place[j])
			if q < k {
				scatter(l[q*m:][:m], col, place[j:], 0)
			} else {
				scatter(s[(q-k)*f.below:][:f.below], col, place[j:], k)
			}
		}
	})
}

// largeCholesky eliminates the pivots of a front in parts, by a team. It returns the first pivot that is not positive, or -1.
func (r *run) largeCholesky(t *team, f front, l, s []float64) (failed int) {
	k, m, n := f.pivots, f.rows(), f.below
	for c := 0; c < k && r.ctx.Err() == nil; c += blockColumns {
		nb := min(blockColumns, k-c)
		end := c + nb
		block := l[c+c*m:]
		if failed := dense.Cholesky(nb, block, m); failed >= 0 {
			return c + failed
		}
		rest := m - end
		r.share(t, rest, float64(rest)*float64(nb)*float64(nb), func(lo, hi int) {
			dense.LowerRightTransSolve(hi-lo, nb, block, m, l[end+lo+c*m:], m)
		})
		if end < k {
			r.shareTrapezoid(t, k-end, rest, nb, l[end+c*m:], m, l[end+end*m:], m)
		}
	}
	if n > 0 {
		r.shareTrapezoid(t, n, n, k, l[k:], m, s, n)
	}
	return -1
}

// shareTrapezoid computes the lower trapezoid of C -= A*A' for the first n columns of C, m x m. A is m x k.
func (r *run) shareTrapezoid(t *team, n, m, k int, a []float64, lda int, c []float64, ldc int) {
	r.share(t, n, float64(k)*float64(n)*(2*float64(m)-float64(n)), func(lo, hi int) {
		dense.Syrk(hi-lo, k, a[lo:], lda, c[lo+lo*ldc:], ldc)
		if hi < m {
			dense.GemmNT(m-hi, hi-lo, k, a[hi:], lda, a[lo:], lda, c[hi+lo*ldc:], ldc)
		}
	})
}
