package msrep

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
)

func TestProductsOfSeveralCallersRunTheFasterWay(t *testing.T) {
	const shorter, longer = 100 * time.Microsecond, 70 * time.Millisecond // longer exceeds callerTrialTime
	var c callerSchedule
	now := time.Second
	for range 1000 {
		now += time.Millisecond
		require.False(t, c.alone(now), "one caller")
	}
	for _, product := range []time.Duration{shorter, 2 * shorter, longer} {
		for _, faster := range []bool{true, false} { // whether products are faster alone
			took := map[bool]time.Duration{}
			for begin := now; now < begin+300*max(callerTrialTime, product); {
				if c.lastWait == 0 || now-c.lastWait > callerKeepTime/2 {
					c.lastWait = now
				}
				one, a := product, c.alone(now)
				if a != faster {
					one *= 2
				}
				now += one
				took[a] += one
			}
			require.Greater(t, took[faster], 5*took[!faster], "%v, %v", product, faster)
			require.Positive(t, took[!faster], "the other way is tried again")
		}
	}
	now += 2 * callerKeepTime
	require.False(t, c.alone(now))
	require.Equal(t, callerSchedule{start: now}, c, "the schedule restarts")
}

// waitSignal is a context that signals when a caller waits for its end.
type waitSignal struct {
	context.Context
	waits chan bool
}

func (a waitSignal) Done() <-chan struct{} {
	select {
	case a.waits <- true:
	default:
	}
	return a.Context.Done()
}

// aloneRecorder is a device that records whether the last product was to run on its caller alone.
type aloneRecorder struct {
	*cpu.Device
	alone *bool
}

type aloneStream struct {
	kernels.Stream
	alone *bool
}

func (d aloneRecorder) NewStream() (kernels.Stream, error) {
	s, err := d.Device.NewStream()
	return aloneStream{s, d.alone}, err
}

func (s aloneStream) Launch(op kernels.Operation) error {
	if op, ok := op.(*kernels.HostProduct[float64]); ok {
		*s.alone = op.NoWorkers
	}
	return s.Stream.Launch(op)
}

func TestAPlanNotesThatACallerWaitedForAnother(t *testing.T) {
	d, err := cpu.Open(cpu.Config{Threads: 2, NUMANode: -1})
	require.NoError(t, err)
	alone := false
	sys := newSystem(aloneRecorder{d, &alone})
	p := planOf[float64](t, sys, small(t), PlanOptions{})
	product := func(ctx context.Context) error {
		err := p.SpMV(ctx, NoTrans, 1, make([]float64, 4), 0, make([]float64, 3))
		return err
	}
	require.NoError(t, product(ctx))
	require.Zero(t, p.callers.lastWait)

	c, stop := context.WithCancel(ctx)
	defer stop()
	waiting, done := waitSignal{c, make(chan bool, 1)}, make(chan error)
	p.mu.Lock()
	go func() { done <- product(waiting) }()
	<-waiting.waits
	p.mu.Unlock()
	require.NoError(t, <-done)
	require.Positive(t, p.callers.lastWait)
	require.False(t, alone, "the first stage uses all workers")

	later := time.Since(clockStart) + time.Hour
	p.callers = callerSchedule{lastWait: later, start: later, stage: timeCallerAlone}
	require.NoError(t, product(ctx))
	require.True(t, alone)
	require.Equal(t, kernels.HostProduct[float64]{}, p.route.(*direct[float64]).op, "no reference to the vectors of a caller remains")
	require.NoError(t, sys.Close())
}

func TestThePlanOfTheTransposedMatrixNotesWaitingCallers(t *testing.T) {
	p := planOf[float64](t, openCPU(t, "cpu:1"), small(t), PlanOptions{Expected: Expected{Transposed: 1000}})
	require.NotNil(t, p.transposed)
	require.NoError(t, p.lock(ctx))
	require.Zero(t, p.transposed.callers.lastWait)
	done := make(chan error)
	waiting := waitSignal{ctx, make(chan bool, 1)}
	go func() {
		err := p.SpMV(waiting, Trans, 1, make([]float64, 3), 0, make([]float64, 4))
		done <- err
	}()
	<-waiting.waits
	p.mu.Unlock()
	require.NoError(t, <-done)
	require.Positive(t, p.callers.lastWait)
	require.Equal(t, p.callers.lastWait, p.transposed.callers.lastWait)
}
