package devicetest

import (
	"math"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/kernels"
)

// CGScalars checks CGAlpha and CGBeta of a device against a loop on the host, for sums that may be anything.
func CGScalars(t *rapid.T, d kernels.Device) {
	s, err := d.NewStream()
	require.NoError(t, err)
	number := rapid.OneOf(rapid.Float64Range(0.01, 4), rapid.SampledFrom([]float64{0, -1, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64}))
	room := rapid.IntRange(1, 4).Draw(t, "room")
	count := rapid.Int64Range(1, 2).Draw(t, "sums")
	norm, tol := rapid.Float64Range(0.5, 2).Draw(t, "norm"), rapid.Float64Range(0.01, 0.5).Draw(t, "tol")
	want := make([]float64, kernels.CGResiduals+room)
	want[kernels.CGStateRZ] = number.Draw(t, "rz")

	q := &vectorProblem[float64]{t: t, d: d, s: s}
	defer func() {
		for _, b := range q.bufs {
			require.NoError(t, b.Free())
		}
		require.NoError(t, s.Close())
	}()
	state := put(q, want)
	for range rapid.IntRange(1, 9).Draw(t, "iterations") {
		pq, rr, rz := number.Draw(t, "pq"), number.Draw(t, "rr"), number.Draw(t, "next rz")
		if count == 1 {
			rz = rr
		}
		q.run(&kernels.CGAlpha{PQ: put(q, []float64{pq}), State: state}, state)
		cgAlpha(want, pq)
		requireSameBits(t, want, Download(t, s, state), "alpha")
		q.run(&kernels.CGBeta{Sums: put(q, []float64{rr, rz}).Sub(0, count), Norm: norm, Tol: tol, State: state}, state)
		cgBeta(want, rr, rz, norm, tol)
		requireSameBits(t, want, Download(t, s, state), "beta")
	}
	short := state.Sub(0, kernels.CGResiduals)
	require.ErrorIs(t, s.Launch(&kernels.CGAlpha{PQ: state.Sub(0, 1), State: short}), kernels.ErrArgument)
	require.ErrorIs(t, s.Launch(&kernels.CGAlpha{PQ: state.Sub(0, 2), State: state}), kernels.ErrArgument)
	require.ErrorIs(t, s.Launch(&kernels.CGBeta{Sums: state.Sub(0, 1), State: short}), kernels.ErrArgument)
	require.ErrorIs(t, s.Launch(&kernels.CGBeta{Sums: state.Sub(0, 3), State: state}), kernels.ErrArgument)
}

func cgAlpha(state []float64, pq float64) {
	state[kernels.CGStateAlpha] = 0
	if state[kernels.CGStateStopped] == 1 {
		return
	}
	rz := state[kernels.CGStateRZ]
	state[kernels.CGStatePQ] = pq
	if rz > 0 && !math.IsInf(rz, 1) && pq > 0 && !math.IsInf(pq, 1) {
		state[kernels.CGStateAlpha] = rz / pq
	} else {
		state[kernels.CGStateStopped] = 1
	}
}

func cgBeta(state []float64, rr, rz, norm, tol float64) {
	state[kernels.CGStateBeta] = 0
	if state[kernels.CGStateStopped] == 1 {
		return
	}
	room := len(state) - kernels.CGResiduals
	state[kernels.CGResiduals+int(state[kernels.CGStateSteps])%room] = rr
	state[kernels.CGStateSteps]++
	switch rel := math.Sqrt(rr) / norm; {
	case math.IsNaN(rel), math.IsInf(rel, 1), rel <= tol:
		state[kernels.CGStateStopped] = 1
	default:
		state[kernels.CGStateBeta] = rz / state[kernels.CGStateRZ]
	}
	state[kernels.CGStateRZ] = rz
}

// requireSameBits compares numbers; every NaN is the same.
func requireSameBits(t *rapid.T, want, got []float64, what string) {
	require.Len(t, got, len(want), what)
	for i, w := range want {
		if g := got[i]; !(math.IsNaN(w) && math.IsNaN(g)) {
			require.Equal(t, math.Float64bits(w), math.Float64bits(g), "%s: number %d is %g, not %g", what, i, g, w)
		}
	}
}
