package coarsen

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/internal/spgemm"
	"github.com/msrep-go/msrep/sparse"
)

// times returns y = A x.
func times(a *sparse.CSR[float64], x []float64) []float64 {
	y := make([]float64, a.Rows)
	par.Range(int64(a.Rows), 1<<13, func(lo, hi int64) {
		for i := lo; i < hi; i++ {
			sum := 0.0
			for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
				sum += a.Val[k] * x[a.ColIdx[k]]
			}
			y[i] = sum
		}
	})
	return y
}

// stage is a level of the test's multigrid.
type stage struct {
	a, p, r *sparse.CSR[float64]
	inverse []float64
	rho     float64
	lu      []float64 // of the coarsest matrix, row major
	pivots  []int
}

type hierarchy struct {
	stages     []*stage
	complexity float64
	setup      time.Duration // of Coarsen
	degree     int
	damped     bool // Jacobi instead of Chebyshev
}

func build(t testing.TB, a *sparse.CSR[float64], near [][]float64, opt Options) *hierarchy {
	return buildWith(t, a, near, opt, func(l *Level) *sparse.CSR[float64] {
		if l.R != nil {
			return l.R
		}
		return spgemm.Transpose(l.P, nil)
	})
}

// buildWith makes levels down to 300 rows.
func buildWith(t testing.TB, a *sparse.CSR[float64], near [][]float64, opt Options, restriction func(*Level) *sparse.CSR[float64]) *hierarchy {
	h := &hierarchy{degree: 2, damped: opt.Unsymmetric}
	nnz := a.NNZ()
	entries := int64(0)
	for {
		s := &stage{a: a}
		h.stages = append(h.stages, s)
		entries += a.NNZ()
		if a.Rows <= 300 {
			break
		}
		start := time.Now()
		level, err := Coarsen(a, near, opt)
		require.NoError(t, err)
		h.setup += time.Since(start)
		s.inverse, s.rho = level.InverseDiagonal, level.Rho
		if level.P.Cols == 0 {
			return h.finish(entries, nnz)
		}
		s.p, s.r = level.P, restriction(level)
		a, err = spgemm.Triple(s.r, a, s.p, nil)
		require.NoError(t, err)
		near = level.Near
		opt.Level, opt.Block, opt.Nodes = opt.Level+1, 0, level.Nodes
	}
	last := h.stages[len(h.stages)-1]
	last.factor()
	return h.finish(entries, nnz)
}

func (h *hierarchy) finish(entries, nnz int64) *hierarchy {
	h.complexity = float64(entries) / float64(nnz)
	return h
}

// factor computes LU with row exchanges.
func (s *stage) factor() {
	n := s.a.Rows
	s.lu, s.pivots = make([]float64, n*n), make([]int, n)
	for i := range n {
		for k := s.a.RowPtr[i]; k < s.a.RowPtr[i+1]; k++ {
			s.lu[i*n+int(s.a.ColIdx[k])] += s.a.Val[k]
		}
	}
	for c := range n {
		best := c
		for i := c; i < n; i++ {
			if math.Abs(s.lu[i*n+c]) > math.Abs(s.lu[best*n+c]) {
				best = i
			}
		}
		s.pivots[c] = best
		for j := range n {
			s.lu[c*n+j], s.lu[best*n+j] = s.lu[best*n+j], s.lu[c*n+j]
		}
		if s.lu[c*n+c] == 0 {
			s.lu[c*n+c] = 1
		}
		for i := c + 1; i < n; i++ {
			f := s.lu[i*n+c] / s.lu[c*n+c]
			s.lu[i*n+c] = f
			if f != 0 {
				for j := c + 1; j < n; j++ {
					s.lu[i*n+j] -= f * s.lu[c*n+j]
				}
			}
		}
	}
}

func (s *stage) solve(b []float64) []float64 {
	n := len(b)
	x := append([]float64(nil), b...)
	for c := range n {
		x[c], x[s.pivots[c]] = x[s.pivots[c]], x[c]
	}
	for c := range n {
		for i := c + 1; i < n; i++ {
			x[i] -= s.lu[i*n+c] * x[c]
		}
	}
	for c := n - 1; c >= 0; c-- {
		for j := c + 1; j < n; j++ {
			x[c] -= s.lu[c*n+j] * x[j]
		}
		x[c] /= s.lu[c*n+c]
	}
	return x
}

