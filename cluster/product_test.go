package cluster

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

func testProducts[V sparse.Value](t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := randomMatrix[V](t)
		ranks := rapid.SampledFrom([]int{1, 2, 3, 4, 7, 40}).Draw(t, "ranks")
		op := msrep.Transpose(rapid.Bool().Draw(t, "transpose"))
		alpha := V(rapid.SampledFrom([]float64{0, 1, -1.25, 3}).Draw(t, "alpha"))
		beta := V(rapid.SampledFrom([]float64{0, 1, 0.5}).Draw(t, "beta"))
		opt := msrep.PlanOptions{Deterministic: rapid.Bool().Draw(t, "deterministic"), Expected: msrep.Expected{Products: 1}}
		if opt.Deterministic && op == msrep.Trans {
			opt.Expected.Transposed = 1
		}
		rows, cols := a.Rows, a.Cols
		if op == msrep.Trans {
			rows, cols = cols, rows
		}
		seed := rapid.Uint64().Draw(t, "vectors")
		x, y := randomVector[V](cols, seed), randomVector[V](rows, seed+1)
		if beta == 0 {
			for i := range y {
				y[i] = V(math.NaN())
			}
		}
		switch rapid.SampledFrom([]string{"", "", "NaN in x", "Inf in A"}).Draw(t, "special") {
		case "NaN in x":
			if cols > 0 {
				x[cols/2] = V(math.NaN())
			}
		case "Inf in A":
			if len(a.Val) > 0 {
				a.Val[len(a.Val)/2] = V(math.Inf(1))
			}
		}
		want := reference.Multiply[V](bool(op), alpha, a, x, beta, y)
		got, _, _ := multiplied(t, ranks, a, opt, 1, op, alpha, x, beta, y)
		require.Len(t, got, rows)
		require.Equal(t, -1, reference.Check(got, want))
	})
}

func TestProductsOverRanksAreRightInFloat64(t *testing.T) { testProducts[float64](t) }
func TestProductsOverRanksAreRightInFloat32(t *testing.T) { testProducts[float32](t) }

// oneProcess returns the product of a deterministic plan without ranks.
func oneProcess[V sparse.Value](t require.TestingT, a *sparse.CSR[V], op msrep.Transpose, alpha V, x []V, beta V, y []V) []V {
	sys, err := msrep.Open(msrep.Config{Devices: "cpu:2", Threads: 3})
	require.NoError(t, err)
	defer sys.Close()
	p, err := msrep.NewPlan(ctx, sys, a, msrep.PlanOptions{Deterministic: true})
	require.NoError(t, err)
	out := append([]V(nil), y...)
	err = p.SpMV(ctx, op, alpha, x, beta, out)
	require.NoError(t, err)
	return out
}

func TestDeterministicProductsHaveTheBitsOfOneProcess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := randomMatrix[float64](t)
		s := xorshift(rapid.Uint64().Draw(t, "values"))
		for k := range a.Val { // values whose sums depend on the order
			a.Val[k] *= 1 + float64(s.next()%1000)/3
		}
		op := msrep.Transpose(rapid.Bool().Draw(t, "transpose"))
		rows, cols := a.Rows, a.Cols
		if op == msrep.Trans {
			rows, cols = cols, rows
		}
		x, y := randomVector[float64](cols, 5), randomVector[float64](rows, 6)
		want := oneProcess(t, a, op, 1.0/3, x, 0.7, y)
		for _, ranks := range []int{1, 2, 3, 5} {
			got, _, _ := multiplied(t, ranks, a, msrep.PlanOptions{Deterministic: true, Expected: msrep.Expected{Transposed: 1}}, 1, op, 1.0/3, x, 0.7, y)
			for i := range want {
				require.Equal(t, math.Float64bits(want[i]), math.Float64bits(got[i]), "%d ranks, element %d", ranks, i)
			}
		}
	})
}

