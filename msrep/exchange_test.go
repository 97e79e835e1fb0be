package msrep

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/sim"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// kinds are formats and operations of major and minor products.
var kinds = []struct {
	format sparse.Format
	op     Transpose
}{{sparse.FormatCSR, NoTrans}, {sparse.FormatCSR, Trans}, {sparse.FormatCSC, NoTrans}, {sparse.FormatCOO, NoTrans}, {sparse.FormatCOO, Trans}}

func TestOnlyTheNeededElementsOfHostVectorsAreCopied(t *testing.T) {
	const n, devices = 4000, 4
	a := bands(n)
	for _, k := range kinds {
		var recorded eventLog
		sys := open(t, Config{Devices: fmt.Sprintf("sim:%d", devices), Trace: recorded.record})
		plan := planOf(t, sys, sparse.Matrix[float64](a), PlanOptions{Storage: Storage{Format: k.format}, Variant: Variant{Split: partition.RuleNNZ}})
		r := rand.New(rand.NewPCG(3, 3))
		x, y := normalVector[float64](r, n), normalVector[float64](r, n)
		var host int64
		var waits int
		for range 2 {
			want := reference.Multiply(bool(k.op), 1.5, a, x, 0.5, y)
			recorded.drain()
			require.NoError(t, plan.SpMV(t.Context(), k.op, 1.5, x, 0.5, y))
			require.Len(t, plan.LastTiming().Devices, devices)
			require.Equal(t, -1, reference.Check(y, want))
			host, _, waits = recorded.drain()
		}
		require.Equal(t, devices, waits, "the host waits once for each device")
		// Copied: y to the devices and back, and the elements of x that the parts need, at most twice the long row.
		require.LessOrEqual(t, host, int64(2*8*n+8*(3*n+4*devices)), "%v", k)
		require.NoError(t, sys.Close())
	}
}

func TestProductsOfHostAndDeviceVectorsAlternate(t *testing.T) {
	const n = 300
	a := bands(n)
	for _, k := range kinds {
		sys := open(t, Config{Devices: "sim:3"})
		plan := planOf(t, sys, sparse.Matrix[float64](a), PlanOptions{Storage: Storage{Format: k.format}, Variant: Variant{Split: partition.RuleNNZ}})
		r := rand.New(rand.NewPCG(4, 4))
		x, y, z := normalVector[float64](r, n), normalVector[float64](r, n), make([]float64, n)
		vx, err := plan.ColumnVector()
		dx := onDevices(t, vx, err, x)
		vy, err := NewVector[float64](sys, n) // other pieces than those of the plan
		dy := onDevices(t, vy, err, y)
		want := reference.Multiply(bool(k.op), 1, a, x, 0.5, y)
		require.NoError(t, plan.Apply(t.Context(), k.op, 1, dx, 0.5, dy))
		multiply(t, plan, k.op, 1, x, 0.5, y)
		require.Equal(t, -1, reference.Check(y, want))
		require.Equal(t, -1, reference.Check(elements(t, dy), want))

		want = reference.Multiply(bool(k.op), 2, a, x, 0, z)
		require.NoError(t, plan.Apply(t.Context(), k.op, 1, dx, 0, dy))
		val := make([]float64, len(a.Val))
		for i, v := range a.Val {
			val[i] = 2 * v
		}
		require.NoError(t, plan.Apply(t.Context(), k.op, 1, dx, 0, dy))
		require.NoError(t, plan.UpdateValues(t.Context(), val))
		require.NoError(t, plan.Apply(t.Context(), k.op, 1, dx, 0, dy))
		require.Equal(t, -1, reference.Check(elements(t, dy), want))
		require.NoError(t, plan.Apply(t.Context(), k.op, 1, dx, 0, dy))
		require.NoError(t, plan.Close())
		require.NoError(t, dx.Close())
		require.Equal(t, -1, reference.Check(elements(t, dy), want))
		require.NoError(t, sys.Close())
	}
}

// lateError is a device whose streams report an error only in Sync.
type lateError struct {
	kernels.Device
	failed *error
}

type lateErrorStream struct {
	kernels.Stream
	failed *error
}

func (d lateError) NewStream() (kernels.Stream, error) {
	s, err := d.Device.NewStream()
	return lateErrorStream{s, d.failed}, err
}

func (s lateErrorStream) Sync() error {
	failed := *s.failed
	*s.failed = nil
	return errors.Join(s.Stream.Sync(), failed)
}

func TestAPlanSurvivesAnEarlierErrorOfAVectorOperation(t *testing.T) {
	const n = 50
	a, r := bands(n), rand.New(rand.NewPCG(5, 5))
	d, err := sim.Open(sim.Config{})
	require.NoError(t, err)
	var failed error
	sys := newSystem(lateError{d, &failed})
	plan := planOf(t, sys, sparse.Matrix[float64](a), PlanOptions{})
	vx, err := plan.ColumnVector()
	require.NoError(t, err)
	vy, err := plan.RowVector()
	require.NoError(t, err)
	x, y := normalVector[float64](r, n), normalVector[float64](r, n)
	want := reference.Multiply(false, 2, a, x, 0.5, y)
	for _, use := range []func() error{
		func() error { err := plan.SpMV(t.Context(), NoTrans, 2, x, 0.5, y); return err },
		func() error { return plan.UpdateValues(t.Context(), a.Val) },
	} {
		require.NoError(t, plan.Apply(t.Context(), NoTrans, 1, vx, 0, vy))
		failed = &kernels.DeviceError{Device: "sim:0", Call: "fill", Err: errFault}
		require.ErrorIs(t, use(), errFault)
	}
	multiply(t, plan, NoTrans, 2, x, 0.5, y)
	require.Equal(t, -1, reference.Check(y, want))
	require.NoError(t, sys.Close())
	require.Zero(t, d.InUse())
}
