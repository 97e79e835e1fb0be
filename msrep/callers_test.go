package msrep

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
)

func TestProductsOfSeveralCallersAreMadeInTheFasterWay(t *testing.T) {
	const shorter, longer = 100 * time.Microsecond, 70 * time.Millisecond // the second one is longer than crowdTime
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
	require.Equal(t, callerSchedule{began: now}, c, "they are gone")
}

// asking is a context that says when somebody waits for its end.
type asking struct {
	context.Context
	waits chan bool
}

func (a asking) Done() <-chan struct{} {
	select {
	case a.waits <- true:
	default:
	}
	return a.Context.Done()
}

// watched is a device that keeps whether the last product was to be made by who asked for it.
type watched struct {
	*cpu.Device
	alone *bool
}

type watchedStream struct {
	kernels.Stream
	alone *bool
}

func (d watched) NewStream() (kernels.Stream, error) {
	s, err := d.Device.NewStream()
	return watchedStream{s, d.alone}, err
}

func (s watchedStream) Launch(op kernels.Operation) error {
	if op, ok := op.(*kernels.HostProduct[float64]); ok {
		*s.alone = op.Alone
	}
	return s.Stream.Launch(op)
}

func TestAPlanSeesACrowdWhereACallerWaitsForAnother(t *testing.T) {
	d, err := cpu.Open(cpu.Config{Threads: 2, NUMANode: -1})
	require.NoError(t, err)
	alone := false
	sys := &System{devices: []kernels.Device{watched{d, &alone}}, plans: map[io.Closer]bool{}}
	p := planOf[float64](t, sys, small(t), PlanOptions{})
	product := func(ctx context.Context) error {
		err := p.SpMV(ctx, NoTrans, 1, make([]float64, 4), 0, make([]float64, 3))
		return err
	}
	require.NoError(t, product(ctx))
	require.Zero(t, p.callers.lastWait)

	c, stop := context.WithCancel(ctx)
	defer stop()
	waiting, done := asking{c, make(chan bool, 1)}, make(chan error)
	p.mu.Lock()
	go func() { done <- product(waiting) }()
	<-waiting.waits
	p.mu.Unlock()
	require.NoError(t, <-done)
	require.Positive(t, p.callers.lastWait)
	require.False(t, alone, "first all workers make them")

	later := time.Since(began) + time.Hour
	p.callers = callerSchedule{lastWait: later, began: later, stage: timeCallerAlone}
	require.NoError(t, product(ctx))
	require.True(t, alone)
	require.Equal(t, kernels.HostProduct[float64]{}, p.shares[0].host, "it keeps no vectors of a caller")
	require.NoError(t, sys.Close())
}

func TestTransposedProductsSeeTheCrowdOfTheirPlan(t *testing.T) {
	p := planOf[float64](t, openCPU(t, "cpu:1"), small(t), PlanOptions{Expected: Expected{Transposed: 1000}})
	require.NotNil(t, p.transposed)
	require.NoError(t, p.enter(ctx))
	require.Zero(t, p.transposed.callers.lastWait)
	done := make(chan error)
	waiting := asking{ctx, make(chan bool, 1)}
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
