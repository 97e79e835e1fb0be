package amg

import (
	"cmp"
	"math"

	"github.com/msrep-go/msrep/internal/coarsen"
	"github.com/msrep-go/msrep/internal/multigrid"
	"github.com/msrep-go/msrep/sparse"
)

// Options controls a preconditioner. The zero value suits scalar problems.
type Options struct {
	// NearNull has vectors v for which A v is almost 0, each with an element for each row. The smoother cannot reduce errors
	// in their span. The largest absolute value of a vector is 1e-100 to 1e100, or 0, but not of all vectors. nil means
	// constants: one vector, or with Block one for each unknown of a node. For linear elasticity use RigidBodyModes.
	NearNull [][]float64
	// Block is the number of consecutive rows that belong to one node, such as the displacements of a point. All rows of a
	// node are in the same aggregate. 0 means the size of the dense blocks of which the matrix consists, at most 6.
	Block int
	// Strength is the threshold of strong couplings, below 1: nodes i and j are strongly coupled, and may share an
	// aggregate, if |a_ij|^2 > Strength^2 |a_ii a_jj|. It falls from level to level. 0 means 0.05, or 0.16 for an
	// unsymmetric matrix. With a negative number all couplings are strong.
	Strength float64
	// Degree is the degree of the polynomial of the smoother, 1 to MaxDegree; 0 means 2.
	Degree int
	// Visits is how often a visit to a level visits the next coarser one: 1 is a V-cycle, 2 a W-cycle. 0 means 2 where the
	// next level takes little time: it has at most 2/5 of the entries, but at least 16,384, or 1 M if vectors stay on GPUs.
	Visits int
	// CoarseSize is the largest number of rows of a level that is solved with a dense inverse, at most MaxCoarseSize; 0
	// means 400.
	CoarseSize int
	// MaxLevels bounds the number of levels; 0 means that only CoarseSize does.
	MaxLevels int
	// Double stores the levels and the vectors of a cycle as float64. Otherwise they are float32 if vectors are in host
	// memory, no entry of the matrix exceeds 1e15 and no diagonal element is below 1e-15, in absolute values.
	Double bool
	// Deterministic makes the bits of z = M r the same on any devices with any number of threads.
	Deterministic bool
}

// These are limits of Options.
const (
	MaxDegree     = 16
	MaxCoarseSize = 2000
)

const (
	defaultDegree     = 2
	defaultCoarseSize = 400
)

// fill sets the defaults and checks the options for a.
func (o *Options) fill(a *sparse.CSR[float64]) error {
	if o.Block == 0 {
		o.Block = multigrid.NodeSize(a)
	}
	return o.Fill(a.Rows)
}

// Fill sets the defaults of all fields but Block, and checks the options for a matrix of n rows. New calls it, and package
// cluster does for the n rows of a rank.
func (o *Options) Fill(n int) error {
	o.Degree, o.CoarseSize = cmp.Or(o.Degree, defaultDegree), cmp.Or(o.CoarseSize, defaultCoarseSize)
	switch {
	case o.Block < 1 || n%o.Block != 0:
		return sparse.Inputf("block", "%d: use a positive divisor of the %d rows", o.Block, n)
	case !(o.Strength < 1):
		return sparse.Inputf("strength", "%g: use a number below 1", o.Strength)
	case o.Degree < 1 || o.Degree > MaxDegree:
		return sparse.Inputf("degree", "%d: use 1 to %d", o.Degree, MaxDegree)
	case o.Visits < 0 || o.Visits > 2:
		return sparse.Inputf("visits", "%d: use 1 or 2, or 0 for a choice by the sizes of the levels", o.Visits)
	case o.CoarseSize < 1 || o.CoarseSize > MaxCoarseSize:
		return sparse.Inputf("coarse size", "%d: use 1 to %d", o.CoarseSize, MaxCoarseSize)
	case o.MaxLevels < 0:
		return sparse.Inputf("max levels", "%d: use a positive number, or 0 for no limit", o.MaxLevels)
	}
	for k, v := range o.NearNull {
		if len(v) != n {
			return sparse.Inputf("near null space", "vector %d has %d elements: the matrix has %d rows", k, len(v), n)
		}
		for i, e := range v {
			if math.IsNaN(e) || math.IsInf(e, 0) {
				return sparse.Inputf("near null space", "vector %d, element %d is %g: all must be finite", k, i, e)
			}
		}
	}
	return nil
}

// RigidBodyModes returns the near null space of linear elasticity in dims dimensions, 2 or 3: the dims translations, and 1
// or 3 rotations about the mean of the points. Point i has the coordinates x[dims*i] to x[dims*i+dims-1], and the rows of
// the matrix with these numbers are its displacements, so Options.Block is dims. Other dims, and a length of x that dims
// does not divide, give a *sparse.InputError.
func RigidBodyModes(x []float64, dims int) ([][]float64, error) {
	return coarsen.RigidBodyModes(x, dims)
}
