package msrep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/devicetest"
	"github.com/msrep-go/msrep/kernels/reference"
	"github.com/msrep-go/msrep/kernels/sim"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// log counts what happens on devices.
type log struct {
	mu     sync.Mutex
	events []Event
}

func (l *log) hear(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
}

// take gives the bytes that crossed to and from the host and between devices, and the
// number of waits, and forgets them.
func (l *log) take() (host, between int64, waits int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.events {
		switch e.Name {
		case "read", "write":
			host += e.Bytes
		case "copy":
			between += e.Bytes
		case "sync":
			waits++
		}
	}
	l.events = nil
	return host, between, waits
}

func normalVector[V sparse.Value](r *rand.Rand, n int) []V {
	v := make([]V, n)
	for i := range v {
		v[i] = V(r.NormFloat64())
	}
	return v
}

// onDevices makes a vector with these elements.
func onDevices[V sparse.Value](t require.TestingT, v *Vector[V], err error, elements []V) *Vector[V] {
	require.NoError(t, err)
	require.NoError(t, v.Write(elements))
	return v
}

func elements[V sparse.Value](t require.TestingT, v *Vector[V]) []V {
	out := make([]V, v.Len())
	require.NoError(t, v.Read(out))
	return out
}

func TestProductsOfVectorsOnDevicesAgreeWithTheReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if rapid.Bool().Draw(t, "single") {
			applies[float32](t)
		} else {
			applies[float64](t)
		}
	})
}

func applies[V sparse.Value](t *rapid.T) {
	a := devicetest.Draw[V](t)
	sys, err := Open(Config{Devices: rapid.SampledFrom([]string{"sim:1", "sim:2", "sim:5", "cpu:1", "cpu:3"}).Draw(t, "devices")})
	require.NoError(t, err)
	defer func() { require.NoError(t, sys.Close()) }()
	opt := PlanOptions{
		Format:             sparse.Format(rapid.SampledFrom([]string{"auto", "csr", "csc", "coo"}).Draw(t, "format")),
		Split:              rapid.SampledFrom([]partition.Rule{"", partition.RuleNNZ, partition.RuleMajor}).Draw(t, "split"),
		ExpectedTransposed: rapid.SampledFrom([]int{0, 10}).Draw(t, "transposed"),
	}
	if opt.Format == "auto" {
		opt.Deterministic = rapid.Bool().Draw(t, "deterministic") && opt.Split == ""
	}
	plan, err := NewPlan[V](context.Background(), sys, a, opt)
	require.NoError(t, err)
	op := Op(rapid.Bool().Draw(t, "trans"))
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
	for range 2 { // the second finds everything in place
		want := reference.Multiply[V](bool(op), alpha, a, x, beta, y)
		require.NoError(t, plan.Apply(context.Background(), op, alpha, dx, beta, dy))
		got := elements(t, dy)
		require.Equal(t, -1, reference.Check(got, want))
		require.Equal(t, x, elements(t, dx), "x stays")
		y = got
	}
}

func TestVectorsFollowTheirFormulas(t *testing.T) {
	for _, devices := range []string{"cpu:1", "cpu:3", "sim:1", "sim:3"} {
		t.Run(devices, func(t *testing.T) { vectorFormulas(t, devices) })
	}
}

