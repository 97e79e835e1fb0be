package msrep

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/sparse"
)

func TestAFailedPlanLeavesNothingBehind(t *testing.T) {
	sys := openCPU(t, "cpu:2")
	// The pointers are out of range: without validation the conversion panics.
	wild := &sparse.CSR[float64]{Rows: 6, Cols: 6, RowPtr: []int64{0, 1, 99, 2, 3, 4, 6}, ColIdx: make([]int32, 6), Val: make([]float64, 6)}
	for _, f := range []sparse.Format{sparse.FormatCSC, sparse.FormatCOO} {
		plan, err := NewPlan(ctx, sys, sparse.Matrix[float64](wild), PlanOptions{SkipValidation: true, Storage: Storage{Format: f}})
		require.Regexp(t, `^msrep: internal error: .*\(\w+/\w+\.go:\d+\): with SkipValidation the pointers and indices.*$`, err)
		require.Nil(t, plan)
		require.Empty(t, sys.devices().Opened)
	}
	_, err := NewPlan(ctx, sys, sparse.Matrix[float64](wild), PlanOptions{})
	require.True(t, sparse.IsInput(err))
	require.Empty(t, sys.devices().Opened)
	plan := planOf[float64](t, sys, small(t), PlanOptions{})
	require.Len(t, sys.devices().Opened, 1)
	require.NoError(t, plan.Close())
	require.Empty(t, sys.devices().Opened, "a closed plan is unregistered")
}

// faulty is a device on which call number *left of its streams fails.
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

func (s faultyStream) Launch(op kernels.Operation) error {
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
		failures, updates := 0, 0
		for n := 1; n < 120; n++ {
			d, err := cpu.Open(cpu.Config{Threads: 1, NUMANode: -1})
			require.NoError(t, err)
			left := n
			sys := newSystem(faulty{d, &left})
			plan, err := NewPlan[float64](ctx, sys, small(t), PlanOptions{Variant: Variant{Strategy: strategy}})
			for i := 0; err == nil && i < 9; i++ {
				err = plan.SpMV(ctx, Transpose(i%2 == 1), 1, make([]float64, 4-i%2), 1, make([]float64, 3+i%2))
			}
			if err == nil {
				if err = plan.UpdateValues(ctx, make([]float64, 3)); err != nil {
					again := plan.UpdateValues(ctx, make([]float64, 3))
					require.ErrorContains(t, again, "unusable after an earlier error", "an update of the values was not completed")
					updates++
				}
			}
			if err != nil {
				require.ErrorIs(t, err, errFault)
				failures++
			}
			require.NoError(t, sys.Close(), "%s, call %d: every buffer is freed", strategy, n)
			require.Zero(t, d.InUse())
		}
		require.Greater(t, failures, 8, "the faults must occur")
		require.Less(t, failures, 119, "without a fault the calls must succeed")
		if strategy != Optimized { // Optimized uses the values in place
			require.Positive(t, updates)
		}
	}
}
