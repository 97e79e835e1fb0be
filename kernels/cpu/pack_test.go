package cpu_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/partition"
)

// band is n rows of 9 entries near the diagonal.
func band(n int, inPlace bool) *kernels.Packing[float64] {
	p := &kernels.Packing[float64]{Part: partition.Part{EndIdx: -1, EndMajor: n - 1, OwnEnd: n}, Ptr: []int64{0}, Minors: n, InPlace: inPlace}
	rng := rand.New(rand.NewPCG(1, 2))
	for r := range n {
		for c := max(r-4, 0); c <= min(r+4, n-1); c++ {
			p.Idx, p.Val = append(p.Idx, int32(c)), append(p.Val, rng.Float64()-0.5)
		}
		p.Ptr = append(p.Ptr, int64(len(p.Idx)))
	}
	p.Part.EndIdx = int64(len(p.Idx)) - 1
	return p
}

// multiplied returns the product of a packed part with x = 1, 2, 3, ...
func multiplied(t *testing.T, d *cpu.Device, s kernels.Stream, p kernels.Packed, rows, cols int) []float64 {
	t.Helper()
	x, y := make([]float64, cols), make([]float64, rows)
	for i := range x {
		x[i] = float64(i + 1)
	}
	require.NoError(t, s.Launch(&kernels.MajorProductPacked[float64]{A: p, Alpha: 2, X: kernels.AdoptArray(d, x), Y: kernels.AdoptArray(d, y)}))
	again := make([]float64, rows)
	require.NoError(t, s.Launch(&kernels.HostProduct[float64]{A: p, Alpha: 2, X: x, Y: again}))
	require.Equal(t, y, again)
	clear(again)
	require.NoError(t, s.Launch(&kernels.HostProduct[float64]{A: p, Alpha: 2, X: x, Y: again, NoWorkers: true}))
	require.Equal(t, y, again)
	return y
}

func TestAPackedPartMultipliesAsThePlainOne(t *testing.T) {
	d, s := open(t, cpu.Config{Threads: 2})
	const n = 30_000
	op := band(n, true)
	plain := mustPack(t, d, &kernels.Packing[float64]{Part: op.Part, Ptr: op.Ptr, Idx: op.Idx, Val: op.Val, Minors: n, Form: kernels.FormCSR, InPlace: true})
	require.Zero(t, plain.Info().Bytes, "the arrays are used in place")
	want := multiplied(t, d, s, plain, n, n)
	auto := mustPack(t, d, op)
	require.NotEmpty(t, auto.Info().Form)
	require.NotEmpty(t, auto.Info().Why)
	require.Equal(t, d.InUse(), auto.Info().Bytes)
	got := multiplied(t, d, s, auto, n, n)
	for i := range want {
		require.InDelta(t, want[i], got[i], 1e-9*n, i)
	}
	require.NoError(t, plain.Free())
	require.NoError(t, auto.Free())
	require.NoError(t, auto.Free(), "a second Free does nothing")
	require.Zero(t, d.InUse())
	require.Empty(t, auto.Buffers())
	require.NoError(t, d.Close())
}

func TestACopyOutlivesTheArraysItWasMadeOf(t *testing.T) {
	d, s := open(t, cpu.Config{Threads: 2, Grain: 1})
	op := band(500, false)
	op.Form = kernels.FormCSR
	p := mustPack(t, d, op)
	want := multiplied(t, d, s, p, 500, 500)
	clear(op.Val)
	require.Equal(t, want, multiplied(t, d, s, p, 500, 500))
	require.NoError(t, p.Free())
	require.NoError(t, d.Close())
}

func TestNoFormIsSearchedForOneProduct(t *testing.T) {
	d, _ := open(t, cpu.Config{Threads: 2})
	op := band(30_000, true)
	op.Products = 1
	p := mustPack(t, d, op)
	require.Equal(t, kernels.FormCSR, p.Info().Form)
	require.Zero(t, p.Info().Bytes)
}

func TestPackingRefusesWhatDoesNotFitTogether(t *testing.T) {
	d, s := open(t, cpu.Config{Threads: 2, Memory: 10_000})
	for name, change := range map[string]func(*kernels.Packing[float64]){
		"ptr":    func(p *kernels.Packing[float64]) { p.Ptr = p.Ptr[1:] },
		"idx":    func(p *kernels.Packing[float64]) { p.Idx = p.Idx[1:] },
		"val":    func(p *kernels.Packing[float64]) { p.Val = p.Val[1:] },
		"minors": func(p *kernels.Packing[float64]) { p.Minors = -1 },
		"part":   func(p *kernels.Packing[float64]) { p.Part = p.Part.Shift(-1, 0) },
	} {
		op := band(50, true)
		change(op)
		_, err := d.Pack(op)
		require.ErrorIs(t, err, kernels.ErrArgument, name)
		require.ErrorContains(t, err, name)
	}
	op := band(50, true)
	op.Form = "origami"
	_, err := d.Pack(op)
	require.ErrorIs(t, err, kernels.ErrNotSupported)
	_, err = d.Pack(&kernels.MajorProduct[float64]{})
	require.ErrorIs(t, err, kernels.ErrNotSupported)
	op = band(5000, false)
	op.Form = kernels.FormCSR
	_, err = d.Pack(op)
	require.ErrorIs(t, err, kernels.ErrOutOfMemory)
	require.Zero(t, d.InUse(), "memory taken before is freed")

	p := mustPack(t, d, band(50, true))
	x := kernels.AdoptArray(d, make([]float64, 50))
	require.ErrorIs(t, s.Launch(&kernels.MajorProductPacked[float32]{A: p}), kernels.ErrArgument)
	require.ErrorIs(t, s.Launch(&kernels.MajorProductPacked[float64]{X: x, Y: x}), kernels.ErrArgument)
	require.ErrorIs(t, s.Launch(&kernels.MajorProductPacked[float64]{A: p, X: x.Sub(1, 50), Y: x}), kernels.ErrArgument)
	host := make([]float64, 50)
	require.ErrorIs(t, s.Launch(&kernels.HostProduct[float32]{A: p}), kernels.ErrArgument)
	require.ErrorContains(t, s.Launch(&kernels.HostProduct[float64]{A: p, X: host[1:], Y: host}), "x and y have")
	require.ErrorContains(t, s.Launch(&kernels.HostProduct[float64]{A: p, X: host, Y: host[1:]}), "x and y have")
	require.NoError(t, p.Free())
	require.ErrorIs(t, s.Launch(&kernels.MajorProductPacked[float64]{A: p, X: x, Y: x}), kernels.ErrClosed)
	require.ErrorIs(t, s.Launch(&kernels.HostProduct[float64]{A: p, X: host, Y: host}), kernels.ErrClosed)
	require.NoError(t, d.Close())
	_, err = d.Pack(band(50, true))
	require.ErrorIs(t, err, kernels.ErrClosed)
}

func TestPackingStopsWhenAsked(t *testing.T) {
	d, _ := open(t, cpu.Config{Threads: 2})
	stop := errors.New("enough")
	for calls := range 4 { // a best form so far exists from some call of Stop on
		op := band(30_000, true)
		left := calls
		op.Stop = func() error {
			if left--; left < 0 {
				return stop
			}
			return nil
		}
		p, err := d.Pack(op)
		if left >= 0 {
			require.NoError(t, err)
			require.Greater(t, calls, 1, "Stop is called more than once")
			require.NoError(t, p.Free())
		} else {
			require.ErrorIs(t, err, stop)
		}
		require.Zero(t, d.InUse(), "call %d", calls)
	}
}
