package sim_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/devicetest"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/kernels/internal/cuda/launch"
	"github.com/msrep-go/msrep/kernels/internal/ptx"
	"github.com/msrep-go/msrep/kernels/sim"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

func TestOpenNamesDevicesAndRefusesInvalidConfigs(t *testing.T) {
	d, _ := open(t, sim.Config{Index: 3, Memory: 1 << 20})
	require.Equal(t, kernels.Info{ID: "sim:3", Kind: "sim", Name: "simulated GPU", NUMANode: -1, Memory: 1 << 20}, d.Info())
	for _, c := range []sim.Config{{Memory: -1}, {Workers: -1}, {Blocks: -1}, {CSRKernel: "best"}} {
		_, err := sim.Open(c)
		require.True(t, sparse.IsInput(err), "%v", err)
	}
}

func TestMemoryIsZeroBoundedAndFreedOnce(t *testing.T) {
	d, s := open(t, sim.Config{Memory: 1000})
	b, err := d.Alloc(600)
	require.NoError(t, err)
	p := make([]byte, 600)
	p[0] = 1
	require.NoError(t, s.Read(p, b, 0))
	require.Equal(t, make([]byte, 600), p)
	_, err = d.Alloc(401)
	require.ErrorIs(t, err, kernels.ErrOutOfMemory)
	require.ErrorContains(t, err, "device sim:0: alloc of 401 bytes: out of memory")
	_, err = d.Alloc(-1)
	require.ErrorIs(t, err, kernels.ErrArgument)
	require.Equal(t, int64(600), d.InUse())
	require.ErrorContains(t, d.Close(), "600 bytes were not freed")
	require.NoError(t, b.Free())
	require.NoError(t, b.Free())
	require.Zero(t, d.InUse())
	require.NoError(t, d.Close())
	_, err = d.Alloc(1)
	require.ErrorIs(t, err, kernels.ErrClosed)
	_, err = d.NewStream()
	require.ErrorIs(t, err, kernels.ErrClosed)
	require.ErrorIs(t, s.Read(p, b, 0), kernels.ErrClosed)
}

func TestCopiesGoBetweenDevices(t *testing.T) {
	d0, s0 := open(t, sim.Config{})
	d1, s1 := open(t, sim.Config{Index: 1})
	a := upload(t, s0, d0, []float64{1, 2, 3, 4})
	b := upload(t, s1, d1, []float64{5, 6, 7, 8})
	require.NoError(t, s0.Sync())
	require.NoError(t, s1.Copy(b.Buf, 8, a.Buf, 16, 16))
	require.Equal(t, []float64{5, 3, 4, 8}, download(t, s1, b))
	require.NoError(t, s0.Copy(a.Buf, 0, a.Buf, 8, 24))
	require.Equal(t, []float64{2, 3, 4, 4}, download(t, s0, a))

	other, err := cpu.Open(cpu.Config{Threads: 1, NUMANode: -1})
	require.NoError(t, err)
	host, err := other.Alloc(64)
	require.NoError(t, err)
	for _, err := range []error{
		s0.Copy(a.Buf, 0, host, 0, 8), s0.Copy(a.Buf, 8, b.Buf, 0, 32), s0.Copy(a.Buf, -1, b.Buf, 0, 8), s0.Write(a.Buf, 25, make([]byte, 8)),
		s0.Read(make([]byte, 8), nil, 0), s0.Copy(a.Buf, 0, b.Buf, 0, -1),
	} {
		require.ErrorIs(t, err, kernels.ErrArgument)
		require.ErrorContains(t, err, "device sim:0")
	}
	require.NoError(t, b.Free())
	require.ErrorIs(t, s1.Read(make([]byte, 8), b.Buf, 0), kernels.ErrClosed)
}

func TestEventsMeasureTime(t *testing.T) {
	d, s := open(t, sim.Config{})
	from, err := d.NewEvent()
	require.NoError(t, err)
	to, err := d.NewEvent()
	require.NoError(t, err)
	_, err = to.Since(from)
	require.ErrorContains(t, err, "was not recorded")
	require.NoError(t, s.Record(from))
	require.NoError(t, s.Record(to))
	took, err := to.Since(from)
	require.NoError(t, err)
	require.GreaterOrEqual(t, int64(took), int64(0))
	require.NoError(t, s.Sync())
	require.NoError(t, from.Close())
	require.NoError(t, s.Close())
}

// diagonal returns a product with the identity.
func diagonal(t *testing.T, d *sim.Device, s kernels.Stream, n int, idx []int32) *kernels.MajorProduct[float64] {
	ptr := make([]int64, n+1)
	for i := range ptr {
		ptr[i] = int64(i)
	}
	one := make([]float64, n)
	for i := range one {
		one[i] = 1
	}
	part := partition.Part{EndIdx: int64(n) - 1, EndMajor: n - 1, OwnEnd: n}
	a := kernels.Compressed[float64]{Part: part, Ptr: upload(t, s, d, ptr), Idx: upload(t, s, d, idx), Val: upload(t, s, d, one)}
	return &kernels.MajorProduct[float64]{A: a, Alpha: 2, X: upload(t, s, d, one), Y: upload(t, s, d, make([]float64, n))}
}

