package eigen

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
)

// TestValuesOfRealMatricesAreThoseOfSciPy compares with testdata/scipy.json, which testdata/make.py wrote.
func TestValuesOfRealMatricesAreThoseOfSciPy(t *testing.T) {
	var expected struct {
		Eigenvalues    map[string]map[Which][]float64 `json:"eigenvalues"`
		SingularValues map[string]map[Which][]float64 `json:"singular_values"`
	}
	data, err := os.ReadFile("testdata/scipy.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &expected))
	require.NotEmpty(t, expected.Eigenvalues)
	require.NotEmpty(t, expected.SingularValues)
	sys := openOn(t, "cpu:1")
	read := func(t *testing.T, name string) *sparse.CSR[float64] {
		m, err := matio.Read(t.Context(), corpus.Shared(t, "matrices", name+".mtx.gz"))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, m.Close()) })
		return m.CSR
	}
	for name, ends := range expected.Eigenvalues {
		t.Run(name, func(t *testing.T) {
			a := read(t, name)
			for which, want := range ends {
				if which == Smallest && min(math.Abs(want[0]), math.Abs(want[7])) < 1e-4*ends[Largest][0] {
					continue // found with Near
				}
				res, err := Solve(t.Context(), sys, a, Options{Count: len(want), Which: which})
				require.NoError(t, err, which)
				if which == Near { // a value and its negative are at the same distance
					for i, v := range res.Values {
						require.InDelta(t, math.Abs(want[i]), math.Abs(v), 1e-9*res.Norm, which)
					}
					want = res.Values
				}
				requirePairs(t, a, want, res, 1e-9)
			}
		})
	}
	for name, ends := range expected.SingularValues {
		t.Run(name, func(t *testing.T) {
			a := read(t, name)
			for which, want := range ends {
				res, err := SolveSingular(t.Context(), sys, a, Options{Count: len(want), Which: which})
				require.NoError(t, err, which)
				requireTriples(t, a, want, res, 1e-9)
			}
		})
	}
}
