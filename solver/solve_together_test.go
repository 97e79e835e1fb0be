package solver

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

func TestSolvesShareASystem(t *testing.T) {
	for _, devices := range []string{"cpu:3", "sim:2"} {
		sys := open(t, devices)
		matrices := []*sparse.CSR[float64]{
			laplacian(t, "stencil:n=12,points=5"), neumann(20), matrixOf([]float64{1, 2, 0}, []float64{2, 1, 3}), matrixOf([]float64{0, 1}, []float64{2, 0}),
		}
		var together sync.WaitGroup
		for k := range 4 * len(matrices) {
			together.Go(func() {
				a := matrices[k%len(matrices)]
				x := make([]float64, a.Cols)
				s, err := Solve(context.Background(), sys, a, ones(a.Rows), x, SolveOptions{})
				if k%len(matrices) != 1 && err != nil || s == nil {
					t.Errorf("%d on %s: %v", k, devices, err)
					return
				}
				if e := exactResidual(a, ones(a.Rows), x); e > 1.1e-8 && err == nil {
					t.Errorf("%d on %s: residual %g", k, devices, e)
				}
			})
		}
		together.Wait()
	}
}

// Each Solve closes its plans, whatever ends it, and wherever: System.Close refuses a system with open plans.
func TestSolveClosesItsPlansWhereverItEnds(t *testing.T) {
	for _, devices := range []string{"cpu:2", "sim:2"} {
		sys, err := msrep.Open(msrep.Config{Devices: devices})
		require.NoError(t, err)
		for _, a := range []*sparse.CSR[float64]{
			laplacian(t, "stencil:n=12,points=5"), neumann(100), matrixOf([]float64{1, 2, 0}, []float64{0, 0, 5}, []float64{7, 3, 1}), matrixOf([]float64{1, 2}, []float64{2, 4}),
		} {
			for _, panics := range []bool{false, true} {
				for at, ended := 1, true; ended && at < 60; at++ {
					ctx, cancel := context.WithCancel(t.Context())
					count := 0
					opt := SolveOptions{Progress: func(Step) {
						if count++; count == at {
							if panics {
								panic("stop")
							}
							cancel()
						}
					}}
					err := func() (err error) {
						defer func() {
							if p := recover(); p != nil {
								err = errors.New("panic")
							}
						}()
						_, err = Solve(ctx, sys, a, ones(a.Rows), make([]float64, a.Cols), opt)
						return err
					}()
					cancel()
					ended = count >= at
					if panics && ended {
						require.EqualError(t, err, "panic")
					}
				}
			}
		}
		require.NoError(t, sys.Close())
	}
}

func TestDeterministicSolvesHaveTheSameBitsOnAnyNumberOfProcessors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	kinds := []string{"cpu:1", "cpu:3", "sim:2"}
	if testing.Short() {
		kinds = kinds[:2]
	}
	for _, c := range []struct {
		a      *sparse.CSR[float64]
		choice Choice
		tol    float64
	}{
		{readMatrix(t, "494_bus").CSR, Choice{}, 1e-8}, {readMatrix(t, "494_bus").CSR, Choice{Method: "direct"}, 1e-15}, // rounded
		{readMatrix(t, "gre_343").CSR, Choice{}, 1e-8}, {neumann(100), Choice{}, 1e-8}, {readMatrix(t, "gre_343").CSR, Choice{Method: "gmres", Precond: "ilu"}, 1e-8},
	} {
		var first []float64
		for _, n := range []int{1, 2, 5} {
			runtime.GOMAXPROCS(n)
			for _, devices := range kinds {
				x := make([]float64, c.a.Cols)
				s, err := Solve(t.Context(), open(t, devices), c.a, ones(c.a.Rows), x, SolveOptions{Choice: c.choice, Tol: c.tol, Deterministic: true})
				require.NotNil(t, s, "%v", err)
				if first == nil {
					first = x
				}
				require.Equal(t, first, x, "%v, %d processors, %s: %v", c.choice, n, devices, err)
			}
		}
	}
}
