//go:build cuda

package nvidia

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/devicetest"
	"github.com/msrep-go/msrep/internal/nvidiatest"
	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/internal/cuda/launch"
	"github.com/msrep-go/msrep/kernels/internal/cuda/launch/launchtest"
	"github.com/msrep-go/msrep/kernels/nvidia/internal/cusparse"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

// wholeOf returns a packing of a generated matrix with enough expected products for all
// measurements of FormAuto.
func wholeOf(t testing.TB, spec string) *kernels.Packing[float64] {
	a, _, err := gen.Generate(spec)
	require.NoError(t, err)
	parts, _, err := partition.Split(a.RowPtr, 1, partition.RuleNNZ)
	require.NoError(t, err)
	return &kernels.Packing[float64]{Part: parts[0], Ptr: a.RowPtr, Idx: a.ColIdx, Val: a.Val, Minors: a.Cols, Products: slicedFrom}
}

// trials returns the considered forms, by form.
func trials(info kernels.PackInfo) map[kernels.Form]kernels.PackTrial {
	found := map[kernels.Form]kernels.PackTrial{}
	for _, t := range info.Tried {
		found[t.Form] = t
	}
	return found
}

func TestMeasuringTakesATenthOfManyProductsAtMost(t *testing.T) {
	standIn(t, nvidiatest.Machine{})
	d, err := Open(Config{Node: -1})
	require.NoError(t, err)
	launched := func(products int) int {
		op := wholeOf(t, "banded:n=40,band=1")
		op.Products = products
		nvidiatest.Fail("", 0, 0)
		p, err := d.(kernels.Packer).Pack(op)
		require.NoError(t, err)
		require.NoError(t, p.Free())
		calls := nvidiatest.Calls()
		return calls["cuLaunchKernel"] + calls["cusparseSpMV"] + calls["cusparseSpMVOp"]
	}
	require.Less(t, launched(slicedFrom), slicedFrom/10+20)
	require.InDelta(t, 200, launched(3000), 100)
	require.NoError(t, d.Close())
}

// The time of a product that loads its kernels does not predict that of later products.
func TestProductsAreTimedOnceTheirKernelsAreLoaded(t *testing.T) {
	standIn(t, nvidiatest.Machine{})
	d, err := Open(Config{Node: -1, PTX: func(string) string {
		time.Sleep(2 * warmTime)
		return ""
	}})
	require.NoError(t, err)
	op := wholeOf(t, "banded:n=40,band=1")
	op.Products = 3000
	nvidiatest.Fail("", 0, 0)
	p, err := d.(kernels.Packer).Pack(op)
	require.NoError(t, err)
	require.Greater(t, nvidiatest.Calls()["cuLaunchKernel"], 19, "more than a product that loads and three others of each form")
	require.NoError(t, p.Free())
	require.NoError(t, d.Close())
}

func TestSlicesAreMeasuredWhereTheyMayPay(t *testing.T) {
	d, s := open(t, Config{})
	for _, c := range []struct {
		spec     string
		products int
		skipped  string // of slices
	}{
		{"banded:n=300,band=4", slicedFrom, ""},
		{"banded:n=300,band=4", slicedFrom - 1, "building them pays from 500 expected products on"},
		{"arrow:n=3000", slicedFrom, "they take "},
		{"banded:n=300,band=80", slicedFrom, " steps"},
	} {
		op := wholeOf(t, c.spec)
		op.Products = c.products
		p, err := d.Pack(op)
		require.NoError(t, err)
		info := p.Info()
		tried := trials(info)
		require.Contains(t, info.Why, "measured: merge path ")
		for _, f := range []kernels.Form{kernels.FormMerge, kernels.FormCSR, FormCuSPARSE, kernels.FormSlices} {
			require.Contains(t, tried, f)
			require.True(t, tried[f].Product > 0 || tried[f].Skipped != "", f)
		}
		require.Contains(t, tried[kernels.FormSlices].Skipped, c.skipped)
		require.Equal(t, c.skipped == "", tried[kernels.FormSlices].Product > 0, c.spec)
		held := int64(0)
		for _, b := range p.Buffers() {
			held += b.Bytes()
		}
		require.Equal(t, held, d.InUse(), "the others were released")

		x := devicetest.Upload(t, s, d, devicetest.Vector[float64](op.Minors, 1))
		y := devicetest.Upload(t, s, d, make([]float64, op.Part.Majors()))
		require.NoError(t, s.Launch(&kernels.MajorProductPacked[float64]{A: p, Alpha: 1, X: x, Y: y}))
		a := &sparse.CSR[float64]{Rows: op.Part.Majors(), Cols: op.Minors, RowPtr: op.Ptr, ColIdx: op.Idx, Val: op.Val}
		want := reference.Multiply(false, 1, a, devicetest.Vector[float64](op.Minors, 1), 0, make([]float64, a.Rows))
		require.Equal(t, -1, reference.Check(devicetest.Download(t, s, y), want), info.Form)
		require.NoError(t, p.Free())
		require.NoError(t, x.Free())
		require.NoError(t, y.Free())
		require.Zero(t, d.InUse())
	}
}