func vectorFormulas(t *testing.T, devices string) {
	sys, err := Open(Config{Devices: devices})
	require.NoError(t, err)
	defer func() { require.NoError(t, sys.Close()) }()
	const n = 1001
	r := rand.New(rand.NewPCG(1, 1))
	host := map[string][]float64{}
	dev := map[string]*Vector[float64]{}
	for _, name := range []string{"p", "q", "x", "r", "c"} {
		host[name] = normalVector[float64](r, n)
		v, err := NewVector[float64](sys, n)
		dev[name] = onDevices(t, v, err, host[name])
	}
	p, q, x, res, c := host["p"], host["q"], host["x"], host["r"], host["c"]
	dp, dq, dx, dr, dc := dev["p"], dev["q"], dev["x"], dev["r"], dev["c"]
	each := func(f func(i int)) {
		for i := range n {
			f(i)
		}
	}
	dot := func(a, b []float64) (sum float64) {
		for i := range a {
			sum += a[i] * b[i]
		}
		return sum
	}
	check := func(what string) {
		t.Helper()
		for name, v := range dev {
			require.InDeltaSlice(t, host[name], elements(t, v), 1e-12, "%s: %s", what, name)
		}
	}
	require.NoError(t, dp.Axpy(2, dq))
	each(func(i int) { p[i] += 2 * q[i] })
	check("axpy")
	require.NoError(t, dp.Axpby(-1, dq, 0.5))
	each(func(i int) { p[i] = -q[i] + 0.5*p[i] })
	require.NoError(t, dq.Axpby(2, dq, 0.5))
	require.NoError(t, dc.Scale(-1))
	each(func(i int) { q[i], c[i] = 2.5*q[i], -c[i] })
	check("axpby")
	d, err := dp.Dot(dq)
	require.NoError(t, err)
	require.InDelta(t, dot(p, q), d, 1e-9)
	norm, err := dp.Norm()
	require.NoError(t, err)
	require.InDelta(t, math.Sqrt(dot(p, p)), norm, 1e-9)
	h := make([]float64, 3)
	require.NoError(t, dp.Project(h, []*Vector[float64]{dp, dq, dx}))
	require.InDeltaSlice(t, []float64{dot(p, p), dot(p, q), dot(p, x)}, h, 1e-9)
	ww, err := dp.Combine([]float64{0.25, -0.5}, []*Vector[float64]{dq, dc})
	require.NoError(t, err)
	each(func(i int) { p[i] += 0.25*q[i] - 0.5*c[i] })
	require.InDelta(t, dot(p, p), ww, 1e-9)
	check("combine")
	m, err := dp.Misfit(0.5, dq)
	require.NoError(t, err)
	want := 0.0
	each(func(i int) { want += (p[i] - 0.5*q[i]) * (p[i] - 0.5*q[i]) })
	require.InDelta(t, want, m, 1e-9)
	rr, err := Step(0.5, dp, dq, dx, dr)
	require.NoError(t, err)
	each(func(i int) { x[i] += 0.5 * p[i]; res[i] -= 0.5 * q[i] })
	require.InDelta(t, dot(res, res), rr, 1e-9)
	check("step")
	require.NoError(t, Turn(dr, 0.5, 0.25, dq, dp))
	each(func(i int) { p[i] = res[i] + 0.5*(p[i]-0.25*q[i]) })
	check("turn")
	rr, cr, err := Finish(0.5, dp, 0.25, dr, dx, dq, dr, dc)
	require.NoError(t, err)
	each(func(i int) { x[i] += 0.5*p[i] + 0.25*res[i]; res[i] -= 0.25 * q[i] })
	require.InDeltaSlice(t, []float64{dot(res, res), dot(c, res)}, []float64{rr, cr}, 1e-9)
	check("finish")
	require.NoError(t, dp.Multiply(dq, dr))
	each(func(i int) { p[i] = q[i] * res[i] })
	require.NoError(t, dq.Copy(dr))
	copy(q, res)
	require.NoError(t, dc.Fill(3))
	each(func(i int) { c[i] = 3 })
	check("fill")

	short, err := NewVector[float64](sys, n-1)
	require.NoError(t, err)
	for what, err := range map[string]error{
		"axpy":        dp.Axpy(1, short),
		"nil":         dp.Axpy(1, nil),
		"copy":        dp.Copy(short),
		"project":     dp.Project(h, []*Vector[float64]{dp, dq}),
		"combine":     errOf(dp.Combine([]float64{1}, []*Vector[float64]{dp})),
		"into itself": dp.Multiply(dp, dq),
		"write":       dp.Write(p[1:]),
		"read":        dp.Read(p[1:]),
	} {
		require.True(t, sparse.IsInput(err), "%s: %v", what, err)
	}
	require.NoError(t, dp.Close())
	require.NoError(t, dp.Close())
	require.ErrorIs(t, dq.Axpy(1, dp), ErrClosed)
	check2 := elements(t, dq)
	require.InDeltaSlice(t, q, check2, 1e-12)
}

func errOf[T any](_ T, err error) error { return err }

