package msrep

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/kernels/nvidia"
	"github.com/msrep-go/msrep/kernels/reference"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

var ctx = context.Background()

func small(t *testing.T) *sparse.CSR[float64] {
	m, err := sparse.NewCSR(3, 4, []int64{0, 2, 2, 3}, []int32{0, 3, 1}, []float64{1, 2, 3})
	require.NoError(t, err)
	return m
}

func openCPU(t *testing.T, devices string) *System {
	sys, err := Open(Config{Devices: devices})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, sys.Close()) })
	return sys
}

func TestWrongArgumentsAreNamedAndLeaveYAlone(t *testing.T) {
	sys := openCPU(t, "cpu:2")
	plan, err := NewPlan[float64](ctx, sys, small(t), PlanOptions{})
	require.NoError(t, err)
	both := make([]float64, 7)
	for _, c := range []struct {
		message string
		op      Op
		x, y    []float64
	}{
		{"x: 3 elements: op(A) is 3 x 4", NoTrans, make([]float64, 3), make([]float64, 3)},
		{"y: 4 elements", NoTrans, make([]float64, 4), make([]float64, 4)},
		{"x: 4 elements: op(A) is 4 x 3", Trans, make([]float64, 4), make([]float64, 4)},
		{"x: 0 elements", NoTrans, nil, make([]float64, 3)},
		{"shares memory with x", NoTrans, both[:4], both[3:6]},
	} {
		for i := range c.y {
			c.y[i] = 7
		}
		_, err := plan.SpMV(ctx, c.op, 1, c.x, 0, c.y)
		require.ErrorContains(t, err, c.message)
		require.True(t, sparse.IsInput(err))
		for _, v := range c.y {
			require.Equal(t, 7.0, v)
		}
	}
	_, err = plan.SpMV(ctx, NoTrans, 1, both[:4], 0, both[4:])
	require.NoError(t, err, "neighbours in one array do not overlap")
	require.ErrorContains(t, plan.UpdateValues(ctx, make([]float64, 2)), "val: 2 values: the matrix has 3")
}

func TestNewPlanRefusesWhatCannotBePlanned(t *testing.T) {
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
		{"strategy", sys, small(t), PlanOptions{Strategy: "best"}},
		{"format", sys, small(t), PlanOptions{Format: "best"}},
		{"rule", sys, small(t), PlanOptions{Split: "half"}},
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
		plan, err := NewPlan[float64](ctx, sys, bad, PlanOptions{SkipValidation: true})
		require.NoError(t, err)
		y := make([]float64, 3)
		_, err = plan.SpMV(ctx, NoTrans, 1, make([]float64, 4), 0, y)
		var de *kernels.DeviceError
		require.ErrorAs(t, err, &de)
		_, err = plan.SpMV(ctx, NoTrans, 1, make([]float64, 4), 0, y)
		require.ErrorContains(t, err, "unusable after an earlier error")
		require.NoError(t, plan.Close())
		good, err := NewPlan[float64](ctx, sys, small(t), PlanOptions{})
		require.NoError(t, err, "other plans live on")
		_, err = good.SpMV(ctx, NoTrans, 1, make([]float64, 4), 0, y)
		require.NoError(t, err)
	}
}

func TestAFailedPlanLeavesNothingBehind(t *testing.T) {
	sys := openCPU(t, "cpu:2")
	// The pointers leave the matrix: with checks switched off the conversion panics.
	wild := &sparse.CSR[float64]{Rows: 6, Cols: 6, RowPtr: []int64{0, 1, 99, 2, 3, 4, 6}, ColIdx: make([]int32, 6), Val: make([]float64, 6)}
	for _, f := range []sparse.Format{sparse.FormatCSC, sparse.FormatCOO} {
		plan, err := NewPlan(ctx, sys, sparse.Matrix[float64](wild), PlanOptions{SkipValidation: true, Format: f})
		require.ErrorContains(t, err, "internal error")
		require.Nil(t, plan)
		require.Empty(t, sys.plans)
	}
	_, err := NewPlan(ctx, sys, sparse.Matrix[float64](wild), PlanOptions{})
	require.True(t, sparse.IsInput(err))
	require.Empty(t, sys.plans)
	plan, err := NewPlan[float64](ctx, sys, small(t), PlanOptions{})
	require.NoError(t, err)
	require.Len(t, sys.plans, 1)
	require.NoError(t, plan.Close())
	require.Empty(t, sys.plans, "a closed plan is forgotten")
}

