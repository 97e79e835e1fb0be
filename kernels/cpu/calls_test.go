package cpu_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/devicetest"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

func open(t *testing.T, c cpu.Config) (*cpu.Device, kernels.Stream) {
	t.Helper()
	d, err := cpu.Open(c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	s, err := d.NewStream()
	require.NoError(t, err)
	return d, s
}

// mustPack is Pack without an error.
func mustPack(t require.TestingT, d *cpu.Device, op kernels.Operation) kernels.Packed {
	p, err := d.Pack(op)
	require.NoError(t, err)
	return p
}

// splitOf returns the rows of a matrix in so many parts, which may share rows.
func splitOf(t require.TestingT, a *sparse.CSR[float64], parts int) []partition.Part {
	split, _, err := partition.Split(a.RowPtr, parts, partition.RuleNNZ)
	require.NoError(t, err)
	return split
}

func TestOpenNeedsAWorker(t *testing.T) {
	_, err := cpu.Open(cpu.Config{})
	require.ErrorContains(t, err, "threads: 0 for device cpu:0")
}

func TestMemoryIsZeroAlignedCountedAndFreedOnce(t *testing.T) {
	d, s := open(t, cpu.Config{Threads: 1})
	for _, n := range []int64{0, 1, 100, 1 << 20} {
		b, err := d.Alloc(n)
		require.NoError(t, err)
		require.Equal(t, n, b.Bytes())
		require.Equal(t, n, d.InUse())
		view, err := d.View(b)
		require.NoError(t, err)
		require.Len(t, view, int(n))
		_, aligned := mem.Slice[float64](view, n/8)
		require.True(t, aligned)
		for _, v := range view {
			require.Zero(t, v)
		}
		require.NoError(t, b.Free())
		require.NoError(t, b.Free())
		require.Zero(t, d.InUse())
		_, err = d.View(b)
		require.ErrorIs(t, err, kernels.ErrClosed)
		if n > 0 {
			require.ErrorIs(t, s.Write(b, 0, []byte{1}), kernels.ErrClosed)
		}
	}
	require.NoError(t, d.Close())
}

func TestAllocationsBeyondTheMemoryNameDeviceAndSize(t *testing.T) {
	d, _ := open(t, cpu.Config{Index: 3, Threads: 1, Memory: 1000})
	b, err := d.Alloc(600)
	require.NoError(t, err)
	_, err = d.Alloc(401)
	require.ErrorIs(t, err, kernels.ErrOutOfMemory)
	require.ErrorContains(t, err, "device cpu:3: alloc of 401 bytes: out of memory")
	_, err = d.Alloc(-1)
	require.ErrorIs(t, err, kernels.ErrArgument)
	_, err = d.Alloc(1 << 62)
	require.ErrorIs(t, err, kernels.ErrOutOfMemory)
	require.Equal(t, int64(600), d.InUse())
	require.ErrorContains(t, d.Close(), "600 bytes were not freed")
	require.NoError(t, b.Free())
}

func TestCopiesStayInsideTheirBuffers(t *testing.T) {
	d, s := open(t, cpu.Config{Threads: 2})
	defer d.Close()
	a, err := kernels.NewArray[int64](d, 100_000)
	require.NoError(t, err)
	defer a.Free()
	b, err := kernels.NewArray[int64](d, 100_000)
	require.NoError(t, err)
	defer b.Free()
	src, dst := make([]int64, 100_000), make([]int64, 100_000)
	for i := range src {
		src[i] = int64(i) * 3
	}
	require.NoError(t, a.Write(s, src))
	require.NoError(t, s.Copy(b.Buf, 8, a.Buf, 0, 8*99_999))
	require.NoError(t, b.Read(s, dst))
	require.NoError(t, s.Sync())
	require.Zero(t, dst[0])
	require.Equal(t, src[:99_999], dst[1:])
	for _, err := range []error{
		s.Copy(b.Buf, 8, a.Buf, 8, 8*100_000),
		s.Copy(b.Buf, -8, a.Buf, 0, 8),
		s.Copy(b.Buf, 0, a.Buf, 1<<62, 1<<62),
		s.Write(a.Buf, 8*100_000, []byte{1}),
		s.Read(make([]byte, 9), a.Buf, 8*100_000-8),
		s.Read(make([]byte, 9), nil, 0),
		a.Sub(99_999, 100_001).Write(s, []int64{1, 2}),
	} {
		require.ErrorIs(t, err, kernels.ErrArgument)
	}
}

type unknownOp struct{}

func (unknownOp) Name() string { return "sort" }

func TestLaunchChecksItsArguments(t *testing.T) {
	d, s := open(t, cpu.Config{Threads: 2})
	defer d.Close()
	ints := func(v ...int64) kernels.Array[int64] { return kernels.AdoptArray(d, v) }
	idx := func(v ...int32) kernels.Array[int32] { return kernels.AdoptArray(d, v) }
	val := func(v ...float64) kernels.Array[float64] { return kernels.AdoptArray(d, v) }
	part := partition.Part{EndIdx: 1, EndMajor: 1, OwnEnd: 2}
	good := kernels.Compressed[float64]{Part: part, Ptr: ints(0, 1, 2), Idx: idx(0, 1), Val: val(2, 3)}
	y := val(0, 0)
	require.NoError(t, s.Launch(&kernels.MajorProduct[float64]{A: good, Alpha: 1, X: val(10, 100), Y: y}))
	got, err := kernels.View(d, y)
	require.NoError(t, err)
	require.Equal(t, []float64{20, 300}, got)

	with := func(change func(a *kernels.Compressed[float64])) kernels.Compressed[float64] {
		a := good
		change(&a)
		return a
	}
	for name, op := range map[string]kernels.Operation{
		"y short":   &kernels.MajorProduct[float64]{A: good, X: val(1, 1), Y: val(1)},
		"ptr short": &kernels.MajorProduct[float64]{A: with(func(a *kernels.Compressed[float64]) { a.Ptr = ints(0, 2) }), X: val(1, 1), Y: y},
		"idx long":  &kernels.MinorProduct[float64]{A: with(func(a *kernels.Compressed[float64]) { a.Idx = idx(0, 1, 1) }), X: val(1, 1), Y: y},
		"val short": &kernels.MinorProduct[float64]{A: with(func(a *kernels.Compressed[float64]) { a.Val = val(1) }), X: val(1, 1), Y: y},
		"x short":   &kernels.MinorProduct[float64]{A: good, X: val(1), Y: y},
		"no carry":  &kernels.MajorProduct[float64]{A: with(func(a *kernels.Compressed[float64]) { a.Part.StartFlag, a.Part.OwnFirst = true, 1 }), X: val(1, 1), Y: val(0)},
		"part":      &kernels.MajorProduct[float64]{A: with(func(a *kernels.Compressed[float64]) { a.Part = a.Part.Shift(-5, 0) }), X: val(1, 1), Y: y},
		"index":     &kernels.MajorProduct[float64]{A: good, Alpha: 1, X: val(10), Y: y},
		"coo":       &kernels.MajorProductCOO[float64]{A: kernels.Coordinate[float64]{Part: part, Major: idx(0), Minor: idx(0, 1), Val: val(1, 2)}, X: val(1, 1), Y: y},
		"coo part":  &kernels.MinorProductCOO[float64]{A: kernels.Coordinate[float64]{Part: part.Shift(0, -1), Major: idx(0, 1), Minor: idx(0, 1), Val: val(1, 2)}, X: val(1, 1), Y: y},
	} {
		err := s.Launch(op)
		require.ErrorIs(t, err, kernels.ErrArgument, name)
		require.ErrorContains(t, err, "device cpu:0: "+op.Name(), name)
	}
	require.ErrorIs(t, s.Launch(unknownOp{}), kernels.ErrNotSupported)
}

func TestEventsMeasureTheTimeBetweenThem(t *testing.T) {
	d, s := open(t, cpu.Config{Threads: 1})
	defer d.Close()
	start, err := d.NewEvent()
	require.NoError(t, err)
	stop, err := d.NewEvent()
	require.NoError(t, err)
	_, err = stop.Since(start)
	require.ErrorContains(t, err, "not recorded")
	require.NoError(t, s.Record(start))
	require.NoError(t, s.Record(stop))
	took, err := stop.Since(start)
	require.NoError(t, err)
	require.GreaterOrEqual(t, took.Nanoseconds(), int64(0))
	e, _ := open(t, cpu.Config{Threads: 1})
	defer e.Close()
	devicetest.Events(t, d, e, start)
}

func TestAClosedDeviceFailsWithErrClosed(t *testing.T) {
	d, s := open(t, cpu.Config{Threads: 3})
	require.NoError(t, d.Close())
	require.NoError(t, d.Close())
	_, err := d.Alloc(8)
	require.ErrorIs(t, err, kernels.ErrClosed)
	_, err = d.NewStream()
	require.ErrorIs(t, err, kernels.ErrClosed)
	require.ErrorIs(t, s.Launch(&kernels.MajorProduct[float64]{}), kernels.ErrClosed)
	require.ErrorIs(t, s.Read(make([]byte, 1), nil, 0), kernels.ErrClosed)
}
