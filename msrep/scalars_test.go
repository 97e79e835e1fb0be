package msrep

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/devvec"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/sim"
	"github.com/msrep-go/msrep/sparse"
)

func TestScalarsHaveTheSumsOfTheVectorsOnEveryDevice(t *testing.T) {
	// Without peers, sums are copied between devices; with some, the two ways mix.
	without := sim.Config{Reads: func(*sim.Device) bool { return false }}
	some := sim.Config{Reads: func(from *sim.Device) bool { return from.Info().ID == "sim:1" }}
	on := func(n int, c sim.Config) func() *System {
		return func() *System { return simulated(t, n, c, func(d *sim.Device) kernels.Device { return d }) }
	}
	for name, system := range map[string]func() *System{
		"cpu:2": func() *System { return open(t, Config{Devices: "cpu:2"}) },
		"1":     on(1, sim.Config{}), "2": on(2, sim.Config{}), "5": on(5, sim.Config{}), "19": on(19, sim.Config{}),
		"2 without": on(2, without), "5 without": on(5, without), "19 without": on(19, without), "4 with some": on(4, some),
	} {
		for _, n := range []int{3, 1001} { // 3: some devices have no elements
			sys := system()
			r := rand.New(rand.NewPCG(3, uint64(n)))
			vector := func() (v *Vector[float64], host []float64) {
				host = normalVector[float64](r, n)
				v, err := NewVector[float64](sys, n)
				return onDevices(t, v, err, host), host
			}
			x, _ := vector()
			y, _ := vector()
			z, zs := vector()
			scalars, err := devvec.NewScalars(x, 4, 2)
			require.NoError(t, err)
			require.NoError(t, scalars.Write([]float64{8, 7, 6, 5}))
			for range 2 {
				xy, err := x.Dot(y)
				require.NoError(t, err)
				misfit, err := x.Misfit(7, y)
				require.NoError(t, err)
				for range 3 { // without a wait of the host
					require.NoError(t, scalars.Dot(0, x, y))
					require.NoError(t, scalars.Compute(kernels.Misfit, 1, 1, x, y)) // |x - 7y|^2
					require.NoError(t, scalars.Total(2))
				}
				require.NoError(t, scalars.Launch(func(numbers, totals kernels.Array[float64]) kernels.Operation {
					return &kernels.Axpby[float64]{Alpha: 1, X: totals.Sub(0, 2), Y: numbers.Sub(2, 4)}
				}))
				got := make([]float64, 4)
				require.NoError(t, scalars.Read(got))
				require.Equal(t, []float64{8, 7}, got[:2], name)
				require.InDelta(t, xy, got[2], 1e-11*float64(n))
				require.InEpsilon(t, misfit, got[3], 1e-13)

				// Every device has the same bits: y = 0 + the number of its device times 1.
				require.NoError(t, y.Fill(1))
				require.NoError(t, z.Fill(0))
				require.NoError(t, scalars.Compute(kernels.CGDirection, 2, 0, z, y))
				require.Equal(t, slices.Repeat([]float64{got[2]}, n), elements(t, y))
				require.NoError(t, z.Write(zs))
				require.NoError(t, y.Axpby(1/math.Max(1, math.Abs(got[2])), z, 0.5))
			}
			require.NoError(t, scalars.Close())
			require.NoError(t, scalars.Close())
			require.ErrorIs(t, scalars.Total(1), ErrClosed)
			require.ErrorIs(t, scalars.Dot(0, x, y), ErrClosed)
			require.NoError(t, sys.Close())
		}
	}
}

func TestScalarsRefuseVectorsOfOtherPieces(t *testing.T) {
	sys := open(t, Config{Devices: "sim:2"})
	x, err := NewVector[float64](sys, 10)
	require.NoError(t, err)
	short, err := NewVector[float64](sys, 9)
	require.NoError(t, err)
	other, err := NewVector[float64](open(t, Config{Devices: "sim:2"}), 10)
	require.NoError(t, err)
	scalars, err := devvec.NewScalars(x, 1, 1)
	require.NoError(t, err)
	for name, err := range map[string]error{
		"length": scalars.Dot(0, x, short), "system": scalars.Dot(0, other, x), "nil": scalars.Dot(0, nil, x),
		"same": scalars.Compute(kernels.CGDirection, 0, 0, x, x), "count": scalars.Compute(kernels.CGDirection, 0, 0, x),
	} {
		require.True(t, sparse.IsInput(err), "%s: %v", name, err)
	}
	_, err = devvec.NewScalars(nil, 1, 1)
	require.True(t, sparse.IsInput(err), "%v", err)
	require.NoError(t, sys.Close()) // closes the scalars, too
	require.ErrorIs(t, scalars.Total(1), ErrClosed)
	require.NoError(t, scalars.Close())
}
