package solver

import (
	"context"
	"math"
)

// GMRES solves A x = b by the generalised method of minimal residuals (Saad and
// Schultz, 1986), restarted every Options.Restart iterations, for any square matrix,
// preconditioned from the right. x is the first guess and takes the solution. Errors
// are those of CG.
//
// An iteration takes one product. Its basis is made orthogonal by classical
// Gram-Schmidt, twice: as orthogonal as by the modified one, with three sums over all
// devices or processes instead of one for each vector, and fewer bytes. It keeps
// Restart+3 vectors; a Restart for which memory lacks is refused before the first product.
func GMRES(ctx context.Context, a Operator, b, x []float64, opt Options) (*Result, error) {
	return solve(ctx, method{name: "gmres", iterate: linear(gmres), vectors: 3, basis: true}, a, b, x, opt)
}

func gmres(t *task) error {
	k := &krylov{task: t, z: t.zero()}
	v0 := t.zero()
	for {
		if done, err := t.start(v0, 1-1e-6); done {
			return err
		}
		if err := k.cycle(v0); err != nil {
			return err
		}
	}
}

// krylov is the basis of a cycle, and the least squares problem in it.
type krylov struct {
	*task
	v      []vector    // orthonormal
	z      vector      // preconditioned
	h      [][]float64 // upper triangle, by columns
	cs, sn []float64   // rotations
	g      []float64   // right-hand side
	length float64     // of the last product
}

// cycle improves x from the residual v0, and ends after Options.Restart iterations
// or near the solution.
func (k *krylov) cycle(v0 vector) error {
	if len(k.v) == 0 {
		k.v = append(k.v, v0)
	}
	beta := math.Sqrt(k.dot(v0, v0))
	k.set(1/beta, v0, v0)
	k.h, k.cs, k.sn, k.g = k.h[:0], k.cs[:0], k.sn[:0], append(k.g[:0], beta)
	var broken string
	var stop error
	for j := range k.opt.Restart {
		exact := k.extend(j)
		col := k.h[j]
		near, err := k.note(math.Abs(k.g[j+1]))
		switch {
		case !finite(k.length):
			broken = "the square of |A v| is not finite: scale the matrix"
		case col[j] == 0:
			broken = "the matrix is singular: A maps the Krylov space into a smaller one"
		}
		if stop = err; near || exact || broken != "" || stop != nil {
			break
		}
	}
	if err := k.failed(); err != nil {
		return err
	}
	k.improve()
	if stop == nil && broken != "" {
		stop = k.give(ErrBreakdown, "%s", broken)
	}
	return stop
}

// extend adds a vector to the basis and a column to the triangle. exact says that
// the basis spans an invariant space.
func (k *krylov) extend(j int) (exact bool) {
	if len(k.v) == j+1 {
		k.v = append(k.v, k.zero())
	}
	w := k.v[j+1]
	z := k.preconditioned(k.v[j], k.z)
	k.product(1, z, 0, w)
	col, again := make([]float64, j+2), make([]float64, j+1)
	k.project(col[:j+1], k.v[:j+1], w)
	k.remove(col[:j+1], k.v[:j+1], w, again)
	norm := math.Sqrt(k.combine(-1, again, k.v[:j+1], w))
	size := norm
	for i := range again {
		col[i] += again[i]
		size = hypot(size, col[i])
	}
	k.length = size
	exact = norm <= 1e-15*size
	if exact {
		norm = 0
	} else {
		k.set(1/norm, w, w)
	}
	for i := range j {
		c, s, u, v := k.cs[i], k.sn[i], col[i], col[i+1]
		col[i], col[i+1] = float64(c*u)+float64(s*v), float64(c*v)-float64(s*u)
	}
	r := hypot(col[j], norm)
	c, s := 1.0, 0.0
	if r > 1e-15*size {
		c, s = col[j]/r, norm/r
	} else {
		r = 0
	}
	col[j] = r
	k.h, k.cs, k.sn = append(k.h, col), append(k.cs, c), append(k.sn, s)
	k.g = append(k.g, -s*k.g[j])
	k.g[j] *= c
	return exact
}

// hypot is the length of (a, b), of which one is positive. That of package math rounds
// differently from processor to processor.
func hypot(a, b float64) float64 {
	a, b = math.Abs(a), math.Abs(b)
	most, least := max(a, b), min(a, b)
	if most == 0 || math.IsInf(most, 1) {
		return most
	}
	q := least / most
	return most * math.Sqrt(1+float64(q*q))
}

// improve adds the best combination of the basis to x.
func (k *krylov) improve() {
	m := len(k.h)
	for m > 0 && k.h[m-1][m-1] == 0 {
		m--
	}
	y := make([]float64, m)
	for i := m - 1; i >= 0; i-- {
		y[i] = k.g[i]
		for j := i + 1; j < m; j++ {
			y[i] -= float64(k.h[j][i] * y[j])
		}
		y[i] /= k.h[i][i]
	}
	if m == 0 {
		return
	}
	if k.opt.Precond == nil {
		k.add(1, y, k.v[:m], k.x)
		return
	}
	u := k.v[len(k.v)-1] // behind the basis that counts
	k.set(0, u, u)
	k.add(1, y, k.v[:m], u)
	z := k.preconditioned(u, k.z)
	k.add(1, []float64{1}, []vector{z}, k.x)
}
