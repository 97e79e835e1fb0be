package eigen

import (
	"errors"

	"gonum.org/v1/gonum/blas"
	lapackgo "gonum.org/v1/gonum/lapack/gonum"
	"gonum.org/v1/gonum/mat"
)

// errSmall is the error of a small dense problem whose elements are not finite.
var errSmall = errors.New("the matrix has products that are not finite")

// symmetric is a small dense symmetric matrix.
type symmetric struct {
	n int
	a []float64 // by row
}

func newSymmetric(n int) symmetric { return symmetric{n, make([]float64, n*n)} }

func (s symmetric) set(i, j int, v float64) { s.a[i*s.n+j], s.a[j*s.n+i] = v, v }

// eigen returns the eigenvalues, ascending, and the eigenvectors: vectors[k] is that of values[k].
func (s symmetric) eigen() (values []float64, vectors [][]float64, err error) {
	var e mat.EigenSym
	if !finite(s.a) || !e.Factorize(mat.NewSymDense(s.n, s.a), true) {
		return nil, nil, errSmall
	}
	var q mat.Dense
	e.VectorsTo(&q)
	vectors = make([][]float64, s.n)
	for k := range vectors {
		vectors[k] = mat.Col(nil, k, &q)
	}
	return e.Values(nil), vectors, nil
}

// smallSVD returns the singular values of an n x n matrix, stored by row, the largest first, and the left and right vectors
// of each.
func smallSVD(n int, a []float64) (values []float64, left, right [][]float64, err error) {
	var d mat.SVD
	if !finite(a) || !d.Factorize(mat.NewDense(n, n, a), mat.SVDFull) {
		return nil, nil, nil, errSmall
	}
	var u, v mat.Dense
	d.UTo(&u)
	d.VTo(&v)
	left, right = make([][]float64, n), make([][]float64, n)
	for k := range n {
		left[k], right[k] = mat.Col(nil, k, &u), mat.Col(nil, k, &v)
	}
	return d.Values(nil), left, right, nil
}

// tridiagonal is a symmetric tridiagonal matrix with alpha on and beta beside its diagonal. Elements of beta from
// len(alpha)-1 on do not count.
type tridiagonal struct{ alpha, beta []float64 }

// transposedRows returns the columns of an n x n matrix stored by row.
func transposedRows(z []float64, n int) [][]float64 {
	all := make([]float64, n*n)
	out := rowsOf(all, n)
	for i := range n {
		for k, v := range z[i*n : (i+1)*n] {
			out[k][i] = v
		}
	}
	return out
}

// rowsOf cuts v into rows of n elements.
func rowsOf(v []float64, n int) [][]float64 {
	out := make([][]float64, len(v)/max(n, 1))
	for i := range out {
		out[i] = v[i*n : (i+1)*n]
	}
	return out
}

func finite(v []float64) bool {
	for _, e := range v {
		if e-e != 0 {
			return false
		}
	}
	return true
}

// gather returns a tridiagonal matrix for the matrix [D+c*s*s' s; s' 0], where D has theta on its diagonal: t has the rows but
// the last of Q' times the matrix times Q, with their couplings in t.beta. The last row and column of Q are those of the
// identity; q[j] is column j without its last element.
func gather(theta, s []float64, c float64) (t tridiagonal, q [][]float64) {
	k := len(theta)
	n := k + 1
	a := make([]float64, n*n)
	for i, v := range theta {
		for j := i; j < k && c != 0; j++ {
			a[i*n+j] = c * s[i] * s[j]
		}
		a[i*n+i] += v
		a[i*n+k] = s[i]
	}
	d, e, tau := make([]float64, n), make([]float64, n-1), make([]float64, n-1)
	work := make([]float64, 64*n)
	l := lapackgo.Implementation{}
	l.Dsytrd(blas.Upper, n, a, n, d, e, tau, work, len(work))
	l.Dorgtr(blas.Upper, n, a, n, tau, work, len(work))
	for _, column := range transposedRows(a, n)[:k] {
		q = append(q, column[:k])
	}
	return tridiagonal{d[:k], e}, q
}
