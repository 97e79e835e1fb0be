package probe

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

// matrixOf returns a matrix with all entries of rows, zeros too.
func matrixOf(rows ...[]float64) *sparse.CSR[float64] {
	m := &sparse.CSR[float64]{Rows: len(rows), Cols: len(rows[0]), RowPtr: []int64{0}}
	for _, r := range rows {
		for j, v := range r {
			m.ColIdx, m.Val = append(m.ColIdx, int32(j)), append(m.Val, v)
		}
		m.RowPtr = append(m.RowPtr, int64(len(m.Val)))
	}
	return m
}

func TestLookFindsTheTraitsOfAMatrix(t *testing.T) {
	for name, c := range map[string]struct {
		a    *sparse.CSR[float64]
		want Traits
	}{
		"symmetric":            {matrixOf([]float64{2, 1}, []float64{1, 3}), Traits{Symmetric: true, Exact: true, Positive: true}},
		"symmetric, rounded":   {matrixOf([]float64{2, 0.1}, []float64{0.1 + 1e-16, 3}), Traits{Symmetric: true, Positive: true}},
		"elements that cancel": {matrixOf([]float64{2, 1e-16}, []float64{-1e-16, 3}), Traits{Symmetric: true, Positive: true}},
		"small elements":       {matrixOf([]float64{2, 1e-13}, []float64{-1e-13, 3}), Traits{Positive: true}},
		"nearly symmetric":     {matrixOf([]float64{2, 1}, []float64{1 + 1e-9, 3}), Traits{Positive: true}},
		"opposite signs":       {matrixOf([]float64{2, 1e308}, []float64{-1e308, 3}), Traits{Positive: true}},
		"a negative diagonal":  {matrixOf([]float64{2, 1}, []float64{1, -3}), Traits{Symmetric: true, Exact: true}},
		"a stored zero":        {matrixOf([]float64{0, 1}, []float64{1, 3}), Traits{Symmetric: true, Exact: true, Missing: 1}},
		"no diagonal": {&sparse.CSR[float64]{Rows: 2, Cols: 2, RowPtr: []int64{0, 1, 2}, ColIdx: []int32{1, 0}, Val: []float64{1, 1}},
			Traits{Symmetric: true, Exact: true, Missing: 2}},
		"another pattern": {&sparse.CSR[float64]{Rows: 2, Cols: 2, RowPtr: []int64{0, 2, 3}, ColIdx: []int32{0, 1, 1}, Val: []float64{1, 1, 1}},
			Traits{Positive: true}},
		"empty": {&sparse.CSR[float64]{RowPtr: []int64{0}}, Traits{Symmetric: true, Exact: true, Positive: true}},
	} {
		require.Equal(t, c.want, Look(c.a), name)
	}
}

func TestMeanIsSymmetric(t *testing.T) {
	a := matrixOf([]float64{2, 0.1}, []float64{0.1 + 2e-16, 3})
	m := Mean(a)
	require.True(t, Look(m).Exact)
	require.InDelta(t, 0.1+1e-16, m.Val[1], 1e-17)
	require.Equal(t, []float64{2, 3}, []float64{m.Val[0], m.Val[3]})
	huge := Mean(matrixOf([]float64{1, 1.7e308}, []float64{1.7e308, 1}))
	require.Equal(t, 1.7e308, huge.Val[1], "the sum does not overflow")
}

func TestTidySortsAddsAndRefuses(t *testing.T) {
	a := &sparse.CSR[float64]{Rows: 2, Cols: 3, RowPtr: []int64{0, 3, 4}, ColIdx: []int32{2, 0, 2, 1}, Val: []float64{1, 2, 3, 4}}
	m, err := Tidy(a)
	require.NoError(t, err)
	require.Equal(t, []int32{0, 2, 1}, m.ColIdx)
	require.Equal(t, []float64{2, 4, 4}, m.Val)
	require.Equal(t, []float64{1, 2, 3, 4}, a.Val, "the matrix of the caller stays as it is")

	a.Val = []float64{1.7e308, 2, 1.7e308, 4}
	_, err = Tidy(a)
	require.ErrorContains(t, err, "the entries in row 0, column 2 add up to +Inf")
	a.Val = []float64{1, 2, 3, math.NaN()}
	_, err = Tidy(a)
	require.ErrorContains(t, err, "row 1, column 1 is NaN")
	require.True(t, sparse.IsInput(err))
}

