package msrep

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/devicetest"
	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/sim"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

func TestProductsOfVectorsOnDevicesAgreeWithTheReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if rapid.Bool().Draw(t, "single") {
			checkApply[float32](t)
		} else {
			checkApply[float64](t)
		}
	})
}

func checkApply[V sparse.Value](t *rapid.T) {
	a := devicetest.Draw[V](t)
	sys := open(t, Config{Devices: rapid.SampledFrom([]string{"sim:1", "sim:2", "sim:5", "cpu:1", "cpu:3"}).Draw(t, "devices")})
	opt := PlanOptions{
		Storage:  Storage{Format: sparse.Format(rapid.SampledFrom([]string{"auto", "csr", "csc", "coo"}).Draw(t, "format"))},
		Variant:  Variant{Split: rapid.SampledFrom([]partition.Rule{"", partition.RuleNNZ, partition.RuleMajor}).Draw(t, "split")},
		Expected: Expected{Transposed: rapid.SampledFrom([]int{0, 10}).Draw(t, "transposed")},
	}
	if opt.Storage.Format == "auto" {
		opt.Deterministic = rapid.Bool().Draw(t, "deterministic") && opt.Variant.Split == ""
	}
	plan := planOf[V](t, sys, a, opt)
	op := Transpose(rapid.Bool().Draw(t, "trans"))
	rows, cols := plan.Dims()
	if op == Trans {
		rows, cols = cols, rows
	}
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 7))
	x, y := normalVector[V](r, cols), normalVector[V](r, rows)
	alpha := V(rapid.SampledFrom([]float64{0, 1, -1.5}).Draw(t, "alpha"))
	beta := V(rapid.SampledFrom([]float64{0, 1, 0.75}).Draw(t, "beta"))
	xOf, yOf := plan.ColumnVector, plan.RowVector
	if op == Trans {
		xOf, yOf = yOf, xOf
	}
	if rapid.Bool().Draw(t, "even") {
		xOf = func() (*Vector[V], error) { return NewVector[V](sys, cols) }
		yOf = func() (*Vector[V], error) { return NewVector[V](sys, rows) }
	}
	vx, err := xOf()
	dx := onDevices(t, vx, err, x)
	vy, err := yOf()
	if err == nil && beta == 0 && rows > 0 { // not read
		y[rows/2] /= 0
	}
	dy := onDevices(t, vy, err, y)
	held := 0
	for round := range 2 { // the second product reuses the buffers
		require.NoError(t, dx.Scale(-2)) // may still run when the product begins
		for i := range x {
			x[i] *= -2
		}
		want := reference.Multiply[V](bool(op), alpha, a, x, beta, y)
		require.NoError(t, plan.Apply(context.Background(), op, alpha, dx, beta, dy))
		require.NoError(t, dx.Scale(1)) // queued while the product may still run
		got := elements(t, dy)
		require.Equal(t, -1, reference.Check(got, want))
		require.Equal(t, x, elements(t, dx), "x stays")
		y = got
		if round == 1 {
			require.Len(t, sys.devices().Opened, held, "no vector stays open")
		}
		held = len(sys.devices().Opened)
	}
}

func TestProductsOfResidentVectorsDoNotTouchTheHost(t *testing.T) {
	n := 4000
	if testing.Short() {
		n = 1000
	}
	for _, devices := range []int{1, 2, 4} {
		for _, c := range kinds {
			var recorded eventLog
			sys := open(t, Config{Devices: fmt.Sprintf("sim:%d", devices), Trace: recorded.record})
			plan := planOf(t, sys, sparse.Matrix[float64](bands(n)), PlanOptions{Storage: Storage{Format: c.format}, Variant: Variant{Split: partition.RuleNNZ}})
			require.True(t, plan.Resident(c.op))
			x, err := plan.ColumnVector()
			require.NoError(t, err)
			y, err := plan.RowVector()
			require.NoError(t, err)
			require.NoError(t, x.Fill(1))
			require.NoError(t, plan.Apply(t.Context(), c.op, 1, x, 0, y)) // copies the matrix to the devices
			recorded.drain()
			const products = 3
			for range products {
				require.NoError(t, plan.Apply(t.Context(), c.op, 2, x, 0.5, y))
				require.NoError(t, x.Scale(0.5)) // after all devices have read it
			}
			pulls := recorded.count("pull", "pull-carries", "sum-partials")
			host, between, waits := recorded.drain()
			require.Zero(t, host, "bytes to or from the host")
			require.Zero(t, waits, "waits of the host")
			require.Zero(t, between, "kernels read the memory of other devices")
			require.Equal(t, devices > 1, pulls > 0)
			_, err = x.Dot(y)
			require.NoError(t, err)
			host, _, waits = recorded.drain()
			require.Equal(t, int64(8*devices), host, "a sum from each device")
			require.Equal(t, devices, waits, "one wait")
			require.NoError(t, sys.Close())
		}
	}
}

