//go:build cuda

package nvidia

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/cases"
	"github.com/msrep-go/msrep/internal/devicetest"
	"github.com/msrep-go/msrep/internal/nvidiatest"
	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/kernels/nvidia/internal/cusparse"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// open opens a device with a stream and closes both at the end of the test.
func open(t testing.TB, c Config) (*Device, *stream) {
	c.Node = -1
	d, err := Open(c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	s, err := d.NewStream()
	require.NoError(t, err)
	return d.(*Device), s.(*stream)
}

func bytesOf(n int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(r.Uint32())
	}
	return p
}

func TestQueryAndInfoDescribeTheGPU(t *testing.T) {
	s := Query()
	require.Empty(t, s.Reason)
	require.NotEmpty(t, s.GPUs)
	require.Regexp(t, `^\d+\.\d$`, s.Driver)
	require.Regexp(t, `^1\d\.\d$`, s.Headers)
	require.NotEmpty(t, s.CuSPARSE)
	g := s.GPUs[0]
	require.NotEmpty(t, g.Name)
	require.Regexp(t, `^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.0$`, g.PCI)
	d, _ := open(t, Config{})
	require.Equal(t, kernels.Info{ID: "cuda:0", Kind: "cuda", Name: g.Name, NUMANode: -1, Memory: g.Memory}, d.Info())
	e, _ := open(t, Config{Copy: 2})
	require.Equal(t, "cuda:0.2", e.Info().ID)
	_, err := Open(Config{GPU: len(s.GPUs), Node: -1})
	require.ErrorContains(t, err, "device cuda:")
	require.ErrorContains(t, err, ": open: CUDA error 101, invalid device ordinal")
}

// onEachMachine runs a test on the GPUs, or on both kinds of stand-in.
func onEachMachine(t *testing.T, f func(t *testing.T)) {
	if !nvidiatest.Attached() {
		f(t)
		return
	}
	t.Run("with pools", func(t *testing.T) {
		standIn(t, nvidiatest.Machine{})
		f(t)
	})
	t.Run("without pools and peers", func(t *testing.T) {
		standIn(t, nvidiatest.Machine{NoPools: true, NoPeers: true})
		f(t)
	})
}

func TestMemoryIsZeroCopiedAndFreedOnce(t *testing.T) {
	onEachMachine(t, func(t *testing.T) {
		d, s := open(t, Config{})
		for _, n := range []int{0, 1, 1000, pieceBytes, 3*pieceBytes + 5, (mostPieces+3)*pieceBytes/2 + 1} {
			b, err := d.Alloc(int64(n))
			require.NoError(t, err)
			require.Equal(t, int64(n), b.Bytes())
			got := bytesOf(n, 1)
			require.NoError(t, s.Read(got, b, 0))
			require.NoError(t, s.Sync())
			require.Equal(t, make([]byte, n), got)
			want := bytesOf(n, 2)
			require.NoError(t, s.Write(b, 0, want))
			require.NoError(t, s.Read(got, b, 0))
			require.NoError(t, s.Sync())
			require.True(t, string(want) == string(got), n)
			if n > 100 {
				require.NoError(t, s.Copy(b, 7, b, 0, 90), "overlapping")
				require.NoError(t, s.Read(got, b, 0))
				require.NoError(t, s.Sync())
				copy(want[7:], want[:90])
				require.True(t, string(want) == string(got), n)
			}
			require.Equal(t, int64(n), d.InUse())
			require.NoError(t, b.Free())
			require.NoError(t, b.Free())
			require.Zero(t, d.InUse())
			if n > 0 {
				require.ErrorIs(t, s.Write(b, 0, want), kernels.ErrClosed)
			}
		}
		_, err := d.Alloc(-1)
		require.ErrorIs(t, err, kernels.ErrArgument)
		_, err = d.Alloc(1 << 50)
		require.ErrorIs(t, err, kernels.ErrOutOfMemory)
		require.ErrorContains(t, err, "device cuda:0: alloc of 1125899906842624 bytes: out of memory: the GPU has ")
		b, err := d.Alloc(d.Info().Memory - 1<<20)
		if err == nil { // no other program uses the GPU
			_, err = d.Alloc(2 << 20)
			require.NoError(t, b.Free())
		}
		require.ErrorIs(t, err, kernels.ErrOutOfMemory)
		require.ErrorContains(t, err, "bytes: out of memory: CUDA error 2, out of memory")
		require.NoError(t, s.Close())
		require.NoError(t, s.Close())
		require.NoError(t, s.Write(devicetest.Upload(t, fresh(t, d), d, []byte{1}).Buf, 0, []byte{2}))
		require.ErrorContains(t, d.Close(), "device cuda:0: close: 1 bytes were not freed")
		require.NoError(t, d.Close())
		_, err = d.Alloc(1)
		require.ErrorIs(t, err, kernels.ErrClosed)
		_, err = d.NewStream()
		require.ErrorIs(t, err, kernels.ErrClosed)
	})
}

