package msrep

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// names gives the names of the events of a device, in order.
func (l *log) names(device string) (out []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.events {
		if e.Device == device {
			out = append(out, e.Name)
		}
	}
	return out
}

func TestListenersHearWhatIsDone(t *testing.T) {
	var heard log
	sys := open(t, Config{Devices: "sim:2", Trace: heard.hear})
	const n = 500
	begin := time.Now()
	plan := planOf(t, sys, sparse.Matrix[float64](bands(n)), PlanOptions{Format: sparse.FormatCSR, Split: partition.RuleNNZ})
	require.Equal(t, []string{"plan: validate", "plan: convert", "plan: partition", "plan: distribute", "plan: pack",
		"plan: partition", "plan: distribute", "plan: partition", "plan: convert", "plan: pack", "plan: pack"}, heard.names(""))
	heard.take()

	x, y := make([]float64, n), make([]float64, n)
	multiply(t, plan, NoTrans, 1, x, 0, y)
	require.Equal(t, []string{"spmv"}, heard.names(""))
	for _, device := range []string{"sim:0", "sim:1"} {
		got := heard.names(device)
		require.Contains(t, got, "gather")
		require.Contains(t, got, "read")
		require.Less(t, slices.Index(got, "write"), slices.Index(got, "gather"))
	}
	for _, e := range heard.events {
		require.NoError(t, e.Err)
		require.False(t, e.Start.Before(begin))
		require.GreaterOrEqual(t, e.Duration, time.Duration(0))
		if e.Name == "write" && e.Bytes > 8*n {
			require.Fail(t, "only x is written, and where sums of rows go", "%+v", e)
		}
	}
	heard.take()

	multiplyMany(t, plan, NoTrans, 1, ByRow(x, 1), 0, ByRow(y, 1))
	require.Equal(t, []string{"spmm"}, heard.names(""))
	heard.take()
	_, err := plan.SpMV(t.Context(), NoTrans, 1, x[1:], 0, y)
	require.Error(t, err)
	require.Equal(t, err, heard.events[0].Err, "also of what went wrong")
	vx, err := plan.ColumnVector()
	require.NoError(t, err)
	vy, err := plan.RowVector()
	require.NoError(t, err)
	heard.take()
	require.NoError(t, plan.Apply(t.Context(), NoTrans, 1, vx, 0, vy))
	require.Equal(t, []string{"apply"}, heard.names(""))

	twice := planOf(t, sys, sparse.Matrix[float64](bands(n)), PlanOptions{ExpectedTransposed: 2})
	require.NotNil(t, twice.transposed)
	heard.take()
	multiply(t, twice, Trans, 1, x, 0, y)
	multiplyMany(t, twice, Trans, 1, ByRow(x, 1), 0, ByRow(y, 1))
	require.NoError(t, twice.Apply(t.Context(), Trans, 1, vx, 0, vy))
	require.Equal(t, []string{"spmv", "spmm", "apply"}, heard.names(""), "once, whichever plan makes them")
}
