package solver

import (
	"context"
	"math"
	"slices"

	"github.com/msrep-go/msrep/solver/internal/space"
)

// GMRES solves A x = b by the generalised minimal residual method (Saad and Schultz, 1986), restarted every
// Options.Restart iterations. The matrix may be any square matrix; the preconditioner is applied from the right.
// x is the first guess, and GMRES overwrites it with the solution. Errors are those of CG.
//
// An iteration takes one product. The basis is orthogonalised twice by classical Gram-Schmidt. The second pass for
// a vector is delayed by one iteration and fused with the first pass for the next vector (DCGS2; Bielich, Langou,
// Thomas, Swirydowicz, Yamazaki and Boman, 2022). The basis is thus orthogonal to working precision, and an
// iteration takes two passes over it, each with one sum over all devices or processes.
//
// With BasisInt32 most cycles store the basis in 32 bits; GMRES and FGMRES then store two or three vectors more.
//
// GMRES stores Restart+2 vectors in addition to b and x, one more where b has to be scaled, and two triangular
// matrices of Restart columns. A Restart whose vectors do not fit in memory is a *sparse.InputError before the
// first product.
func GMRES(ctx context.Context, a Operator, b, x []float64, opt Options) (*Result, error) {
	return solve(ctx, method{name: "gmres", iterate: linear(gmres), vectors: 3, bases: 1}, a, b, x, opt)
}

func gmres(t *task) error { return (&krylov{task: t, z: t.Zero()}).solve() }

// solve runs cycles until x is within the tolerance or the method fails.
func (k *krylov) solve() error {
	v0 := k.Zero()
	if k.opt.Basis == BasisInt32 {
		k.compact = &compactBasis{}
	}
	defer func() { k.res.Basis, k.res.BasisBytes = k.opt.Basis, (8*k.wide+4*k.narrow)*int64(k.rows) }()
	for {
		if done, err := k.start(v0, 1-1e-6); done {
			return err
		}
		k.choose()
		if err := k.cycle(v0); err != nil {
			return err
		}
	}
}

// krylov is the basis of a cycle and its least squares problem. q_i = v[i]/size[i] are the unit vectors of the basis.
type krylov struct {
	*task
	v      []space.Vector // the basis; all vectors but the last are orthogonal to each other
	size   []float64      // lengths of the vectors v
	z      space.Vector   // a preconditioned vector
	a      [][]float64    // A q_j is the sum of a[j][i]*q_i over i = 0 ... j+1
	h      [][]float64    // a, rotated to an upper triangular matrix, by columns
	cs, sn []float64      // cosines and sines of the rotations
	g      []float64      // rotated right-hand side
	length float64        // |A q_j| of the last column

	compact *compactBasis // nil without Options.Basis, and after widen
	wide    int64         // vectors of the basis in 64 bits that were read or written
	narrow  int64         // the same in 32 bits

	flexible bool           // FGMRES: the preconditioner may change, so that A q_j below stands for A times kept[j]/of[j]
	kept     []space.Vector // v[j] after the preconditioner
	of       []float64      // size[j] when v[j] was preconditioned
}

// cycle improves x from the residual v0. It ends after Options.Restart iterations, at the tolerance, after a breakdown
// or with an error.
func (k *krylov) cycle(v0 space.Vector) error {
	beta := math.Sqrt(k.Dot(v0, v0))
	k.g = append(k.g[:0], beta)
	if len(k.v) == 0 {
		k.v = append(k.v, v0)
	}
	if k.inCompact() {
		k.beginCompact(v0)
	} else {
		k.size = append(k.size[:0], k.rescale(v0, beta))
	}
	k.a, k.h, k.cs, k.sn = k.a[:0], k.h[:0], k.cs[:0], k.sn[:0]
	var broken string
	var stop error
	for j := range k.opt.Restart {
		exact := k.extend(j)
		last := len(k.h) - 1 // j, or j-1 where q_0 to q_(j-1) span an invariant space
		if k.inCompact() {
			k.compact.estimate = math.Abs(k.g[last+1]) / k.norm
		}
		near, err := k.recordIteration(math.Abs(k.g[last+1]))
		switch {
		case !space.Finite(k.length):
			broken = "the square of |A v| is not finite: scale the matrix"
		case k.h[last][last] == 0 && k.inCompact(): // a float64 basis may tell more
			k.compact.estimate, exact = 0, true
		case k.h[last][last] == 0:
			broken = k.singular()
		}
		if stop = err; near || exact || broken != "" || stop != nil {
			break
		}
	}
	if err := k.Failed(); err != nil {
		return err
	}
	k.improve()
	if stop == nil && broken != "" {
		stop = k.convergenceError(ErrBreakdown, "%s", broken)
	}
	return stop
}