// bands is a matrix with wide rows in the middle, so that parts begin within rows.
func bands(n int) *sparse.CSR[float64] {
	ptr, idx, val := []int64{0}, []int32{}, []float64{}
	for i := range n {
		lo, hi := max(i-2, 0), min(i+3, n)
		if i == n/2 {
			lo, hi = 0, n
		}
		for j := lo; j < hi; j++ {
			idx, val = append(idx, int32(j)), append(val, float64(i+j%7+1))
		}
		ptr = append(ptr, int64(len(idx)))
	}
	return &sparse.CSR[float64]{Rows: n, Cols: n, RowPtr: ptr, ColIdx: idx, Val: val}
}

func TestProductsOfResidentVectorsDoNotTouchTheHost(t *testing.T) {
	const n = 4000
	for _, devices := range []int{1, 2, 4} {
		for _, c := range kinds {
			var heard log
			sys, err := Open(Config{Devices: fmt.Sprintf("sim:%d", devices), Trace: heard.hear})
			require.NoError(t, err)
			plan, err := NewPlan(t.Context(), sys, sparse.Matrix[float64](bands(n)), PlanOptions{Format: c.format, Split: partition.RuleNNZ})
			require.NoError(t, err)
			require.True(t, plan.Resident(c.op))
			x, err := plan.ColumnVector()
			require.NoError(t, err)
			y, err := plan.RowVector()
			require.NoError(t, err)
			require.NoError(t, x.Fill(1))
			require.NoError(t, plan.Apply(t.Context(), c.op, 1, x, 0, y)) // brings the matrix
			heard.take()
			const products = 3
			for range products {
				require.NoError(t, plan.Apply(t.Context(), c.op, 2, x, 0.5, y))
				require.NoError(t, x.Scale(0.5)) // once all have read it
			}
			host, between, waits := heard.take()
			require.Zero(t, host, "bytes to or from the host")
			require.Zero(t, waits, "of the host")
			least, most := int64(devices-1), int64(products*devices*(8*n+8)) // all of x, or of the partial vectors, and carries
			require.GreaterOrEqual(t, between, min(least, 1))
			if devices == 1 {
				most = 0
			}
			require.LessOrEqual(t, between, most)
			_, err = x.Dot(y)
			require.NoError(t, err)
			host, _, waits = heard.take()
			require.Equal(t, int64(8*devices), host, "a sum from each device")
			require.Equal(t, devices, waits, "one wait")
			require.NoError(t, sys.Close())
		}
	}
}

func TestADeviceGathersOnlyWhatItsPartNeeds(t *testing.T) {
	var heard log
	sys, err := Open(Config{Devices: "sim:2", Trace: heard.hear})
	require.NoError(t, err)
	defer func() { require.NoError(t, sys.Close()) }()
	a := bands(2001)
	a = sparse.ToCSR[float64](keepBands(a))
	plan, err := NewPlan(t.Context(), sys, sparse.Matrix[float64](a), PlanOptions{})
	require.NoError(t, err)
	x, err := plan.ColumnVector()
	require.NoError(t, err)
	y, err := plan.RowVector()
	require.NoError(t, err)
	require.NoError(t, plan.Apply(t.Context(), NoTrans, 1, x, 0, y))
	heard.take()
	require.NoError(t, plan.Apply(t.Context(), NoTrans, 1, x, 0, y))
	_, between, _ := heard.take()
	require.LessOrEqual(t, between, int64(8*(2001+8)), "its own piece, two elements beyond it, and a carry")
}

// keepBands leaves out the long row.
func keepBands(a *sparse.CSR[float64]) *sparse.COO[float64] {
	c := sparse.ToCOO[float64](a)
	out := &sparse.COO[float64]{Rows: c.Rows, Cols: c.Cols}
	for k, i := range c.RowIdx {
		if j := c.ColIdx[k]; j >= i-2 && j <= i+2 {
			out.RowIdx, out.ColIdx, out.Val = append(out.RowIdx, i), append(out.ColIdx, j), append(out.Val, c.Val[k])
		}
	}
	return out
}

