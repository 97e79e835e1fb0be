package eigen

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver/internal/space"
)

// scales multiplies by a diagonal matrix.
type scales []float64

func (d scales) Dims() (rows, cols int) { return len(d), len(d) }

func (d scales) SpMV(_ context.Context, _ msrep.Transpose, alpha float64, x []float64, _ float64, y []float64) error {
	for i, v := range d {
		y[i] = alpha * v * x[i]
	}
	return nil
}

// An eigenvector that is found and whose eigenvalue is far larger than the others grows in the vectors of the recurrence.
func TestVectorsThatAreFoundAreNotMissed(t *testing.T) {
	const n, count = 900, 6
	for largest := 80.0; largest < 2e3; largest *= 1.2 {
		d := make(scales, n)
		for i := range d {
			d[i] = 37.7 * math.Pow(1-float64(i)/n, 4)
		}
		copy(d, []float64{largest, 74.4, 61.6, 54.8, 49.4, 40.75, 38.5})
		for seed := range uint64(8) {
			for _, which := range []Which{Largest, Magnitude} {
				r, err := newRun(t.Context(), MethodLanczos, d, nil, Options{Which: which, Tol: 1e-9, Seed: seed})
				require.NoError(t, err)
				r.norm = largest
				var found []space.Vector
				for i := range count + 1 {
					v := make([]float64, n)
					for k := range v {
						v[k] = 1e-11 / math.Sqrt(n) * math.Sin(float64((i+1)*k*k)) // results are not exact
					}
					v[i] = 1
					found = append(found, vectorOf(r, v))
				}
				missed, err := r.misses(found[:count], r.edgeAt(d[count-1]))
				require.NoError(t, err)
				require.False(t, missed, "largest %g, seed %d", largest, seed)
				missed, err = r.misses(append(found[1:count-1:count-1], found[count-1:]...), r.edgeAt(d[count]))
				require.NoError(t, err)
				require.True(t, missed, "largest %g, seed %d", largest, seed)
			}
		}
	}
}

// A search for missed values ends when there is no other past the edge, and else with those past it only.
func TestASearchPastAnEdgeFindsTheValuesPastIt(t *testing.T) {
	d := make(scales, 900)
	for i := range d {
		d[i] = math.Sqrt(float64(i)) / 30
	}
	d[3], d[4], d[5] = 1.5, -1.4, 1.2
	for at, want := range map[float64]int{2: 0, 1.45: 1, 1.3: 2, 1.1: 3} {
		r, err := newRun(t.Context(), MethodLanczos, d, nil, Options{Which: Magnitude, Tol: 1e-9})
		require.NoError(t, err)
		r.norm = 2
		start := r.take(1)[0]
		require.True(t, r.random(start, nil))
		past := r.edgeAt(at)
		found, err := (&lanczos{run: r, count: 3, past: &past}).find(start)
		require.NoError(t, err)
		require.Len(t, found, want)
		values, err := r.quotients(found)
		require.NoError(t, err)
		require.InDeltaSlice(t, []float64{1.5, -1.4, 1.2}[:want], values, 1e-8)
	}
}

// vectorOf returns a vector of r with these elements.
func vectorOf(r *run, v []float64) space.Vector {
	out := r.take(1)[0]
	copy(r.Space.(*space.Host).V[out], v)
	return out
}
