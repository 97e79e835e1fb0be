package msrep

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/devvec"
	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

func TestPlansAndProductsRacingCloseEndWithErrClosed(t *testing.T) {
	for range 300 {
		sys := open(t, Config{Devices: "cpu:2"})
		done := make(chan error)
		go func() {
			plan, err := NewPlan[float64](ctx, sys, small(t), PlanOptions{Variant: Variant{Strategy: Partial}})
			if err == nil {
				err = plan.SpMV(ctx, NoTrans, 1, make([]float64, 4), 0, make([]float64, 3))
			}
			done <- err
		}()
		require.NoError(t, sys.Close())
		if err := <-done; err != nil {
			require.ErrorIs(t, err, ErrClosed)
		}
	}
}

func TestClosedPlansAndSystemsReturnErrClosed(t *testing.T) {
	sys := open(t, Config{Devices: "cpu:2"})
	plan := planOf[float64](t, sys, small(t), PlanOptions{Variant: Variant{Strategy: Partial}})
	require.Positive(t, plan.Bytes())
	other := planOf[float64](t, sys, small(t), PlanOptions{})
	require.NoError(t, other.Close())
	require.NoError(t, other.Close())
	device := devvec.Device(sys, 0)
	require.NoError(t, sys.Close(), "closes the plan that is still open")
	require.NoError(t, sys.Close())
	_, err := device.Alloc(8)
	require.ErrorIs(t, err, ErrClosed)
	err = plan.SpMV(ctx, NoTrans, 1, make([]float64, 4), 0, make([]float64, 3))
	require.ErrorIs(t, err, ErrClosed)
	require.ErrorIs(t, plan.UpdateValues(ctx, make([]float64, 3)), ErrClosed)
	_, err = NewPlan[float64](ctx, sys, small(t), PlanOptions{})
	require.ErrorIs(t, err, ErrClosed)
}

// System.Close may close the plan of the transposed matrix before the plan that uses it.
func TestNewValuesRacingCloseEndWithErrClosed(t *testing.T) {
	for range 100 {
		sys := open(t, Config{Devices: "cpu:2"})
		plan := planOf[float64](t, sys, small(t), PlanOptions{Expected: Expected{Transposed: 2}})
		require.NotNil(t, plan.transposed)
		done := make(chan error)
		go func() { done <- plan.UpdateValues(ctx, make([]float64, 3)) }()
		require.NoError(t, plan.transposed.Close())
		if err := <-done; err != nil {
			require.ErrorIs(t, err, ErrClosed)
		}
		require.ErrorIs(t, plan.UpdateValues(ctx, make([]float64, 3)), ErrClosed)
		require.NoError(t, sys.Close())
	}
}

func TestACancelledContextStopsAProductAndThePlanLivesOn(t *testing.T) {
	sys := openCPU(t, "cpu:2")
	plan := planOf[float64](t, sys, small(t), PlanOptions{})
	ended, cancel := context.WithCancel(ctx)
	cancel()
	err := plan.SpMV(ended, NoTrans, 1, make([]float64, 4), 0, make([]float64, 3))
	require.ErrorIs(t, err, context.Canceled)
	multiply(t, plan, NoTrans, 1, make([]float64, 4), 0, make([]float64, 3))
}

func TestAContextThatEndsOnAllDevicesIsOneError(t *testing.T) {
	for _, devices := range []string{"cpu:1", "cpu:3"} {
		sys := openCPU(t, devices)
		plan := planOf[float64](t, sys, small(t), PlanOptions{})
		for calls := range 3 {
			err := plan.SpMV(newEndsAfter(calls), NoTrans, 1, make([]float64, 4), 0, make([]float64, 3))
			if err != nil || calls == 0 {
				require.Equal(t, context.Canceled, err, "%s, %d calls of Err", devices, calls)
			}
			_, err = NewPlan[float64](newEndsAfter(calls), sys, small(t), PlanOptions{})
			if err != nil || calls == 0 {
				require.EqualError(t, err, "context canceled", "%s, %d calls of Err", devices, calls)
			}
		}
		multiply(t, plan, NoTrans, 1, make([]float64, 4), 0, make([]float64, 3))
	}
}