func TestVectorsOfCPUDevicesAreHostMemory(t *testing.T) {
	sys, err := Open(Config{Devices: "cpu:2"})
	require.NoError(t, err)
	defer func() { require.NoError(t, sys.Close()) }()
	v, err := NewVector[float64](sys, 10)
	require.NoError(t, err)
	require.NoError(t, v.Fill(2))
	v.Host()[3] = 5
	require.Equal(t, []float64{2, 2, 2, 5, 2, 2, 2, 2, 2, 2}, elements(t, v))
	require.Equal(t, int64(80), v.Bytes())

	gpus, err := Open(Config{Devices: "sim:2"})
	require.NoError(t, err)
	w, err := NewVector[float64](gpus, 10)
	require.NoError(t, err)
	require.Nil(t, w.Host())
	require.True(t, sparse.IsInput(v.Axpy(1, w)), "of another system")
	require.NoError(t, gpus.Close())
	require.ErrorIs(t, w.Fill(1), ErrClosed, "a system closes its vectors")
	_, err = NewVector[float64](gpus, 10)
	require.ErrorIs(t, err, ErrClosed)
	for _, n := range []int{-1, sparse.MaxDim + 1} {
		_, err = NewVector[float64](sys, n)
		require.True(t, sparse.IsInput(err))
	}
	_, err = NewVector[float64](nil, 1)
	require.True(t, sparse.IsInput(err))
}

func TestBadVectorsOfProductsAreRefused(t *testing.T) {
	for _, devices := range []string{"cpu:2", "sim:2"} {
		sys, err := Open(Config{Devices: devices})
		require.NoError(t, err)
		other, err := Open(Config{Devices: devices})
		require.NoError(t, err)
		plan, err := NewPlan(t.Context(), sys, sparse.Matrix[float64](bands(50)), PlanOptions{})
		require.NoError(t, err)
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
		require.NoError(t, plan.Apply(t.Context(), NoTrans, 1, x, 0, y), "the plan is still good")
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, plan.Apply(ended, NoTrans, 1, x, 0, y), context.Canceled)
		require.NoError(t, x.Close())
		require.ErrorIs(t, plan.Apply(t.Context(), NoTrans, 1, x, 0, y), ErrClosed)
		require.NoError(t, plan.Close())
		_, err = plan.RowVector()
		require.ErrorIs(t, err, ErrClosed)
		require.NoError(t, errors.Join(sys.Close(), other.Close()))
	}
}

func TestReleasedMatricesAreNotTurnedForVectors(t *testing.T) {
	sys, err := Open(Config{Devices: "cpu:1"})
	require.NoError(t, err)
	defer func() { require.NoError(t, sys.Close()) }()
	plan, err := NewPlan(t.Context(), sys, sparse.Matrix[float64](bands(9)), PlanOptions{Deterministic: true, Release: true})
	require.NoError(t, err)
	x, err := plan.RowVector()
	require.NoError(t, err)
	y, err := plan.ColumnVector()
	require.NoError(t, err)
	if err := plan.Apply(t.Context(), Trans, 1, x, 0, y); err != nil { // where the matrix was let go
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
		sys, err := Open(Config{Devices: devices})
		require.NoError(t, err)
		a := bands(300)
		plan, err := NewPlan(t.Context(), sys, sparse.Matrix[float64](a), PlanOptions{})
		require.NoError(t, err)
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

func TestFailuresOfDevicesComeBackFromVectorsAndLeaveNothingBehind(t *testing.T) {
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
		sys := &System{plans: map[io.Closer]bool{}}
		for i := range 2 {
			d, err := sim.Open(sim.Config{Index: i, Fail: fail})
			require.NoError(t, err)
			sys.devices = append(sys.devices, d)
		}
		err := func() error {
			plan, err := NewPlan(t.Context(), sys, sparse.Matrix[float64](a), PlanOptions{Format: sparse.FormatCSR, Split: partition.RuleNNZ})
			if err != nil {
				return err
			}
			x, err := plan.ColumnVector()
			if err != nil {
				return err
			}
			y, err := NewVector[float64](sys, a.Rows) // cut in another way
			if err != nil {
				return err
			}
			_, err = x.Dot(x)
			return errors.Join(x.Fill(1), plan.Apply(t.Context(), NoTrans, 1, x, 0.5, y), err, y.Read(make([]float64, a.Rows)))
		}()
		require.NoError(t, sys.Close(), "failure %d leaves nothing behind", at)
		if err == nil {
			require.Greater(t, at, 30, "every call failed once")
			return
		}
		var device *kernels.DeviceError
		require.ErrorAs(t, err, &device)
		require.ErrorIs(t, err, errInjected)
	}
}
