package multifrontal

import "github.com/msrep-go/msrep/internal/dense"

// Workspace returns the number of elements of the argument work of solves with m right-hand sides.
func (s *Analysis) Workspace(m int) int { return s.largest * m }

// gather copies the rows of supernode i from x, n x m by columns, to b, whose leading dimension is the size of the front.
func (s *Analysis) gather(i, m int, x, b []float64, below bool) {
	f, first := s.front[i], int(s.first[i])
	rows := s.rows[s.rowPtr[i]:s.rowPtr[i+1]]
	for j := range m {
		col, to := x[j*s.n:][:s.n], b[j*f.rows():][:f.rows()]
		copy(to[:f.pivots], col[first:])
		to = to[f.pivots:]
		if !below {
			clear(to)
			continue
		}
		for t, r := range rows {
			to[t] = col[r]
		}
	}
}

// scatterPivots copies the pivots of supernode i from b to x.
func (s *Analysis) scatterPivots(i, m int, x, b []float64) {
	f, first := s.front[i], int(s.first[i])
	for j := range m {
		copy(x[j*s.n+first:], b[j*f.rows():][:f.pivots])
	}
}

// addBelow adds the rows below the pivots of supernode i in b to x.
func (s *Analysis) addBelow(i, m int, x, b []float64) {
	f := s.front[i]
	rows := s.rows[s.rowPtr[i]:s.rowPtr[i+1]]
	for j := range m {
		col, from := x[j*s.n:][:s.n], b[j*f.rows()+f.pivots:][:f.below]
		for t, r := range rows {
			col[r] += from[t]
		}
	}
}

// part returns the dimensions and the factors of supernode i.
func (f *LUFactor) part(i int) (k, n int, l, u []float64) {
	d := f.front[i]
	p := f.factors[f.start[i]:f.start[i+1]]
	return d.pivots, d.below, p[:d.rows()*d.pivots], p[d.rows()*d.pivots:]
}

// Solve replaces the m columns of x, n x m in the order of the pivots (see Order), by the solutions of A y = x.
func (f *LUFactor) Solve(m int, x, work []float64) {
	f.forward(m, x, work, func(i int, x, work []float64) {
		k, n, l, _ := f.part(i)
		if m == 1 {
			pivots := f.pivots(i, x)
			dense.Exchange(f.exchange[f.first[i]:f.first[i+1]], pivots)
			dense.LowerUnitSolve(k, 1, l, k+n, pivots, k)
			f.subtractLower(i, l[k:], x, work)
			return
		}
		f.gather(i, m, x, work, false)
		exchange := f.exchange[f.first[i]:f.first[i+1]]
		for j := range m {
			dense.Exchange(exchange, work[j*(k+n):][:k])
		}
		dense.LowerUnitSolve(k, m, l, k+n, work, k+n)
		dense.Gemm(n, m, k, l[k:], k+n, work, k+n, work[k:], k+n)
		f.scatterPivots(i, m, x, work)
		f.addBelow(i, m, x, work)
	})
	f.backward(x, work, func(i int, x, work []float64) {
		k, n, l, u := f.part(i)
		if m == 1 {
			f.subtractUpper(i, u, x, work)
			dense.UpperSolve(k, 1, l, k+n, f.pivots(i, x), k)
			return
		}
		f.gather(i, m, x, work, true)
		dense.Gemm(k, m, n, u, k, work[k:], k+n, work, k+n)
		dense.UpperSolve(k, m, l, k+n, work, k+n)
		f.scatterPivots(i, m, x, work)
	})
}

// pivots returns the pivots of supernode i in x.
func (s *Analysis) pivots(i int, x []float64) []float64 {
	return x[s.first[i]:s.first[i+1]:s.first[i+1]]
}

// subtractLower subtracts L v from the rows of x below the pivots v of supernode i. l is the part of L, whose leading
// dimension is the number of rows of the front.
func (s *Analysis) subtractLower(i int, l, x, work []float64) {
	d, v := s.front[i], s.pivots(i, x)
	rows, ld := s.rows[s.rowPtr[i]:s.rowPtr[i+1]], d.rows()
	switch n := len(rows); {
	case n == 0:
	case d.pivots == 1:
		l0, v0 := l[:n], v[0]
		for t, r := range rows {
			x[r] -= l0[t] * v0
		}
	case d.pivots == 2:
		l0, l1, v0, v1 := l[:n], l[ld:][:n], v[0], v[1]
		for t, r := range rows {
			x[r] -= l0[t]*v0 + l1[t]*v1
		}
	default:
		w := work[:n]
		clear(w)
		dense.Gemm(n, 1, d.pivots, l, ld, v, d.pivots, w, n)
		for t, r := range rows {
			x[r] += w[t]
		}
	}
}

