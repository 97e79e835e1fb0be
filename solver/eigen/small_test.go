package eigen

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLastsAreThoseOfTheEigenvectors(t *testing.T) {
	for n := 1; n < 40; n++ {
		m := tridiagonal{make([]float64, n), make([]float64, n)}
		for i := range n {
			m.alpha[i], m.beta[i] = math.Sin(float64(7*i*i)), math.Cos(float64(3*i+n))
			if i%5 == 4 && n%2 == 0 {
				m.beta[i] = 0
			}
			if n%3 == 0 {
				m.alpha[i] = 2
			}
		}
		dense := newSymmetric(n)
		for i := range n {
			dense.set(i, i, m.alpha[i])
			if i > 0 {
				dense.set(i, i-1, m.beta[i-1])
			}
		}
		want, vectors, err := dense.eigen()
		require.NoError(t, err)
		values, last, ok := m.lasts()
		require.True(t, ok)
		sums := map[int]float64{}
		for k, v := range values {
			sums[nearest(want, v)] += last[k] * last[k]
			require.InDelta(t, want[nearest(want, v)], v, 1e-13)
		}
		sorted := slices.Sorted(slices.Values(values))
		for k := range want {
			require.InDelta(t, want[k], sorted[k], 1e-13)
			if (k == 0 || want[k]-want[k-1] > 1e-3) && (k == n-1 || want[k+1]-want[k] > 1e-3) {
				require.InDelta(t, math.Abs(vectors[k][n-1]), math.Sqrt(sums[k]), 1e-9)
			}
		}
	}
}

func TestDecomposeFindsEigenvectors(t *testing.T) {
	for _, n := range []int{1, 2, 7, 40} {
		m := tridiagonal{make([]float64, n), make([]float64, n)}
		for i := range n {
			m.alpha[i], m.beta[i] = float64(i%3), 1/float64(1+i%4)
			if i%6 == 5 {
				m.beta[i] = 0 // equal parts have equal eigenvalues
			}
		}
		d, err := m.decompose(nil)
		require.NoError(t, err)
		all := make([]int, n)
		for i := range all {
			all[i] = n - 1 - i
		}
		y := d.vectors(all)
		for i, k := range all {
			require.InDelta(t, d.last[k], y[i][n-1], 1e-14)
			for j := range n {
				sum := m.alpha[j]*y[i][j] - d.values[k]*y[i][j]
				if j > 0 {
					sum += m.beta[j-1] * y[i][j-1]
				}
				if j < n-1 {
					sum += m.beta[j] * y[i][j+1]
				}
				require.InDelta(t, 0, sum, 1e-13)
			}
			for j := range i {
				require.InDelta(t, 0, dotOf(y[i], y[j]), 1e-13)
			}
			require.InDelta(t, 1, dotOf(y[i], y[i]), 1e-13)
		}
	}
	_, err := tridiagonal{[]float64{1, math.NaN()}, []float64{1, 0}}.decompose(nil)
	require.Error(t, err)
}

func nearest(values []float64, v float64) int {
	best := 0
	for k, w := range values {
		if math.Abs(w-v) < math.Abs(values[best]-v) {
			best = k
		}
	}
	return best
}

func TestGatherMakesAnArrowTridiagonal(t *testing.T) {
	for k := 1; k < 30; k++ {
		theta, s := make([]float64, k), make([]float64, k)
		for i := range k {
			theta[i], s[i] = float64(i%7), math.Sin(float64(i+1))*math.Pow(10, -float64(i%9))
		}
		c := float64(k % 2)
		m, q := gather(theta, s, c)
		require.Len(t, m.beta, k)
		for i := range k {
			for j := range k {
				sum, unit, left, right := 0.0, 0.0, 0.0, 0.0
				for e := range k {
					left += q[i][e] * s[e]
					right += q[j][e] * s[e]
					sum += q[i][e] * theta[e] * q[j][e]
					unit += q[i][e] * q[j][e]
				}
				sum += c * left * right
				want, one := 0.0, 0.0
				switch {
				case i == j:
					want, one = m.alpha[i], 1
				case i == j+1 || j == i+1:
					want = m.beta[min(i, j)]
				}
				require.InDelta(t, want, sum, 1e-13)
				require.InDelta(t, one, unit, 1e-13)
			}
			sum := 0.0
			for e := range k {
				sum += q[i][e] * s[e]
			}
			if i == k-1 {
				sum -= m.beta[k-1]
			}
			require.InDelta(t, 0, sum, 1e-13)
		}
	}
}