func TestFaultsOfKernelsNameDeviceAndPlace(t *testing.T) {
	d, s := open(t, sim.Config{Index: 2})
	err := s.Launch(diagonal(t, d, s, 4, []int32{0, 1, 4, 3}))
	var f *ptx.Fault
	require.ErrorAs(t, err, &f)
	require.Equal(t, [3]int64{2}, f.Thread)
	require.ErrorContains(t, err, "device sim:2: major-product: kernel msrep_major_vector1_f64, csr_vector.ptx:")
	require.ErrorContains(t, err, "load of 8 bytes at offset 32 of x, which has 32")
	require.NoError(t, s.Launch(diagonal(t, d, s, 4, []int32{0, 1, 2, 3})), "the device goes on")
}

func TestWrongArgumentsOfOperationsAreRefused(t *testing.T) {
	d, s := open(t, sim.Config{})
	e, es := open(t, sim.Config{Index: 1})
	good := func() *kernels.MajorProduct[float64] { return diagonal(t, d, s, 4, []int32{0, 1, 2, 3}) }
	for name, change := range map[string]func(g *kernels.MajorProduct[float64]){
		"ptr":          func(g *kernels.MajorProduct[float64]) { g.A.Ptr.Len-- },
		"idx":          func(g *kernels.MajorProduct[float64]) { g.A.Idx.Len++ },
		"y":            func(g *kernels.MajorProduct[float64]) { g.Y.Len = 3 },
		"part":         func(g *kernels.MajorProduct[float64]) { g.A.Part = g.A.Part.Shift(1, 0) },
		"buffer":       func(g *kernels.MajorProduct[float64]) { g.X.Buf = nil },
		"carry":        func(g *kernels.MajorProduct[float64]) { g.A.Part.StartFlag, g.A.Part.OwnFirst = true, 1; g.Y.Len = 3 },
		"alignment":    func(g *kernels.MajorProduct[float64]) { g.X.Off, g.X.Len = 4, 3 },
		"long":         func(g *kernels.MajorProduct[float64]) { g.X.Len = 5 },
		"other device": func(g *kernels.MajorProduct[float64]) { g.X = upload(t, es, e, []float64{1, 2, 3, 4}) },
	} {
		g := good()
		change(g)
		require.ErrorIs(t, s.Launch(g), kernels.ErrArgument, name)
	}
	require.ErrorIs(t, s.Launch(&kernels.MinorProductCOO[float64]{A: kernels.Coordinate[float64]{Part: partition.Part{StartIdx: 1}}}), kernels.ErrArgument)
	require.ErrorIs(t, s.Launch(unknown{}), kernels.ErrNotSupported)
}

type unknown struct{}

func (unknown) Name() string { return "unknown" }

func TestInjectedFailuresLeaveNothingBehind(t *testing.T) {
	broken := errors.New("the device fell off the bus")
	fails := ""
	d, s := open(t, sim.Config{CSRKernel: launch.Merge, Fail: func(call string) error {
		if call == fails {
			return broken
		}
		return nil
	}})
	g := diagonal(t, d, s, 40, make([]int32, 40))
	used := d.InUse()
	for _, call := range []string{"alloc", "alloc pinned", "pack", "write", "read", "copy", "major-product", "msrep_merge_path", "msrep_major_merge_f64", "msrep_add_carries_f64"} {
		fails = call
		var err error
		switch call {
		case "alloc":
			_, err = d.Alloc(8)
		case "alloc pinned":
			_, _, err = d.AllocPinned(8)
		case "pack":
			fails = "alloc"
			_, err = d.Pack(&kernels.Packing[float64]{Part: g.A.Part, Ptr: make([]int64, 41), Idx: make([]int32, 40), Val: make([]float64, 40), Minors: 40})
			require.NotContains(t, err.Error(), "pack", "the call that failed is named")
		case "write":
			err = g.X.Write(s, []float64{1})
		case "read":
			err = g.X.Read(s, make([]float64, 1))
		case "copy":
			err = s.Copy(g.X.Buf, 0, g.Y.Buf, 0, 8)
		default:
			err = s.Launch(g)
		}
		require.ErrorIs(t, err, broken, call)
		require.ErrorContains(t, err, "device sim:0", call)
		require.Equal(t, used, d.InUse(), call)
	}
}