func TestAPlanMultipliesAgainAndAgainInBothDirections(t *testing.T) {
	a := &sparse.CSR[float64]{Rows: 4, Cols: 4, RowPtr: []int64{0, 2, 3, 5, 6}, ColIdx: []int32{0, 3, 0, 1, 2, 0}, Val: []float64{1, 2, 3, 4, 5, 6}}
	each(t, 3, func(sys *System) error {
		m, err := Slice(sys.Comm(), a, 1)
		if err != nil {
			return err
		}
		lo, hi := m.RowCut[sys.Comm().Rank()], m.RowCut[sys.Comm().Rank()+1]
		p, err := NewPlan(ctx, sys, m, msrep.PlanOptions{})
		if err != nil {
			return err
		}
		defer p.Close()
		for i := range 5 {
			x := []float64{1, float64(i), 3, 4}
			for _, c := range []struct {
				op   msrep.Transpose
				want []float64
			}{{msrep.NoTrans, []float64{9, 3, 4*x[1] + 15, 6}}, {msrep.Trans, []float64{25 + 3*x[1], 12, 15, 2}}} {
				y := make([]float64, hi-lo)
				if err := p.SpMV(ctx, c.op, 1, x[lo:hi], 0, y); err != nil {
					return err
				}
				for k, v := range y {
					if v != c.want[lo+k] {
						return fmt.Errorf("product %d, %v: element %d is %g, want %g", i, c.op, lo+k, v, c.want[lo+k])
					}
				}
			}
		}
		times, n := p.Times()
		if n != 10 || times.Total <= 0 {
			return fmt.Errorf("%d products took %v", n, times)
		}
		return nil
	})
}

func TestCountsOfADeterministicPlanAreThoseOfBothDirections(t *testing.T) {
	a := &sparse.CSR[float64]{Rows: 2, Cols: 2, RowPtr: []int64{0, 2, 4}, ColIdx: []int32{0, 1, 0, 1}, Val: []float64{1, 2, 3, 4}}
	each(t, 2, func(sys *System) error {
		p, _, _, err := planOf(sys, a, msrep.PlanOptions{Deterministic: true, Expected: msrep.Expected{Transposed: 1}}, 1, msrep.NoTrans)
		if err != nil {
			return err
		}
		defer p.Close()
		for i := range 4 {
			if i == 2 {
				p.ResetTimes()
			}
			op := msrep.Transpose(i%2 == 1)
			before, _ := p.Times()
			if err := p.SpMV(ctx, op, 1, []float64{1}, 0, make([]float64, 1)); err != nil {
				return err
			}
			after, n := p.Times()
			if n != int64(i%2+1) || after.Local <= before.Local || after.Wait <= before.Wait || after.Exchange <= before.Exchange || after.Total <= before.Total {
				return fmt.Errorf("product %d: %d products, %+v after %+v", i, n, after, before)
			}
			if bytes, messages := p.Sent(); bytes != int64(8*(i+1)) || messages != int64(i+1) {
				return fmt.Errorf("product %d: sent %d bytes in %d messages", i, bytes, messages)
			}
		}
		return nil
	})
}

func TestInnerCutsAreMultiplesOfAlign(t *testing.T) {
	for _, c := range []struct{ cut, align, want int }{{5, 1, 5}, {5, 0, 5}, {5, 4, 4}, {6, 4, 8}, {9, 4, 8}, {10, 4, 10}, {0, 4, 0}} {
		require.Equal(t, c.want, aligned(c.cut, 10, c.align), "%+v", c)
	}
}

func TestWrongPiecesAreRefusedWithoutLeavingOthersWaiting(t *testing.T) {
	a := &sparse.CSR[float64]{Rows: 2, Cols: 2, RowPtr: []int64{0, 1, 2}, ColIdx: []int32{1, 0}, Val: []float64{1, 2}}
	errs := Run(2, func(c Comm) error {
		return withSystem(c, func(sys *System) error {
			m, err := Slice(c, a, 1)
			if err != nil {
				return err
			}
			p, err := NewPlan(ctx, sys, m, msrep.PlanOptions{})
			if err != nil {
				return err
			}
			defer p.Close()
			err = p.SpMV(ctx, msrep.NoTrans, 1, make([]float64, 1+c.Rank()), 0, make([]float64, 1))
			return err
		})
	})
	require.ErrorIs(t, errs[0], ErrAborted)
	require.True(t, sparse.IsInput(errs[1]), "%v", errs[1])
	require.ErrorContains(t, errs[1], "x: 2 elements: this rank has 1 of them")
}