func TestPlansAndProductsRacingCloseEndWithErrClosed(t *testing.T) {
	for range 300 {
		sys, err := Open(Config{Devices: "cpu:2"})
		require.NoError(t, err)
		done := make(chan error)
		go func() {
			plan, err := NewPlan[float64](ctx, sys, small(t), PlanOptions{Strategy: Partial})
			if err == nil {
				_, err = plan.SpMV(ctx, NoTrans, 1, make([]float64, 4), 0, make([]float64, 3))
			}
			done <- err
		}()
		require.NoError(t, sys.Close())
		if err := <-done; err != nil {
			require.ErrorIs(t, err, ErrClosed)
		}
	}
}

func TestAlphaZeroReadsNeitherTheMatrixNorX(t *testing.T) {
	sys := openCPU(t, "cpu:2")
	a := small(t)
	a.Val[0] = math.Inf(1)
	plan, err := NewPlan[float64](ctx, sys, a, PlanOptions{})
	require.NoError(t, err)
	y := []float64{1, 2, 3}
	_, err = plan.SpMV(ctx, NoTrans, 0, slices.Repeat([]float64{math.NaN()}, 4), 2, y)
	require.NoError(t, err)
	require.Equal(t, []float64{2, 4, 6}, y)
}

func TestTheBaselineSplitsByRowsAndTheDefaultUsesTheMatrixInPlace(t *testing.T) {
	a, _, err := gen.Generate("arrow:n=1000")
	require.NoError(t, err)
	sys, err := Open(Config{Devices: "cpu:4", NUMA: NUMAOff})
	require.NoError(t, err)
	defer sys.Close()
	for _, c := range []struct {
		strategy Strategy
		rule     partition.Rule
		copies   bool
	}{{Baseline, partition.RuleMajor, true}, {Partial, partition.RuleNNZ, true}, {Optimized, partition.RuleNNZ, false}, {"", partition.RuleNNZ, false}} {
		plan, err := NewPlan[float64](ctx, sys, a, PlanOptions{Strategy: c.strategy})
		require.NoError(t, err)
		require.Equal(t, c.rule, plan.Rule(), c.strategy)
		if c.rule == partition.RuleMajor {
			require.Equal(t, 250, plan.Shares()[1].Part.OwnFirst)
		}
		if c.copies {
			require.Greater(t, plan.Bytes(), a.Bytes(), c.strategy)
		} else {
			require.Less(t, plan.Bytes(), int64(100), "carries only")
		}
		require.NoError(t, plan.Close())
	}
}

func TestThreadsAreTheNumberOfAllDevicesTogether(t *testing.T) {
	sys, err := Open(Config{Devices: "cpu:3", Threads: 7, NUMA: NUMAOff})
	require.NoError(t, err)
	defer sys.Close()
	sum := 0
	for _, d := range sys.Devices() {
		sum += d.Threads
	}
	require.Equal(t, 7, sum)
	_, err = Open(Config{Threads: MaxThreads + 1})
	require.ErrorContains(t, err, "threads: 4097")
}

func TestNilContextsAndPlansAreErrors(t *testing.T) {
	sys := openCPU(t, "cpu:1")
	var none context.Context
	_, err := NewPlan[float64](none, sys, small(t), PlanOptions{})
	require.ErrorContains(t, err, "ctx: is nil")
	plan, err := NewPlan[float64](ctx, sys, small(t), PlanOptions{})
	require.NoError(t, err)
	_, err = plan.SpMV(none, NoTrans, 1, make([]float64, 4), 0, make([]float64, 3))
	require.ErrorContains(t, err, "ctx: is nil")
	plan = nil
	require.NoError(t, plan.Close())
}

func TestClosedPlansAndSystemsSaySo(t *testing.T) {
	sys, err := Open(Config{Devices: "cpu:2"})
	require.NoError(t, err)
	plan, err := NewPlan[float64](ctx, sys, small(t), PlanOptions{Strategy: Partial})
	require.NoError(t, err)
	require.Positive(t, plan.Bytes())
	other, err := NewPlan[float64](ctx, sys, small(t), PlanOptions{})
	require.NoError(t, err)
	require.NoError(t, other.Close())
	require.NoError(t, other.Close())
	require.NoError(t, sys.Close(), "closes the plan that is still open")
	require.NoError(t, sys.Close())
	_, err = plan.SpMV(ctx, NoTrans, 1, make([]float64, 4), 0, make([]float64, 3))
	require.ErrorIs(t, err, ErrClosed)
	require.ErrorIs(t, plan.UpdateValues(ctx, make([]float64, 3)), ErrClosed)
	_, err = NewPlan[float64](ctx, sys, small(t), PlanOptions{})
	require.ErrorIs(t, err, ErrClosed)
}