// TestTheFormThatIsKeptCountsItsOwnBytes makes each form the fastest in one case.
func TestTheFormThatIsKeptCountsItsOwnBytes(t *testing.T) {
	if _, err := cusparse.Version(); err != nil {
		t.Skip(err)
	}
	d, s := open(t, Config{})
	op := wholeOf(t, "banded:n=300,band=4")
	x := devicetest.Upload(t, s, d, devicetest.Vector[float64](op.Minors, 1))
	y := devicetest.Upload(t, s, d, make([]float64, op.Part.Majors()))
	vectors := d.InUse()
	a := &sparse.CSR[float64]{Rows: op.Part.Majors(), Cols: op.Minors, RowPtr: op.Ptr, ColIdx: op.Idx, Val: op.Val}
	want := reference.Multiply(false, 1, a, devicetest.Vector[float64](op.Minors, 1), 0, make([]float64, a.Rows))
	for _, form := range []kernels.Form{kernels.FormMerge, kernels.FormCSR, FormCuSPARSE, kernels.FormSlices} {
		a, err := launch.Pack(d, s, op)
		require.NoError(t, err)
		tr, err := newTrial(d, s, op, a)
		require.NoError(t, err)
		_, _, err = tr.timeOwn()
		require.NoError(t, err)
		c, err := tr.bestCuSPARSE()
		require.NoError(t, err)
		sliced, _, err := tr.slices()
		require.NoError(t, err)
		took := func(f kernels.Form) time.Duration {
			if f == form {
				return 1
			}
			return 2
		}
		c.took = took(FormCuSPARSE)
		p, err := tr.keep(took(kernels.FormMerge), took(kernels.FormCSR), c, sliced, took(kernels.FormSlices))
		require.NoError(t, err)
		require.NoError(t, tr.close())

		info, held := p.Info(), int64(0)
		for _, b := range p.Buffers() {
			held += b.Bytes()
		}
		require.Equal(t, form, info.Form)
		require.Equal(t, form == kernels.FormSlices, strings.Contains(info.Why, "which pays after"), info.Why)
		require.Equal(t, held, info.Bytes, form)
		require.Equal(t, vectors+held, d.InUse(), form)
		for _, tried := range info.Tried {
			if tried.Form == form && form != FormCuSPARSE { // which has two trials
				require.Equal(t, held, tried.Bytes, form)
			}
		}
		require.NoError(t, s.Launch(&kernels.MajorProductPacked[float64]{A: p, Alpha: 1, X: x, Y: y}))
		require.Equal(t, -1, reference.Check(devicetest.Download(t, s, y), want), form)
		require.NoError(t, p.Free())
		require.Equal(t, vectors, d.InUse())
	}
	require.NoError(t, x.Free())
	require.NoError(t, y.Free())
	require.Zero(t, d.InUse())
}

// trialOf packs a part in CSR and begins its trial.
func trialOf(t *testing.T, d *Device, s *stream, op *kernels.Packing[float64]) *trial[float64] {
	a, err := launch.Pack(d, s, op)
	require.NoError(t, err)
	tr, err := newTrial(d, s, op, a)
	require.NoError(t, err)
	return tr
}

func TestTilesAreBuiltAndTimed(t *testing.T) {
	d, s := open(t, Config{})
	op := wholeOf(t, "random:rows=3000,nnz=20k")
	tr := trialOf(t, d, s, op)
	p, took, err := tr.timeRows(kernels.FormTiles, 0, func() (*launch.Rows[float64], string, error) {
		p, err := launch.TilesOnDevice(s, op, tr.a)
		return p, "", err
	})
	require.NoError(t, err)
	require.NotNil(t, p, tr.why())
	require.Positive(t, took)
	checkTiles(t, d, s, op, p)
	for _, free := range []func() error{p.Free, tr.close, tr.a.Free} {
		require.NoError(t, free())
	}
	require.Zero(t, d.InUse())
}

// TestTilesUseMoreThan48KiBOfSharedMemory is about what the driver must allow for each kernel.
func TestTilesUseMoreThan48KiBOfSharedMemory(t *testing.T) {
	standIn(t, nvidiatest.Machine{})
	d, s := open(t, Config{})
	op := wholeOf(t, "random:rows=1200k,nnz=1100k")
	op.Form = kernels.FormTiles
	p, err := d.Pack(op)
	require.NoError(t, err)
	nvidiatest.Fail("", 0, 0)
	checkTiles(t, d, s, op, p)
	checkTiles(t, d, s, op, p)
	require.Equal(t, 1, nvidiatest.Calls()["cuFuncSetAttribute"], "once for all launches")
	require.NoError(t, p.Free())
}

