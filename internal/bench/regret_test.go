package bench

import (
	"bytes"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
	"github.com/msrep-go/msrep/sparse/matio"
)

func TestRegretIsMeasuredQuietAndBesideBusyProcesses(t *testing.T) {
	dir := t.TempDir()
	for name, spec := range map[string]string{"a_band": "banded:n=2000", "b_stencil": "stencil:n=80"} {
		a, src, err := gen.Generate(spec)
		require.NoError(t, err)
		require.NoError(t, matio.Write(filepath.Join(dir, name+".bin"), a, src))
	}
	var out bytes.Buffer
	r := Regret{Dir: dir, Threads: []int{1, 2}, Busy: []int{0, 1}, Runs: 2}
	cases, err := r.Run(t.Context(), &out)
	require.NoError(t, err)
	require.Len(t, cases, 2*2*2)
	for i, c := range cases {
		require.Len(t, c.Plans, 2)
		require.Positive(t, c.Seconds)
		require.Equal(t, []string{"a_band", "b_stencil"}[i/4], c.Matrix)
		require.Equal(t, []int{1, 2}[i/2%2], c.Threads)
		require.Equal(t, i%2, c.Busy)
		for _, p := range c.Plans {
			require.GreaterOrEqual(t, p.Regret, 0., "no form is faster than the best")
			require.Equal(t, p.Form == c.Best, p.Regret == 0)
		}
	}
	require.Equal(t, 4, strings.Count("\n"+out.String(), "\na_band "))
	require.Contains(t, out.String(), "| 2 | 1 | 2 | ")

	out.Reset()
	r.Limit = time.Nanosecond
	cases, err = r.Run(t.Context(), &out)
	require.NoError(t, err)
	require.Empty(t, cases)
	require.Contains(t, out.String(), "left out 2 of 2 matrices")
	_, err = Regret{Dir: t.TempDir()}.Run(t.Context(), &out)
	require.True(t, sparse.IsInput(err))
}

func TestTheTableOfRegretCountsMatricesAndPlans(t *testing.T) {
	plan := func(f kernels.Form, regret float64) RegretPlan {
		return RegretPlan{Form: f, Regret: regret, Seconds: .001}
	}
	cases := []RegretCase{
		{Matrix: "right", Threads: 1, Plans: []RegretPlan{plan("a", 0), plan("b", RegretBound)}},
		{Matrix: "wrong", Threads: 1, Plans: []RegretPlan{plan("a", 0), {Form: "csr", Why: "it was slow", Regret: 1, Seconds: .003}}},
	}
	var out bytes.Buffer
	require.NoError(t, Regret{Threads: []int{1}, Busy: []int{0}}.summary(&out, cases))
	require.Contains(t, out.String(), "| 1 | 0 | 2 | 1 (50.0 %) | 3 of 4 (75.0 %) | 20.38 % | 100 % (wrong) | 3.00 |")
	out.Reset()
	require.NoError(t, cases[1].print(&out))
	require.Contains(t, out.String(), "within 1/2, worst 100.0 %")
	require.Contains(t, out.String(), "chosen a=1 csr=1 (csr: it was slow; doubt 0.00)")
}

func TestBusyProcessesEnd(t *testing.T) {
	broken := errors.New("broken")
	require.ErrorIs(t, besideBusy(t.Context(), 2, func() error { return broken }), broken)
	// A busy process whose parent has ended ends as well.
	shell := exec.CommandContext(t.Context(), "sh", "-c", "sh -c '"+strings.ReplaceAll(busyLoop, "'", `'\''`)+"; echo over' & sleep 0.1")
	begin := time.Now()
	text, err := shell.CombinedOutput() // until every process that holds its output has ended
	require.NoError(t, err)
	require.Equal(t, "over\n", string(text))
	require.Less(t, time.Since(begin), time.Minute)
}
