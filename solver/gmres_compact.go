package solver

import (
	"math"
	"slices"

	"github.com/msrep-go/msrep/solver/internal/space"
	"github.com/msrep-go/msrep/sparse"
)

// Basis names how GMRES and FGMRES store the vectors of their basis. All arithmetic is in float64.
type Basis string

// These are the values of Options.Basis.
const (
	BasisFloat64 Basis = "float64" // 64 bits for each element
	BasisInt32   Basis = "int32"   // 32 bits: integers; each SumChunk elements share a power of two (block floating point)
)

// Bases has the values of Options.Basis.
var Bases = []string{string(BasisFloat64), string(BasisInt32)}

// check returns an error for an unknown name.
func (b Basis) check() error {
	if b != "" && !slices.Contains(Bases, string(b)) {
		return sparse.Inputf("basis", "%q is not known: use %s", string(b), oneOf(Bases))
	}
	return nil
}

// compactBasis is the state of a krylov that stores its basis in 32-bit integers. Aliaga, Anzt, Grützmacher, Quintana-Ortí
// and Tomás, "Compressed basis GMRES on high-performance graphics processing units" (2022), store float32 and other formats.
// Grützmacher, Underwood, Di and Cappello, "FRSZ2 for in-register block compression inside GMRES on GPUs" (2024), share
// exponents between elements, as here.
//
// Each vector is rounded once, when it is stored. All later operations use the rounded vector, also the product with A. The
// relation
//
//	A v_j/size_j = sum of a[j][i]*v_i/size_i over i = 0 ... j+1
//
// of the stored vectors v_i therefore holds up to the rounding error of v_(j+1). Rounded vectors are not quite orthogonal, so
// a product is projected on the basis by normal equations with its Gram matrix. This takes one pass over the basis and is as
// accurate as with float64.
//
// Because of rounding, a cycle can reduce the residual at best by a factor of about 2^-30 times the condition number. The
// basis is therefore compact only while cycles reduce the residual slowly; see choose.
type compactBasis struct {
	v      *space.Compact  // the basis, in the memory of krylov.v
	kept   *space.Compact  // FGMRES: v after the preconditioner, in the memory of krylov.kept
	vector [2]space.Vector // v_j, rounded, is vector[j%2]; the other one is A v_j
	factor [][]float64     // rows of the Cholesky factor of the Gram matrix of v_i/size_i
	in     bool            // the basis of this cycle is compact

	before   float64 // residual at the last restart; 0 at the first start
	estimate float64 // residual at the end of the last cycle, computed from the basis
	cycles   int     // compact cycles since the last comparison
	gain     float64 // decrease of the logarithm of the residual in these cycles
	compare  int     // compact cycles between comparisons
}

// These are limits of choose.
const (
	fewCycles    = 2   // the basis stays float64 if so many cycles like the last one would reach the tolerance
	firstCompare = 4   // compact cycles before the first comparison
	fasterCycle  = 1.5 // ratio of gains above which the float64 basis is better
	honest       = 1.1 // largest ratio of the residual of x to the one computed from the basis
)

// choose decides before a cycle whether its basis is compact. The first cycle has a float64 basis, and so have further ones
// if they seem to reach the tolerance soon. After 4, 8, 16, ... compact cycles, one cycle has a float64 basis for comparison.
// The basis becomes float64 for the rest of the solve if that cycle reduces the residual much more than a compact one, or if
// the residual of x after a compact cycle is far above the one computed from the basis.
func (k *krylov) choose() {
	c, rel := k.compact, k.res.Residual
	if c == nil {
		return
	}
	before := c.before
	c.before = rel
	if before == 0 {
		return
	}
	gain := math.Log(before / rel)
	switch {
	case c.in && rel > honest*c.estimate:
		k.widen()
	case c.in:
		c.cycles, c.gain = c.cycles+1, c.gain+gain
		c.in = c.cycles < c.compare
	case c.cycles == 0: // no comparison
		c.in = rel*math.Pow(rel/before, fewCycles) > k.opt.Tol
		c.compare = firstCompare
	case gain > fasterCycle*c.gain/float64(c.cycles):
		k.widen()
	default:
		c.in, c.cycles, c.gain, c.compare = true, 0, 0, 2*c.compare
	}
}

// widen makes the basis float64 for the rest of the solve.
func (k *krylov) widen() { k.compact, k.res.WidenedAt = nil, k.res.Iterations }

