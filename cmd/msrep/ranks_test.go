package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/cluster"
	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/sparse"
)

func TestALauncherIsRecognised(t *testing.T) {
	clear := func() {
		for _, name := range []string{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE", "PMIX_RANK", "SLURM_STEP_NUM_TASKS"} {
			t.Setenv(name, "")
		}
	}
	clear()
	_, _, ok := launched()
	require.False(t, ok)
	require.True(t, printsMessages())
	for _, names := range [][2]string{{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"PMI_RANK", "PMI_SIZE"}, {"PMIX_RANK", "SLURM_STEP_NUM_TASKS"}} {
		clear()
		t.Setenv(names[0], "3")
		t.Setenv(names[1], "8")
		rank, size, ok := launched()
		require.Equal(t, []any{3, 8, true}, []any{rank, size, ok})
		require.False(t, printsMessages())
	}
}

func TestWithoutMPISeveralRanksAreRefused(t *testing.T) {
	if startRanks != nil {
		t.Skip("built with MPI")
	}
	t.Setenv("PMI_RANK", "0")
	t.Setenv("PMI_SIZE", "4")
	for _, args := range [][]string{{"spmv", "gen:diag:n=4"}, {"solve", "gen:diag:n=4"}, {"pagerank", "gen:diag:n=4"}, {"bench", "list"}} {
		code, _, stderr := runArgs(args...)
		require.Equal(t, exitUsage, code)
		require.Contains(t, stderr, "started as 4 ranks, but this msrep was built without MPI")
	}
	require.NotEmpty(t, runOK(t, "version"), "a command that does not use ranks runs nevertheless")
	t.Setenv("PMI_SIZE", "1")
	require.NotEmpty(t, runOK(t, "spmv", "gen:diag:n=4"), "one rank needs no MPI")
}

func TestARankThatFailsLetsRank0ReportFirst(t *testing.T) {
	t.Setenv("PMI_SIZE", "4")
	for rank, wait := range []time.Duration{0, othersFirst} {
		t.Setenv("PMI_RANK", strconv.Itoa(rank))
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			code, _, stderr := runArgs("spmv", "gen:diag:n=4", "--alpha", "none")
			require.Equal(t, exitUsage, code)
			require.Equal(t, rank == 0, stderr != "", "rank 0 reports the error for all ranks")
			require.Equal(t, wait, time.Since(begin))
		})
	}
}

func TestARankThatFailsAloneReports(t *testing.T) {
	defer func(f func() (rankComm, error)) { startRanks = f }(startRanks)
	startRanks = func() (rankComm, error) { return nil, errors.New("no network") }
	t.Setenv("PMI_SIZE", "4")
	out := filepath.Join(t.TempDir(), "m.msr")
	for _, c := range []struct {
		args    []string
		code    int
		message string
	}{
		{[]string{"info", "none.mtx"}, exitUsage, "none.mtx: no such file or directory\n"},
		{[]string{"convert", "none.mtx", out}, exitUsage, "none.mtx: no such file or directory\n"},
		{[]string{"spmv", "gen:diag:n=4"}, exitFailed, "no network\n"},
	} {
		for rank, prefix := range []string{"", "rank 1 on " + hostName() + ": "} {
			t.Setenv("PMI_RANK", strconv.Itoa(rank))
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				code, _, stderr := runArgs(c.args...)
				require.Equal(t, c.code, code)
				require.Equal(t, "msrep "+c.args[0]+": "+prefix+c.message, stderr)
				require.Equal(t, time.Duration(rank)*othersFirst, time.Since(begin))
			})
		}
	}
}

// joinErrors runs one rank for each command line and returns the error that each rank gets from checkGreetings.
// parsed[r] is the error of rank r's command line.
func joinErrors(lines []string, parsed map[int]error) []error {
	return cluster.Run(len(lines), func(comm cluster.Comm) error {
		name, _, _ := strings.Cut(lines[comm.Rank()], " ")
		c := &call{command: &command{name: name, ranks: name != "info"}, line: lines[comm.Rank()]}
		return c.checkGreetings(comm, parsed[comm.Rank()])
	})
}

