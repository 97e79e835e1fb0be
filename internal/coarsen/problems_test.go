package coarsen

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/msrep-go/msrep/sparse"
)

// byRows makes a matrix whose row i has what row puts; duplicate entries are added, columns ascend.
func byRows(n int, row func(i int, put func(j int, v float64))) *sparse.CSR[float64] {
	type entry struct {
		j int32
		v float64
	}
	a := &sparse.CSR[float64]{Rows: n, Cols: n, RowPtr: make([]int64, n+1)}
	var entries []entry
	for i := range n {
		entries = entries[:0]
		row(i, func(j int, v float64) { entries = append(entries, entry{int32(j), v}) })
		slices.SortStableFunc(entries, func(x, y entry) int { return int(x.j - y.j) })
		for k, e := range entries {
			if k > 0 && entries[k-1].j == e.j {
				a.Val[len(a.Val)-1] += e.v
				continue
			}
			a.ColIdx, a.Val = append(a.ColIdx, e.j), append(a.Val, e.v)
		}
		a.RowPtr[i+1] = int64(len(a.Val))
	}
	return a
}

// diffusion returns finite volumes of -div(K grad u) = f on a box with u = 0 around it: coefficient returns K of a cell
// along an axis. Neighbours are coupled by the harmonic mean.
func diffusion(size [3]int, coefficient func(at [3]int, axis int) float64) *sparse.CSR[float64] {
	stride := [3]int{1, size[0], size[0] * size[1]}
	return byRows(size[0]*size[1]*size[2], func(i int, put func(int, float64)) {
		at := [3]int{i % size[0], i / size[0] % size[1], i / stride[2]}
		for axis := range 3 {
			if size[axis] == 1 {
				continue
			}
			own := coefficient(at, axis)
			for _, step := range []int{-1, 1} {
				beside := at
				beside[axis] += step
				if beside[axis] < 0 || beside[axis] >= size[axis] {
					put(i, own)
					continue
				}
				other := coefficient(beside, axis)
				c := 2 * own * other / (own + other)
				put(i, c)
				put(i+step*stride[axis], -c)
			}
		}
	})
}

func poisson2D(n int) *sparse.CSR[float64] { return diffusion([3]int{n, n, 1}, one) }
func poisson3D(n int) *sparse.CSR[float64] { return diffusion([3]int{n, n, n}, one) }

func one([3]int, int) float64 { return 1 }

// aligned is diffusion that is strength times as strong along x as along y.
func aligned(n int, strength float64) *sparse.CSR[float64] {
	return diffusion([3]int{n, n, 1}, func(_ [3]int, axis int) float64 { return []float64{strength, 1, 1}[axis] })
}

// jumps is diffusion whose coefficient is 1 or jump in the blocks of a chessboard with the given side in cells.
func jumps(size [3]int, side int, jump float64) *sparse.CSR[float64] {
	return diffusion(size, func(at [3]int, _ int) float64 {
		if (at[0]/side+at[1]/side+at[2]/side)%2 == 0 {
			return 1
		}
		return jump
	})
}

// random jumps: each cell has 1 or jump.
func scattered(size [3]int, jump float64) *sparse.CSR[float64] {
	random := rand.New(rand.NewPCG(1, 2))
	k := make([]float64, size[0]*size[1]*size[2])
	for i := range k {
		k[i] = 1
		if random.IntN(2) == 0 {
			k[i] = jump
		}
	}
	return diffusion(size, func(at [3]int, _ int) float64 { return k[at[0]+size[0]*(at[1]+size[1]*at[2])] })
}

// rotated is bilinear elements of diffusion strength times as strong along the direction (cos angle, sin angle).
func rotated(n int, strength, angle float64) *sparse.CSR[float64] {
	c, s := math.Cos(angle), math.Sin(angle)
	kxx, kyy, kxy := strength*c*c+s*s, strength*s*s+c*c, (strength-1)*c*s
	// Second differences of bilinear elements, and a product of first differences.
	return byRows(n*n, func(i int, put func(int, float64)) {
		x, y := i%n, i/n
		for dy := -1; dy <= 1; dy++ {
			for dx := -1; dx <= 1; dx++ {
				second := func(d int) float64 { return []float64{-1, 2, -1}[d+1] }
				mass := func(d int) float64 { return []float64{1, 4, 1}[d+1] / 6 }
				v := kxx*second(dx)*mass(dy) + kyy*mass(dx)*second(dy) - kxy*float64(dx*dy)/2
				if x+dx >= 0 && x+dx < n && y+dy >= 0 && y+dy < n {
					put(i+dx+n*dy, v)
				}
			}
		}
	})
}