func fresh(t testing.TB, d *Device) kernels.Stream {
	s, err := d.NewStream()
	require.NoError(t, err)
	return s
}

func TestStreamsDoNotMixTheirCopies(t *testing.T) {
	onEachMachine(t, func(t *testing.T) {
		d, _ := open(t, Config{})
		var streams []kernels.Stream
		var bufs []kernels.Buffer
		var want, got [][]byte
		for i := range 4 {
			n := 5*pieceBytes/2 + i
			b, err := d.Alloc(int64(n))
			require.NoError(t, err)
			streams, bufs = append(streams, fresh(t, d)), append(bufs, b)
			want, got = append(want, bytesOf(n, uint64(i))), append(got, make([]byte, n))
		}
		for i, s := range streams {
			require.NoError(t, s.Write(bufs[i], 0, want[i]))
		}
		for i, s := range streams {
			require.NoError(t, s.Read(got[i], bufs[i], 0))
		}
		for i, s := range streams {
			require.NoError(t, s.Sync())
			require.True(t, string(want[i]) == string(got[i]), i)
			require.NoError(t, bufs[i].Free())
		}
	})
}

func TestCopiesGoBetweenGPUs(t *testing.T) {
	onEachMachine(t, func(t *testing.T) {
		d0, d1, s0, s1 := pair(t)
		a := devicetest.Upload(t, s0, d0, []float64{1, 2, 3, 4})
		b := devicetest.Upload(t, s1, d1, []float64{5, 6, 7, 8})
		require.NoError(t, s0.Sync())
		require.NoError(t, s1.Copy(b.Buf, 8, a.Buf, 16, 16))
		require.Equal(t, []float64{5, 3, 4, 8}, devicetest.Download(t, s1, b))
		require.NoError(t, s1.Copy(a.Buf, 0, b.Buf, 24, 8), "to the other")
		require.NoError(t, s1.Sync())
		require.Equal(t, []float64{8, 2, 3, 4}, devicetest.Download(t, s0, a))

		host, err := cpu.Open(cpu.Config{Threads: 1, NUMANode: -1})
		require.NoError(t, err)
		h, err := host.Alloc(64)
		require.NoError(t, err)
		for _, err := range []error{
			s0.Copy(a.Buf, 0, h, 0, 8), s0.Copy(a.Buf, 8, b.Buf, 0, 32), s0.Copy(a.Buf, -1, b.Buf, 0, 8), s0.Write(a.Buf, 25, make([]byte, 8)),
			s0.Read(make([]byte, 8), nil, 0), s0.Copy(a.Buf, 0, b.Buf, 0, -1), s0.Write(b.Buf, 0, make([]byte, 8)),
		} {
			require.ErrorIs(t, err, kernels.ErrArgument)
			require.ErrorContains(t, err, "device cuda:0")
		}
		require.NoError(t, a.Free())
		require.NoError(t, b.Free())
	})
}

func TestEventsMeasureTheGPU(t *testing.T) {
	d, s := open(t, Config{})
	from, err := d.NewEvent()
	require.NoError(t, err)
	to, err := d.NewEvent()
	require.NoError(t, err)
	_, err = to.Since(from)
	require.ErrorContains(t, err, "was not recorded")
	x := devicetest.Upload(t, s, d, make([]float64, 1000))
	require.NoError(t, s.Record(from))
	require.NoError(t, s.Launch(&kernels.Fill[float64]{Y: x, Value: 3}))
	require.NoError(t, s.Record(to))
	took, err := to.Since(from)
	require.NoError(t, err)
	require.Positive(t, took)
	require.Equal(t, 3.0, devicetest.Download(t, s, x)[999])
	require.NoError(t, from.Close())
	require.NoError(t, from.Close())
	require.NoError(t, x.Free())
	require.ErrorIs(t, s.Record(kernels.NewHostEvent("cpu:0")), kernels.ErrArgument)
}

