package multigrid

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheFirstWrongReciprocalIsNamed(t *testing.T) {
	inverse := make([]float64, 100_000)
	for i := range inverse {
		inverse[i] = 2
	}
	require.NoError(t, CheckSmoother(inverse, 7, 1.5))
	for _, wrong := range []float64{0, math.Inf(1), math.NaN()} {
		inverse[99_999], inverse[40_000] = 0, wrong
		require.EqualError(t, CheckSmoother(inverse, 7, 1.5), "matrix: its diagonal element in row 40007 is zero, or too small or large to be inverted")
	}
	inverse[99_999], inverse[40_000] = 2, 2
	for _, rho := range []float64{0, -1, math.Inf(1), math.NaN()} {
		require.ErrorContains(t, CheckSmoother(inverse, 7, rho), "the largest eigenvalue of D^-1 A is not finite")
	}
}

func TestTheNumberOfRowsFallsByAFactorOfFiveQuartersAtLeast(t *testing.T) {
	require.True(t, Shrinks(1000, 800))
	require.False(t, Shrinks(1000, 801))
	require.False(t, Shrinks(1000, 0))
}

func TestScaleMakesTheLargestElementAboutOne(t *testing.T) {
	for _, largest := range []float64{1e-300, 3e-9, 1, 5, 7e200} {
		scaled := largest * Scale(largest)
		require.True(t, scaled >= 0.5 && scaled < 1, "%g becomes %g", largest, scaled)
	}
	for _, largest := range []float64{0, math.Inf(1), math.NaN()} {
		require.Equal(t, 1.0, Scale(largest))
	}
}
