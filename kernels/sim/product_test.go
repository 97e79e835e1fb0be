package sim_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/devicetest"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/internal/cuda/launch"
	"github.com/msrep-go/msrep/kernels/sim"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

func upload[T mem.Elem](t require.TestingT, s kernels.Stream, d kernels.Device, v []T) kernels.Array[T] {
	return devicetest.Upload(t, s, d, v)
}

func download[T mem.Elem](t require.TestingT, s kernels.Stream, a kernels.Array[T]) []T {
	return devicetest.Download(t, s, a)
}

func open(t require.TestingT, c sim.Config) (*sim.Device, kernels.Stream) {
	d, err := sim.Open(c)
	require.NoError(t, err)
	s, err := d.NewStream()
	require.NoError(t, err)
	return d, s
}

// fresh opens a new device for each part.
func fresh(c sim.Config) devicetest.Open {
	return func(t require.TestingT) (kernels.Device, kernels.Stream) { return open(t, c) }
}

func property[V sparse.Value](t *rapid.T) {
	c := sim.Config{
		CSRKernel: rapid.SampledFrom([]launch.CSRKernel{launch.Vector, launch.Merge}).Draw(t, "kernel"),
		Blocks:    rapid.SampledFrom([]int64{0, 1, 2}).Draw(t, "blocks"),
	}
	devicetest.Property[V](t, fresh(c), []kernels.Form{devicetest.Plain, devicetest.COO, devicetest.Fixed, devicetest.MinorProduct, devicetest.MinorProductCOO,
		kernels.FormCSR, kernels.FormMerge, kernels.FormStreamed, kernels.FormAuto})
}

func TestProductsOfFloat64AgreeWithTheReference(t *testing.T) { rapid.Check(t, property[float64]) }

func TestProductsOfFloat32AgreeWithTheReference(t *testing.T) { rapid.Check(t, property[float32]) }

func TestManyCarriesAreAddedInSeveralLevels(t *testing.T) {
	// 300 000 entries in three rows: more than 256 tiles of either kernel.
	const n = 300_000
	a := &sparse.CSR[float64]{Rows: 3, Cols: n, RowPtr: []int64{0, 10, n - 5, n}}
	for i := range n {
		a.ColIdx = append(a.ColIdx, int32(i))
		a.Val = append(a.Val, float64(i%17))
	}
	q := &devicetest.Problem[float64]{A: a, Alpha: 1, X: devicetest.Vector[float64](n, 3), Y: make([]float64, 3)}
	var err error
	q.Parts, _, err = partition.Split(a.RowPtr, 1, partition.RuleNNZ)
	require.NoError(t, err)
	want := reference.Multiply(false, 1, a, q.X, 0, q.Y)
	for _, way := range []kernels.Form{devicetest.Plain, devicetest.COO, kernels.FormAuto} {
		got := q.MajorProduct(t, fresh(sim.Config{CSRKernel: launch.Merge}), way)
		require.Equal(t, -1, reference.Check(got, want))
	}
}

func TestARowOverManyStreamedPiecesIsSummed(t *testing.T) {
	const n, memory = 30_000, 700_000 // 360,000 bytes of entries; x has 240,000, and the room left is twice that
	a := &sparse.CSR[float64]{Rows: 3, Cols: n, RowPtr: []int64{0, 10, n - 5, n}, Val: devicetest.Vector[float64](n, 5)}
	for i := range n {
		a.ColIdx = append(a.ColIdx, int32(i))
	}
	q := &devicetest.Problem[float64]{A: a, Alpha: 1, X: devicetest.Vector[float64](n, 3), Y: make([]float64, 3)}
	for parts := 1; parts <= 2; parts++ { // the second part also begins inside the row
		var err error
		q.Parts, _, err = partition.Split(a.RowPtr, parts, partition.RuleNNZ)
		require.NoError(t, err)
		got := q.MajorProduct(t, fresh(sim.Config{Memory: memory}), kernels.FormStreamed)
		require.Equal(t, -1, reference.Check(got, reference.Multiply(false, 1, a, q.X, 0, q.Y)))
	}
}

