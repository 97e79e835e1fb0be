//go:build mpi

package mpi_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/msrep-go/msrep/cluster"
	"github.com/msrep-go/msrep/cluster/internal/commtest"
	"github.com/msrep-go/msrep/cluster/mpi"
	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/solver/graph"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
)

// All ranks run the tests together: mpirun -n 3 ./mpi.test. Without a launcher they are a run of one rank.
// MSREP_MATRICES is a folder with real matrices.
var comm *mpi.Comm

var ctx = context.Background()

func TestMain(m *testing.M) {
	c, err := mpi.Start()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	comm = c
	code := m.Run()
	if err := c.Close(); err != nil {
		code = 1
	}
	if c.Close() != nil || c.Sum(make([]float64, 1)) == nil {
		fmt.Fprintln(os.Stderr, "closed again it fails, or sums go on")
		code = 1
	}
	os.Exit(code)
}

// must ends all ranks if this one fails, because the others wait for it.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s, rank %d of %d: %v\n", t.Name(), comm.Rank(), comm.Size(), err)
		comm.Abort(1)
	}
}

func check(t *testing.T, ok bool, format string, args ...any) {
	t.Helper()
	if !ok {
		must(t, fmt.Errorf(format, args...))
	}
}

func TestProcessesFulfilComm(t *testing.T) {
	for range 3 {
		must(t, commtest.Check(comm))
	}
}

func TestMPIIsStartedOnce(t *testing.T) {
	_, err := mpi.Start()
	require.ErrorContains(t, err, "a process can start MPI only once")
	var none mpi.Comm
	require.Error(t, none.Sum(make([]float64, 1)))
	require.NoError(t, none.Close())
}

func TestTheHandlersOfGoForCrashesAreStillThere(t *testing.T) {
	require.Panics(t, func() {
		var p *int
		*p = comm.Rank()
	})
}

// Hydra, MPICH's launcher, sends SIGUSR1 to the others when a process has ended.
func TestSignalsOfTheLauncherReachGo(t *testing.T) {
	got := make(chan os.Signal, 1)
	signal.Notify(got, unix.SIGUSR1)
	defer signal.Stop(got)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	must(t, unix.Tgkill(os.Getpid(), unix.Gettid(), unix.SIGUSR1))
	for late := time.Now().Add(10 * time.Second); ; {
		select { // neither in C nor asleep: the thread takes the signal on the stack of a goroutine
		case <-got:
			return
		default:
			check(t, time.Now().Before(late), "no SIGUSR1 in 10 s")
		}
	}
}

// Real matrices. Those of spd are symmetric positive definite and take CG at most about 250 iterations; those of
// rectangular are not square.
var (
	spd = []string{"662_bus", "685_bus", "Trefethen_200", "Trefethen_500", "bcsstk01", "bcsstk02", "bcsstk04", "bcsstk05", "bcsstk08",
		"bcsstk22", "nos5", "nos6", "gr_30_30", "lund_a", "mesh2e1", "mesh3em5", "wathen_30_30", "Dubcova1"}
	square      = []string{"wiki-Vote", "Harvard500", "west0479", "memplus", "ca-GrQc", "soc-epinions"}
	rectangular = []string{"80bau3b", "Maragal_1", "fit2d"}
)

// matrices calls f with the available real matrices and with generated ones of a few rows.
func matrices(t *testing.T, names []string, f func(path string)) {
	dir := os.Getenv("MSREP_MATRICES")
	found := 0
	for _, name := range names {
		path := filepath.Join(dir, name+".mtx.gz")
		if _, err := os.Stat(path); dir != "" && err == nil {
			found++
			f(path)
		}
	}
	if comm.Rank() == 0 {
		t.Logf("%d real matrices, %d ranks", found, comm.Size())
	}
	for _, spec := range []string{"gen:diag:n=1,value=ones", "gen:diag:n=3,value=ones", "gen:stencil:dims=2,n=30", "gen:stencil:dims=2,n=150"} {
		f(spec)
	}
}

