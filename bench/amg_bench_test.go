package bench

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/solver/amg"
	"github.com/msrep-go/msrep/sparse"
)

// BenchmarkAMG solves the system in the file MSREP_AMG with multigrid cycles and prints the result as JSON. scripts/race-amg
// writes the file, states its format, and runs this beside other libraries.
func BenchmarkAMG(b *testing.B) {
	file := os.Getenv("MSREP_AMG")
	if file == "" {
		b.Skip("MSREP_AMG names no file")
	}
	a, rhs, symmetric, opt := amgSystem(b, file)
	sys, err := msrep.Open(msrep.Config{})
	require.NoError(b, err)
	defer func() { require.NoError(b, sys.Close()) }()
	for b.Loop() {
		begin := time.Now()
		m, err := amg.New(b.Context(), sys, a, opt)
		require.NoError(b, err)
		plan, err := msrep.NewPlan(b.Context(), sys, a, msrep.PlanOptions{Expected: msrep.Expected{Products: 20}})
		require.NoError(b, err)
		setup := time.Since(begin)
		method := solver.CG
		if !symmetric {
			method = solver.BiCGSTAB
		}
		begin = time.Now()
		res, err := method(b.Context(), plan, rhs, make([]float64, len(rhs)), solver.Options{Precond: m})
		require.NoError(b, err)
		text, err := json.Marshal(map[string]any{
			"setup": setup.Seconds(), "solve": time.Since(begin).Seconds(), "iterations": res.Iterations, "residual": res.Residual,
			"complexity": m.OperatorComplexity(),
		})
		require.NoError(b, err)
		fmt.Printf("\n%s\n", text)
		require.NoError(b, plan.Close())
		require.NoError(b, m.Close())
	}
}

// amgSystem reads a file of scripts/race-amg.
func amgSystem(b *testing.B, file string) (a *sparse.CSR[float64], rhs []float64, symmetric bool, opt amg.Options) {
	f, err := os.Open(file)
	require.NoError(b, err)
	defer f.Close()
	var head [3]int64
	var kind [2]int32
	read := func(v any) { require.NoError(b, binary.Read(f, binary.LittleEndian, v)) }
	read(&head)
	read(&kind)
	n := int(head[0])
	a = &sparse.CSR[float64]{Rows: n, Cols: n, RowPtr: make([]int64, n+1), ColIdx: make([]int32, head[1]), Val: make([]float64, head[1])}
	rhs = make([]float64, n)
	read(a.RowPtr)
	read(a.ColIdx)
	read(a.Val)
	read(rhs)
	for range head[2] {
		v := make([]float64, n)
		read(v)
		opt.NearNull = append(opt.NearNull, v)
	}
	_, err = f.Read(make([]byte, 1))
	require.ErrorIs(b, err, io.EOF)
	opt.Block = int(kind[1])
	return a, rhs, kind[0] == 1, opt
}