func TestAllRanksGetTheErrorOfAnyCommandLine(t *testing.T) {
	host := hostName()
	wrong := usageError("there is no flag --wrong")
	for _, c := range []struct {
		lines   []string
		parsed  map[int]error
		message string
	}{
		{[]string{"spmv a", "spmv a", "spmv a"}, nil, ""},
		{[]string{"info a", "info b"}, nil, ""}, // not a command for several ranks
		{[]string{"spmv a", "spmv a --wrong"}, map[int]error{1: wrong}, "rank 1 on " + host + ": there is no flag --wrong"},
		{[]string{"spmv a --wrong", "spmv a"}, map[int]error{0: wrong}, "rank 0 on " + host + ": there is no flag --wrong"},
		{[]string{"spmv a --wrong", "spmv a --wrong"}, map[int]error{0: wrong, 1: wrong}, "there is no flag --wrong"},
		{[]string{"info a", "spmv a"}, nil, "command line: rank 0 on " + host + " has info a, rank 1 on " + host + " has spmv a: it must be the same on all ranks"},
		{[]string{"spmv a", "spmv a", "spmv b"}, nil, "command line: rank 0 on " + host + " has spmv a, rank 2 on " + host + " has spmv b: it must be the same on all ranks"},
	} {
		for r, err := range joinErrors(c.lines, c.parsed) {
			if c.message == "" {
				require.NoError(t, err, "%q", c.lines)
				continue
			}
			require.EqualError(t, err, c.message, "rank %d", r)
			require.True(t, cluster.Agreed(err), "all ranks have the same error")
			require.Equal(t, exitUsage, exitCode(err))
		}
	}
}

func TestRanksOfAnotherMsrepAreRefused(t *testing.T) {
	var all [][]byte
	for _, program := range []string{"version 1", "version 2"} {
		b, err := json.Marshal(greeting{Host: "h", Program: program, Ranks: true})
		require.NoError(t, err)
		all = append(all, b)
	}
	require.EqualError(t, differ(all), "msrep: rank 0 on h has version 1, rank 1 on h has version 2: it must be the same on all ranks")
}

func TestJoiningHasATimeLimit(t *testing.T) {
	defer func(f func() (rankComm, error)) { startRanks = f }(startRanks)
	t.Setenv("PMI_SIZE", "4")
	for _, c := range []struct {
		args    []string
		set     string
		limit   time.Duration
		code    int
		message string
	}{
		{[]string{"spmv", "gen:diag:n=4"}, "", time.Minute, exitFailed, "msrep spmv: %snot all 4 ranks have joined within 1m0s (MSREP_MPI_JOIN_SECONDS): one of them has ended before, or runs another program\n"},
		{[]string{"info", "gen:diag:n=4"}, "7", 7 * time.Second, exitFailed, "msrep info: %snot all 4 ranks have joined within 7s (MSREP_MPI_JOIN_SECONDS): one of them has ended before, or runs another program\n"},
		{[]string{"spmv", "gen:diag:n=4", "--wrong"}, "7", 7 * time.Second, exitUsage, "msrep spmv: %sthere is no flag --wrong (see msrep spmv --help)\n"},
		{[]string{"spvm"}, "7", 7 * time.Second, exitUsage, "msrep: %s\"spvm\" is not a command; " + commandList() + "\n"},
		{[]string{"spmv", "gen:diag:n=4"}, "soon", 0, exitUsage, "msrep spmv: %sMSREP_MPI_JOIN_SECONDS: \"soon\": use 1 to 86400 seconds\n"},
		{[]string{"spmv", "gen:diag:n=4"}, "0", 0, exitUsage, "msrep spmv: %sMSREP_MPI_JOIN_SECONDS: \"0\": use 1 to 86400 seconds\n"},
	} {
		for rank, prefix := range []string{"", "rank 1 on " + hostName() + ": "} {
			t.Setenv("PMI_RANK", strconv.Itoa(rank))
			t.Setenv(joinVariable, c.set)
			synctest.Test(t, func(t *testing.T) {
				over := make(chan struct{})
				defer close(over)
				startRanks = func() (rankComm, error) {
					<-over
					return nil, errors.New("over")
				}
				begin := time.Now()
				code, _, stderr := runArgs(c.args...)
				require.Equal(t, c.code, code, stderr)
				require.Equal(t, fmt.Sprintf(c.message, prefix), stderr)
				require.Equal(t, c.limit+time.Duration(rank)*othersFirst, time.Since(begin))
			})
		}
	}
	t.Setenv(joinVariable, "")
	require.NotEmpty(t, runOK(t, "version"), "version does not wait for other ranks")

	t.Setenv("PMI_RANK", "0")
	over := make(chan struct{})
	defer close(over)
	startRanks = func() (rankComm, error) { <-over; return nil, errors.New("over") }
	interrupted, stop := context.WithCancel(t.Context())
	stop()
	var stderr bytes.Buffer
	require.Equal(t, exitFailed, run(interrupted, []string{"spmv", "gen:diag:n=4"}, io.Discard, &stderr))
	require.Equal(t, "msrep spmv: interrupted before all 4 ranks have joined: one of them has ended before, or has not started\n", stderr.String())
}

