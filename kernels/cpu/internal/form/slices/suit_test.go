package slices

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
)

// graph returns n rows of 2 entries, except that every eighth row has most.
func graph(n, most int) form.Rows[float64] {
	r := form.Rows[float64]{Ptr: []int64{0}, Cols: n}
	for i := range n {
		entries := 2
		if i%8 == 0 {
			entries = most
		}
		for k := range entries {
			r.Idx = append(r.Idx, int32((i*37+k*(n/most))%n))
		}
		r.Ptr = append(r.Ptr, int64(len(r.Idx)))
	}
	r.Val = make([]float64, len(r.Idx))
	return r
}

func TestPowerLawGraphsHaveUnevenRowsAndXInTheSecondCache(t *testing.T) {
	r := graph(20_000, 60)
	require.True(t, powerLaw(r))
	var l form.Look
	Kind[float64]().Look(r, &l)
	require.InDelta(t, 1, l.Shares[inPowerLaw], 0)
	require.False(t, powerLaw(graph(20_000, 4)), "rows of similar length")
	require.False(t, powerLaw(graph(1000, 60)), "the entries fit the second cache")
	require.False(t, powerLaw(graph(200_000, 60)), "x does not fit the second cache")
	require.False(t, powerLaw(form.Rows[float64]{Ptr: []int64{0}}))
	one := form.Rows[float64]{Ptr: []int64{0}, Cols: 100_000}
	for i := range 20_000 { // each row has five entries, and one row has all
		for c := range 5 {
			one.Idx = append(one.Idx, int32(c))
		}
		if i == 7 {
			for c := range 99_000 {
				one.Idx = append(one.Idx, int32(5+c))
			}
		}
		one.Ptr = append(one.Ptr, int64(len(one.Idx)))
	}
	require.False(t, powerLaw(one), "one row is no power law")
	f, err := build(r)
	require.NoError(t, err)
	require.Contains(t, f.Name(), "sorted in 8192")
	even, err := build(graph(20_000, 4))
	require.NoError(t, err)
	require.Contains(t, even.Name(), "sorted in 1024")
}

func TestLongRowsOfSlicesAreExpectedToBeSlow(t *testing.T) {
	require.Less(t, cached(8, 5, longRowsTime).Product, cached(8, 60, longRowsTime).Product)
	require.Less(t, cached(8, 60, longRowsTime).Product, 1.)
	require.Less(t, cached(8, 60, fastLongRowsTime).Product, cached(8, 60, longRowsTime).Product)
	require.Less(t, cached(4, 5, 1).Product, cached(8, 5, 1).Product)
}
