package multigrid

import (
	"math"

	"github.com/msrep-go/msrep/sparse"
)

// Largest returns the largest absolute value of each vector.
func Largest(vectors [][]float64) []float64 {
	largest := make([]float64, len(vectors))
	for k, v := range vectors {
		for _, e := range v {
			largest[k] = max(largest[k], math.Abs(e))
		}
	}
	return largest
}

// CheckNearNull refuses vectors of a near null space by their largest absolute values: sums of squares must neither overflow
// nor vanish. Some vectors may be zero, but not all.
func CheckNearNull(largest []float64) error {
	const least, most = 1e-100, 1e100
	none := len(largest) > 0
	for k, v := range largest {
		if v != 0 && (v < least || v > most) {
			return sparse.Inputf("near null space", "vector %d has numbers up to %g: scale it, to 1e-100 to 1e100", k, v)
		}
		none = none && v == 0
	}
	if none {
		return sparse.Inputf("near null space", "all vectors are zero")
	}
	return nil
}