func TestADeviceCopiesOnlyTheElementsOfXThatItNeeds(t *testing.T) {
	var recorded eventLog
	sys := open(t, Config{Devices: "sim:2", Trace: recorded.record})
	a := bands(2001)
	a = sparse.ToCSR[float64](keepBands(a))
	plan := planOf(t, sys, sparse.Matrix[float64](a), PlanOptions{})
	x, err := plan.ColumnVector()
	require.NoError(t, err)
	y, err := plan.RowVector()
	require.NoError(t, err)
	require.NoError(t, plan.Apply(t.Context(), NoTrans, 1, x, 0, y))
	recorded.drain()
	require.NoError(t, plan.Apply(t.Context(), NoTrans, 1, x, 0, y))
	_, between, _ := recorded.drain()
	require.LessOrEqual(t, between, int64(8*(2001+8)), "its own piece, two elements beyond it, and a carry")
}

func TestVectorsOfCPUDevicesAreHostMemory(t *testing.T) {
	sys := open(t, Config{Devices: "cpu:2"})
	v, err := NewVector[float64](sys, 10)
	require.NoError(t, err)
	require.NoError(t, v.Fill(2))
	v.Host()[3] = 5
	require.Equal(t, []float64{2, 2, 2, 5, 2, 2, 2, 2, 2, 2}, elements(t, v))
	require.Equal(t, int64(80), v.Bytes())

	gpus := open(t, Config{Devices: "sim:2"})
	w, err := NewVector[float64](gpus, 10)
	require.NoError(t, err)
	require.Nil(t, w.Host())
	require.True(t, sparse.IsInput(v.Axpy(1, w)), "of another system")
	require.NoError(t, gpus.Close())
	require.ErrorIs(t, w.Fill(1), ErrClosed, "a system closes its vectors")
	_, err = NewVector[float64](gpus, 10)
	require.ErrorIs(t, err, ErrClosed)
	tooMany := int64(sparse.MaxDim) + 1 // negative as a 32-bit int
	for _, n := range []int{-1, int(tooMany)} {
		_, err = NewVector[float64](sys, n)
		require.True(t, sparse.IsInput(err))
	}
	_, err = NewVector[float64](nil, 1)
	require.True(t, sparse.IsInput(err))
}

func TestBadVectorsOfProductsAreRefused(t *testing.T) {
	for _, devices := range []string{"cpu:2", "sim:2"} {
		sys := open(t, Config{Devices: devices})
		other := open(t, Config{Devices: devices})
		plan := planOf(t, sys, sparse.Matrix[float64](bands(50)), PlanOptions{})
		of := func(s *System, n int) *Vector[float64] {
			v, err := NewVector[float64](s, n)
			require.NoError(t, err)
			return v
		}
		x, y := of(sys, 50), of(sys, 50)
		for _, c := range []struct{ x, y *Vector[float64] }{
			{nil, y}, {x, nil}, {x, x}, {of(sys, 49), y}, {x, of(sys, 51)}, {of(other, 50), y}, {x, of(other, 50)},
		} {
			require.True(t, sparse.IsInput(plan.Apply(t.Context(), NoTrans, 1, c.x, 0, c.y)))
		}
		require.NoError(t, plan.Apply(t.Context(), NoTrans, 1, x, 0, y), "the plan is still usable")
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, plan.Apply(ended, NoTrans, 1, x, 0, y), context.Canceled)
		require.NoError(t, x.Close())
		require.ErrorIs(t, plan.Apply(t.Context(), NoTrans, 1, x, 0, y), ErrClosed)
		require.NoError(t, plan.Apply(t.Context(), NoTrans, 1, of(sys, 50), 0, y), "the plan is still usable")
		require.NoError(t, plan.Close())
		_, err := plan.RowVector()
		require.ErrorIs(t, err, ErrClosed)
		require.NoError(t, errors.Join(sys.Close(), other.Close()))
	}
}