// checkTiles multiplies by a part in tiles.
func checkTiles(t *testing.T, d *Device, s *stream, op *kernels.Packing[float64], p kernels.Packed) {
	require.Equal(t, kernels.FormTiles, p.Info().Form)
	y := devicetest.Upload(t, s, d, make([]float64, op.Part.Majors()))
	x := devicetest.Upload(t, s, d, devicetest.Vector[float64](op.Minors, 1))
	require.NoError(t, s.Launch(&kernels.MajorProductPacked[float64]{A: p, Alpha: 1, X: x, Y: y}))
	m := &sparse.CSR[float64]{Rows: op.Part.Majors(), Cols: op.Minors, RowPtr: op.Ptr, ColIdx: op.Idx, Val: op.Val}
	want := reference.Multiply(false, 1, m, devicetest.Vector[float64](op.Minors, 1), 0, make([]float64, m.Rows))
	require.Equal(t, -1, reference.Check(devicetest.Download(t, s, y), want))
	require.NoError(t, x.Free())
	require.NoError(t, y.Free())
}

func TestTilesAreTriedWhereTheyMayPay(t *testing.T) {
	d, s := open(t, Config{})
	op := wholeOf(t, "random:rows=300k,nnz=300k")
	tr := trialOf(t, d, s, op)
	for products, why := range map[int]string{
		tiledFrom - 1: "tiles not: building them pays from 500 expected products on",
		tiledFrom:     "tiles not: fewer than 1048576 entries",
	} {
		op.Products = products
		none, _, err := tr.tiles()
		require.NoError(t, err)
		require.Nil(t, none)
		require.Contains(t, tr.why(), why)
	}
	for _, free := range []func() error{tr.close, tr.a.Free} {
		require.NoError(t, free())
	}
	require.Zero(t, d.InUse())
}

func TestTilesBuiltOnTheDeviceAgreeWithThoseOfTheHost(t *testing.T) {
	d, s := open(t, Config{})
	for seed := range 6 {
		rapid.Custom(func(t *rapid.T) bool {
			launchtest.DrawnTiles[float64](t, d, s)
			launchtest.DrawnTiles[float32](t, d, s)
			return true
		}).Example(seed)
	}
	specs := []string{"random:rows=3000,nnz=9000,value=random", "rmat:scale=10,edges=8"}
	if !strings.Contains(d.Info().Name, "interpreted") { // the stand-in needs 20 s for a million entries
		specs = append(specs, "random:rows=200k,cols=3M,nnz=4M,value=random", "rmat:scale=19,edges=8", "powerlaw:rows=300k,nnz=3M,value=random")
	}
	for _, spec := range specs {
		launchtest.Tiles(t, d, s, wholeOf(t, spec))
	}
}

func TestSlicesDescribeThemselves(t *testing.T) {
	d, s := open(t, Config{})
	op := wholeOf(t, "banded:n=300,band=4")
	tr := trialOf(t, d, s, op)
	p, took, err := tr.slices()
	require.NoError(t, err)
	require.Positive(t, took)
	require.Equal(t, kernels.FormSlices, p.Info().Form)
	p.Describe(tr.why(), tr.tried)
	require.Regexp(t, `^measured: slices .*; slices of 32 rows: 10 of diagonals, 0 with columns of 16 bits, 0 of 32$`, p.Info().Why)
	for _, free := range []func() error{p.Free, tr.close, tr.a.Free} {
		require.NoError(t, free())
	}
	require.Zero(t, d.InUse())
}

func TestAResidentProductIsALaunchAndNothingElse(t *testing.T) {
	standIn(t, nvidiatest.Machine{})
	d, s := open(t, Config{})
	for _, c := range []struct {
		form    kernels.Form
		entries map[string]int // driver and cuSPARSE calls of one product
	}{
		{kernels.FormCSR, map[string]int{"cuLaunchKernel": 1}},
		{kernels.FormSlices, map[string]int{"cuLaunchKernel": 1}},
		{kernels.FormTiles, map[string]int{"cuLaunchKernel": 2}}, // so small tiles cut rows, whose carries are added
		{kernels.FormMerge, map[string]int{"cuLaunchKernel": 2}}, // the tiles, and their carries
		{FormCuSPARSE, map[string]int{"cusparseSetStream": 1, "cusparseDnVecSetValues": 2, "cusparseSpMV": 1}},
	} {
		op := wholeOf(t, "banded:n=300,band=4")
		op.Form = c.form
		p, err := d.Pack(op)
		require.NoError(t, err)
		x := devicetest.Upload(t, s, d, devicetest.Vector[float64](op.Minors, 1))
		y := devicetest.Upload(t, s, d, make([]float64, op.Part.Majors()))
		product := &kernels.MajorProductPacked[float64]{A: p, Alpha: 1, X: x, Y: y}
		require.NoError(t, s.Launch(product)) // the first product loads kernels and allocates scratch memory
		require.NoError(t, s.Sync())
		nvidiatest.Fail("", 0, 0)
		require.NoError(t, s.Launch(product))
		require.NoError(t, d.OnThread(func() {}))
		calls := nvidiatest.Calls()
		if n, ok := calls["cusparseSpMVOp"]; ok { // the plan has found it faster
			calls["cusparseSpMV"] += n
			delete(calls, "cusparseSpMVOp")
		}
		require.Equal(t, c.entries, calls, c.form)
		require.NoError(t, s.Sync())
		require.NoError(t, p.Free())
		require.NoError(t, x.Free())
		require.NoError(t, y.Free())
	}
}