// subtractUpper subtracts U y from the pivots of supernode i in x, where y are the rows of x below. u is the part of U, whose
// leading dimension is the number of pivots.
func (s *Analysis) subtractUpper(i int, u, x, work []float64) {
	d, v := s.front[i], s.pivots(i, x)
	rows := s.rows[s.rowPtr[i]:s.rowPtr[i+1]]
	switch n := len(rows); {
	case n == 0:
	case d.pivots == 1:
		sum, u := v[0], u[:n]
		for t, r := range rows {
			sum -= u[t] * x[r]
		}
		v[0] = sum
	case d.pivots == 2:
		v0, v1, u := v[0], v[1], u[:2*n]
		for _, r := range rows {
			y := x[r]
			v0 -= u[0] * y
			v1 -= u[1] * y
			u = u[2:]
		}
		v[0], v[1] = v0, v1
	default:
		w := work[:n]
		for t, r := range rows {
			w[t] = x[r]
		}
		dense.Gemm(d.pivots, 1, n, u, d.pivots, w, n, v, d.pivots)
	}
}

// subtractTransposed subtracts L'y from the pivots of supernode i in x, where y are the rows of x below; see subtractLower.
func (s *Analysis) subtractTransposed(i int, l, x, work []float64) {
	d, v := s.front[i], s.pivots(i, x)
	rows, ld := s.rows[s.rowPtr[i]:s.rowPtr[i+1]], d.rows()
	switch n := len(rows); {
	case n == 0:
	case d.pivots == 1:
		sum, l0 := v[0], l[:n]
		for t, r := range rows {
			sum -= l0[t] * x[r]
		}
		v[0] = sum
	case d.pivots == 2:
		v0, v1, l0, l1 := v[0], v[1], l[:n], l[ld:][:n]
		for t, r := range rows {
			y := x[r]
			v0 -= l0[t] * y
			v1 -= l1[t] * y
		}
		v[0], v[1] = v0, v1
	default:
		w := work[:n]
		for t, r := range rows {
			w[t] = x[r]
		}
		dense.GemmTN(d.pivots, 1, n, l, ld, w, n, v, d.pivots)
	}
}

// SolveTransposed is Solve for A'y = x.
func (f *LUFactor) SolveTransposed(m int, x, work []float64) {
	f.forward(m, x, work, func(i int, x, work []float64) {
		k, n, l, u := f.part(i)
		f.gather(i, m, x, work, false)
		dense.UpperTransSolve(k, m, l, k+n, work, k+n)
		dense.GemmTN(n, m, k, u, k, work, k+n, work[k:], k+n)
		f.scatterPivots(i, m, x, work)
		f.addBelow(i, m, x, work)
	})
	f.backward(x, work, func(i int, x, work []float64) {
		k, n, l, _ := f.part(i)
		f.gather(i, m, x, work, true)
		dense.GemmTN(k, m, n, l[k:], k+n, work[k:], k+n, work, k+n)
		dense.LowerUnitTransSolve(k, m, l, k+n, work, k+n)
		exchange := f.exchange[f.first[i]:f.first[i+1]]
		for j := range m {
			undo(exchange, work[j*(k+n):][:k])
		}
		f.scatterPivots(i, m, x, work)
	})
}

// undo reverses dense.Exchange.
func undo(exchange []int32, x []float64) {
	for c := len(exchange) - 1; c >= 0; c-- {
		r := exchange[c]
		x[c], x[r] = x[r], x[c]
	}
}

// Solve replaces the m columns of x, n x m in the order of the pivots (see Order), by the solutions of A y = x.
func (f *CholeskyFactor) Solve(m int, x, work []float64) {
	f.forward(m, x, work, func(i int, x, work []float64) {
		d := f.front[i]
		k, n := d.pivots, d.below
		l := f.factors[f.start[i]:]
		if m == 1 {
			dense.LowerSolve(k, 1, l, k+n, f.pivots(i, x), k)
			f.subtractLower(i, l[k:], x, work)
			return
		}
		f.gather(i, m, x, work, false)
		dense.LowerSolve(k, m, l, k+n, work, k+n)
		dense.Gemm(n, m, k, l[k:], k+n, work, k+n, work[k:], k+n)
		f.scatterPivots(i, m, x, work)
		f.addBelow(i, m, x, work)
	})
	f.backward(x, work, func(i int, x, work []float64) {
		d := f.front[i]
		k, n := d.pivots, d.below
		l := f.factors[f.start[i]:]
		if m == 1 {
			f.subtractTransposed(i, l[k:], x, work)
			dense.LowerTransSolve(k, 1, l, k+n, f.pivots(i, x), k)
			return
		}
		f.gather(i, m, x, work, true)
		dense.GemmTN(k, m, n, l[k:], k+n, work[k:], k+n, work, k+n)
		dense.LowerTransSolve(k, m, l, k+n, work, k+n)
		f.scatterPivots(i, m, x, work)
	})
}
