package msrep

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/sim"
	"github.com/msrep-go/msrep/sparse"
)

// biased is a simulated GPU that reports less traffic for products in CSR (toCSR), or in COO.
type biased struct {
	*sim.Device
	toCSR bool
}

func (d biased) Traffic(op kernels.Operation) (int64, error) {
	n, err := d.Device.Traffic(op)
	if strings.HasSuffix(op.Name(), "-coo") == d.toCSR {
		n = 1 << 60
	}
	return n, err
}

// simulated returns a System of n simulated GPUs, each wrapped by wrap.
func simulated(t require.TestingT, n int, c sim.Config, wrap func(*sim.Device) kernels.Device) *System {
	sys := newSystem()
	for i := range n {
		c.Index = i
		d, err := sim.Open(c)
		require.NoError(t, err)
		sys.devices().List = append(sys.devices().List, wrap(d))
	}
	return sys
}

// inCOO returns a in COO, sorted by row or by column.
func inCOO[V sparse.Value](a sparse.Matrix[V], byRow bool) *sparse.COO[V] {
	if byRow {
		return sparse.ToCOO[V](sparse.ToCSR(a))
	}
	return sparse.ToCOO[V](sparse.ToCSC(a))
}

func checkCompressed[V sparse.Value](t *rapid.T) {
	toCSR := rapid.Bool().Draw(t, "to csr")
	sys := simulated(t, rapid.SampledFrom([]int{1, 2, 5, 40}).Draw(t, "devices"), sim.Config{},
		func(d *sim.Device) kernels.Device { return biased{d, toCSR} })
	defer func() { require.NoError(t, sys.Close(), "every buffer is freed") }()
	var a sparse.Matrix[V] = inCOO(randomMatrix[V](t), rapid.Bool().Draw(t, "by row"))
	plan := planOf(t, sys, a, PlanOptions{
		Storage:  Storage{Format: sparse.FormatCOO},
		Expected: Expected{Transposed: rapid.SampledFrom([]int{0, 1000}).Draw(t, "expected transposed")},
	})
	for _, s := range plan.shares {
		if s.arrays == compressed {
			require.True(t, toCSR)
			require.Nil(t, s.major.Buf, "it was freed")
		} else {
			require.Nil(t, s.ptr.Buf, "it was freed")
		}
	}
	scalar := rapid.SampledFrom([]V{0, 1, 0.37, -2.5})
	for range 3 {
		checkRandomProduct(t, plan, a, scalar.Draw(t, "alpha"), scalar.Draw(t, "beta"))
		a = maybeUpdateValues(t, plan, a)
	}
}

func TestCOOAsCSRAgreesWithTheReference(t *testing.T) {
	left := 150
	if testing.Short() {
		left = 40
	}
	rapid.Check(t, func(t *rapid.T) {
		if left--; left < 0 {
			return
		}
		if rapid.Bool().Draw(t, "single precision") {
			checkCompressed[float32](t)
		} else {
			checkCompressed[float64](t)
		}
	})
}

// All warps and devices share a long row. A long column is not shared.
func TestCOOWithOneRowOrOneColumnIsMultipliedAsCSR(t *testing.T) {
	const n = 9000
	line := &sparse.COO[float64]{Rows: 1, Cols: n}
	for k := range n {
		line.RowIdx, line.ColIdx, line.Val = append(line.RowIdx, 0), append(line.ColIdx, int32(k)), append(line.Val, float64(k%7)-3)
	}
	column := &sparse.COO[float64]{Rows: n, Cols: 1, RowIdx: line.ColIdx, ColIdx: line.RowIdx, Val: line.Val}
	for _, a := range []*sparse.COO[float64]{line, column} {
		for _, devices := range []int{1, 3} {
			sys := simulated(t, devices, sim.Config{Unchecked: true}, func(d *sim.Device) kernels.Device { return biased{d, true} })
			plan := planOf[float64](t, sys, a, PlanOptions{Storage: Storage{Format: sparse.FormatCOO}})
			for _, op := range []Transpose{NoTrans, Trans} {
				rows, cols := plan.dims(op)
				x, y := sines(cols), sines(rows)
				want := reference.Multiply(bool(op), 0.5, a, x, -2, y)
				multiply(t, plan, op, 0.5, x, -2, y)
				require.Equal(t, -1, reference.Check(y, want))
			}
			for _, s := range plan.shares {
				require.Equal(t, s.part.NNZ() > int64(s.part.Majors())/2, s.arrays == compressed)
				if a == line && devices == 1 {
					require.EqualValues(t, n, s.longest, "by merge path")
				}
			}
			require.NoError(t, sys.Close())
		}
	}
}