// convection is -epsilon laplace(u) + w . grad u on the unit square, first order upwind, with a wind that circles or, if
// straight, blows along (1, 0.5).
func convection(n int, epsilon float64, straight bool) *sparse.CSR[float64] {
	h := 1 / float64(n+1)
	return byRows(n*n, func(i int, put func(int, float64)) {
		x, y := i%n, i/n
		u, v := float64(x+1)*h, float64(y+1)*h
		wx, wy := 4*u*(u-1)*(1-2*v), -4*v*(v-1)*(1-2*u)
		if straight {
			wx, wy = 1, 0.5
		}
		couple := func(dx, dy int, c float64) {
			put(i, c)
			if x+dx >= 0 && x+dx < n && y+dy >= 0 && y+dy < n {
				put(i+dx+n*dy, -c)
			}
		}
		couple(-1, 0, epsilon+h*max(wx, 0))
		couple(1, 0, epsilon+h*max(-wx, 0))
		couple(0, -1, epsilon+h*max(wy, 0))
		couple(0, 1, epsilon+h*max(-wy, 0))
	})
}

// elastic is linear elasticity (Young's modulus 1, Poisson's ratio 0.3; plane strain in 2 dimensions) on an unstructured
// mesh of n cells along each axis: points moved by up to a fifth of a cell and numbered at random, each cell cut into dims!
// simplices with linear elements. Displacements are 0 where x = 0: those rows have a diagonal only. It also returns the
// coordinates.
func elastic(n, dims int) (a *sparse.CSR[float64], x []float64) {
	side := n + 1
	points := side * side
	if dims == 3 {
		points *= side
	}
	random := rand.New(rand.NewPCG(uint64(n), uint64(dims)))
	number := random.Perm(points)
	x = make([]float64, points*dims)
	fixed := make([]bool, points)
	for p := range points {
		at := p
		for d := range dims {
			c := at % side
			at /= side
			v := float64(c)
			if c > 0 && c < n {
				v += 0.4 * (random.Float64() - 0.5)
			}
			x[number[p]*dims+d] = v / float64(n)
			if d == 0 && c == 0 {
				fixed[number[p]] = true
			}
		}
	}
	blocks := make([]map[int32][9]float64, points)
	for i := range blocks {
		blocks[i] = map[int32][9]float64{}
	}
	var orders [][]int
	if dims == 2 {
		orders = [][]int{{0, 1}, {1, 0}}
	} else {
		orders = [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}
	}
	stride := []int{1, side, side * side}
	const young, ratio = 1.0, 0.3
	lambda, mu := young*ratio/((1+ratio)*(1-2*ratio)), young/(2*(1+ratio))
	for p := range points {
		inside := true
		for d := range dims {
			inside = inside && p/stride[d]%side < n
		}
		if !inside {
			continue
		}
		for _, order := range orders { // the path from corner p to the opposite corner, one axis after the other
			corner := make([]int, dims+1)
			at := p
			corner[0] = number[at]
			for k, axis := range order {
				at += stride[axis]
				corner[k+1] = number[at]
			}
			grad, volume := gradients(x, corner, dims)
			for i, pi := range corner {
				for j, pj := range corner {
					b := blocks[pi][int32(pj)]
					dot := 0.0
					for d := range dims {
						dot += grad[i][d] * grad[j][d]
					}
					for c := range dims {
						for e := range dims {
							v := lambda*grad[i][c]*grad[j][e] + mu*grad[i][e]*grad[j][c]
							if c == e {
								v += mu * dot
							}
							b[c*3+e] += volume * v
						}
					}
					blocks[pi][int32(pj)] = b
				}
			}
		}
	}
	return byRows(points*dims, func(i int, put func(int, float64)) {
		point, c := i/dims, i%dims
		if fixed[point] {
			put(i, 1)
			return
		}
		for j, b := range blocks[point] {
			if fixed[j] {
				continue
			}
			for e := range dims {
				put(int(j)*dims+e, b[c*3+e])
			}
		}
	}), x
}

// gradients returns the gradients of the linear functions that are 1 in one corner of a simplex and 0 in the others, and its
// volume.
func gradients(x []float64, corner []int, dims int) (grad [4][3]float64, volume float64) {
	edge := [3][3]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}
	for k := range dims {
		for d := range dims {
			edge[k][d] = x[corner[k+1]*dims+d] - x[corner[0]*dims+d]
		}
	}
	cross := func(a, b [3]float64) [3]float64 {
		return [3]float64{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
	}
	inverse := [3][3]float64{cross(edge[1], edge[2]), cross(edge[2], edge[0]), cross(edge[0], edge[1])}
	det := edge[0][0]*inverse[0][0] + edge[0][1]*inverse[0][1] + edge[0][2]*inverse[0][2]
	for k := range dims {
		for d := range dims {
			grad[k+1][d] = inverse[k][d] / det
			grad[0][d] -= grad[k+1][d]
		}
	}
	return grad, math.Abs(det) / []float64{1, 1, 2, 6}[dims]
}