func TestScratchBeyondTheMemoryIsOutOfMemory(t *testing.T) {
	probe, s := open(t, sim.Config{})
	diagonal(t, probe, s, 40, make([]int32, 40))
	d, s := open(t, sim.Config{CSRKernel: launch.Merge, Memory: probe.InUse()})
	g := diagonal(t, d, s, 40, make([]int32, 40))
	require.ErrorIs(t, s.Launch(g), kernels.ErrOutOfMemory)
	require.Equal(t, probe.InUse(), d.InUse())
}

func TestTraceSeesEachKernelWithItsBuffers(t *testing.T) {
	seen := map[string]ptx.Counters{}
	d, s := open(t, sim.Config{CSRKernel: launch.Merge, Trace: func(kernel string, c ptx.Counters) { seen[kernel] = c }})
	g := diagonal(t, d, s, 2000, make([]int32, 2000))
	require.NoError(t, s.Launch(g))
	require.Len(t, seen, 3)
	c := seen["msrep_major_merge_f64"]
	b := c.Buffer("val")
	require.Equal(t, int64(16000), b.Bytes)
	require.GreaterOrEqual(t, b.DistinctSectors, int64(500))
	require.LessOrEqual(t, b.DistinctSectors, int64(510))
	for _, v := range download(t, s, g.Y) {
		require.Equal(t, 2.0, v)
	}
}

func TestBlocksSideBySideGiveTheSameProduct(t *testing.T) {
	for _, c := range []sim.Config{{Workers: 4}, {Workers: 4, Unchecked: true}} {
		d, s := open(t, c)
		g := diagonal(t, d, s, 5000, make([]int32, 5000))
		require.NoError(t, s.Launch(g))
		for _, v := range download(t, s, g.Y) {
			require.Equal(t, 2.0, v)
		}
		n := int64(5000)
		sc := &kernels.MinorProduct[float64]{A: g.A, Alpha: 1, X: g.X, Y: g.Y.Sub(0, n)}
		require.NoError(t, s.Launch(sc))
		require.Equal(t, 5000.0, download(t, s, g.Y)[0], "all entries are in column 0; beta is 0")
	}
}

func TestStreamsWaitForEachOther(t *testing.T) {
	a, s := open(t, sim.Config{})
	b, _ := open(t, sim.Config{Index: 1})
	for _, to := range []*sim.Device{a, b} {
		devicetest.Events(t, a, to, kernels.NewHostEvent("cpu:0"))
	}
	e, err := b.NewEvent()
	require.NoError(t, err)
	require.ErrorIs(t, s.Record(kernels.NewHostEvent("cpu:0")), kernels.ErrArgument)
	require.NoError(t, e.Close())
}

func TestAMissingWaitForAnotherStreamIsAnError(t *testing.T) {
	a, s := open(t, sim.Config{})
	b, r := open(t, sim.Config{Index: 1})
	x, y := upload(t, s, a, make([]float64, 8)), upload(t, r, b, make([]float64, 8))
	xy := upload(t, s, a, make([]float64, 24))
	e, err := b.NewEvent()
	require.NoError(t, err)
	early := func(err error, what string) {
		t.Helper()
		require.ErrorIs(t, err, kernels.ErrArgument)
		require.ErrorContains(t, err, what)
	}
	early(r.Copy(y.Buf, 0, x.Buf, 0, 64), "device sim:1: copy of 64 bytes: invalid argument: bytes [0, 64) of a buffer of device sim:0 while write on a stream of device sim:0 may still be running")
	require.NoError(t, s.Sync())
	require.NoError(t, r.Copy(y.Buf, 0, x.Buf, 0, 32))
	require.NoError(t, s.Launch(&kernels.Fill[float64]{Y: x.Sub(4, 8), Value: 1}), "other bytes")
	require.NoError(t, s.Launch(&kernels.Axpby[float64]{Y: x.Sub(4, 8), X: x.Sub(0, 4)}), "which are only read")
	require.NoError(t, s.Write(x.Buf, 16, nil), "no bytes")
	require.NoError(t, s.Launch(&kernels.Axpby[float64]{Y: xy.Sub(16, 24), X: xy.Sub(8, 16)}))
	require.NoError(t, r.Copy(y.Buf, 0, xy.Buf, 64, 64), "only what is behind it is written")
	early(s.Launch(&kernels.Fill[float64]{Y: x.Sub(3, 8), Value: 1}), "fill: invalid argument: bytes [24, 64) of a buffer of device sim:0 while copy on a stream of device sim:1")
	require.NoError(t, r.Record(e))
	early(r.Copy(y.Buf, 32, x.Buf, 32, 32), "while axpby on a stream of device sim:0")
	require.NoError(t, s.Wait(e))
	require.NoError(t, y.Write(s, make([]float64, 8)), "of another device, in order")
	early(y.Write(r, make([]float64, 8)), "while write on a stream of device sim:0")
	early(y.Free(), "device sim:1: free of 64 bytes: invalid argument: write on a stream of device sim:0 may still be running")
	require.NoError(t, x.Free())
}
