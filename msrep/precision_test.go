package msrep

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/cases"
	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/cpms"
)

func TestProductsReadTheStatedSegmentsOfEachValue(t *testing.T) {
	a := blocksOf4(60)
	for k := range a.Val {
		a.Val[k] = math.Sin(float64(k))
	}
	x, y := make([]float64, a.Cols), make([]float64, a.Rows)
	for i := range x {
		x[i], y[i] = math.Cos(float64(i)), float64(i%7)
	}
	sys := openCPU(t, "cpu:2")
	for _, p := range []kernels.Segments{{Count: 2, Read: 0}, {Count: 2, Read: 3}, {Count: 3, Read: 1}} {
		_, err := NewPlan(t.Context(), sys, sparse.Matrix[float64](a), PlanOptions{Storage: Storage{Segments: p}})
		require.ErrorContains(t, err, fmt.Sprintf("precision: %d of %d segments", p.Read, p.Count))
	}
	for _, p := range []kernels.Segments{{Count: 2, Read: 1}, {Count: 4, Read: 3}, {Count: 2, Read: 2}} {
		cut := cutValues(a, p)
		for _, o := range []PlanOptions{{}, {Storage: Storage{Form: "ell"}}, {Storage: Storage{Form: "pellr", Release: true}}, {Expected: Expected{Transposed: 1}}} {
			o.Storage.Segments = p
			plan := planOf(t, sys, sparse.Matrix[float64](a), o)
			for _, op := range []Transpose{NoTrans, Trans} {
				got := slices.Clone(y)
				multiply(t, plan, op, 2, x, -.5, got)
				require.Equal(t, -1, reference.Check(got, reference.Multiply[float64](op == Trans, 2, cut, x, -.5, y)), "%+v", o)
			}
			require.NoError(t, plan.Close())
		}
	}
}

// cutValues returns a with only those bits of each value that a product with p reads.
func cutValues(a *sparse.CSR[float64], p kernels.Segments) *sparse.CSR[float64] {
	cut := *a
	cut.Val = slices.Clone(a.Val)
	for k, v := range cut.Val {
		cut.Val[k] = cpms.Keep(v, p.Read*64/p.Count, cpms.Truncate)
	}
	return &cut
}

// drawRows draws a matrix whose rows have 0 to cols entries, so that devices share rows.
func drawRows(t *rapid.T) *sparse.CSR[float64] {
	rows, cols := rapid.IntRange(1, 40).Draw(t, "rows"), rapid.IntRange(1, 60).Draw(t, "columns")
	a := &sparse.CSR[float64]{Rows: rows, Cols: cols, RowPtr: []int64{0}}
	for r := range rows {
		n := rapid.SampledFrom([]int{0, 1, 3, cols / 2, cols}).Draw(t, "entries")
		for c := range min(n, cols) {
			a.ColIdx, a.Val = append(a.ColIdx, int32(c)), append(a.Val, math.Sin(float64(1+r*cols+c)))
		}
		a.RowPtr = append(a.RowPtr, int64(len(a.Val)))
	}
	return a
}

func TestFewerSegmentsGiveTheSameOnAnyDevices(t *testing.T) {
	cases.Divide(t, 2)
	systems := map[string]*System{}
	for _, c := range []Config{{Devices: "cpu:1", Threads: 1}, {Devices: "cpu:1", Threads: 5}, {Devices: "cpu:2"}, {Devices: "cpu:8"}, {Devices: "sim:1"}, {Devices: "sim:8"}} {
		systems[fmt.Sprint(c.Devices, ", threads ", c.Threads)] = open(t, c)
	}
	var names []string
	for name := range systems {
		names = append(names, name)
	}
	slices.Sort(names)
	rapid.Check(t, func(t *rapid.T) {
		a := drawRows(t)
		name := rapid.SampledFrom(names).Draw(t, "devices")
		sys := systems[name]
		o := PlanOptions{
			Storage:  NamedStorage(rapid.SampledFrom([]string{"auto", "csr", "ell", "pellr"}).Draw(t, "format")),
			Variant:  Variant{Split: rapid.SampledFrom([]partition.Rule{partition.RuleAuto, partition.RuleNNZ, partition.RuleMergePath, partition.RuleWhole}).Draw(t, "split"), Strategy: rapid.SampledFrom([]Strategy{Optimized, Partial, Baseline}).Draw(t, "strategy")},
			Expected: Expected{Transposed: rapid.IntRange(0, 1).Draw(t, "expected transposed")},
		}
		if strings.HasPrefix(name, "sim") {
			o.Expected.Transposed = 1 // their forms compute no minor products
		}
		if o.Variant.Strategy == Baseline {
			o.Variant.Split = ""
		}
		o.Storage.Segments.Count = rapid.SampledFrom([]int{2, 4}).Draw(t, "segments")
		o.Storage.Segments.Read = rapid.IntRange(1, o.Storage.Segments.Count).Draw(t, "read")
		plan := planOf(t, sys, sparse.Matrix[float64](a), o)
		defer plan.Close()
		cut := cutValues(a, o.Storage.Segments)
		for _, op := range []Transpose{NoTrans, Trans} {
			from, to := a.Cols, a.Rows
			if op == Trans {
				from, to = to, from
			}
			const count = 2
			vectors := func(val []float64, n int) MultiVector[float64] {
				return MultiVector[float64]{Val: val, Count: count, Stride: n, ByColumn: true}
			}
			x, y := make([]float64, count*from), make([]float64, count*to)
			for i := range x {
				x[i] = math.Cos(float64(i))
			}
			for i := range y {
				y[i] = float64(i % 7)
			}
			got := slices.Clone(y)
			multiplyMany(t, plan, op, 2, vectors(x, from), -.5, vectors(got, to))
			for v := range count {
				x, y, got := x[v*from:][:from], y[v*to:][:to], got[v*to:][:to]
				want := reference.Multiply(op == Trans, 2, sparse.Matrix[float64](cut), x, -.5, y)
				require.Equal(t, -1, reference.Check(got, want), "several vectors")
				one := slices.Clone(y)
				multiply(t, plan, op, 2, x, -.5, one)
				require.Equal(t, -1, reference.Check(one, want))
			}
			x, y = x[:from], y[:to]
			vx, errX := plan.ColumnVector()
			vy, errY := plan.RowVector()
			if op == Trans {
				vx, errX, vy, errY = vy, errY, vx, errX
			}
			dx, dy := onDevices(t, vx, errX, x), onDevices(t, vy, errY, y)
			require.NoError(t, plan.Apply(ctx, op, 2, dx, -.5, dy))
			want := reference.Multiply(op == Trans, 2, sparse.Matrix[float64](cut), x, -.5, y)
			require.Equal(t, -1, reference.Check(elements(t, dy), want), "vectors on devices")
			require.NoError(t, dx.Close())
			require.NoError(t, dy.Close())
		}
	})
}
