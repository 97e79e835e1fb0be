package msrep

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/devvec"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

func TestSelectionsTakeAndAddTheirElements(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if rapid.Bool().Draw(t, "single") {
			checkSelection[float32](t)
		} else {
			checkSelection[float64](t)
		}
	})
}

func checkSelection[V sparse.Value](t *rapid.T) {
	sys := open(t, Config{Devices: rapid.SampledFrom([]string{"sim:1", "sim:2", "sim:5", "cpu:1", "cpu:3"}).Draw(t, "devices")})
	n := rapid.SampledFrom([]int{0, 1, 2, 7, 300}).Draw(t, "n")
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
	var runs [][]int32
	var all []int32
	for range rapid.IntRange(0, 4).Draw(t, "runs") {
		var run []int32
		for i := range n {
			if r.IntN(3) == 0 {
				run = append(run, int32(i))
			}
		}
		runs, all = append(runs, run), append(all, run...)
	}
	x := normalVector[V](r, n)
	v, err := NewVector[V](sys, n)
	dx := onDevices(t, v, err, x)
	s, err := devvec.NewSelection(dx, runs)
	require.NoError(t, err)
	dst, err := NewVector[V](sys, len(all))
	if rapid.Bool().Draw(t, "on one device") {
		last := len(sys.devices().List) - 1
		a, e := kernels.NewArray[V](sys.devices().List[last], int64(len(all)))
		require.NoError(t, e)
		dst, err = devvec.Adopt(sys, last, a)
	}
	require.NoError(t, err)
	want := make([]V, len(all))
	for k, i := range all {
		want[k] = x[i]
	}
	for range 2 {
		require.NoError(t, s.Take(dst, dx))
		require.Equal(t, want, elements(t, dst))
	}
	more := normalVector[V](r, len(all)) // other values than those of Take
	require.NoError(t, dst.Write(more))
	require.NoError(t, s.AddTo(dx, dst))
	for k, i := range all {
		x[i] += more[k]
	}
	require.Equal(t, x, elements(t, dx))
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	require.ErrorIs(t, s.Take(dst, dx), ErrClosed)
}

func TestSelectionsRejectWrongNumbersAndVectors(t *testing.T) {
	sys := open(t, Config{Devices: "sim:2"})
	v, err := NewVector[float64](sys, 4)
	require.NoError(t, err)
	for _, run := range [][]int32{{-1}, {4}, {1, 1}, {2, 0}} {
		_, err := devvec.NewSelection(v, [][]int32{{0}, run})
		require.True(t, sparse.IsInput(err), "%v: %v", run, err)
		require.ErrorContains(t, err, "the numbers of a run must increase, from 0 to 3")
	}
	s, err := devvec.NewSelection(v, [][]int32{{0, 3}})
	require.NoError(t, err)
	two, err := NewVector[float64](sys, 2)
	require.NoError(t, err)
	require.NoError(t, s.Take(two, v))
	require.NoError(t, two.Wait())
	for _, vs := range [][2]*Vector[float64]{{v, v}, {two, two}, {nil, v}, {two, nil}} {
		require.True(t, sparse.IsInput(s.Take(vs[0], vs[1])))
		require.True(t, sparse.IsInput(s.AddTo(vs[1], vs[0])))
	}
	cut, err := devvec.New[float64](sys.devices(), []int{0, 1, 4})
	require.NoError(t, err)
	require.ErrorContains(t, s.Take(two, cut), "other pieces than")
	require.ErrorContains(t, s.AddTo(cut, two), "other pieces than")
	held := len(sys.devices().Opened)
	all, err := devvec.NewSelection(v, [][]int32{{0, 1, 2, 3}})
	require.NoError(t, err)
	require.ErrorContains(t, all.Take(v, v), "both")
	require.ErrorContains(t, all.AddTo(v, v), "both")
	require.NoError(t, all.Close())
	require.Len(t, sys.devices().Opened, held, "the selection is unregistered")
	var none *devvec.Selection[float64]
	require.True(t, sparse.IsInput(none.Take(two, v)))
	_, err = devvec.Adopt(sys, 0, kernels.Array[float64]{})
	require.True(t, sparse.IsInput(err))
	a, err := kernels.NewArray[float64](sys.devices().List[0], 2)
	require.NoError(t, err)
	_, err = devvec.Adopt(sys, 0, kernels.Array[float64]{Buf: a.Buf, Len: -1})
	require.ErrorContains(t, err, "vector: -1 elements: use 0 to")
	require.NoError(t, a.Free())
}
