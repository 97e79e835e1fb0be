package msrep

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/devvec"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

func TestVectorsFollowTheirFormulas(t *testing.T) {
	for _, devices := range []string{"cpu:1", "cpu:3", "sim:1", "sim:3"} {
		t.Run(devices, func(t *testing.T) { vectorFormulas(t, devices) })
	}
}

func vectorFormulas(t *testing.T, devices string) {
	sys := open(t, Config{Devices: devices})
	const n = 1001
	r := rand.New(rand.NewPCG(1, 1))
	host := map[string][]float64{}
	dev := map[string]*Vector[float64]{}
	for _, name := range []string{"p", "q", "x", "r", "c"} {
		host[name] = normalVector[float64](r, n)
		v, err := NewVector[float64](sys, n)
		dev[name] = onDevices(t, v, err, host[name])
	}
	p, q, x, res, c := host["p"], host["q"], host["x"], host["r"], host["c"]
	dp, dq, dx, dr, dc := dev["p"], dev["q"], dev["x"], dev["r"], dev["c"]
	each := func(f func(i int)) {
		for i := range n {
			f(i)
		}
	}
	dot := func(a, b []float64) (sum float64) {
		for i := range a {
			sum += a[i] * b[i]
		}
		return sum
	}
	check := func(what string) {
		t.Helper()
		for name, v := range dev {
			require.InDeltaSlice(t, host[name], elements(t, v), 1e-12, "%s: %s", what, name)
		}
	}
	require.NoError(t, dp.Axpy(2, dq))
	each(func(i int) { p[i] += 2 * q[i] })
	check("axpy")
	require.NoError(t, dp.Axpby(-1, dq, 0.5))
	each(func(i int) { p[i] = -q[i] + 0.5*p[i] })
	require.NoError(t, dq.Axpby(2, dq, 0.5))
	require.NoError(t, dc.Scale(-1))
	each(func(i int) { q[i], c[i] = 2.5*q[i], -c[i] })
	check("axpby")
	d, err := dp.Dot(dq)
	require.NoError(t, err)
	require.InDelta(t, dot(p, q), d, 1e-9)
	norm, err := dp.Norm()
	require.NoError(t, err)
	require.InDelta(t, math.Sqrt(dot(p, p)), norm, 1e-9)
	h := make([]float64, 3)
	require.NoError(t, dp.Project(h, []*Vector[float64]{dp, dq, dx}))
	require.InDeltaSlice(t, []float64{dot(p, p), dot(p, q), dot(p, x)}, h, 1e-9)
	ww, err := dp.Combine([]float64{0.25, -0.5}, []*Vector[float64]{dq, dc})
	require.NoError(t, err)
	each(func(i int) { p[i] += 0.25*q[i] - 0.5*c[i] })
	require.InDelta(t, dot(p, p), ww, 1e-9)
	check("combine")
	m, err := dp.Misfit(0.5, dq)
	require.NoError(t, err)
	want := 0.0
	each(func(i int) { want += (p[i] - 0.5*q[i]) * (p[i] - 0.5*q[i]) })
	require.InDelta(t, want, m, 1e-9)
	sums, err := devvec.Compute(kernels.CGStep, []float64{0.5}, dp, dq, dx, dr)
	require.NoError(t, err)
	each(func(i int) { x[i] += 0.5 * p[i]; res[i] -= 0.5 * q[i] })
	require.InDeltaSlice(t, []float64{dot(res, res)}, sums, 1e-9)
	check("cg-step")
	require.NoError(t, errOf(devvec.Compute(kernels.BiCGSTABDirection, []float64{0.5, 0.25}, dr, dq, dp)))
	each(func(i int) { p[i] = res[i] + 0.5*(p[i]-0.25*q[i]) })
	check("bicgstab-direction")
	sums, err = devvec.Compute(kernels.BiCGSTABStep, []float64{0.5, 0.25}, dp, dr, dq, dc, dx, dr)
	require.NoError(t, err)
	each(func(i int) { x[i] += 0.5*p[i] + 0.25*res[i]; res[i] -= 0.25 * q[i] })
	require.InDeltaSlice(t, []float64{dot(res, res), dot(c, res)}, sums, 1e-9)
	check("bicgstab-step")
	require.NoError(t, dp.Multiply(dq, dr))
	each(func(i int) { p[i] = q[i] * res[i] })
	require.NoError(t, dq.Copy(dr))
	copy(q, res)
	require.NoError(t, dc.Fill(3))
	each(func(i int) { c[i] = 3 })
	check("fill")

	short, err := NewVector[float64](sys, n-1)
	require.NoError(t, err)
	for what, err := range map[string]error{
		"axpy":               dp.Axpy(1, short),
		"nil":                dp.Axpy(1, nil),
		"copy":               dp.Copy(short),
		"project":            dp.Project(h, []*Vector[float64]{dp, dq}),
		"combine":            errOf(dp.Combine([]float64{1}, []*Vector[float64]{dp})),
		"into itself":        dp.Multiply(dp, dq),
		"cg-step":            errOf(devvec.Compute(kernels.CGStep, []float64{1}, dp, dq, dq, dr)),
		"bicgstab-direction": errOf(devvec.Compute(kernels.BiCGSTABDirection, []float64{1, 1}, dp, dq, dp)),
		"bicgstab-step":      errOf(devvec.Compute(kernels.BiCGSTABStep, []float64{1, 1}, dp, dr, dq, dr, dx, dr)),
		"few numbers":        errOf(devvec.Compute(kernels.BiCGSTABStep, []float64{1}, dp, dr, dq, dc, dx, dr)),
		"few vectors":        errOf(devvec.Compute(kernels.Misfit, []float64{1}, dp)),
		"nil vector":         errOf(devvec.Compute(kernels.Misfit, []float64{1}, nil, dp)),
		"no formula":         errOf(devvec.Compute(nil, []float64{1}, dp)),
		"no vector":          dp.Axpy(1, &Vector[float64]{}),
		"itself none":        (&Vector[float64]{}).Fill(1),
		"write":              dp.Write(p[1:]),
		"read":               dp.Read(p[1:]),
	} {
		require.True(t, sparse.IsInput(err), "%s: %v", what, err)
	}
	require.NoError(t, dp.Close())
	require.NoError(t, dp.Close())
	require.ErrorIs(t, dq.Axpy(1, dp), ErrClosed)
	check2 := elements(t, dq)
	require.InDeltaSlice(t, q, check2, 1e-12)
}

func errOf[T any](_ T, err error) error { return err }