func TestACancelledContextStopsAProductAndThePlanLivesOn(t *testing.T) {
	sys := openCPU(t, "cpu:2")
	plan, err := NewPlan[float64](ctx, sys, small(t), PlanOptions{})
	require.NoError(t, err)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err = plan.SpMV(ended, NoTrans, 1, make([]float64, 4), 0, make([]float64, 3))
	require.ErrorIs(t, err, context.Canceled)
	_, err = plan.SpMV(ctx, NoTrans, 1, make([]float64, 4), 0, make([]float64, 3))
	require.NoError(t, err)
}

func TestOnePlanAndOneSystemServeManyGoroutines(t *testing.T) {
	a, _, err := gen.Generate("random:rows=4000,cols=3000,nnz=60000")
	require.NoError(t, err)
	sys, err := Open(Config{Devices: "cpu:2", Threads: 4})
	require.NoError(t, err)
	defer sys.Close()
	shared, err := NewPlan[float64](ctx, sys, a, PlanOptions{})
	require.NoError(t, err)
	x := make([]float64, 3000)
	for i := range x {
		x[i] = float64(i%17) - 8
	}
	want := reference.Multiply(false, 2, sparse.Matrix[float64](a), x, 0, nil)
	var wg sync.WaitGroup
	for range 6 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			own, err := NewPlan[float64](ctx, sys, a, PlanOptions{Format: sparse.FormatCSC})
			if err != nil {
				t.Error(err)
				return
			}
			defer own.Close()
			y := make([]float64, 4000)
			for i := range 10 {
				plan := shared
				if i%2 == 1 {
					plan = own
				}
				if _, err := plan.SpMV(ctx, NoTrans, 2, x, 0, y); err != nil {
					t.Error(err)
				}
				if bad := reference.Check(y, want); bad >= 0 {
					t.Errorf("y[%d] = %v, want %v", bad, y[bad], want.Y[bad])
				}
			}
		}()
	}
	wg.Wait()
}

func TestSpMVOnceUsesAllDevices(t *testing.T) {
	y := []float64{1, 1, 1}
	require.NoError(t, SpMV(ctx, NoTrans, 2, sparse.Matrix[float64](small(t)), []float64{1, 10, 100, 1000}, 3, y))
	require.Equal(t, []float64{2*2001 + 3, 3, 63}, y)
	require.ErrorContains(t, SpMV(ctx, NoTrans, 2, sparse.Matrix[float64](small(t)), nil, 3, y), "x: 0 elements")
}

func TestThePlanSaysWhatItDid(t *testing.T) {
	sys := openCPU(t, "cpu:2")
	hyper := &sparse.CSR[float64]{Rows: 1000, Cols: 2, RowPtr: make([]int64, 1001), ColIdx: []int32{1}, Val: []float64{2}}
	hyper.RowPtr[1000] = 1
	plan, err := NewPlan[float64](ctx, sys, hyper, PlanOptions{})
	require.NoError(t, err)
	require.Equal(t, partition.RuleMergePath, plan.Rule(), "many empty rows")
	require.Equal(t, sparse.FormatCSR, plan.Format())
	require.Equal(t, int64(1), plan.NNZ())
	rows, cols := plan.Dims()
	require.Equal(t, []int{1000, 2}, []int{rows, cols})
	parts := []partition.Part{plan.Shares()[0].Part, plan.Shares()[1].Part}
	require.NoError(t, partition.Verify(parts, hyper.RowPtr))
	require.InDelta(t, 500, parts[0].OwnEnd, 2)
}

// faulty is a device whose n-th call of a stream fails.
type faulty struct {
	*cpu.Device
	left *int
}

type faultyStream struct {
	kernels.Stream
	left *int
}

var errFault = errors.New("injected")

func (d faulty) NewStream() (kernels.Stream, error) {
	s, err := d.Device.NewStream()
	return faultyStream{s, d.left}, err
}