func (k *krylov) singular() string {
	if k.flexible {
		return "the matrix or the preconditioner is singular: A maps the preconditioned vectors into a smaller space"
	}
	return "the matrix is singular: A maps the Krylov space into a smaller one"
}

// extend adds a vector to the basis and a column to the triangular matrix. exact reports that the basis spans an
// invariant space.
func (k *krylov) extend(j int) (exact bool) {
	if k.inCompact() {
		return k.extendCompact(j)
	}
	if len(k.v) == j+1 {
		k.v = append(k.v, k.Zero())
	}
	z := k.z
	if k.flexible {
		if len(k.kept) == j {
			k.kept = append(k.kept, k.Zero())
		}
		z, k.of = k.kept[j], append(k.of[:j], k.size[j])
	}
	k.Product(1/k.size[j], k.Preconditioned(k.v[j], z), 0, k.v[j+1])
	col := k.orthogonal(j)
	k.wide += 2*int64(j) + 6         // Project reads v[:j+2]; SubtractProjection reads v[:j], reads and writes v[j] and v[j+1]
	if j > 0 && k.rotateAgain(j-1) { // a[j-1] has changed
		return true
	}
	k.a = append(k.a, col)
	return k.rotate(j)
}

// rotateAgain is rotate for the last column j of h, after a change of a[j].
func (k *krylov) rotateAgain(j int) (exact bool) {
	c, s, g := k.cs[j], k.sn[j], k.g[j:]
	g[0] = float64(c*g[0]) - float64(s*g[1])
	k.h, k.cs, k.sn, k.g = k.h[:j], k.cs[:j], k.sn[:j], k.g[:j+1]
	return k.rotate(j)
}

// orthogonal runs the second Gram-Schmidt pass for u = v[j] and the first one for w = v[j+1] = A u/|u|: both become
// orthogonal to the vectors before them. It returns a[j]. With s_i = q_i'u/|u| and r^2 = 1 - s's
//
//	q_j = (u/|u| - sum of s_i*q_i) / r
//	A q_j = (w - sum of s_i*A*q_i) / r
//
// The columns a[i] give A q_i for i < j. Column a[j-1] was computed with u in place of q_j and is corrected
// here. A flexible method stores w itself in place of A q_j: its preconditioner has seen u, not q_j.
func (k *krylov) orthogonal(j int) (col []float64) {
	u, w := k.v[j], k.v[j+1]
	s, t := k.Project(k.v[:j], u, w) // the loop below scales t_i to q_i'w
	length := k.size[j]
	left, known := 1.0, 0.0
	for i, size := range k.size[:j] {
		s[i], t[i] = s[i]/size/length, t[i]/size
		left -= float64(s[i] * s[i])
		known += float64(s[i] * t[i])
	}
	r := math.Sqrt(max(left, 0.01)) // below 0.01, left is mostly rounding error: q_j then is not a unit vector, but A q_j is right
	t[j] = (t[j]/length - known) / r
	k.size[j] *= r
	if j > 0 {
		a := k.a[j-1]
		for i := range s {
			a[i] += float64(s[i] * a[j])
		}
		a[j] *= r
	}
	col = append(slices.Clone(t), 0)
	scale := 1.0
	if !k.flexible {
		scale = r
		for i := range s {
			for l, a := range k.a[i] {
				col[l] -= float64(s[i] * a)
			}
		}
	}
	for i := range s {
		s[i] *= length / k.size[i]
	}
	for i, size := range k.size {
		col[i] /= scale
		t[i] /= size
	}
	norm := math.Sqrt(k.SubtractProjection(s, t, k.v[:j], u, w))
	k.size = append(k.size, k.rescale(w, norm))
	col[j+1] = norm / scale
	return col
}

