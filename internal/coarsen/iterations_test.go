package coarsen

import (
	"flag"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
)

var large = flag.Bool("large", false, "also count iterations for about a million unknowns")

// family is a problem in several sizes. The large ones are for -large.
type family struct {
	name       string
	problem    func(n int) (a *sparse.CSR[float64], near [][]float64)
	options    Options
	sizes      []int
	largeSizes []int
	iterations int     // at most, with every size
	complexity float64 // at most
	growth     float64 // of the iterations from the smallest to the largest size, at most
}

func constant(problem func(n int) *sparse.CSR[float64]) func(n int) (*sparse.CSR[float64], [][]float64) {
	return func(n int) (*sparse.CSR[float64], [][]float64) { return problem(n), nil }
}

func elasticity(dims int) func(n int) (*sparse.CSR[float64], [][]float64) {
	return func(n int) (*sparse.CSR[float64], [][]float64) {
		a, x := elastic(n, dims)
		near, err := RigidBodyModes(x, dims)
		if err != nil {
			panic(err)
		}
		return a, near
	}
}

var families = []family{
	{"Poisson in 2 dimensions", constant(poisson2D), Options{}, []int{128, 256}, []int{512, 1024}, 12, 1.4, 1.34},
	{"Poisson in 3 dimensions", constant(poisson3D), Options{}, []int{20, 32, 50}, []int{64, 100}, 13, 1.35, 1.34},
	{"anisotropic 1:100", constant(func(n int) *sparse.CSR[float64] { return aligned(n, 100) }),
		Options{}, []int{64, 128, 256}, []int{512, 1024}, 15, 1.9, 1.7},
	{"anisotropic 1:100, rotated by 30 degrees", constant(func(n int) *sparse.CSR[float64] { return rotated(n, 100, math.Pi/6) }),
		Options{}, []int{128, 256}, []int{512, 1024}, 45, 1.3, 1.6},
	{"coefficients 1 and 1e4 in squares", constant(func(n int) *sparse.CSR[float64] { return jumps([3]int{n, n, 1}, 16, 1e4) }),
		Options{}, []int{64, 128, 256}, []int{512, 1024}, 14, 1.6, 1.6},
	{"coefficients 1 and 1e4 in cubes", constant(func(n int) *sparse.CSR[float64] { return jumps([3]int{n, n, n}, 8, 1e4) }),
		Options{}, []int{16, 32}, []int{64, 100}, 12, 1.6, 1.34},
	{"coefficients 1 and 1e4 at random", constant(func(n int) *sparse.CSR[float64] { return scattered([3]int{n, n, n}, 1e4) }),
		Options{}, []int{16, 32}, []int{64, 100}, 16, 2.8, 1.6},
	{"elasticity in 2 dimensions", elasticity(2), Options{Block: 2}, []int{50, 100}, []int{200, 400}, 30, 1.45, 1.34},
	{"elasticity in 3 dimensions", elasticity(3), Options{Block: 3}, []int{8, 14}, []int{20, 28}, 24, 1.5, 1.5},
	{"convection along a line", constant(func(n int) *sparse.CSR[float64] { return convection(n, 1e-3, true) }),
		Options{Unsymmetric: true}, []int{64, 128}, []int{256, 512}, 24, 1.5, 1.7},
	{"convection in a circle", constant(func(n int) *sparse.CSR[float64] { return convection(n, 1e-3, false) }),
		Options{Unsymmetric: true}, []int{64, 128}, []int{256, 512}, 36, 1.5, 1.7},
}

// Iterations are those of CG, or GMRES, to a residual of 1e-8 with a V-cycle that smooths by two products.
func TestIterationsDoNotGrow(t *testing.T) {
	for _, f := range families {
		t.Run(f.name, func(t *testing.T) {
			sizes := f.sizes
			if testing.Short() {
				sizes = sizes[:2]
			}
			if *large {
				sizes = append(sizes[:len(sizes):len(sizes)], f.largeSizes...)
			}
			first := 0
			for _, n := range sizes {
				a, near := f.problem(n)
				h := build(t, a, near, f.options)
				iterations := 0
				if f.options.Unsymmetric {
					iterations = h.gmres()
				} else {
					iterations = h.cg()
				}
				t.Logf("%8d rows, %d levels, operator complexity %.3f, %d iterations, %v in Coarsen", a.Rows, len(h.stages), h.complexity, iterations, h.setup.Round(1e5))
				if first == 0 {
					first = iterations
				}
				require.LessOrEqual(t, iterations, f.iterations)
				require.LessOrEqual(t, h.complexity, f.complexity)
				require.LessOrEqual(t, float64(iterations), f.growth*float64(first), "after %d iterations with size %d", first, sizes[0])
			}
		})
	}
}

// Without rigid body modes, elasticity takes about twice the iterations.
func TestRigidBodyModesSaveIterations(t *testing.T) {
	a, near := elasticity(2)(50)
	with := build(t, a, near, Options{Block: 2}).cg()
	without := build(t, a, nil, Options{Block: 2}).cg()
	require.Less(t, float64(with), 0.75*float64(without), fmt.Sprint(with, without))
}

// Unknowns with a small coefficient between others with a large one join these: else this takes 28 iterations.
func TestUnknownsJoinNeighboursWithLargeCoefficients(t *testing.T) {
	require.LessOrEqual(t, build(t, scattered([3]int{256, 256, 1}, 1e4), nil, Options{}).cg(), 20)
}