// pair opens two devices, on two GPUs where there are two.
func pair(t *testing.T) (d0, d1 *Device, s0, s1 *stream) {
	other := Config{GPU: 1}
	if len(Query().GPUs) == 1 {
		other = Config{Copy: 1}
	}
	d0, s0 = open(t, Config{})
	d1, s1 = open(t, other)
	return d0, d1, s0, s1
}

func TestStreamsWaitForEachOther(t *testing.T) {
	onEachMachine(t, func(t *testing.T) {
		d0, d1, _, _ := pair(t)
		d2, _ := open(t, Config{Copy: 3})
		for _, to := range []*Device{d0, d1, d2} {
			devicetest.Events(t, d0, to, kernels.NewHostEvent("cpu:0"))
		}
	})
}

// This shows that TestStreamsWaitForEachOther can fail.
func TestWithoutAWaitTheStandInGivesOldValues(t *testing.T) {
	standIn(t, nvidiatest.Machine{})
	d0, d1, s0, s1 := pair(t)
	x, y := devicetest.Upload(t, s0, d0, []float64{0}), devicetest.Upload(t, s1, d1, []float64{0})
	require.NoError(t, s0.Sync())
	require.NoError(t, s1.Sync())
	e, err := d0.NewEvent()
	require.NoError(t, err)
	get := func() float64 {
		require.NoError(t, s1.Copy(y.Buf, 0, x.Buf, 0, 8))
		return devicetest.Download(t, s1, y)[0]
	}
	set := func(v float64) {
		require.NoError(t, s0.Launch(&kernels.Fill[float64]{Y: x, Value: v}))
	}
	set(1)
	require.Zero(t, get(), "no event")
	require.NoError(t, s1.Wait(e))
	require.NoError(t, s0.Record(e))
	require.Zero(t, get(), "recorded too late")
	set(2)
	require.NoError(t, s1.Wait(e))
	require.Equal(t, 1.0, get(), "only what is before the moment is waited for")
	require.NoError(t, s0.Sync())
	require.Equal(t, 2.0, get())
	require.NoError(t, x.Free())
	require.NoError(t, y.Free())
}

func TestAFailedRecordIsAnErrorOfTheStreamsThatWait(t *testing.T) {
	standIn(t, nvidiatest.Machine{})
	d0, d1, s0, s1 := pair(t)
	e, err := d0.NewEvent()
	require.NoError(t, err)
	x := devicetest.Upload(t, s0, d0, []float64{0})
	require.NoError(t, s0.Sync())
	nvidiatest.Fail("cuLaunchKernel", 1, 719)
	require.NoError(t, s0.Launch(&kernels.Fill[float64]{Y: x}))
	require.NoError(t, s0.Record(e))
	require.NoError(t, s1.Wait(e))
	require.EqualError(t, s1.Sync(), "device cuda:0: fill: msrep_fill_f64: CUDA error 719, unspecified launch failure")
	require.NoError(t, s1.Sync(), "the other device lives")
	require.NoError(t, devicetest.Upload(t, s1, d1, []float64{1}).Free())
	require.ErrorContains(t, e.Sync(), "the device was lost")
	require.NoError(t, x.Free())
	require.NoError(t, e.Close())
}

func TestWrongArgumentsAreRefusedAtOnce(t *testing.T) {
	d, s := open(t, Config{})
	x := devicetest.Upload(t, s, d, []float64{1, 2, 3})
	part := partition.Part{EndIdx: 2, EndMajor: 2, OwnEnd: 3}
	op := &kernels.MajorProduct[float64]{A: kernels.Compressed[float64]{Part: part}, X: x, Y: x}
	err := s.Launch(op)
	require.ErrorIs(t, err, kernels.ErrArgument)
	require.EqualError(t, err, "device cuda:0: major-product: invalid argument: ptr has 0 elements, it needs 4")
	require.ErrorIs(t, s.Launch(unknown{}), kernels.ErrNotSupported)
	require.NoError(t, s.Sync())
	require.NoError(t, x.Free())
}

