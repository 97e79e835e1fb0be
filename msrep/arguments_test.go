package msrep

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/devvec"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/nvidia"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

func TestWrongArgumentsAreNamedAndLeaveYUnchanged(t *testing.T) {
	sys := openCPU(t, "cpu:2")
	a := small(t)
	plan := planOf[float64](t, sys, a, PlanOptions{})
	both := make([]float64, 7)
	for _, c := range []struct {
		message string
		op      Transpose
		x, y    []float64
	}{
		{"x: 3 elements: op(A) is 3 x 4", NoTrans, make([]float64, 3), make([]float64, 3)},
		{"y: 4 elements", NoTrans, make([]float64, 4), make([]float64, 4)},
		{"x: 4 elements: op(A) is 4 x 3", Trans, make([]float64, 4), make([]float64, 4)},
		{"x: 0 elements", NoTrans, nil, make([]float64, 3)},
		{"shares memory with x", NoTrans, both[:4], both[3:6]},
		{"shares memory with the values", NoTrans, make([]float64, 4), a.Val},
	} {
		for i := range c.y {
			c.y[i] = 7
		}
		err := plan.SpMV(ctx, c.op, 1, c.x, 0, c.y)
		require.ErrorContains(t, err, c.message)
		require.True(t, sparse.IsInput(err))
		for _, v := range c.y {
			require.Equal(t, 7.0, v)
		}
	}
	err := plan.SpMV(ctx, NoTrans, 1, both[:4], 0, both[4:])
	require.NoError(t, err, "adjacent ranges of one array do not overlap")
	csc := sparse.ToCSC[float64](a) // a plan splits a copy in CSR, but transposes csc itself
	plan = planOf[float64](t, sys, csc, PlanOptions{Expected: Expected{Transposed: 2}})
	err = plan.SpMV(ctx, NoTrans, 1, make([]float64, 4), 0, csc.Val)
	require.ErrorContains(t, err, "shares memory with the values")
	val := []float64{4, 5, 6}
	require.NoError(t, plan.UpdateValues(ctx, val))
	err = plan.SpMV(ctx, NoTrans, 1, make([]float64, 4), 0, val)
	require.ErrorContains(t, err, "shares memory with the values")
	multiply(t, plan, NoTrans, 1, make([]float64, 4), 0, csc.Val)
	require.ErrorContains(t, plan.UpdateValues(ctx, make([]float64, 2)), "val: 2 values: the matrix has 3")
}

func TestTypesThatEmbedAMatrixAreMultiplied(t *testing.T) {
	type named struct { // as matio.Matrix
		*sparse.CSR[float64]
		Name string
	}
	type columns struct{ *sparse.CSC[float64] }
	type triples struct{ *sparse.COO[float64] }
	a := small(t)
	sys := openCPU(t, "cpu:2")
	x, y := []float64{1, 2, 3, 4}, make([]float64, 3)
	for _, m := range []sparse.Matrix[float64]{&named{a, "a"}, columns{sparse.ToCSC[float64](a)}, triples{sparse.ToCOO[float64](a)}} {
		require.NoError(t, SpMV(ctx, NoTrans, 1, m, x, 0, y))
		require.Equal(t, []float64{9, 0, 6}, y, "%T", m)
		plan := planOf(t, sys, m, PlanOptions{Storage: Storage{Format: m.Format()}})
		require.NoError(t, plan.UpdateValues(ctx, []float64{10, 20, 30}))
		multiply(t, plan, NoTrans, 1, x, 0, y)
		if m.Format() == sparse.FormatCSC { // its values are ordered by column
			require.Equal(t, []float64{10 + 4*30, 0, 2 * 20}, y)
		} else {
			require.Equal(t, []float64{10 + 4*20, 0, 2 * 30}, y)
		}
	}
	plan, err := NewPlan(ctx, sys, &named{a, "a"}, PlanOptions{}) // the type of the values is inferred
	require.NoError(t, err)
	require.NoError(t, plan.Close())
	for _, m := range []sparse.Matrix[float64]{&named{}, (*named)(nil), columns{}, triples{}} {
		_, err := NewPlan(ctx, sys, m, PlanOptions{})
		require.EqualError(t, err, "matrix: is nil", "%T", m)
	}
	none := struct{ sparse.Matrix[float64] }{}
	_, err = NewPlan[float64](ctx, sys, none, PlanOptions{})
	require.ErrorContains(t, err, "nil pointer")
	require.ErrorContains(t, SpMV[float64](ctx, NoTrans, 1, none, x, 0, y), "nil pointer")
}

func TestDevicesHaveTheFormatsOfTheirKindAndNoOthers(t *testing.T) {
	a := generated(t, "diag:n=64")
	for _, kind := range []string{"cpu", "sim"} {
		sys := openCPU(t, kind+":1")
		require.Equal(t, kind, sys.Devices()[0].Kind)
		for _, f := range Forms("") {
			_, err := NewPlan(ctx, sys, a, PlanOptions{Storage: Storage{Form: f}})
			switch {
			case strings.HasSuffix(string(f), "blocks") && kind == "cpu":
				require.EqualError(t, err, "blocks: the rows do not fall into dense blocks", "the error of a device that has the form")
				continue
			case slices.Contains(Forms(kind), f):
				require.NoError(t, err, "%s on %s", f, kind)
				continue
			}
			require.ErrorContains(t, err, `"`+string(f)+`" is not known to device `+kind+":0: use one of auto, csr, csc, coo, slices, ")
			require.NotContains(t, err.Error(), ", "+string(f))
		}
	}
}