// jacobi improves x for A x = b by steps x += 1.4/rho D^-1 (b - A x).
func (s *stage) jacobi(x, b []float64, steps int) {
	for range steps {
		r := times(s.a, x)
		for i := range x {
			x[i] += 1.4 / s.rho * s.inverse[i] * (b[i] - r[i])
		}
	}
}

// chebyshev improves x for A x = b by the Chebyshev polynomial of D^-1 A on [rho/8, rho].
func (s *stage) chebyshev(x, b []float64, degree int) {
	high := s.rho
	low := high / 8
	centre, half := (high+low)/2, (high-low)/2
	sigma := centre / half
	old := 1 / sigma
	d := make([]float64, len(x))
	for k := range degree {
		r := times(s.a, x)
		next := 1 / (2*sigma - old)
		for i := range x {
			r[i] = (b[i] - r[i]) * s.inverse[i]
			if k == 0 {
				d[i] = r[i] / centre
			} else {
				d[i] = next*old*d[i] + 2*next/half*r[i]
			}
			x[i] += d[i]
		}
		if k > 0 {
			old = next
		}
	}
}

func (h *hierarchy) smooth(s *stage, x, b []float64) {
	if h.damped {
		s.jacobi(x, b, h.degree)
	} else {
		s.chebyshev(x, b, h.degree)
	}
}

// cycle returns an approximate solution of A x = b on a level.
func (h *hierarchy) cycle(level int, b []float64) []float64 {
	s := h.stages[level]
	if s.lu != nil {
		return s.solve(b)
	}
	x := make([]float64, len(b))
	h.smooth(s, x, b)
	if s.p != nil {
		r := times(s.a, x)
		for i := range r {
			r[i] = b[i] - r[i]
		}
		e := times(s.p, h.cycle(level+1, times(s.r, r)))
		for i := range x {
			x[i] += e[i]
		}
		h.smooth(s, x, b)
	}
	return x
}

// cg returns the number of iterations to a relative residual of 1e-8 of flexible CG, at most 500.
func (h *hierarchy) cg() int {
	a := h.stages[0].a
	b := randomVector(a.Rows)
	x, r := make([]float64, a.Rows), append([]float64(nil), b...)
	goal := 1e-8 * math.Sqrt(dot(b, b))
	var p, z, old []float64
	rz := 0.0
	for it := range 500 {
		if math.Sqrt(dot(r, r)) <= goal {
			return it
		}
		z = h.cycle(0, r)
		now := dot(r, z)
		if p == nil {
			p = z
		} else {
			beta := (now - dot(old, z)) / rz
			for i := range p {
				p[i] = z[i] + beta*p[i]
			}
		}
		rz = now
		old = append(old[:0], r...)
		q := times(a, p)
		alpha := now / dot(p, q)
		for i := range x {
			x[i] += alpha * p[i]
			r[i] -= alpha * q[i]
		}
	}
	return 500
}

// gmres returns the number of iterations to a relative residual of 1e-8 of GMRES without restart, preconditioned from the
// right, at most 100.
func (h *hierarchy) gmres() int {
	a := h.stages[0].a
	b := randomVector(a.Rows)
	norm := math.Sqrt(dot(b, b))
	v := [][]float64{b}
	for i := range b {
		b[i] /= norm
	}
	var cs, sn []float64
	left := 1.0
	for it := range 100 {
		w := times(a, h.cycle(0, v[it]))
		col := make([]float64, it+2)
		for k, u := range v {
			col[k] = dot(u, w)
			for i := range w {
				w[i] -= col[k] * u[i]
			}
		}
		col[it+1] = math.Sqrt(dot(w, w))
		for i := range w {
			w[i] /= col[it+1]
		}
		v = append(v, w)
		for k := range cs {
			col[k], col[k+1] = cs[k]*col[k]+sn[k]*col[k+1], -sn[k]*col[k]+cs[k]*col[k+1]
		}
		l := math.Hypot(col[it], col[it+1])
		cs, sn = append(cs, col[it]/l), append(sn, col[it+1]/l)
		left *= math.Abs(sn[it])
		if left < 1e-8 {
			return it + 1
		}
	}
	return 100
}

func randomVector(n int) []float64 {
	random := rand.New(rand.NewPCG(7, 7))
	b := make([]float64, n)
	for i := range b {
		b[i] = random.Float64() - 0.5
	}
	return b
}