type unknown struct{}

func (unknown) Name() string { return "unknown" }

var ways = append([]kernels.Form{devicetest.Plain, devicetest.COO, devicetest.Fixed, devicetest.MinorProduct, devicetest.MinorProductCOO,
	kernels.FormCSR, kernels.FormMerge, kernels.FormStreamed, kernels.FormAuto}, devicetest.RowForms()...)

// agree checks products in each of the ways, each in a separate subtest: if a kernel
// loses the GPU, the others can run in further processes.
func agree(t *testing.T, ways ...kernels.Form) {
	d, s := open(t, Config{})
	one := func(require.TestingT) (kernels.Device, kernels.Stream) { return d, s }
	cases.Divide(t, len(ways))
	for _, way := range ways {
		only := []kernels.Form{way}
		t.Run(string(way)+"_float64", rapid.MakeCheck(func(t *rapid.T) { devicetest.Property[float64](t, one, only) }))
		t.Run(string(way)+"_float32", rapid.MakeCheck(func(t *rapid.T) { devicetest.Property[float32](t, one, only) }))
	}
	require.Zero(t, d.InUse())
}

func TestProductsAgreeWithTheReference(t *testing.T) {
	onEachMachine(t, func(t *testing.T) { agree(t, ways...) })
}

func TestProductsInSegmentsAgreeWithTheReference(t *testing.T) {
	d, s := open(t, Config{})
	one := func(require.TestingT) (kernels.Device, kernels.Stream) { return d, s }
	t.Run("operations", func(t *testing.T) { devicetest.SegmentOps(t, one) })
	cases.Divide(t, 24)
	for _, of := range []int{2, 4} {
		for read := range of + 1 {
			for _, form := range []kernels.Form{kernels.FormCSR, "ell", "pellr"} {
				t.Run(fmt.Sprintf("%s_%dof%d", form, read, of), rapid.MakeCheck(func(t *rapid.T) { devicetest.SegmentProperty(t, one, form, read, of) }))
			}
		}
	}
	require.Zero(t, d.InUse())
}

// The vector kernels use 1 to 32 lanes for each row.
func TestRowsOfAnyLengthAgreeWithTheReference(t *testing.T) {
	d, s := open(t, Config{})
	for _, n := range []int{1, 2, 5, 10, 20, 40, 80, 160} {
		t.Run(fmt.Sprintf("%d_float64", n), func(t *testing.T) { rowsOf[float64](t, d, s, n) })
		t.Run(fmt.Sprintf("%d_float32", n), func(t *testing.T) { rowsOf[float32](t, d, s, n) })
	}
	require.Zero(t, d.InUse())
}

// rowsOf multiplies a matrix with n entries in each row.
func rowsOf[V sparse.Value](t *testing.T, d kernels.Device, s kernels.Stream, n int) {
	a := &sparse.CSR[V]{Rows: 300, Cols: n, RowPtr: []int64{0}}
	for range a.Rows {
		for c := range n {
			a.ColIdx = append(a.ColIdx, int32(c))
		}
		a.RowPtr = append(a.RowPtr, int64(len(a.ColIdx)))
	}
	a.Val = devicetest.Vector[V](len(a.ColIdx), 5)
	q := &devicetest.Problem[V]{A: a, Alpha: 1.5, Beta: -0.5, X: devicetest.Vector[V](a.Cols, 1), Y: devicetest.Vector[V](a.Rows, 7)}
	var err error
	q.Parts, _, err = partition.Split(a.RowPtr, 2, partition.RuleNNZ)
	require.NoError(t, err)
	for range 2 {
		want := reference.Multiply(false, q.Alpha, a, q.X, q.Beta, q.Y)
		for _, way := range []kernels.Form{devicetest.Plain, kernels.FormMerge, kernels.FormSlices} {
			got := q.MajorProduct(t, func(require.TestingT) (kernels.Device, kernels.Stream) { return d, s }, way)
			require.Equal(t, -1, reference.Check(got, want), way)
		}
		for k, v := range a.Val {
			a.Val[k] = V(float32(v)) // which slices store in 4 bytes
		}
	}
}