func TestNewPlanRefusesBadArguments(t *testing.T) {
	sys := openCPU(t, "cpu:2")
	bad := small(t)
	bad.ColIdx = []int32{0, 9, 1}
	unsorted := &sparse.COO[float64]{Rows: 2, Cols: 2, RowIdx: []int32{1, 0, 1}, ColIdx: []int32{1, 0, 0}, Val: []float64{1, 2, 3}}
	for _, c := range []struct {
		message string
		sys     *System
		a       sparse.Matrix[float64]
		opt     PlanOptions
	}{
		{"system: is nil", nil, small(t), PlanOptions{}},
		{"matrix: is nil", sys, nil, PlanOptions{}},
		{"matrix: is nil", sys, (*sparse.COO[float64])(nil), PlanOptions{}},
		{"column index 9", sys, bad, PlanOptions{}},
		{"strategy", sys, small(t), PlanOptions{Variant: Variant{Strategy: "best"}}},
		{"format", sys, small(t), PlanOptions{Storage: Storage{Format: "best"}}},
		{"format: csc has no forms", sys, small(t), PlanOptions{Storage: Storage{Format: sparse.FormatCSC, Form: "slices"}}},
		{"cusparse multiplies in csr, not in slices", sys, small(t), PlanOptions{Storage: Storage{Form: "slices"}, Variant: Variant{Library: LibraryCuSPARSE}}},
		{"rule", sys, small(t), PlanOptions{Variant: Variant{Split: "half"}}},
		{"kernel", sys, small(t), PlanOptions{Variant: Variant{Library: "fast"}}},
		{"kernel", sys, small(t), PlanOptions{Variant: Variant{Library: "fast"}, Deterministic: true}},
		{"not sorted", sys, unsorted, PlanOptions{RefuseUnsorted: true}},
	} {
		plan, err := NewPlan(ctx, c.sys, c.a, c.opt)
		require.ErrorContains(t, err, c.message)
		require.True(t, sparse.IsInput(err), "%v", err)
		require.Nil(t, plan)
	}
	_, err := NewPlan[float64](ctx, sys, unsorted, PlanOptions{RefuseUnsorted: true})
	require.ErrorIs(t, err, partition.ErrUnsorted)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err = NewPlan[float64](ended, sys, small(t), PlanOptions{})
	require.ErrorIs(t, err, context.Canceled)
}

func TestOpenRefusesUnknownDevices(t *testing.T) {
	for devices, message := range map[string]string{
		"gpu": "not known", "cpu:0": "1 to", "cpu:-3": "1 to", "cpu:x": "1 to", "cpu:99999": "1 to", "auto:2": "takes no number",
		"sim:0": "1 to", "sim:x": "1 to", "sim": "1 to", "sim:65": "1 to", "cpu:": "1 to",
	} {
		_, err := Open(Config{Devices: devices})
		require.ErrorContains(t, err, message, devices)
		require.ErrorContains(t, err, strconv.Quote(devices))
		require.True(t, sparse.IsInput(err), devices)
	}
	if reason := nvidia.Query().Reason; reason != "" {
		_, err := Open(Config{Devices: "cuda"})
		require.ErrorContains(t, err, `devices: "cuda": `+reason)
		require.True(t, sparse.IsInput(err))
	}
	_, err := Open(Config{Threads: -1})
	require.ErrorContains(t, err, "threads")
}

func TestAnInvalidIndexWithoutValidationIsAnErrorNotAPanic(t *testing.T) {
	bad := small(t)
	bad.ColIdx = []int32{0, 99, 1}
	for _, devices := range []string{"cpu:1", "cpu:3"} {
		sys := openCPU(t, devices)
		plan := planOf[float64](t, sys, bad, PlanOptions{SkipValidation: true})
		y := make([]float64, 3)
		err := plan.SpMV(ctx, NoTrans, 1, make([]float64, 4), 0, y)
		var de *kernels.DeviceError
		require.ErrorAs(t, err, &de)
		require.Regexp(t, `^device cpu:\d: .*: index out of range \[\d+\] with length 4 \(\w+/\w+\.go:\d+\): with SkipValidation the pointers and indices.*$`, err)
		err = plan.SpMV(ctx, NoTrans, 1, make([]float64, 4), 0, y)
		require.ErrorContains(t, err, "unusable after an earlier error")
		require.NoError(t, plan.Close())
		good, err := NewPlan[float64](ctx, sys, small(t), PlanOptions{})
		require.NoError(t, err, "other plans still work")
		multiply(t, good, NoTrans, 1, make([]float64, 4), 0, y)
	}
}