func TestAWaitForAPlanEndsWithItsContext(t *testing.T) {
	sys := open(t, Config{Devices: "cpu:1"}) // closed at the end: Close also waits for the lock
	plan := planOf[float64](t, sys, small(t), PlanOptions{})
	x, err := plan.ColumnVector()
	require.NoError(t, err)
	y, err := plan.RowVector()
	require.NoError(t, err)
	plan.mu.Lock() // as a long product does
	for name, call := range map[string]func(context.Context) error{
		"SpMV": func(c context.Context) error {
			err := plan.SpMV(c, NoTrans, 1, make([]float64, 4), 0, make([]float64, 3))
			return err
		},
		"SpMM": func(c context.Context) error {
			err := plan.SpMM(c, NoTrans, 1, MultiVectorByRow(make([]float64, 8), 2), 0, MultiVectorByRow(make([]float64, 6), 2))
			return err
		},
		"Apply":        func(c context.Context) error { return plan.Apply(c, NoTrans, 1, x, 0, y) },
		"UpdateValues": func(c context.Context) error { return plan.UpdateValues(c, make([]float64, 3)) },
	} {
		soon, cancel := context.WithTimeout(ctx, time.Millisecond)
		ended := make(chan error, 1)
		go func() { ended <- call(soon) }()
		select {
		case err := <-ended:
			require.ErrorIs(t, err, context.DeadlineExceeded, name)
		case <-time.After(10 * time.Second):
			require.Fail(t, "the call still waits for the lock", name)
		}
		cancel()
	}
	done := make(chan error, 1)
	later, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		err := plan.SpMV(later, NoTrans, 1, make([]float64, 4), 0, make([]float64, 3))
		done <- err
	}()
	time.Sleep(time.Millisecond) // so that the call waits, in most runs
	plan.mu.Unlock()
	select {
	case err := <-done:
		require.NoError(t, err)
	case <-time.After(10 * time.Second):
		require.Fail(t, "a call that gave up still holds the lock")
	}
	require.NoError(t, sys.Close())
}