// open opens the devices of this rank: two if there are few ranks.
func open(t *testing.T) *cluster.System {
	sys, err := cluster.Open(comm, msrep.Config{Devices: "cpu:2", Threads: 2})
	must(t, err)
	return sys
}

// alone runs f on rank 0 with the whole matrix.
func alone(t *testing.T, path string, f func(a *sparse.CSR[float64], sys *msrep.System)) {
	if comm.Rank() != 0 {
		return
	}
	m, err := matio.Read(ctx, path)
	must(t, err)
	defer m.Close()
	sys, err := msrep.Open(msrep.Config{Devices: "cpu", Threads: 2})
	must(t, err)
	f(m.CSR, sys)
	must(t, sys.Close())
}

func sines(first, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = math.Sin(float64(3*(first+i) + 1))
	}
	return v
}

// same compares bits.
func same(t *testing.T, what string, want, got []float64) {
	check(t, len(want) == len(got), "%s: %d elements, want %d", what, len(got), len(want))
	for i := range want {
		check(t, math.Float64bits(want[i]) == math.Float64bits(got[i]), "%s: element %d is %v, in one process %v", what, i, got[i], want[i])
	}
}

func TestProductsAgreeWithOneProcess(t *testing.T) {
	sys := open(t)
	defer sys.Close()
	matrices(t, append(append(append([]string{}, spd...), square...), rectangular...), func(path string) {
		type product struct {
			op         msrep.Transpose
			fixed      bool
			xCut, yCut []int
			y          []float64
		}
		var products []product
		for _, op := range []msrep.Transpose{msrep.NoTrans, msrep.Trans} {
			for _, fixed := range []bool{false, true} {
				m, _, err := cluster.Read(ctx, sys, path, 1)
				must(t, err)
				r, xCut, yCut := comm.Rank(), m.ColCut, m.RowCut
				if op == msrep.Trans {
					xCut, yCut = yCut, xCut
				}
				opt := msrep.PlanOptions{Deterministic: fixed}
				if op == msrep.Trans {
					opt.Expected.Transposed = 10
				}
				p, err := cluster.NewPlan(ctx, sys, m, opt)
				must(t, err)
				x, y := sines(xCut[r], xCut[r+1]-xCut[r]), sines(yCut[r], yCut[r+1]-yCut[r])
				err = p.SpMV(ctx, op, 1.5, x, -0.7, y)
				must(t, err)
				got, err := cluster.Gather(comm, y)
				must(t, err)
				must(t, p.Close())
				products = append(products, product{op, fixed, xCut, yCut, got})
			}
		}
		alone(t, path, func(a *sparse.CSR[float64], sys *msrep.System) {
			fixed, err := msrep.NewPlan(ctx, sys, a, msrep.PlanOptions{Deterministic: true})
			must(t, err)
			for _, p := range products {
				what := fmt.Sprintf("%s, op %v, deterministic %v", path, p.op, p.fixed)
				x, y := sines(0, p.xCut[comm.Size()]), sines(0, p.yCut[comm.Size()])
				at := reference.Check(p.y, reference.Multiply[float64](bool(p.op), 1.5, a, x, -0.7, y))
				check(t, at < 0, "%s: element %d is wrong", what, at)
				if p.fixed {
					err = fixed.SpMV(ctx, p.op, 1.5, x, -0.7, y)
					must(t, err)
					same(t, what, y, p.y)
				}
			}
		})
	})
}