// TestAFailureWhileFormsAreMeasuredLeavesNothing lets calls during the measurements
// fail, one at a time: with a transient error, for lack of memory, or with a lost GPU.
func TestAFailureWhileFormsAreMeasuredLeavesNothing(t *testing.T) {
	m := nvidiatest.Machine{GPUs: 1, Memory: 128 << 20}
	standIn(t, m)
	op := wholeOf(t, "banded:n=96,band=4")
	measure := func() error {
		d, err := Open(Config{Node: -1})
		if err != nil {
			return err
		}
		p, err := d.(kernels.Packer).Pack(op)
		if err == nil {
			err = p.Free()
		}
		return errors.Join(err, d.Close())
	}
	require.NoError(t, measure())
	calls, failed := nvidiatest.Calls(), 0
	for _, entry := range []string{"cuMemAllocAsync", "cuLaunchKernel", "cuEventElapsedTime", "cusparseSpMV"} {
		require.Positive(t, calls[entry], entry)
		for _, nth := range some(calls[entry]) {
			nvidiatest.Reset(m)
			nvidiatest.Fail(entry, nth, []int{719, 1, 2}[nth%3])
			if err := measure(); err != nil {
				var e *kernels.DeviceError
				require.ErrorAs(t, err, &e)
				failed++
			}
			nvidiatest.Fail("", 0, 0)
			require.Empty(t, nvidiatest.Live(), "call %d of %s", nth, entry)
		}
	}
	require.Greater(t, failed, 10)
}

// The vectors are allocated after the part, so a device that cannot hold both must not
// hold the part.
func TestAPartIsStreamedIfOtherProgramsUseTheMemory(t *testing.T) {
	for _, m := range []nvidiatest.Machine{{}, {NoPools: true}} {
		op := wholeOf(t, "banded:n=20000,band=3")
		op.InPlace, op.Products = true, 1
		part := 12*op.Part.NNZ() + 8*int64(len(op.Ptr))
		vectors := int64(16 * op.Minors)
		for free, want := range map[int64]kernels.Form{part + vectors/2: kernels.FormStreamed, part + 2*vectors: kernels.FormCSR} {
			m.Others = 128<<20 - free
			standIn(t, m)
			d, err := Open(Config{Node: -1})
			require.NoError(t, err)
			require.Equal(t, free, d.(*Device).FreeMemory())
			p, err := d.(kernels.Packer).Pack(op)
			require.NoError(t, err)
			require.Equal(t, want, p.Info().Form)
			held := p.Info().Bytes
			require.Equal(t, free-held, d.(*Device).FreeMemory())
			x, err := kernels.NewArray[float64](d, vectors/8)
			require.NoError(t, err)
			require.NoError(t, x.Free())
			require.NoError(t, p.Free())
			require.Equal(t, free, d.(*Device).FreeMemory(), "also what the pool keeps")
			require.NoError(t, d.Close())
		}
	}
}

func TestADeviceCountsItsMemoryIfTheDriverDoesNotReportIt(t *testing.T) {
	standIn(t, nvidiatest.Machine{})
	d, _ := open(t, Config{})
	b, err := d.Alloc(1 << 20)
	require.NoError(t, err)
	for _, entry := range []string{"cuMemGetInfo_v2", "cuDeviceGetDefaultMemPool", "cuMemPoolGetAttribute"} {
		nvidiatest.Fail(entry, 1, 801)
		require.Equal(t, int64(127<<20), d.FreeMemory(), entry)
		require.Equal(t, 1, nvidiatest.Calls()[entry])
	}
	require.NoError(t, b.Free())
}

func TestThePlanSaysWhenAFormHasPaid(t *testing.T) {
	require.Equal(t, "built in 20ms, which pays after 125 products", pays(20*time.Millisecond, 160*time.Microsecond))
	require.Equal(t, "built in 1ms, which pays after 4 products", pays(time.Millisecond, 300*time.Microsecond))
}