func TestManyGoroutinesUseOnePlanAndOneSystem(t *testing.T) {
	a := generated(t, "random:rows=4000,cols=3000,nnz=60000")
	sys := open(t, Config{Devices: "cpu:2", Threads: 4})
	shared := planOf[float64](t, sys, a, PlanOptions{})
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
			own, err := NewPlan[float64](ctx, sys, a, PlanOptions{Storage: Storage{Format: sparse.FormatCSC}})
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
				if err := plan.SpMV(ctx, NoTrans, 2, x, 0, y); err != nil {
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

func TestDevicesThatCannotBeOpenedAreTriedAgain(t *testing.T) {
	busy := errors.New("busy")
	failures, opened := 2, 0
	late := lazySystem{open: func() (*System, error) {
		if failures--; failures >= 0 {
			return nil, busy
		}
		opened++
		return Open(Config{Devices: "cpu:1"})
	}}
	for range 2 {
		_, err := late.get()
		require.ErrorIs(t, err, busy)
	}
	first, err := late.get()
	require.NoError(t, err)
	defer first.Close()
	again, err := late.get()
	require.NoError(t, err)
	require.Same(t, first, again)
	require.Equal(t, 1, opened)
}

// slowClose is a device whose streams close after may is closed. It closes closing and closed as signals.
type slowClose struct {
	kernels.Device
	closing, may, closed chan struct{}
}

type slowStream struct {
	kernels.Stream
	dev slowClose
}

func (d slowClose) NewStream() (kernels.Stream, error) {
	s, err := d.Device.NewStream()
	return slowStream{s, d}, err
}

func (s slowStream) Close() error {
	close(s.dev.closing)
	<-s.dev.may
	return s.Stream.Close()
}

func (d slowClose) Close() error {
	close(d.closed)
	return d.Device.Close()
}

func TestASystemWaitsForPlansThatAreBeingClosed(t *testing.T) {
	sys := testSystem(t, 1, false)
	d := slowClose{sys.devices().List[0], make(chan struct{}), make(chan struct{}), make(chan struct{})}
	sys.devices().List[0] = d
	plan := planOf(t, sys, small(t), PlanOptions{})
	ends := make(chan error)
	go func() { ends <- plan.Close() }()
	<-d.closing
	go func() { ends <- sys.Close() }()
	select {
	case <-d.closed:
		t.Error("the device is closed before the plan is")
	case <-time.After(20 * time.Millisecond):
	}
	close(d.may)
	require.NoError(t, <-ends)
	require.NoError(t, <-ends)
	<-d.closed
}

func TestAPlanDoesNotKeepTheVectorsOfItsLastProduct(t *testing.T) {
	sys := openCPU(t, "cpu:2")
	plan := planOf[float64](t, sys, small(t), PlanOptions{})
	defer plan.Close()
	for _, op := range []Transpose{NoTrans, Trans} {
		for range 2 { // the second product reuses the buffers of the first
			gone := make(chan struct{}, 2)
			func() {
				rows, cols := plan.dims(op)
				x, y := make([]float64, 512)[:cols], make([]float64, 512)[:rows]
				for _, v := range [][]float64{x, y} {
					runtime.AddCleanup(&v[0], func(struct{}) { gone <- struct{}{} }, struct{}{})
				}
				multiply(t, plan, op, 1, x, 0, y)
			}()
			runtime.GC()
			for range 2 {
				select {
				case <-gone:
				case <-time.After(10 * time.Second):
					require.Fail(t, "the plan keeps a vector")
				}
			}
		}
	}
}

// slowOpen is a device that creates a stream or allocates memory only after may is closed. It closes asked and closed
// as signals.
type slowOpen struct {
	kernels.Device
	slow               *string // the call that waits; later calls do not wait
	asked, may, closed chan struct{}
}

func (d slowOpen) wait(call string) {
	if *d.slow == call {
		*d.slow = ""
		close(d.asked)
		<-d.may
	}
}

func (d slowOpen) NewStream() (kernels.Stream, error) {
	d.wait("stream")
	return d.Device.NewStream()
}

func (d slowOpen) Alloc(bytes int64) (kernels.Buffer, error) {
	d.wait("alloc")
	return d.Device.Alloc(bytes)
}

func (d slowOpen) Close() error {
	close(d.closed)
	return d.Device.Close()
}

func TestASystemWaitsForVectorsThatAreBeingMade(t *testing.T) {
	for _, slow := range []string{"stream", "alloc", "selection"} {
		sys, call := testSystem(t, 1, true), slow
		d := slowOpen{sys.devices().List[0], &call, make(chan struct{}), make(chan struct{}), make(chan struct{})}
		sys.devices().List[0] = d
		ends := make(chan error)
		if slow == "selection" {
			v, err := NewVector[float64](sys, 9)
			require.NoError(t, err)
			call = "alloc"
			go func() {
				_, err := devvec.NewSelection(v, [][]int32{{1, 3}})
				ends <- err
			}()
		} else {
			go func() {
				_, err := NewVector[float64](sys, 9)
				ends <- err
			}()
		}
		<-d.asked
		closed := make(chan error)
		go func() { closed <- sys.Close() }()
		select {
		case <-d.closed:
			t.Errorf("%s: the device is closed before the call ends", slow)
		case <-time.After(20 * time.Millisecond):
		}
		close(d.may)
		if err := <-ends; err != nil {
			require.ErrorIs(t, err, ErrClosed, slow)
		}
		require.NoError(t, <-closed, slow)
	}
}