func TestCOOAsCSRMultipliesVectorsOnTheDevices(t *testing.T) {
	const n = 300
	for _, byRow := range []bool{true, false} {
		sys := simulated(t, 3, sim.Config{}, func(d *sim.Device) kernels.Device { return biased{d, true} })
		a := inCOO[float64](bands(n), byRow)
		plan := planOf[float64](t, sys, a, PlanOptions{Storage: Storage{Format: sparse.FormatCOO}})
		require.Equal(t, compressed, plan.shares[1].arrays)
		for _, op := range []Transpose{NoTrans, Trans} {
			require.True(t, plan.Resident(op))
			vx, err := plan.ColumnVector()
			require.NoError(t, err)
			vy, err := plan.RowVector()
			require.NoError(t, err)
			x, y := sines(n), sines(n)
			require.NoError(t, vx.Write(x))
			require.NoError(t, vy.Write(y))
			want := reference.Multiply(bool(op), 0.5, a, x, -2, y)
			require.NoError(t, plan.Apply(ctx, op, 0.5, vx, -2, vy))
			require.NoError(t, vy.Read(y))
			require.Equal(t, -1, reference.Check(y, want))
		}
		require.NoError(t, sys.Close())
	}
}

func TestPlansForFewProductsStayInCOO(t *testing.T) {
	a := inCOO[float64](bands(300), true)
	for _, c := range []struct {
		opt  PlanOptions
		made int
		form kernels.Form
	}{
		{PlanOptions{}, 2, "csr"},
		{PlanOptions{Expected: Expected{Products: 100}}, 2, "csr"},
		{PlanOptions{Expected: Expected{Products: 99}}, 0, ""},
		{PlanOptions{Expected: Expected{Products: 1, Transposed: 100}}, 2, "coo"}, // minor products
		{PlanOptions{Variant: Variant{Strategy: Partial}}, 0, ""},
		{PlanOptions{Variant: Variant{Strategy: Baseline}}, 0, ""},
	} {
		var recorded eventLog
		sys := open(t, Config{Devices: "sim:2", Trace: recorded.record})
		c.opt.Storage.Format = sparse.FormatCOO
		plan := planOf[float64](t, sys, a, c.opt)
		var made int
		for _, d := range sys.Devices() {
			for _, name := range recorded.names(d.ID) {
				if name == "coo-ptr" {
					made++
				}
			}
		}
		require.Equal(t, c.made, made, "%+v", c.opt)
		for _, info := range plan.Packed(NoTrans) {
			if c.made == 0 {
				require.Zero(t, info)
				continue
			}
			require.Equal(t, c.form, info.Form, "%+v", c.opt)
			require.Regexp(t, `^counted: coo moves \d+ bytes, csr \d+$`, info.Why)
			require.Positive(t, info.Took)
		}
		if c.made > 0 {
			require.Positive(t, plan.Timing().Convert)
		}
	}
	sys := open(t, Config{Devices: "cpu:2"})
	require.Zero(t, planOf[float64](t, sys, a, PlanOptions{Storage: Storage{Format: sparse.FormatCOO}}).Packed(NoTrans)[0], "CPU devices use it in place")
}

// Most rows are empty, so the pointers take more memory than the row indices of the entries.
func TestPointersOfMoreRowsThanEntriesAreNotMade(t *testing.T) {
	a := &sparse.COO[float64]{Rows: 1 << 30, Cols: 3, RowIdx: []int32{0, 7, 1<<30 - 1}, ColIdx: []int32{0, 1, 2}, Val: []float64{1, 2, 3}}
	sys := open(t, Config{Devices: "sim:2"})
	plan := planOf[float64](t, sys, a, PlanOptions{Storage: Storage{Format: sparse.FormatCOO}})
	require.Less(t, plan.Bytes(), int64(200))
}

// timed is a GPU on which an operation takes the time that took states for its name.
type timed struct {
	kernels.Device // hides Traffic
	took           map[string]time.Duration
}

type timedStream struct {
	kernels.Stream
	dev timed
	now *time.Duration
}

type timedEvent struct {
	kernels.Event
	at *time.Duration
}