func TestPackedPartsDescribeThemselves(t *testing.T) {
	d, s := open(t, sim.Config{})
	one := func(n int) *kernels.Packing[float64] {
		return &kernels.Packing[float64]{
			Part: partition.Part{EndIdx: int64(n) - 1, OwnEnd: 1}, Ptr: []int64{0, int64(n)}, Idx: make([]int32, n), Val: make([]float64, n), Minors: 1,
		}
	}
	short, err := d.Pack(one(100))
	require.NoError(t, err)
	require.Equal(t, kernels.FormCSR, short.Info().Form)
	require.Equal(t, "no row has more than 100 of the 100 entries of the part's rows", short.Info().Why)
	long, err := d.Pack(one(5000))
	require.NoError(t, err)
	require.Equal(t, kernels.FormMerge, long.Info().Form)
	require.Equal(t, "a row has 5000 of the 5000 entries of the part's rows", long.Info().Why)
	require.Equal(t, long.Info().Bytes+short.Info().Bytes, d.InUse())

	x, y := upload(t, s, d, []float64{1}), upload(t, s, d, []float64{0})
	product := &kernels.MajorProductPacked[float64]{A: long, Alpha: 1, X: x.Sub(0, 0), Y: y}
	require.ErrorContains(t, s.Launch(product), "x has 0 elements, it needs 1")
	require.NoError(t, long.Free())
	require.NoError(t, long.Free())
	require.Empty(t, long.Buffers())
	require.ErrorIs(t, s.Launch(product), kernels.ErrClosed)
	require.NoError(t, short.Free())
	require.Equal(t, int64(16), d.InUse())

	bad := one(10)
	bad.Idx = bad.Idx[:9]
	_, err = d.Pack(bad)
	require.ErrorIs(t, err, kernels.ErrArgument)
	bad = one(10)
	bad.Form = "elf"
	_, err = d.Pack(bad)
	require.ErrorIs(t, err, kernels.ErrNotSupported)
	small, _ := open(t, sim.Config{Memory: 1000})
	_, err = small.Pack(one(100))
	require.ErrorIs(t, err, kernels.ErrOutOfMemory)
	require.Zero(t, small.InUse())
}

func TestAPartLargerThanTheDeviceIsStreamed(t *testing.T) {
	const memory = 150_000
	left := 40
	rapid.Check(t, func(t *rapid.T) {
		if left--; left < 0 {
			return
		}
		q := &devicetest.Problem[float64]{A: devicetest.Draw[float64](t), Alpha: 1.5, Beta: -0.5}
		q.X, q.Y = devicetest.Vector[float64](q.A.Cols, 1), devicetest.Vector[float64](q.A.Rows, 7)
		var err error
		q.Parts, _, err = partition.Split(q.A.RowPtr, rapid.IntRange(1, 3).Draw(t, "parts"), partition.RuleNNZ)
		require.NoError(t, err)
		want := reference.Multiply(false, q.Alpha, q.A, q.X, q.Beta, q.Y)
		require.Equal(t, -1, reference.Check(q.MajorProduct(t, fresh(sim.Config{Memory: memory}), kernels.FormAuto), want))

		p := q.Parts[0]
		d, s := open(t, sim.Config{Memory: memory})
		a, err := d.Pack(q.Packing(p, kernels.FormAuto))
		require.NoError(t, err)
		if 12*p.NNZ() > memory {
			require.Equal(t, kernels.FormStreamed, a.Info().Form)
			require.Regexp(t, `^the part does not fit on the device: \d+ pieces$`, a.Info().Why)
			require.Less(t, a.Info().Bytes, int64(memory))
			require.Equal(t, a.Info().Bytes, d.InUse())
		}
		x := upload(t, s, d, q.X)
		require.ErrorContains(t, s.Launch(&kernels.MajorProductPacked[float64]{A: a, X: x.Sub(0, 0), Y: x.Sub(0, 0)}), "need")
		require.NoError(t, a.Free())
		require.NoError(t, a.Free())
		require.NoError(t, x.Free())
		require.Zero(t, d.InUse())
		kept := q.Packing(p, kernels.FormStreamed)
		kept.InPlace = false
		_, err = d.Pack(kept)
		require.True(t, sparse.IsInput(err), "%v", err)
	})
}
