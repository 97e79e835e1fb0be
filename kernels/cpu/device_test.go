package cpu

import (
	"errors"
	"math/rand"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/formtest"
	"github.com/msrep-go/msrep/kernels/cpu/internal/memory"
	"github.com/msrep-go/msrep/kernels/cpu/internal/workers"
	"github.com/msrep-go/msrep/merge"
	"github.com/msrep-go/msrep/numa"
	"github.com/msrep-go/msrep/sparse"
)

func TestEveryWorkerOfAPlacedDeviceIsAThreadOnItsCPUs(t *testing.T) {
	all, err := numa.Affinity()
	if err != nil {
		t.Skip(err)
	}
	one := all[len(all)-1:]
	d := open(t, Config{Threads: 3, NUMANode: -1, CPUs: one, OnRefused: func(err error) { t.Error(err) }})
	var together sync.WaitGroup
	together.Add(3)
	var pinned atomic.Int32
	require.NoError(t, d.Run(3, func(int) {
		together.Done()
		together.Wait()
		if cpus, err := numa.Affinity(); err == nil && len(cpus) == 1 && cpus[0] == one[0] {
			pinned.Add(1)
		}
	}))
	require.Equal(t, int32(3), pinned.Load())
	require.NoError(t, d.Close())
}

func TestWorkersThatCannotBePinnedWorkAllTheSame(t *testing.T) {
	var refused []error
	d := open(t, Config{Threads: 3, NUMANode: 900, CPUs: []int{numa.MaxCPU}, OnRefused: func(err error) { refused = append(refused, err) }})
	require.Len(t, refused, 1, "one error for all workers")
	require.ErrorIs(t, refused[0], numa.ErrRefused)
	b, err := d.Alloc(1 << 20)
	require.NoError(t, err)
	for _, err := range refused {
		require.ErrorIs(t, err, numa.ErrRefused)
	}
	s, err := d.NewStream()
	require.NoError(t, err)
	require.NoError(t, s.Write(b, 0, make([]byte, 1<<20)))
	require.NoError(t, b.Free())
	require.NoError(t, d.Close())

	quiet := open(t, Config{Threads: 1, CPUs: []int{numa.MaxCPU}}) // no such CPU exists, and no callback is set
	require.NoError(t, quiet.Close())
}

func TestRunCallsEveryNumberOnceAndReportsPanics(t *testing.T) {
	for _, cpus := range [][]int{nil, {0}} {
		d := open(t, Config{Threads: 4, NUMANode: -1, CPUs: cpus})
		for n := 1; n <= 4; n++ {
			var calls [4]atomic.Int32
			require.NoError(t, d.Run(n, func(i int) { calls[i].Add(1) }))
			for i := range calls {
				require.Equal(t, i < n, calls[i].Load() == 1)
			}
		}
		err := d.Run(4, func(i int) {
			if i >= 2 {
				panic("oh dear")
			}
		})
		require.ErrorContains(t, err, "oh dear")
		require.NoError(t, d.Run(4, func(int) {}), "the workers go on")
		require.ErrorIs(t, d.Run(5, func(int) {}), kernels.ErrArgument)
		require.ErrorIs(t, d.Run(0, func(int) {}), kernels.ErrArgument)
		require.NoError(t, d.Close())
		require.NoError(t, d.Close())
		err = d.Run(1, func(int) {})
		require.ErrorIs(t, err, kernels.ErrClosed)
		var de *kernels.DeviceError
		require.True(t, errors.As(err, &de))
	}
}

func TestSumOnWorkersHasTheBitsOfSum(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	d := open(t, Config{Threads: 3, NUMANode: -1, CPUs: []int{0}})
	for _, m := range []int{0, 1, 100, sumChunk, 3*sumChunk + 5, 5 * sumChunk} {
		for _, k := range []int{0, 1, 2, 5} {
			y, want := make([]float64, m), make([]float64, m)
			in := make([][]float64, k)
			for i := range in {
				in[i] = make([]float64, m)
				for j := range in[i] {
					in[i][j] = rng.NormFloat64()
				}
			}
			for j := range y {
				y[j] = rng.NormFloat64()
			}
			copy(want, y)
			require.NoError(t, merge.Sum(want, 0.3, in))
			require.NoError(t, SumOn(d, y, 0.3, in))
			require.Equal(t, want, y)
		}
	}
	require.True(t, sparse.IsInput(SumOn(d, make([]float64, 2), 1, [][]float64{{1}})))
	require.NoError(t, d.Close())
	require.ErrorIs(t, SumOn(d, make([]float64, 1), 1, nil), kernels.ErrClosed)
}

