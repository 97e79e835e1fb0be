package msrep

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// names returns the names of the events of a device, in order.
func (l *eventLog) names(device string) (out []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.events {
		if e.Device == device {
			out = append(out, e.Name)
		}
	}
	return out
}

func TestTraceReportsAllOperations(t *testing.T) {
	var recorded eventLog
	sys := open(t, Config{Devices: "sim:2", Trace: recorded.record})
	const n = 500
	begin := time.Now()
	plan := planOf(t, sys, sparse.Matrix[float64](bands(n)), PlanOptions{Storage: Storage{Format: sparse.FormatCSR}, Variant: Variant{Split: partition.RuleNNZ}})
	require.Equal(t, []string{"plan: validate", "plan: convert", "plan: partition", "plan: distribute", "plan: pack"}, recorded.names(""))
	recorded.drain()

	x, y := make([]float64, n), make([]float64, n)
	multiply(t, plan, NoTrans, 1, x, 0, y)
	require.Equal(t, []string{"spmv"}, recorded.names(""))
	for _, device := range []string{"sim:0", "sim:1"} {
		got := recorded.names(device)
		require.Contains(t, got, "major-product")
		require.Contains(t, got, "read")
		require.Less(t, slices.Index(got, "write"), slices.Index(got, "major-product"))
	}
	for _, e := range recorded.events {
		require.NoError(t, e.Err)
		require.False(t, e.Start.Before(begin))
		require.GreaterOrEqual(t, e.Duration, time.Duration(0))
		if e.Name == "write" && e.Bytes > 8*n {
			require.Fail(t, "only x and the rows of carries are written", "%+v", e)
		}
	}
	recorded.drain()

	multiplyMany(t, plan, NoTrans, 1, MultiVectorByRow(x, 1), 0, MultiVectorByRow(y, 1))
	require.Equal(t, []string{"spmm"}, recorded.names(""))
	recorded.drain()
	err := plan.SpMV(t.Context(), NoTrans, 1, x[1:], 0, y)
	require.Error(t, err)
	require.Equal(t, err, recorded.events[0].Err, "the event has the error")
	vx, err := plan.ColumnVector()
	require.NoError(t, err)
	vy, err := plan.RowVector()
	require.NoError(t, err)
	recorded.drain()
	require.NoError(t, plan.Apply(t.Context(), NoTrans, 1, vx, 0, vy))
	require.Equal(t, []string{"apply"}, recorded.names(""))

	twice := planOf(t, sys, sparse.Matrix[float64](bands(n)), PlanOptions{Expected: Expected{Transposed: 2}})
	require.NotNil(t, twice.transposed)
	recorded.drain()
	multiply(t, twice, Trans, 1, x, 0, y)
	multiplyMany(t, twice, Trans, 1, MultiVectorByRow(x, 1), 0, MultiVectorByRow(y, 1))
	require.NoError(t, twice.Apply(t.Context(), Trans, 1, vx, 0, vy))
	require.Equal(t, []string{"spmv", "spmm", "apply"}, recorded.names(""), "each call is reported once")
}

func TestAPanicInTraceIsAnErrorAndLeaksNothing(t *testing.T) {
	for _, devices := range []string{"cpu:2", "sim:2"} {
		panicked := true
		for at := 0; panicked; at++ {
			panicked = false
			var recorded atomic.Int64
			sys, err := Open(Config{Devices: devices, Trace: func(Event) {
				if recorded.Add(1) == int64(at+1) {
					panicked = true
					panic("mine")
				}
			}})
			require.NoError(t, err)
			errs := useAll(t.Context(), sys)
			errs = append(errs, sys.Close())
			failed := slices.DeleteFunc(errs, func(err error) bool { return err == nil })
			require.Equal(t, panicked, len(failed) > 0, "%s, event %d", devices, at)
			for _, err := range failed {
				require.ErrorContains(t, err, "trace: panicked: mine", "%s, event %d", devices, at)
			}
			require.Zero(t, inUse(sys), "%s, event %d", devices, at)
		}
	}
}

// useAll creates a plan and vectors, multiplies, and closes them. It continues after an error and returns all errors.
func useAll(ctx context.Context, sys *System) (errs []error) {
	add := func(err error) { errs = append(errs, err) }
	plan, err := NewPlan(ctx, sys, sparse.Matrix[float64](bands(20)), PlanOptions{Expected: Expected{Transposed: 2}})
	if add(err); err != nil {
		return errs
	}
	x, y := make([]float64, 20), make([]float64, 20)
	err = plan.SpMV(ctx, NoTrans, 1, x, 0, y)
	add(err)
	err = plan.SpMM(ctx, Trans, 1, MultiVectorByRow(x, 1), 0, MultiVectorByRow(y, 1))
	add(err)
	vx, err := plan.ColumnVector()
	add(err)
	vy, err := plan.RowVector()
	add(err)
	if vx != nil && vy != nil {
		add(plan.Apply(ctx, NoTrans, 1, vx, 0, vy))
		_, err = vy.Norm()
		add(err)
	}
	add(vx.Close())
	add(vy.Close())
	add(plan.Close())
	return errs
}