// follow returns the error with which a pace ends an attempt whose residual after k iterations is residual(k), or nil if it
// reaches the tolerance within 10,000 iterations.
func follow(p Pace, residual func(k int) float64) *SlowError {
	var ended error
	p.Stop = func(err error) { ended = err }
	var history []float64
	for k := 1; k < 10_000; k++ {
		history = append(history, residual(k))
		p.Record(history)
		if ended != nil || history[k-1] <= p.Tol {
			break
		}
	}
	var slow *SlowError
	errors.As(ended, &slow)
	return slow
}

func TestPaceEndsAttemptsThatTakeTooLong(t *testing.T) {
	falling := func(each float64) func(int) float64 {
		return func(k int) float64 { return math.Pow(each, float64(k)) }
	}
	p := Pace{Most: 100, Tol: 1e-8}
	require.Nil(t, follow(p, falling(0.8)), "83 iterations")
	require.Nil(t, follow(p, falling(0.877)), "140 iterations: within the patience")
	slow := follow(p, falling(0.9)) // 175 iterations
	require.NotNil(t, slow)
	require.Equal(t, 101, slow.Done, "what is left takes longer than half of the next attempt")

	slow = follow(p, falling(0.99)) // 1833 iterations
	require.NotNil(t, slow)
	require.False(t, slow.Stalled())
	require.InDelta(t, 1833, slow.Expected, 2)
	require.Equal(t, []int{20, 100}, []int{slow.Done, slow.Most}, "as soon as it can be seen")
	require.ErrorContains(t, slow, "too slow: about 183")

	for name, f := range map[string]func(int) float64{
		"constant": func(int) float64 { return 0.5 },
		"growing":  func(k int) float64 { return float64(k) },
		"not a number": func(k int) float64 {
			if k > 3 {
				return math.NaN()
			}
			return 1
		},
		"infinite": func(int) float64 { return math.Inf(1) },
	} {
		slow := follow(p, f)
		require.NotNil(t, slow, name)
		require.True(t, slow.Stalled(), name)
		require.ErrorContains(t, slow, "stalled", name)
	}
	p.Most = 0
	require.Nil(t, follow(p, func(int) float64 { return 1 }), "without a bound")
}

func TestPaceLooksAtTheLatestIterations(t *testing.T) {
	p := Pace{Most: 100, Tol: 1e-8}
	accelerating := func(k int) float64 { return math.Exp(-math.Pow(float64(k)/17, 2)) } // 180 expected at 20, 73 made
	require.Nil(t, follow(p, accelerating))
	require.NotNil(t, follow(p, func(k int) float64 { return max(1e-4, math.Pow(0.8, float64(k))) }), "a fast start, then nothing")
	oscillating := func(k int) float64 { return math.Pow(0.8, float64(k)) * (1 + 50*float64(k%7)) }
	require.Nil(t, follow(p, oscillating), "the least residual counts")

	p.Most = 1 // 8 iterations are always made
	slow := follow(p, func(int) float64 { return 1 })
	require.Equal(t, 8, slow.Done)
	require.Nil(t, follow(p, func(k int) float64 { return math.Pow(1e-4, float64(k)) }))
}

func TestWidthIsThatOfAMesh(t *testing.T) {
	for spec, want := range map[string][2]int{
		"stencil:n=20,points=5":        {20, 20}, // diagonals of the square
		"stencil:dims=3,n=10,points=7": {70, 80}, // diagonal planes of the cube
		"diag:n=5":                     {1, 1},
		"arrow:n=100":                  {0, 0}, // rows of very different lengths
	} {
		a, _, err := gen.Generate(spec)
		require.NoError(t, err, spec)
		w := Width(a)
		require.GreaterOrEqual(t, w, want[0], spec)
		require.LessOrEqual(t, w, want[1], spec)
	}
	require.Zero(t, Width(&sparse.CSR[float64]{RowPtr: []int64{0}}))
}