func (d timed) NewStream() (kernels.Stream, error) {
	s, err := d.Device.NewStream()
	return timedStream{s, d, new(time.Duration)}, err
}

func (d timed) NewEvent() (kernels.Event, error) {
	e, err := d.Device.NewEvent()
	return timedEvent{e, new(time.Duration)}, err
}

func (s timedStream) Launch(op kernels.Operation) error {
	*s.now += s.dev.took[op.Name()]
	return s.Stream.Launch(op)
}

func (s timedStream) Record(e kernels.Event) error {
	*e.(timedEvent).at = *s.now
	return s.Stream.Record(e.(timedEvent).Event)
}

func (s timedStream) Wait(e kernels.Event) error { return s.Stream.Wait(e.(timedEvent).Event) }

func (e timedEvent) Since(start kernels.Event) (time.Duration, error) {
	return *e.at - *start.(timedEvent).at, nil
}

func TestTheFasterOfCOOAndCSRIsKept(t *testing.T) {
	took := map[string]time.Duration{
		"major-product-coo": 5 * time.Microsecond, "major-product": 4 * time.Microsecond,
		"minor-product-coo": 6 * time.Microsecond, "minor-product": 7 * time.Microsecond,
	}
	for _, byRow := range []bool{true, false} {
		for _, transposed := range []int{0, 1000} {
			sys := simulated(t, 2, sim.Config{Unchecked: true}, func(d *sim.Device) kernels.Device { return timed{d, took} })
			a := inCOO[float64](bands(300), byRow)
			plan := planOf[float64](t, sys, a, PlanOptions{Storage: Storage{Format: sparse.FormatCOO}, Expected: Expected{Transposed: transposed}})
			byMajor := byRow == (transposed == 0)
			for _, info := range plan.Packed(NoTrans) {
				if byMajor {
					require.Equal(t, kernels.FormCSR, info.Form)
					require.Equal(t, "measured: coo 5µs, csr 4µs", info.Why)
				} else {
					require.EqualValues(t, "coo", info.Form)
					require.Equal(t, "measured: coo 6µs, csr 7µs", info.Why)
				}
				require.Len(t, info.Tried, 2)
			}
			require.NoError(t, sys.Close())
		}
	}
}

func TestADeviceThatFailsWhileCOOIsMeasuredLeaksNothing(t *testing.T) {
	a := inCOO[float64](bands(40), true)
	var reached []string
	for n := 1; n < 120; n++ {
		var calls atomic.Int64
		sys := simulated(t, 2, sim.Config{Fail: func(call string) error {
			if calls.Add(1) == int64(n) {
				return errFault
			}
			return nil
		}}, func(d *sim.Device) kernels.Device {
			if n%2 == 0 {
				return d
			}
			return struct{ kernels.Device }{d}
		})
		plan, err := NewPlan[float64](ctx, sys, a, PlanOptions{Storage: Storage{Format: sparse.FormatCOO}, Variant: Variant{Strategy: Optimized}})
		if err != nil {
			require.ErrorIs(t, err, errFault)
			require.Nil(t, plan)
			reached = append(reached, err.Error())
		}
		require.NoError(t, sys.Close(), "call %d: every buffer is freed", n)
	}
	for _, kernel := range []string{"coo-ptr", "major-product-coo", "major-product:"} {
		require.True(t, slices.ContainsFunc(reached, func(s string) bool { return strings.Contains(s, kernel) }), "%s must be reached", kernel)
	}
}

func TestWithoutMemoryForPointersOrVectorsAPlanStaysInCOO(t *testing.T) {
	a := inCOO[float64](bands(300), true)
	sys := simulated(t, 1, sim.Config{}, func(d *sim.Device) kernels.Device { return d })
	plan := planOf[float64](t, sys, a, PlanOptions{Storage: Storage{Format: sparse.FormatCOO}, Expected: Expected{Products: 1}})
	need := plan.Bytes()
	require.NoError(t, sys.Close())
	for _, more := range []int64{0, 8 * 302, 8 * 500} { // no extra memory, enough for the pointers, enough for one of two vectors
		sys := simulated(t, 1, sim.Config{Memory: need + more}, func(d *sim.Device) kernels.Device { return d })
		plan := planOf[float64](t, sys, a, PlanOptions{Storage: Storage{Format: sparse.FormatCOO}})
		require.Equal(t, need, plan.Bytes())
		require.Equal(t, coordinates, plan.shares[0].arrays)
		require.NoError(t, sys.Close())
	}
}