func TestProductsOfSeveralDevicesOnOneGPUAgreeWithTheReference(t *testing.T) {
	var devices []kernels.Device
	var streams []kernels.Stream
	for i := range 4 {
		d, s := open(t, Config{Copy: i})
		devices, streams = append(devices, d), append(streams, s)
	}
	i := 0
	next := func(require.TestingT) (kernels.Device, kernels.Stream) {
		i = (i + 1) % 4
		return devices[i], streams[i]
	}
	rapid.Check(t, func(t *rapid.T) { devicetest.Property[float64](t, next, ways) })
}

// packing returns a part with a shared first row: rows of 3, 2, 0 and 4 entries.
func packing(form kernels.Form) *kernels.Packing[float64] {
	return &kernels.Packing[float64]{
		Part: partition.Part{EndIdx: 8, EndMajor: 3, StartFlag: true, OwnFirst: 1, OwnEnd: 4},
		Ptr:  []int64{0, 3, 5, 5, 9}, Idx: []int32{0, 1, 2, 0, 3, 1, 2, 3, 4}, Val: []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}, Minors: 5, Form: form,
	}
}

func TestEachFormOfAPartIsMadeAndSaysWhy(t *testing.T) {
	if _, err := cusparse.Version(); err != nil {
		t.Skip(err)
	}
	onEachMachine(t, func(t *testing.T) {
		d, s := open(t, Config{})
		x := devicetest.Upload(t, s, d, []float64{1, 10, 100, 1000, 10000})
		y, carry := devicetest.Upload(t, s, d, []float64{1, 2, 3}), devicetest.Upload(t, s, d, []float64{0})
		for _, form := range []kernels.Form{FormCuSPARSE, kernels.FormAuto, kernels.FormCSR, kernels.FormMerge} {
			require.NoError(t, y.Write(s, []float64{1, 2, 3}))
			p, err := d.Pack(packing(form))
			require.NoError(t, err)
			info := p.Info()
			if form != kernels.FormAuto {
				require.Equal(t, form, info.Form)
			} else {
				for _, name := range []string{"measured: ", "vector ", "merge path ", "cuSPARSE CSR_ALG1 ", "cuSPARSE CSR_ALG2 ", "cuSPARSE SpMVOp"} {
					require.Contains(t, info.Why, name)
				}
			}
			held := int64(0)
			for _, b := range p.Buffers() {
				held += b.Bytes()
			}
			require.Equal(t, held, info.Bytes)
			require.Equal(t, held+x.Buf.Bytes()+y.Buf.Bytes()+carry.Buf.Bytes(), d.InUse())
			require.NoError(t, s.Launch(&kernels.MajorProductPacked[float64]{A: p, Alpha: 2, Beta: 3, X: x, Y: y, Carry: carry}))
			require.Equal(t, []float64{2*5004 + 3, 6, 2*98760 + 9}, devicetest.Download(t, s, y), form)
			require.Equal(t, []float64{2 * 321}, devicetest.Download(t, s, carry), form)
			require.ErrorIs(t, s.Launch(&kernels.MajorProductPacked[float64]{A: p, X: y, Y: y, Carry: carry}), kernels.ErrArgument)
			require.NoError(t, p.Free())
			require.NoError(t, p.Free())
			require.ErrorIs(t, s.Launch(&kernels.MajorProductPacked[float64]{A: p, X: x, Y: y, Carry: carry}), kernels.ErrClosed)
		}
		few := packing(kernels.FormAuto)
		few.Products = 1
		p, err := d.Pack(few)
		require.NoError(t, err)
		require.Equal(t, "no row has more than 4 of the 9 entries of the part's rows", p.Info().Why)
		require.NoError(t, p.Free())
		require.NoError(t, x.Free())
		require.NoError(t, y.Free())
		require.NoError(t, carry.Free())
		require.Zero(t, d.InUse())
	})
}

func TestCuSPARSEAgreesWithTheReference(t *testing.T) {
	if _, err := cusparse.Version(); err != nil {
		t.Skip(err)
	}
	agree(t, FormCuSPARSE)
}