func (s faultyStream) use() error {
	*s.left--
	if *s.left == 0 {
		return &kernels.DeviceError{Device: "cpu:0", Call: "launch", Err: errFault}
	}
	return nil
}

func (s faultyStream) Write(dst kernels.Buffer, off int64, src []byte) error {
	if err := s.use(); err != nil {
		return err
	}
	return s.Stream.Write(dst, off, src)
}

func (s faultyStream) Read(dst []byte, src kernels.Buffer, off int64) error {
	if err := s.use(); err != nil {
		return err
	}
	return s.Stream.Read(dst, src, off)
}

func (s faultyStream) Launch(op kernels.Op) error {
	if err := s.use(); err != nil {
		return err
	}
	return s.Stream.Launch(op)
}

func (s faultyStream) Sync() error {
	if err := s.use(); err != nil {
		return err
	}
	return s.Stream.Sync()
}

func TestADeviceThatFailsAtAnyCallLeaksNothing(t *testing.T) {
	for _, strategy := range []Strategy{Optimized, Partial, Baseline} {
		failures := 0
		for n := 1; n < 60; n++ {
			d, err := cpu.Open(cpu.Config{Threads: 1, NUMANode: -1})
			require.NoError(t, err)
			left := n
			sys := &System{devices: []kernels.Device{faulty{d, &left}}, plans: map[io.Closer]bool{}}
			plan, err := NewPlan[float64](ctx, sys, small(t), PlanOptions{Strategy: strategy})
			for i := 0; err == nil && i < 3; i++ {
				_, err = plan.SpMV(ctx, Op(i == 1), 1, make([]float64, 4-i%2), 1, make([]float64, 3+i%2))
			}
			if err != nil {
				require.ErrorIs(t, err, errFault)
				failures++
			}
			require.NoError(t, sys.Close(), "%s, call %d: every buffer is freed", strategy, n)
			require.Zero(t, d.InUse())
		}
		require.Greater(t, failures, 8, "the faults must be reached")
		require.Less(t, failures, 59, "and without them it must work")
	}
}

func TestAReleasedMatrixIsForgotten(t *testing.T) {
	ctx := context.Background()
	forms := []kernels.Form{kernels.FormAuto}
	for _, f := range cpu.Forms() {
		if f != kernels.FormCSR { // parts as they are, which the plan goes on using
			forms = append(forms, f)
		}
	}
	for i, f := range append(forms, forms...) {
		sys := openCPU(t, []string{"cpu:1", "cpu:3"}[i/len(forms)])
		a := wideMatrix(3000)
		if picky[sparse.Format(f)] {
			a = blocksOf4(750)
		}
		x, y := make([]float64, 3000), make([]float64, 3000)
		for i := range x {
			x[i] = float64(i%7) - 3
		}
		plan, err := NewPlan(ctx, sys, a, PlanOptions{Format: sparse.Format(f), Release: true, ExpectedTransposed: 10})
		if picky[sparse.Format(f)] && sparse.IsInput(err) {
			continue
		}
		require.NoError(t, err, f)
		straight, transposed := reference.Multiply(false, 2, a, x, 0, y), reference.Multiply(true, 2, a, x, 0, y)
		clear(a.Val)
		clear(a.ColIdx)
		clear(a.RowPtr)
		for op, want := range map[Op]reference.Product{NoTrans: straight, Trans: transposed} {
			_, err = plan.SpMV(ctx, op, 2, x, 0, y)
			require.NoError(t, err)
			require.Equal(t, -1, reference.Check(y, want), f)
		}
		require.ErrorContains(t, plan.UpdateValues(ctx, a.Val), "was released")
		require.Equal(t, int64(len(a.Val)), plan.NNZ())
		require.NoError(t, plan.Close())

		plan, err = NewPlan(ctx, sys, a, PlanOptions{Format: "slices", Release: true, SkipValidation: true})
		require.NoError(t, err)
		_, err = plan.SpMV(ctx, Trans, 2, x, 0, y)
		require.ErrorContains(t, err, "was released")
		require.True(t, sparse.IsInput(err))
		_, err = plan.SpMV(ctx, NoTrans, 2, x, 0, y)
		require.NoError(t, err, "the plan lives on")
	}
}

