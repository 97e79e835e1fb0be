package coarsen

import (
	"math"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/spgemm"
	"github.com/msrep-go/msrep/sparse"
)

// These are the default thresholds of strong couplings on the finest level. With the higher threshold for unsymmetric
// matrices, aggregates follow convection more closely: this saves up to half of the iterations, and costs none where
// diffusion dominates.
const (
	DefaultStrength     = 0.05
	UnsymmetricStrength = 0.16
)

// omega is the damping of the Jacobi step that smooths the prolongator, relative to the largest eigenvalue of D^-1 A.
const omega = 4.0 / 3

// Options controls Coarsen. The zero value suits a symmetric matrix with one unknown in each node.
type Options struct {
	// Strength is the threshold theta on the finest level, below 1: nodes i and j are strongly coupled if
	// |a_ij|^2 > theta^2 |a_ii a_jj|. If nodes have several unknowns, these are the Frobenius norms of blocks. 0 means
	// DefaultStrength, or UnsymmetricStrength if Unsymmetric is set. With a negative number every nonzero entry is strong.
	Strength float64
	// Level is the number of finer levels, 0 for the matrix to solve. The thresholds fall with it.
	Level int
	// Block is the number b of unknowns in each node, such as the dimension in elasticity: node i has the unknowns b*i to
	// b*i+b-1. It divides the number of rows. 0 means 1.
	Block int
	// Nodes replaces Block if nodes have different numbers of unknowns: node i has the unknowns Nodes[i] to Nodes[i+1]-1.
	// Level.Nodes is this field for the next level.
	Nodes []int32
	// Unsymmetric states that A' may differ from A. Then nodes are coupled if A or A' couples them, and the restriction
	// comes from A'.
	Unsymmetric bool
	// Run runs loops on several workers; nil stands for par.Do.
	Run spgemm.Run
}

// Level is the result of Coarsen.
type Level struct {
	// P is the prolongator: A.Rows rows, and a column for each coarse unknown. The columns of a row ascend. The row of an
	// unknown in no aggregate, such as a boundary condition, is empty; the smoother alone corrects this unknown.
	P *sparse.CSR[float64]
	// R is the restriction for an unsymmetric A: the transpose of the prolongator for A' with the same aggregates (M. Sala,
	// R. S. Tuminaro, "A new Petrov-Galerkin smoothed aggregation preconditioner for nonsymmetric linear systems", SIAM
	// Journal on Scientific Computing 31 (2008)). nil stands for P'.
	R *sparse.CSR[float64]
	// Near is the near null space of the coarse matrix, with as many vectors as that of A.
	Near [][]float64
	// Nodes has the nodes of the coarse level, as Options.Nodes; nil if each unknown is a node.
	Nodes []int32
	// InverseDiagonal has the reciprocals of the diagonal of A, and 0 where the diagonal is 0.
	InverseDiagonal []float64
	// Rho bounds the absolute values of the eigenvalues of D^-1 A.
	Rho float64
}

// Coarsen computes the prolongator from the next coarser level of A. near has vectors v for which A v is almost 0, such as
// the rigid body modes of elasticity. If it is empty, Coarsen uses constants: one vector for each unknown of a node.
//
// P has no columns if no two nodes are strongly coupled. Rows of A may be unsorted and have duplicates; each duplicate is
// strong or weak by itself. Coarsen accepts values that are not finite; Rho is then not finite either.
//
// Wrong arguments give a *sparse.InputError.
func Coarsen(a *sparse.CSR[float64], near [][]float64, opt Options) (*Level, error) {
	if err := check(a, near, opt); err != nil {
		return nil, err
	}
	s := newSetup(a, near, opt)
	s.prepare()
	level := &Level{Nodes: s.coarseNodes(), Near: s.coarseNear, InverseDiagonal: s.inverse, Rho: s.spectralBound()}
	level.P = s.smoothed(s.a, s.c, level.Rho)
	if s.back != nil {
		level.R = spgemm.Transpose(s.smoothed(s.back, s.cBack, level.Rho), opt.Run)
	}
	return level, nil
}