func TestCGAgreesWithOneProcess(t *testing.T) {
	sys := open(t)
	defer sys.Close()
	const tol = 1e-8
	matrices(t, spd, func(path string) {
		for _, fixed := range []bool{false, true} {
			align := cluster.Align(1)
			if fixed {
				align = solver.SumChunk
			}
			m, _, err := cluster.Read(ctx, sys, path, align)
			must(t, err)
			n, first, own := m.Rows, m.First(), m.Part.Rows
			jacobi, err := cluster.Jacobi(m)
			must(t, err)
			p, err := cluster.NewPlan(ctx, sys, m, msrep.PlanOptions{Deterministic: fixed})
			must(t, err)
			x := make([]float64, own)
			res, err := solver.CG(ctx, p, sines(first, own), x, solver.Options{Tol: tol, Precond: jacobi})
			must(t, err)
			got, err := cluster.Gather(comm, x)
			must(t, err)
			must(t, p.Close())
			check(t, res.Converged && res.Residual <= tol, "%s: residual %g", path, res.Residual)
			alone(t, path, func(a *sparse.CSR[float64], sys *msrep.System) {
				p, err := msrep.NewPlan(ctx, sys, a, msrep.PlanOptions{Deterministic: fixed})
				must(t, err)
				b := sines(0, n)
				if fixed {
					jacobi, err := solver.Jacobi(a)
					must(t, err)
					x := make([]float64, n)
					one, err := solver.CG(ctx, p, b, x, solver.Options{Tol: tol, Precond: jacobi})
					must(t, err)
					check(t, one.Iterations == res.Iterations, "%s: %d iterations, in one process %d", path, res.Iterations, one.Iterations)
					same(t, path+", cg", x, got)
					return
				}
				var norm, left float64
				for _, v := range b {
					norm += v * v
				}
				err = p.SpMV(ctx, msrep.NoTrans, -1, got, 1, b)
				must(t, err)
				for _, v := range b {
					left += v * v
				}
				check(t, math.Sqrt(left/norm) <= 1.01*tol, "%s: the residual of x is %g", path, math.Sqrt(left/norm))
			})
		}
	})
}

func TestPageRankAgreesWithOneProcess(t *testing.T) {
	sys := open(t)
	defer sys.Close()
	matrices(t, append(append([]string{}, spd...), square...), func(path string) {
		m, _, err := cluster.Read(ctx, sys, path, solver.SumChunk)
		must(t, err)
		degree := make([]float64, m.Part.Rows)
		for i := range degree {
			degree[i] = float64(m.Part.RowPtr[i+1] - m.Part.RowPtr[i])
		}
		links, err := m.Transpose(comm)
		must(t, err)
		for k := range links.Part.Val {
			links.Part.Val[k] = 1
		}
		p, err := cluster.NewPlan(ctx, sys, links, msrep.PlanOptions{Deterministic: true})
		must(t, err)
		res, err := graph.PageRankOver(ctx, p, degree, graph.Options{})
		must(t, err)
		got, err := cluster.Gather(comm, res.Ranks)
		must(t, err)
		must(t, p.Close())
		alone(t, path, func(a *sparse.CSR[float64], sys *msrep.System) {
			one, err := graph.PageRank(ctx, sys, a, graph.Options{})
			must(t, err)
			check(t, one.Converged == res.Converged, "%s: converged %v", path, res.Converged)
			for i, v := range one.Ranks {
				check(t, math.Abs(got[i]-v) <= 1e-12, "%s: rank of node %d is %v, in one process %v", path, i, got[i], v)
			}
			ones := sparse.Convert[float64](a)
			for k := range ones.Val {
				ones.Val[k] = 1
			}
			degree := make([]float64, a.Rows)
			for i := range degree {
				degree[i] = float64(a.RowPtr[i+1] - a.RowPtr[i])
			}
			plan, err := msrep.NewPlan(ctx, sys, sparse.ToCSC[float64](ones).Transpose(), msrep.PlanOptions{Deterministic: true})
			must(t, err)
			fixed, err := graph.PageRankOver(ctx, plan, degree, graph.Options{})
			must(t, err)
			same(t, path+", pagerank", fixed.Ranks, got)
		})
	})
}