// inCompact reports whether the basis of this cycle is compact.
func (k *krylov) inCompact() bool { return k.compact != nil && k.compact.in }

// beginCompact stores v0 as the first vector of a cycle.
func (k *krylov) beginCompact(v0 space.Vector) {
	c := k.compact
	if c.v == nil {
		host := k.Space.(*space.Host) // solve refuses other spaces
		c.v, c.vector = host.NewCompact(), [2]space.Vector{k.Zero(), k.Zero()}
		if k.flexible {
			c.kept, k.z = host.NewCompact(), k.Zero()
		}
	}
	k.growCompact(0)
	c.factor = c.factor[:0]
	k.Set(1, v0, c.vector[0])
	norm := math.Sqrt(c.v.Store(0, c.vector[0]))
	k.narrow++
	k.size = append(k.size[:0], k.storeScaled(0, c.vector[0], norm))
}

// growCompact makes room for vectors 0 to j of the basis.
func (k *krylov) growCompact(j int) {
	if len(k.v) == j {
		k.v = append(k.v, k.Zero())
	}
	for k.compact.v.Len() <= j {
		k.compact.v.Append(k.v[k.compact.v.Len()])
	}
}

// storeScaled returns the length of the stored vector v_j = w, which is norm. If rescale turns w into a unit vector, it stores
// that instead.
func (k *krylov) storeScaled(j int, w space.Vector, norm float64) (size float64) {
	if size = k.rescale(w, norm); size != 1 || norm == 1 {
		return size
	}
	k.narrow++
	return math.Sqrt(k.compact.v.Store(j, w))
}

// extendCompact is extend for a compact basis.
func (k *krylov) extendCompact(j int) (exact bool) {
	c := k.compact
	u, w := c.vector[j%2], c.vector[1-j%2]
	z := k.Preconditioned(u, k.z)
	if k.flexible {
		if len(k.kept) == j {
			k.kept = append(k.kept, k.Zero())
		}
		if c.kept.Len() == j {
			c.kept.Append(k.kept[j])
		}
		k.of = append(k.of[:j], k.size[j])
		c.kept.Store(j, z)
		k.narrow++
	}
	k.Product(1/k.size[j], z, 0, w)

	g, t := c.v.Project(j+1, u, w)
	k.narrow, k.wide = k.narrow+2*int64(j+1)+1, k.wide+4 // Project reads u and w; SubtractAndStore reads and writes w
	for i, size := range k.size {
		g[i] /= size * k.size[j]
		t[i] /= size
	}
	if !c.addToFactor(g) { // v_j is rounding error: A v_(j-1) lies in the span of the vectors before
		k.a[j-1][j] = 0
		return k.rotateAgain(j - 1)
	}
	c.solve(t)
	col := append(t, 0)
	h := make([]float64, j+1)
	for i, size := range k.size {
		h[i] = t[i] / size
	}
	k.growCompact(j + 1)
	norm := math.Sqrt(c.v.SubtractAndStore(h, w))
	col[j+1] = norm
	k.size = append(k.size, k.storeScaled(j+1, w, norm))
	k.a = append(k.a, col)
	return k.rotate(j)
}

// addToFactor adds a row to the Cholesky factor for a vector; g has its inner products with all vectors, last with itself. It
// returns false if the vector is nearly in the span of the others.
func (c *compactBasis) addToFactor(g []float64) bool {
	j := len(c.factor)
	row := make([]float64, j+1)
	square := g[j]
	for i, of := range c.factor {
		s := g[i]
		for l := range i {
			s -= float64(of[l] * row[l])
		}
		row[i] = s / of[i]
		square -= float64(row[i] * row[i])
	}
	if square < 0.5*g[j] {
		return false
	}
	row[j] = math.Sqrt(square)
	c.factor = append(c.factor, row)
	return true
}

// solve replaces t by the solution y of G y = t, where G is the Gram matrix.
func (c *compactBasis) solve(t []float64) {
	for i, row := range c.factor {
		for l := range i {
			t[i] -= float64(row[l] * t[l])
		}
		t[i] /= row[i]
	}
	for i := len(c.factor) - 1; i >= 0; i-- {
		t[i] /= c.factor[i][i]
		for l := range i {
			t[l] -= float64(c.factor[i][l] * t[i])
		}
	}
}