func TestInfoEstimatesTheMessagesOfRanks(t *testing.T) {
	v := object(t, "info", "gen:stencil:dims=2,n=64", "--ranks", "1,4")
	ranks := v["ranks"].([]any)
	require.Len(t, ranks, 2)
	requireKeys(t, ranks[0], "ranks,imbalance,local_share,bytes,max_bytes,max_halo,messages,max_messages")
	require.Equal(t, 0.0, ranks[0].(map[string]any)["bytes"])
	require.Equal(t, 6.0, ranks[1].(map[string]any)["messages"])
	require.Contains(t, runOK(t, "info", "gen:diag:n=9", "--ranks", "2"), "one product over ranks (computed)")
	for _, bad := range []string{"0", "x", "2,", "1048577"} {
		code, _, stderr := runArgs("info", "gen:diag:n=9", "--ranks", bad)
		require.Equal(t, exitUsage, code, bad)
		require.Contains(t, stderr, "--ranks")
	}
}

func TestPiecesOfVectorsAreThoseOfTheWhole(t *testing.T) {
	for _, spec := range []string{"ones", "zeros", "sin", "random:5"} {
		whole, err := (&call{}).readVector(context.Background(), "--x", spec, 20)
		require.NoError(t, err)
		piece, err := (&call{}).readPiece(context.Background(), "--x", spec, 20, 7, 13)
		require.NoError(t, err)
		require.Equal(t, whole[7:13], piece, spec)
	}
}

func TestDeterministicSolvesHaveTheSameBitsOnAnyDevices(t *testing.T) {
	for _, args := range [][]string{
		{"solve", "gen:stencil:dims=2,n=120", "--precond", "jacobi", "--deterministic"},
		{"solve", "gen:stencil:dims=2,n=120", "--precond", "amg", "--deterministic"},
		{"pagerank", corpus.Testdata("Harvard500.mtx.gz"), "--deterministic"},
	} {
		a, b := object(t, append(args, "--devices", "cpu")...), object(t, append(args, "--devices", "cpu:3")...)
		require.Equal(t, a["x"], b["x"])
		require.Equal(t, a["top"], b["top"])
		require.Equal(t, a["iterations"], b["iterations"])
	}
	code, _, stderr := runArgs("pagerank", "gen:diag:n=4", "--deterministic", "--precision", "cpms2")
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "--deterministic")
}

// alone is a run of one rank, which needs no MPI.
type alone struct{ cluster.Comm }

func (alone) Close() error { return nil }

func TestOneRankPrintsTheSameAsAProcessWithoutMPI(t *testing.T) {
	defer func(f func() (rankComm, error)) { startRanks = f }(startRanks)
	startRanks = func() (rankComm, error) { return alone{cluster.Local(1)[0]}, nil }
	graph := corpus.Testdata("Harvard500.mtx.gz")
	for _, args := range [][]string{
		{"spmv", graph, "--x", "sin", "--transpose", "--deterministic"},
		{"spmv", graph, "--x", "random:3", "--value", "fp32", "--deterministic"},
		{"solve", "gen:stencil:dims=2,n=20", "--precond", "block-jacobi:4", "--deterministic"},
		{"solve", "gen:stencil:dims=2,n=20", "--method", "lsmr", "--deterministic"},
		{"solve", "gen:stencil:dims=2,n=20", "--method", "lsmr"},
		{"solve", "gen:stencil:dims=2,n=50", "--precond", "amg", "--deterministic"},
		{"pagerank", graph, "--deterministic"},
	} {
		t.Setenv("PMI_RANK", "")
		want := object(t, args...)
		t.Setenv("PMI_RANK", "0")
		got := object(t, args...)
		requireKeys(t, got, "matrix,phases,ranks")
		requireKeys(t, got["ranks"].([]any)[0], "rank,host,nnz,first_row,last_row,halo,bytes_sent,messages_sent,peak_bytes,phases")
		for _, key := range []string{"matrix", "format", "strategy", "y", "x", "iterations", "residual", "converged", "dangling", "top"} {
			require.Equal(t, want[key], got[key], "%v: %s", args, key)
		}
		rows := got["matrix"].(map[string]any)["rows"].(float64)
		only := got["ranks"].([]any)[0].(map[string]any)
		require.Equal(t, []any{0.0, rows - 1}, []any{only["first_row"], only["last_row"]})
		if args[0] == "spmv" {
			product := got["phases"].(map[string]any)["product_s"].(float64)
			require.InEpsilon(t, 2e-9*got["matrix"].(map[string]any)["nnz"].(float64)/product, got["gflops"], 1e-9)
		}
		for key := range want {
			if key != "numa" {
				require.Contains(t, got, key, "%v", args)
			}
		}
	}
	t.Setenv("PMI_RANK", "0")
	require.Contains(t, runOK(t, "spmv", graph), "rank 0")
	require.Contains(t, runOK(t, "bench", "ranks", graph, "--samples", "2"), "Harvard500")
	for _, bad := range [][]string{{"spmv", "none.mtx"}, {"spmv", graph, "--x", "none.mtx"}, {"solve", corpus.Testdata("pyamg-edge-gradient-D.mtx.gz")}, {"bench", "fig6"}, {"pagerank", graph, "--precision", "cpms2"}} {
		code, _, stderr := runArgs(bad...)
		require.Equal(t, exitUsage, code, "%v", bad)
		require.NotEmpty(t, stderr)
	}
}