func TestTheLengthOfAProductAndItsCallerDecideWhetherWorkersGetAJob(t *testing.T) {
	cpus, err := numa.Affinity()
	if err != nil {
		t.Skip(err)
	}
	for _, placed := range []bool{false, true} {
		c := Config{Threads: 2, NUMANode: -1}
		if placed {
			c.CPUs = cpus[:1]
		}
		d := open(t, c)
		s, err := d.NewStream()
		require.NoError(t, err)
		for rows, short := range map[int]bool{3000: true, 10_000: false} { // 9 entries each
			op := formtest.BandPart(rows)
			op.Products = 1
			p := mustPack(t, d, op)
			x, y := make([]float64, rows), make([]float64, rows)
			gives := func(op kernels.Operation) bool {
				time.Sleep(2 * workers.SpinTime) // a later short product does wake workers
				require.Eventually(t, d.pool.Asleep, 10*time.Second, time.Millisecond)
				given := d.pool.Given()
				require.NoError(t, s.Launch(op))
				return d.pool.Given() != given
			}
			for _, scatters := range []bool{false, true} {
				alone := gives(&kernels.HostProduct[float64]{A: p, Alpha: 1, X: x, Y: y, Minor: scatters, NoWorkers: true})
				require.Equal(t, placed, alone, "placed workers always do the job: the memory is on their node")
				all := gives(&kernels.HostProduct[float64]{A: p, Alpha: 1, X: x, Y: y, Minor: scatters})
				require.Equal(t, placed || !short, all, "%d rows", rows)
			}
			require.Equal(t, placed || !short, gives(&kernels.MajorProductPacked[float64]{A: p, Alpha: 1, X: kernels.AdoptArray(d, x), Y: kernels.AdoptArray(d, y)}))
			require.NoError(t, p.Free())
		}
		require.NoError(t, d.Close())
	}
}

func TestASearchWithoutMemoryForItsVectorsFreesWhatItTook(t *testing.T) {
	const limit, n = 1 << 20, 1 << 16
	before := mem.Mapped()
	d := open(t, Config{Threads: 1, Memory: limit})
	kept := memory.Arena{memory.NewSlab(d.mem, n, n)}
	_, err := kept[0].Take(n)
	require.NoError(t, err)
	require.NoError(t, kept.Free())
	b, err := d.Alloc(limit - n - n/2) // fits beside the kept memory, the vectors do not
	require.NoError(t, err)
	p := mustPack(t, d, formtest.BandPart(10_000))
	require.Equal(t, "no memory to look for another form", p.Info().Why)
	require.Equal(t, b.Bytes(), d.InUse())
	require.NoError(t, p.Free())
	require.NoError(t, b.Free())
	require.NoError(t, d.Close())
	require.Equal(t, before, mem.Mapped())
}

func TestTheMemoryOfAFreedPartServesTheNext(t *testing.T) {
	d := open(t, Config{Threads: 2})
	op := formtest.BandPart(100_000)
	op.Form = "slices"
	var first int64
	for round := range 3 {
		a := mustPack(t, d, op)
		require.Equal(t, a.Info().Bytes, d.InUse())
		require.Zero(t, d.mem.Spare.Bytes(), "round %d", round)
		require.NoError(t, a.Free())
		if round == 0 {
			first = d.mem.Spare.Bytes()
			require.Equal(t, runtime.GOOS == "linux", first > 0)
		}
		require.Equal(t, first, d.mem.Spare.Bytes())
		require.Zero(t, d.InUse())
	}
	require.NoError(t, d.Close())
}