// setup is the state of one call of Coarsen.
type setup struct {
	a      *sparse.CSR[float64]
	near   [][]float64 // a single vector may be nil, which stands for ones
	nodes  nodes
	theta  float64 // threshold of strong couplings
	filter float64 // theta_F, threshold of the entries of A_F
	run    runner
	over   Processes

	unsymmetric bool

	node     []int32   // of each unknown; nil if each is a node
	diagonal []float64 // of A
	inverse  []float64 // of diagonal; 0 for 0
	root     []float64 // square root of the absolute diagonal if each unknown is a node
	rowSum   float64   // the largest row sum of |D^-1 A|

	c     *couplings
	back  *sparse.CSR[float64] // A'; nil if A is symmetric
	cBack *couplings           // of A'

	aggregates int32
	of         []int32 // the aggregate of each node; -1 for none

	first      []int32   // aggregates+1: the first coarse unknown of each aggregate
	t          []float64 // the tentative prolongator: len(near) values for each unknown, in the columns of its aggregate
	same       []float64 // replaces t where the values of all unknowns of an aggregate are the same: one value for each
	coarseNear [][]float64
}

func newSetup(a *sparse.CSR[float64], near [][]float64, opt Options) *setup {
	s := &setup{a: a, near: near, nodes: nodesOf(a.Rows, opt), run: runOf(opt.Run), over: Processes{Rows: a.Rows, Entries: a.NNZ()}}
	switch {
	case len(near) == 0 && s.nodes.single():
		s.near = [][]float64{nil}
	case len(near) == 0:
		s.near = constants(a.Rows, max(opt.Block, 1))
	}
	if !s.nodes.single() {
		s.node = s.nodes.byUnknown(a.Rows, s.run)
	}
	s.theta, s.filter = thresholds(opt)
	s.unsymmetric = opt.Unsymmetric
	return s
}

// prepare computes the tentative prolongator.
func (s *setup) prepare() {
	s.couple()
	g := &graph{in: s.c, theta: s.theta}
	if s.unsymmetric {
		s.back = spgemm.Transpose(s.a, s.run.do)
		s.cBack = s.couplingsOf(s.back)
		g = s.strong(s.c).either(s.strong(s.cBack), s.run)
	}
	s.aggregate(g)
	s.tentative()
}

// couple finds the diagonal and the couplings.
func (s *setup) couple() {
	s.findDiagonal()
	s.c = s.couplingsOf(s.a)
}

// These are the factors by which thresholds fall from one level to the next, because rows of coarse matrices have more and
// smaller entries. If theta_F fell as slowly as theta, jumping coefficients in 3 dimensions would take twice the iterations.
const (
	fallOfStrength = 0.8
	fallOfFilter   = 0.2
)

// thresholds returns theta and theta_F.
func thresholds(opt Options) (theta, filter float64) {
	switch {
	case opt.Strength != 0:
		theta = max(opt.Strength, 0)
	case opt.Unsymmetric:
		theta = UnsymmetricStrength
	default:
		theta = DefaultStrength
	}
	level := float64(opt.Level)
	return theta * math.Pow(fallOfStrength, level), theta * math.Pow(fallOfFilter, level)
}

// constants returns block vectors of n elements: vector c is 1 for unknown c of each node, and 0 for the others.
func constants(n, block int) [][]float64 {
	near := make([][]float64, block)
	for c := range near {
		near[c] = mem.Make[float64](n)
		for i := c; i < n; i += block {
			near[c][i] = 1
		}
	}
	return near
}

func check(a *sparse.CSR[float64], near [][]float64, opt Options) error {
	if a == nil {
		return sparse.Inputf("matrix", "is nil")
	}
	if a.Rows != a.Cols {
		return sparse.Inputf("matrix", "%d x %d: multigrid needs a square matrix", a.Rows, a.Cols)
	}
	if err := a.Validate(); err != nil {
		return err
	}
	for i, v := range near {
		if len(v) != a.Rows {
			return sparse.Inputf("near null space", "vector %d has %d elements for %d rows", i, len(v), a.Rows)
		}
	}
	if math.IsNaN(opt.Strength) || opt.Strength >= 1 {
		return sparse.Inputf("strength", "%v: the threshold of strong couplings must be below 1", opt.Strength)
	}
	if opt.Level < 0 {
		return sparse.Inputf("level", "%d: must not be negative", opt.Level)
	}
	return checkNodes(a.Rows, opt)
}