// rescale returns the new length of v, whose length is norm. It makes v a unit vector where products or quotients of
// lengths might overflow or underflow, also in float32 with the preconditioners of a flexible method.
func (k *krylov) rescale(v space.Vector, norm float64) float64 {
	limit := 1e50
	if k.flexible {
		limit = 1e6
	}
	if norm >= 1/limit && norm <= limit || norm == 0 || !space.Finite(norm) {
		return norm
	}
	k.Set(1/norm, v, v)
	return 1
}

// rotate appends a[j] to the triangular matrix h by Givens rotations. exact reports that A q_j lies in the span of q_0
// to q_j.
func (k *krylov) rotate(j int) (exact bool) {
	col := slices.Clone(k.a[j])
	k.length = 0
	for _, v := range col {
		k.length = hypot(k.length, v)
	}
	if exact = col[j+1] <= 1e-15*k.length; exact {
		col[j+1] = 0
	}
	for i := range j {
		c, s, u, v := k.cs[i], k.sn[i], col[i], col[i+1]
		col[i], col[i+1] = float64(c*u)+float64(s*v), float64(c*v)-float64(s*u)
	}
	norm := col[j+1]
	r := hypot(col[j], norm)
	c, s := 0.0, 1.0
	if r > k.least()*k.length {
		c, s = col[j]/r, norm/r
	} else { // A q_j adds nothing: the residual stays
		r = 0
	}
	col[j] = r
	k.h, k.cs, k.sn = append(k.h, col), append(k.cs, c), append(k.sn, s)
	k.g = append(k.g, -s*k.g[j])
	k.g[j] *= c
	return exact
}

// least returns the ratio of a diagonal element of h to the length of its column below which that element is rounding error.
func (k *krylov) least() float64 {
	if k.inCompact() {
		return 1.0 / (1 << 24)
	}
	return 1e-15
}

// hypot returns the length of (a, b). math.Hypot rounds differently on different processors.
func hypot(a, b float64) float64 {
	a, b = math.Abs(a), math.Abs(b)
	most, least := max(a, b), min(a, b)
	if most == 0 || math.IsInf(most, 1) {
		return most
	}
	q := least / most
	return most * math.Sqrt(1+float64(q*q))
}

// improve adds to x the combination of the basis that minimises the residual.
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
	lengths := k.size
	if k.flexible {
		lengths = k.of
	}
	for i := range y {
		y[i] /= lengths[i]
	}
	if k.flexible || k.opt.Precond == nil {
		k.addBasis(y, k.x)
		return
	}
	u := k.combineBasis(y)
	z := k.Preconditioned(u, k.z)
	k.Add(1, []float64{1}, []space.Vector{z}, k.x)
}

// addBasis computes w = w + sum of y[i]*v[i], or of y[i]*kept[i] in a flexible method.
func (k *krylov) addBasis(y []float64, w space.Vector) {
	m := len(y)
	if k.inCompact() {
		basis := k.compact.v
		if k.flexible {
			basis = k.compact.kept
		}
		basis.Add(y, w)
		k.narrow += int64(m)
		return
	}
	basis := k.v
	if k.flexible {
		basis = k.kept
	}
	k.Add(1, y, basis[:m], w)
	k.wide += int64(m)
}

// combineBasis returns the sum of y[i]*v[i], in a vector that is unused at the end of a cycle. The old elements of that vector
// do not matter: they may be infinite.
func (k *krylov) combineBasis(y []float64) space.Vector {
	if k.inCompact() {
		u := k.compact.vector[0]
		k.compact.v.Combine(y, u)
		k.narrow += int64(len(y))
		return u
	}
	u := k.v[len(k.v)-1] // not among those with y[i]
	k.Set(y[0], k.v[0], u)
	k.Add(1, y[1:], k.v[1:len(y)], u)
	k.wide += int64(len(y))
	return u
}