func TestReleasedMatricesAreNotTransposedForVectors(t *testing.T) {
	sys := open(t, Config{Devices: "cpu:1"})
	plan := planOf(t, sys, sparse.Matrix[float64](bands(9)), PlanOptions{Deterministic: true, Storage: Storage{Release: true}})
	x, err := plan.RowVector()
	require.NoError(t, err)
	y, err := plan.ColumnVector()
	require.NoError(t, err)
	if err := plan.Apply(t.Context(), Trans, 1, x, 0, y); err != nil { // if the matrix was released
		require.ErrorIs(t, err, errReleased)
	}
	var none *Vector[float64]
	require.Zero(t, none.Len())
	require.Nil(t, none.Host())
	require.Zero(t, none.Bytes())
	require.NoError(t, none.Close())
	require.True(t, sparse.IsInput(none.Fill(1)))
}

func TestVectorsAreUsedFromManyGoroutines(t *testing.T) {
	for _, devices := range []string{"cpu:2", "sim:2"} {
		sys := open(t, Config{Devices: devices})
		a := bands(300)
		plan := planOf(t, sys, sparse.Matrix[float64](a), PlanOptions{})
		ones := slices.Repeat([]float64{1}, 300)
		want := reference.Multiply[float64](false, 1, a, ones, 0, make([]float64, 300))
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				x, err := plan.ColumnVector()
				require.NoError(t, err)
				y, err := plan.RowVector()
				require.NoError(t, err)
				for range 3 {
					require.NoError(t, x.Fill(1))
					require.NoError(t, plan.Apply(t.Context(), NoTrans, 1, x, 0, y))
					require.Equal(t, -1, reference.Check(elements(t, y), want))
				}
				require.NoError(t, errors.Join(x.Close(), y.Close()))
			})
		}
		wg.Wait()
		require.NoError(t, sys.Close(), "nothing stays allocated")
	}
}

func TestVectorOperationsReturnDeviceErrorsAndLeakNothing(t *testing.T) {
	a := bands(60)
	for at := 0; ; at++ {
		var mu sync.Mutex
		left := at
		fail := func(string) error {
			mu.Lock()
			defer mu.Unlock()
			if left--; left == -1 {
				return errInjected
			}
			return nil
		}
		sys := newSystem()
		for i := range 2 {
			d, err := sim.Open(sim.Config{Index: i, Fail: fail})
			require.NoError(t, err)
			sys.devices().List = append(sys.devices().List, d)
		}
		err := func() error {
			plan, err := NewPlan(t.Context(), sys, sparse.Matrix[float64](a), PlanOptions{Storage: Storage{Format: sparse.FormatCSR}, Variant: Variant{Split: partition.RuleNNZ}})
			if err != nil {
				return err
			}
			x, err := plan.ColumnVector()
			if err != nil {
				return err
			}
			y, err := NewVector[float64](sys, a.Rows) // other pieces than those of the plan
			if err != nil {
				return err
			}
			_, err = x.Dot(x)
			return errors.Join(x.Fill(1), plan.Apply(t.Context(), NoTrans, 1, x, 0.5, y), err, y.Read(make([]float64, a.Rows)))
		}()
		require.NoError(t, sys.Close(), "failure %d leaks nothing", at)
		if err == nil {
			require.Greater(t, at, 30, "every call failed once")
			return
		}
		var device *kernels.DeviceError
		require.ErrorAs(t, err, &device)
		require.ErrorIs(t, err, errInjected)
	}
}

// errInjected is the error of calls that tests make fail.
var errInjected = errors.New("injected")