func TestErrorsNameFlagsAndFilesAloneAndOverRanks(t *testing.T) {
	defer func(f func() (rankComm, error)) { startRanks = f }(startRanks)
	startRanks = func() (rankComm, error) { return alone{cluster.Local(1)[0]}, nil }
	bus, gre := corpus.Testdata("1138_bus.mtx.gz"), corpus.Testdata("gre_343.mtx.gz")
	odd := filepath.Join(t.TempDir(), "b.mtx")
	require.NoError(t, os.WriteFile(odd, []byte("%%MatrixMarket matrix array real general\n2 1\n1\nnan\n"), 0o644))
	large, vector := filepath.Join(t.TempDir(), "large.mtx"), filepath.Join(t.TempDir(), "vector.mtx")
	require.NoError(t, os.WriteFile(large, []byte("%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1\n2 1 1e39\n2 2 inf\n"), 0o644))
	require.NoError(t, os.WriteFile(vector, []byte("%%MatrixMarket matrix array real general\n2 1\ninf\n-1e39\n"), 0o644))
	for message, args := range map[string][]string{
		"--format: diagonals does not suit " + bus + ": no diagonals: the ": {"spmv", bus, "--format", "diagonals"},
		"--format: blocks does not suit " + bus + ": the rows do not ":      {"spmv", bus, "--format", "blocks"},
		`--format: "csc" sums in an order of its own`:                       {"spmv", bus, "--format", "csc", "--deterministic"},
		"--precision: 1 of 2 segments: only float64":                        {"spmv", bus, "--precision", "cpms2:1", "--value", "fp32"},
		large + ": 1e+39 in row 2, column 1 is beyond the range of fp32":    {"spmv", large, "--value", "fp32"},
		"--x: element 2, -1e+39, is beyond the range of fp32":               {"spmv", "gen:diag:n=2", "--value", "fp32", "--x", vector},
		"--y: element 2, -1e+39, is beyond the range of fp32":               {"spmv", "gen:diag:n=2", "--value", "fp32", "--y", vector},
		"--kernel: cusparse runs on NVIDIA GPUs":                            {"spmv", bus, "--kernel", "cusparse"},
		`--devices: "gpu" is not known`:                                     {"spmv", bus, "--devices", "gpu"},
		"none.mtx: no such file or directory":                               {"spmv", "none.mtx"},
		gre + ": its diagonal element in row 17 is 0":                       {"solve", gre, "--precond", "jacobi"},
		"--rhs: element 1 is NaN: all must be finite":                       {"solve", "gen:diag:n=2", "--rhs", odd},
	} {
		for _, rank := range []string{"", "0"} {
			t.Setenv("PMI_RANK", rank)
			code, _, stderr := runArgs(args...)
			require.Equal(t, exitUsage, code, "%q", args)
			require.True(t, strings.HasPrefix(stderr, "msrep "+args[0]+": "+message), "%q gives %s", args, stderr)
		}
	}
	c := &call{args: []string{bus}, flags: flag.NewFlagSet("", flag.ContinueOnError)}
	of := &cluster.RankError{Rank: 1, Host: "h", Err: sparse.Inputf("matrix", "is odd")}
	c.inFlags(of)
	require.EqualError(t, of, "rank 1 on h: "+bus+": is odd")
}

func TestErrorsThatAllRanksHaveEndThemInOrder(t *testing.T) {
	require.False(t, cluster.Agreed(errors.New("mine")))
	for _, err := range cluster.Run(2, func(c cluster.Comm) error { return cluster.Agree(c, "h", sparse.Inputf("a", "b")) }) {
		require.True(t, cluster.Agreed(err))
	}
}

// runArgs runs a command line and returns its exit code and output.
func runArgs(args ...string) (code int, stdout, stderr string) {
	var o, e bytes.Buffer
	code = run(context.Background(), args, &o, &e)
	return code, o.String(), e.String()
}
