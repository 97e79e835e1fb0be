package multigrid

import (
	"math"

	"github.com/msrep-go/msrep/internal/dense"
	"github.com/msrep-go/msrep/sparse"
)

// singular is the pivot, relative to the diagonal of the matrix, below which the matrix counts as singular.
const singular = 1e-12

// PseudoInverse returns a generalised inverse G of A, A G A = A, in CSR. G is the inverse of A if A is regular. Otherwise it
// is the inverse of a largest regular submatrix, whose rows and columns complete pivoting chooses, and zero elsewhere: the
// other elements of x = G b are 0. If A is symmetric, pivots come from the diagonal and G is symmetric.
func PseudoInverse(a *sparse.CSR[float64]) (*sparse.CSR[float64], error) {
	n := a.Rows
	scale := make([]float64, n) // of rows and columns, so that diagonal elements become 1 or -1
	m := make([]float64, n*n)   // in column-major order
	for i := range n {
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			m[i+int(a.ColIdx[k])*n] += a.Val[k]
		}
	}
	for i := range n {
		scale[i] = 1
		if d := math.Abs(m[i+i*n]); d > 0 {
			scale[i] = 1 / math.Sqrt(d)
		}
	}
	symmetric := true
	for j := range n {
		for i := range n {
			symmetric = symmetric && m[i+j*n] == m[j+i*n]
		}
	}
	for j := range n {
		for i := range n {
			m[i+j*n] *= scale[i] * scale[j]
		}
	}
	g, regular := invert(m, n)
	if !regular {
		rows, cols := independent(m, n, symmetric)
		part := make([]float64, len(rows)*len(cols))
		for c, j := range cols {
			for r, i := range rows {
				part[r+c*len(rows)] = m[i+j*n]
			}
		}
		p, _ := invert(part, len(rows))
		g = make([]float64, n*n)
		for c, j := range rows {
			for r, i := range cols {
				g[i+j*n] = p[r+c*len(cols)]
			}
		}
	}
	out := &sparse.CSR[float64]{Rows: n, Cols: n, RowPtr: make([]int64, n+1), ColIdx: make([]int32, n*n), Val: make([]float64, n*n)}
	for i := range n {
		out.RowPtr[i+1] = int64((i + 1) * n)
		for j := range n {
			v := g[i+j*n]
			if symmetric {
				v = (v + g[j+i*n]) / 2
			}
			v *= scale[i] * scale[j]
			if v-v != 0 {
				return nil, sparse.Inputf("matrix", "the inverse of its coarsest level overflows: scale it")
			}
			out.ColIdx[i*n+j], out.Val[i*n+j] = int32(j), v
		}
	}
	return out, nil
}

// invert returns the inverse of the n x n matrix m, in column-major order, and whether all pivots are at least singular.
func invert(m []float64, n int) (g []float64, regular bool) {
	lu, perm := append([]float64(nil), m...), make([]int32, n)
	replaced, _ := dense.LU(n, n, n, lu, n, perm, 1, singular)
	g = make([]float64, n*n)
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	dense.Exchange(perm, rows)
	for i, r := range rows { // g = the permutation of the rows
		g[i+r*n] = 1
	}
	dense.LowerUnitSolve(n, n, lu, n, g, n)
	dense.UpperSolve(n, n, lu, n, g, n)
	return g, replaced == 0
}

// independent returns rows and columns of the largest regular part of m, by elimination with complete pivoting, or with
// pivots from the diagonal if m is symmetric.
func independent(m []float64, n int, symmetric bool) (rows, cols []int) {
	s := append([]float64(nil), m...)
	usedRow, usedCol := make([]bool, n), make([]bool, n)
	for range n {
		p, q, most := 0, 0, singular
		for j := range n {
			for i := range n {
				if usedRow[i] || usedCol[j] || symmetric && i != j {
					continue
				}
				if v := math.Abs(s[i+j*n]); v > most {
					p, q, most = i, j, v
				}
			}
		}
		if most == singular {
			break
		}
		usedRow[p], usedCol[q] = true, true
		rows, cols = append(rows, p), append(cols, q)
		for j := range n {
			f := s[p+j*n] / s[p+q*n]
			if usedCol[j] || f == 0 {
				continue
			}
			for i := range n {
				if !usedRow[i] {
					s[i+j*n] -= f * s[i+q*n]
				}
			}
		}
	}
	return rows, cols
}
