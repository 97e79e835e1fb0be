package amg_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// grid returns a diffusion matrix on a grid of cells with zeros outside: the coefficient between neighbours in direction k
// is k-th of diffusion, times the harmonic mean of the factors of both cells if factor is not nil. wind adds upwind
// differences. A direction with one cell has no neighbours.
func grid(size, diffusion, wind [3]float64, factor func(x, y, z int) float64, neumann bool) *sparse.CSR[float64] {
	n := [3]int{int(size[0]), int(size[1]), int(size[2])}
	m := &sparse.CSR[float64]{Rows: n[0] * n[1] * n[2], Cols: n[0] * n[1] * n[2], RowPtr: []int64{0}}
	step := [3]int{1, n[0], n[0] * n[1]}
	f := func(c [3]int) float64 {
		if factor == nil {
			return 1
		}
		return factor(c[0], c[1], c[2])
	}
	for row := range m.Rows {
		c := [3]int{row % n[0], row / n[0] % n[1], row / step[2]}
		d, diagonal := 0.0, len(m.Val)
		var cols []int
		var vals []float64
		for _, q := range []struct{ k, by int }{{2, -1}, {1, -1}, {0, -1}, {0, 0}, {0, 1}, {1, 1}, {2, 1}} {
			if q.by == 0 {
				diagonal = len(cols)
				cols, vals = append(cols, row), append(vals, 0)
				continue
			}
			o := c
			o[q.k] += q.by
			if n[q.k] == 1 {
				continue
			}
			inside := o[q.k] >= 0 && o[q.k] < n[q.k]
			w := diffusion[q.k] * f(c)
			if inside {
				w = diffusion[q.k] * 2 * f(c) * f(o) / (f(c) + f(o))
			} else if neumann {
				continue
			}
			w += max(0, -float64(q.by)*wind[q.k])
			d += w
			if inside {
				cols, vals = append(cols, row+q.by*step[q.k]), append(vals, -w)
			}
		}
		vals[diagonal] = d
		for k, j := range cols {
			m.ColIdx, m.Val = append(m.ColIdx, int32(j)), append(m.Val, vals[k])
		}
		m.RowPtr = append(m.RowPtr, int64(len(m.Val)))
	}
	return m
}

func poisson(nx, ny, nz int) *sparse.CSR[float64] {
	return grid([3]float64{float64(nx), float64(ny), float64(nz)}, [3]float64{1, 1, 1}, [3]float64{}, nil, false)
}

// elasticity returns the stiffness matrix of a plane body of nx x ny bilinear squares with Poisson's ratio nu, fixed on its
// left edge, and the coordinates of its nodes. Nodes are displaced at random by up to shift of a side.
func elasticity(nx, ny int, nu, shift float64) (*sparse.CSR[float64], []float64) {
	r := rand.New(rand.NewPCG(1, 2))
	at := make([]float64, 0, 2*(nx+1)*(ny+1))
	for y := range ny + 1 {
		for x := range nx + 1 {
			at = append(at, float64(x)+shift*(r.Float64()-0.5), float64(y)+shift*(r.Float64()-0.5))
		}
	}
	c11, c12, c33 := (1-nu)/((1+nu)*(1-2*nu)), nu/((1+nu)*(1-2*nu)), 0.5/(1+nu)
	var rows, cols []int32
	var vals []float64
	number := func(node, k int) int32 { // of an unknown; negative on the fixed edge
		x, y := node%(nx+1), node/(nx+1)
		return int32(2*(y*nx+x-1)+k) - int32(1<<30*b2i(x == 0))
	}
	g := 1 / math.Sqrt(3)
	for y := range ny {
		for x := range nx {
			nodes := [4]int{y*(nx+1) + x, y*(nx+1) + x + 1, (y+1)*(nx+1) + x + 1, (y+1)*(nx+1) + x}
			var ke [8][8]float64
			for _, p := range [4][2]float64{{-g, -g}, {g, -g}, {g, g}, {-g, g}} {
				var dn [4][2]float64
				var j [2][2]float64
				for a, s := range [4][2]float64{{-1, -1}, {1, -1}, {1, 1}, {-1, 1}} {
					dn[a] = [2]float64{s[0] * (1 + s[1]*p[1]) / 4, s[1] * (1 + s[0]*p[0]) / 4}
					for i := range 2 {
						for k := range 2 {
							j[i][k] += dn[a][i] * at[2*nodes[a]+k]
						}
					}
				}
				det := j[0][0]*j[1][1] - j[0][1]*j[1][0]
				var dx [4][2]float64
				for a := range 4 {
					dx[a] = [2]float64{(j[1][1]*dn[a][0] - j[0][1]*dn[a][1]) / det, (j[0][0]*dn[a][1] - j[1][0]*dn[a][0]) / det}
				}
				for a := range 4 {
					for b := range 4 {
						ke[2*a][2*b] += det * (c11*dx[a][0]*dx[b][0] + c33*dx[a][1]*dx[b][1])
						ke[2*a+1][2*b+1] += det * (c11*dx[a][1]*dx[b][1] + c33*dx[a][0]*dx[b][0])
						ke[2*a][2*b+1] += det * (c12*dx[a][0]*dx[b][1] + c33*dx[a][1]*dx[b][0])
						ke[2*a+1][2*b] += det * (c12*dx[a][1]*dx[b][0] + c33*dx[a][0]*dx[b][1])
					}
				}
			}
			for a := range 8 {
				for b := range 8 {
					i, j := number(nodes[a/2], a%2), number(nodes[b/2], b%2)
					if i >= 0 && j >= 0 {
						rows, cols, vals = append(rows, i), append(cols, j), append(vals, ke[a][b])
					}
				}
			}
		}
	}
	n := 2 * nx * (ny + 1)
	m, err := sparse.FromTriples(n, n, rows, cols, vals)
	if err != nil {
		panic(err)
	}
	var free []float64
	for node := range (nx + 1) * (ny + 1) {
		if node%(nx+1) > 0 {
			free = append(free, at[2*node], at[2*node+1])
		}
	}
	return m, free
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// system opens CPU devices for a test.
func system(t testing.TB, c msrep.Config) *msrep.System {
	sys, err := msrep.Open(c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, sys.Close()) })
	return sys
}

func random(n int) []float64 {
	r := rand.New(rand.NewPCG(3, 4))
	v := make([]float64, n)
	for i := range v {
		v[i] = r.Float64()*2 - 1
	}
	return v
}
