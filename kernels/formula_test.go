package kernels_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/vec"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

func TestOnlyVectorsThatAFormulaNamesMayShareMemoryWithItsResults(t *testing.T) {
	f := kernels.BiCGSTABStep
	const p, s, c, x, r = 0, 1, 3, 4, 5
	require.Equal(t, kernels.Operand{Name: "s", Or: "r"}, f.Vectors[s])
	require.Equal(t, kernels.Operand{Name: "r", Written: true}, f.Vectors[r])
	require.True(t, f.MayShare(p, c))
	require.True(t, f.MayShare(s, r))
	require.True(t, f.MayShare(r, s))
	require.True(t, f.MayShare(r, r))
	require.False(t, f.MayShare(s, x))
	require.False(t, f.MayShare(x, r))
	require.False(t, f.MayShare(c, r))
}

func TestAFormulaTakesAsManyArgumentsAsItHas(t *testing.T) {
	f := kernels.BiCGSTABStep
	require.NoError(t, f.Check(2, 6, 2))
	for _, wrong := range [][3]int{{1, 6, 2}, {2, 5, 2}, {2, 6, 0}} {
		require.ErrorIs(t, f.Check(wrong[0], wrong[1], wrong[2]), kernels.ErrArgument)
	}
}

// Each formula has a name of its own, writes a result or a sum, and has loops that take its arguments and add to its sums
// alone, for both types of values.
func TestFormulasRunWithTheArgumentsThatTheyName(t *testing.T) {
	names := map[string]bool{}
	for _, f := range kernels.Formulas() {
		require.False(t, names[f.Name], f.Name)
		names[f.Name] = true
		results := f.Sums
		for _, v := range f.Vectors {
			if v.Written {
				results++
			}
		}
		require.Positive(t, results, f.Name)
		runFormula[float64](t, f)
		runFormula[float32](t, f)
	}
}

func runFormula[V sparse.Value](t *testing.T, f *kernels.Formula) {
	numbers, v, sums := make([]V, len(f.Numbers)), make([][]V, len(f.Vectors)), make([]vec.Sum, f.Sums)
	for i := range numbers {
		numbers[i] = V(i + 2)
	}
	for j := range v {
		v[j] = []V{V(j + 3), V(j + 5), V(j + 7)}
	}
	kernels.LoopOf[V](f)(numbers, v, sums)
	for j, o := range f.Vectors {
		before := []V{V(j + 3), V(j + 5), V(j + 7)}
		if o.Written {
			require.NotEqual(t, before, v[j], "%s: %s", f.Name, o.Name)
		} else {
			require.Equal(t, before, v[j], "%s: %s", f.Name, o.Name)
		}
	}
	for j := range sums {
		require.NotZero(t, sums[j].Total(), "%s: sum %d", f.Name, j)
	}
}
