// Heat solves the heat equation by finite elements, in time steps with one factorisation.
//
// The equation is u' = div grad u on the unit square, with u = 0 on its border. Triangles with linear elements and
// implicit Euler steps give (M + dt K) u[t+dt] = M u[t], with the mass matrix M and the stiffness matrix K.
package main

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"math"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver/factor"
	"github.com/msrep-go/msrep/sparse"
)

const (
	n     = 200 // squares in each direction; each is cut into two triangles
	steps = 50
	end   = 0.05
	dt    = end / steps
)

func main() {
	ctx := context.Background()
	mass, step := assemble()
	sys, err := msrep.Open(msrep.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer sys.Close()
	plan, err := msrep.NewPlan(ctx, sys, mass, msrep.PlanOptions{Expected: msrep.Expected{Products: steps}})
	if err != nil {
		log.Fatal(err)
	}
	defer plan.Close()
	solve, err := factor.NewCholesky(ctx, step, factor.CholeskyOptions{})
	if err != nil {
		log.Fatal(err)
	}
	u, f := make([]float64, mass.Rows), make([]float64, mass.Rows)
	for p := range u {
		u[p] = start(p)
	}
	for range steps {
		if err := cmp.Or(plan.SpMV(ctx, msrep.NoTrans, 1, u, 0, f), solve.Apply(f, u)); err != nil { // (M + dt K) u' = f = M u
			log.Fatal(err)
		}
	}
	decay, worst := math.Exp(-2*math.Pi*math.Pi*end), 0.0
	for p := range u {
		worst = max(worst, math.Abs(u[p]-decay*start(p)))
	}
	fmt.Printf("%d unknowns, %d steps: u(1/2, 1/2) = %.4f, exact %.4f; largest error %.1e\n",
		len(u), steps, u[len(u)/2], decay, worst)
}

// start is u at time 0 in interior point p, whose solution is known: it decays as exp(-2 pi^2 t).
func start(p int) float64 {
	x, y := float64(p%(n-1)+1)/n, float64(p/(n-1)+1)/n
	return math.Sin(math.Pi*x) * math.Sin(math.Pi*y)
}

// assemble adds the element matrices of all triangles, and returns M and M + dt K for the interior points.
func assemble() (mass, step *sparse.CSR[float64]) {
	var rows, cols []int32
	var m, s []float64
	const area = 1.0 / (2 * n * n)
	for square := range n * n {
		i, j := square%n, square/n
		for _, corner := range [2][3][2]int{{{0, 0}, {1, 0}, {0, 1}}, {{1, 1}, {0, 1}, {1, 0}}} {
			for a, p := range corner { // corner 0 has the right angle
				for b, q := range corner {
					x, y, v, w := i+p[0], j+p[1], i+q[0], j+q[1]
					if min(x, y, v, w) == 0 || max(x, y, v, w) == n {
						continue // on the border
					}
					k := [3][3]float64{{1, -0.5, -0.5}, {-0.5, 0.5, 0}, {-0.5, 0, 0.5}}[a][b]
					e := [3][3]float64{{2, 1, 1}, {1, 2, 1}, {1, 1, 2}}[a][b] * area / 12
					rows, cols = append(rows, int32((y-1)*(n-1)+x-1)), append(cols, int32((w-1)*(n-1)+v-1))
					m, s = append(m, e), append(s, e+dt*k)
				}
			}
		}
	}
	mass, err := sparse.FromTriples((n-1)*(n-1), (n-1)*(n-1), rows, cols, m)
	if err == nil {
		step, err = sparse.FromTriples(mass.Rows, mass.Cols, rows, cols, s)
	}
	if err != nil {
		log.Fatal(err)
	}
	return mass, step
}