func TestAnInvalidIndexWithoutValidationIsExplainedOnSimulatedDevices(t *testing.T) {
	bad := small(t)
	bad.ColIdx = []int32{0, 99, 1}
	sys := open(t, Config{Devices: "sim:2"})
	const explained = `^[^\n]*: with SkipValidation the pointers and indices of the matrix are not checked$`
	_, err := NewPlan[float64](ctx, sys, bad, PlanOptions{SkipValidation: true}) // numbers the elements that each device needs
	require.Regexp(t, explained, err)
	for _, strategy := range []Strategy{Partial, Baseline} {
		plan := planOf[float64](t, sys, bad, PlanOptions{SkipValidation: true, Variant: Variant{Strategy: strategy}})
		err := plan.SpMV(ctx, NoTrans, 1, make([]float64, 4), 0, make([]float64, 3))
		require.Regexp(t, explained, err)
		require.NoError(t, plan.Close())
	}
	require.NoError(t, sys.Close())
}

func TestIndicesThatChangeAfterTheyWereCheckedAreNotBlamedOnSkipValidation(t *testing.T) {
	for _, op := range []Transpose{NoTrans, Trans} {
		a := small(t)
		plan := planOf[float64](t, openCPU(t, "cpu:2"), sparse.ToCSC[float64](a), PlanOptions{Expected: Expected{Transposed: 2}})
		require.NotNil(t, plan.transposed)
		plan.lay.Minor[0], plan.transposed.lay.Minor[0] = 99, 99
		rows, cols := plan.dims(op)
		err := plan.SpMV(ctx, op, 1, make([]float64, cols), 0, make([]float64, rows))
		require.ErrorContains(t, err, "index out of range [99]")
		require.NotContains(t, err.Error(), "SkipValidation", "%v", op)
	}
}

func TestNilContextsAndPlansAreErrors(t *testing.T) {
	sys := openCPU(t, "cpu:1")
	var none context.Context
	_, err := NewPlan[float64](none, sys, small(t), PlanOptions{})
	require.ErrorContains(t, err, "ctx: is nil")
	plan := planOf[float64](t, sys, small(t), PlanOptions{})
	err = plan.SpMV(none, NoTrans, 1, make([]float64, 4), 0, make([]float64, 3))
	require.ErrorContains(t, err, "ctx: is nil")
	plan = nil
	require.NoError(t, plan.Close())
}

func TestPlansThatWereNotMadeAreRefusedAndClosed(t *testing.T) {
	for _, none := range []*Plan[float64]{nil, {}} {
		require.NoError(t, none.Close())
		err := none.SpMV(ctx, NoTrans, 1, nil, 0, nil)
		require.ErrorIs(t, err, errNoPlan)
		err = none.SpMM(ctx, NoTrans, 1, MultiVector[float64]{}, 0, MultiVector[float64]{})
		require.ErrorIs(t, err, errNoPlan)
		require.ErrorIs(t, none.Apply(ctx, NoTrans, 1, nil, 0, nil), errNoPlan)
		require.ErrorIs(t, none.UpdateValues(ctx, nil), errNoPlan)
		_, err = none.RowVector()
		require.ErrorIs(t, err, errNoPlan)
		_, err = none.ColumnVector()
		require.ErrorIs(t, err, errNoPlan)
	}
	_, err := NewVector[float64](new(System), 1)
	require.ErrorIs(t, err, ErrClosed)
	require.NoError(t, (*System)(nil).Close())
	require.NoError(t, (&Vector[float64]{}).Close())
	require.NoError(t, (*devvec.Selection[float64])(nil).Close())
	require.NoError(t, (&devvec.Selection[float64]{}).Close())
	require.Nil(t, devvec.Device(new(System), 0))
	sys := openCPU(t, "cpu:1")
	require.NotNil(t, devvec.Device(sys, 0))
	require.NoError(t, sys.Close())
	require.Nil(t, devvec.Device(sys, 0))
	require.Len(t, sys.Devices(), 1, "it still describes its devices")
}

func TestIndicesOutsideAMultiVectorPanic(t *testing.T) {
	for _, b := range []MultiVector[float64]{
		{Val: make([]float64, 6), Count: 2, Stride: 2},                 // 3 elements each
		{Val: make([]float64, 6), Count: 2, Stride: 3, ByColumn: true}, // the same
		{Val: make([]float64, 9), Count: 2, Stride: 3},                 // with gaps, where more vectors would fit
		{Val: make([]float64, 9), Count: 2, Stride: 3, ByColumn: true},
	} {
		v := make([]float64, 3)
		b.Get(1, v)
		b.Set(1, v)
		for _, j := range []int{-1, 2, 3} {
			require.Panics(t, func() { b.Get(j, v) })
			require.Panics(t, func() { b.Set(j, v) })
		}
		long := make([]float64, 7)
		require.Panics(t, func() { b.Get(1, long) })
		require.Panics(t, func() { b.Set(1, long) })
	}
	MultiVector[float64]{Count: 1, Stride: 1}.Get(0, nil)
	MultiVector[float64]{Count: 2, Stride: 9, ByColumn: true}.Set(1, nil)
}