func TestDifferentPlansAreAnErrorOfAllRanks(t *testing.T) {
	a := &sparse.CSR[float64]{Rows: 4, Cols: 4, RowPtr: []int64{0, 1, 2, 3, 4}, ColIdx: []int32{3, 2, 1, 0}, Val: []float64{1, 2, 3, 4}}
	for says, change := range map[string]func(align *Align, opt *msrep.PlanOptions){
		"deterministic true":                   func(_ *Align, opt *msrep.PlanOptions) { opt.Deterministic = true },
		"deterministic true, transposed true":  func(_ *Align, opt *msrep.PlanOptions) { opt.Deterministic, opt.Expected.Transposed = true, 1 },
		"plan: rank 0 on .*, rank 1 on .* has": func(align *Align, _ *msrep.PlanOptions) { *align = 4 },
	} {
		for _, err := range Run(2, func(c Comm) error {
			return withSystem(c, func(sys *System) error {
				align, opt := Align(1), msrep.PlanOptions{}
				if c.Rank() == 1 {
					change(&align, &opt)
				}
				p, _, _, err := planOf(sys, a, opt, align, msrep.NoTrans)
				if err != nil {
					return err
				}
				return p.Close()
			})
		}) {
			require.Regexp(t, says, fmt.Sprint(err))
			require.True(t, sparse.IsInput(err) && Agreed(err))
		}
	}
}

func TestAProductDoesNotOverwriteWhatItReads(t *testing.T) {
	a := &sparse.CSR[float64]{Rows: 2, Cols: 2, RowPtr: []int64{0, 1, 2}, ColIdx: []int32{1, 0}, Val: []float64{1, 2}}
	for _, deterministic := range []bool{false, true} {
		errs := Run(2, func(c Comm) error {
			return withSystem(c, func(sys *System) error {
				m, err := Slice(c, a, 1)
				if err != nil {
					return err
				}
				p, err := NewPlan(ctx, sys, m, msrep.PlanOptions{Deterministic: deterministic})
				if err != nil {
					return err
				}
				defer p.Close()
				x := []float64{1}
				err = p.SpMV(ctx, msrep.NoTrans, 1, x, 0, x)
				return err
			})
		})
		require.ErrorContains(t, errors.Join(errs...), "y: shares memory with x") // the failed rank may have ended the other one
	}
}

func TestACancelledContextIsOneErrorInBothDirections(t *testing.T) {
	a := &sparse.CSR[float64]{Rows: 2, Cols: 2, RowPtr: []int64{0, 2, 4}, ColIdx: []int32{0, 1, 0, 1}, Val: []float64{1, 2, 3, 4}}
	for _, devices := range []string{"cpu:1", "sim:1"} {
		for _, op := range []msrep.Transpose{msrep.NoTrans, msrep.Trans} {
			onRanks(t, 2, msrep.Config{Devices: devices, Threads: 1}, func(sys *System) error {
				p, _, _, err := planOf(sys, a, msrep.PlanOptions{}, 1, op)
				if err != nil {
					return err
				}
				defer p.Close()
				x, err := p.ColumnVector()
				if err != nil {
					return err
				}
				defer x.Close()
				y, err := p.RowVector()
				if err != nil {
					return err
				}
				defer y.Close()
				if op == msrep.Trans {
					x, y = y, x
				}
				past, cancel := context.WithCancel(ctx)
				cancel()
				if err := p.SpMV(past, op, 1, make([]float64, 1), 0, make([]float64, 1)); err != context.Canceled {
					return fmt.Errorf("SpMV: %v", err)
				}
				if err := p.Apply(past, op, 1, x, 0, y); err != context.Canceled {
					return fmt.Errorf("Apply: %v", err)
				}
				return nil
			})
		}
	}
}