func TestReleasedPlansMultiplyTheTransposeWhereTheirFormsDo(t *testing.T) {
	ctx := context.Background()
	for _, format := range []sparse.Format{FormatAuto, "slices", "tiles"} {
		a := small(t)
		plan, err := NewPlan(ctx, openCPU(t, "cpu:3"), a, PlanOptions{Format: format, Release: true})
		require.NoError(t, err)
		x, y := make([]float64, a.Rows), make([]float64, a.Cols)
		for i := range x {
			x[i] = 1 / float64(i+1)
		}
		for i := range y {
			y[i] = float64(i % 7)
		}
		want := reference.Multiply(true, 2, sparse.Matrix[float64](a), x, -.5, y)
		clear(a.Val)
		_, err = plan.SpMV(ctx, Trans, 2, x, -.5, y)
		if plan.Packed(NoTrans)[0].Form == "slices" {
			require.ErrorIs(t, err, errReleased)
			require.Empty(t, plan.Packed(Trans)[0])
			continue
		}
		require.NoError(t, err)
		require.Equal(t, -1, reference.Check(y, want), format)
		require.Equal(t, plan.Packed(NoTrans), plan.Packed(Trans))
	}
}

func TestUpdateValuesOfAPlanWithOneDirectionReleasedChangesNothing(t *testing.T) {
	ctx := context.Background()
	a := &sparse.COO[float64]{Rows: 3, Cols: 3, RowIdx: []int32{0, 1, 2}, ColIdx: []int32{0, 1, 2}, Val: []float64{1, 2, 3}}
	plan, err := NewPlan(ctx, openCPU(t, "cpu:1"), a, PlanOptions{Release: true, ExpectedProducts: 1, ExpectedTransposed: 1})
	require.NoError(t, err)
	require.ErrorContains(t, plan.UpdateValues(ctx, []float64{4, 5, 6}), "was released")
	y := make([]float64, 3)
	for _, op := range []Op{NoTrans, Trans} {
		_, err = plan.SpMV(ctx, op, 1, []float64{1, 1, 1}, 0, y)
		require.NoError(t, err, "the plan lives on")
		require.Equal(t, []float64{1, 2, 3}, y)
	}
}

func TestPlansThatWereNotMadeAreRefusedAndClosed(t *testing.T) {
	var none Plan[float64]
	require.NoError(t, none.Close())
	require.NoError(t, (*System)(nil).Close())
	_, err := none.SpMV(context.Background(), NoTrans, 1, nil, 0, nil)
	require.ErrorIs(t, err, errNoPlan)
	require.ErrorIs(t, none.UpdateValues(context.Background(), nil), errNoPlan)
}

// blocksOf4 is n rows of 4 x 4 blocks, two in each.
func blocksOf4(n int) *sparse.CSR[float64] {
	coo := &sparse.COO[float64]{Rows: 4 * n, Cols: 4 * n}
	for b := range n {
		for _, c := range []int{b, (b + 7) % n} {
			for k := range 16 {
				coo.RowIdx, coo.ColIdx = append(coo.RowIdx, int32(4*b+k/4)), append(coo.ColIdx, int32(4*c+k%4))
				coo.Val = append(coo.Val, float64(b%13+k)-8.5)
			}
		}
	}
	return sparse.ToCSR[float64](coo)
}

func TestACancelledUpdateChangesBothDirectionsOrNone(t *testing.T) {
	sys := openCPU(t, "cpu:1")
	a := blocksOf4(20)
	x, y := make([]float64, 80), make([]float64, 80)
	for i := range x {
		x[i] = 1
	}
	for calls := range 12 { // of Err before it says that the context ended
		plan, err := NewPlan(context.Background(), sys, a, PlanOptions{ExpectedTransposed: 50})
		require.NoError(t, err)
		val := make([]float64, len(a.Val))
		for i := range val {
			val[i] = 5
		}
		if err := plan.UpdateValues(&endsAfter{Context: context.Background(), left: calls}, val); err != nil {
			require.ErrorIs(t, err, context.Canceled)
		}
		var sums [2]float64
		for i, op := range []Op{NoTrans, Trans} {
			if _, err := plan.SpMV(context.Background(), op, 1, x, 0, y); err != nil {
				require.ErrorContains(t, err, "unusable", "or all products are refused")
				sums[i] = -1
				continue
			}
			sums[i] = total(y, func(v float64) float64 { return v })
		}
		require.InDelta(t, sums[0], sums[1], 1e-9)
		require.NoError(t, plan.Close())
	}
}

// endsAfter is a context that ends after a number of looks at it.
type endsAfter struct {
	context.Context
	left int
}

func (c *endsAfter) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}
