package cuda_test

import (
	"math/bits"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/kernels/internal/cuda/tiled"
	"github.com/msrep-go/msrep/kernels/internal/ptx"
	"github.com/msrep-go/msrep/sparse"
)

// buildTiles builds planned tiles with the kernels.
func buildTiles[V sparse.Value](g *gpu, p *part[V], plan *tiled.Plan[V]) *tiled.Matrix[V] {
	m, tiles, nnz, short := plan.Header(), plan.Tiles(), p.nnz(), plan.Short()
	passes := int64(bits.Len(uint(p.cols-1))+7) / 8
	local := make([]int64, len(p.ptr))
	for r, k := range p.ptr {
		local[r] = min(max(k, p.first), p.end) - p.first
	}
	from, head, sum := upload(g, "from", plan.From()), upload(g, "head", m.Head), nullable(g, "sum", m.Sum)
	key, spare, sumOf := array[int64](g, "key", nnz), array[int64](g, "spare", nnz), array[uint16](g, "sumOf", nnz)
	g.launch("msrep_tiles_sort", tiles, upload(g, "ptr", local), nullable(g, "idx", p.idx), from, head, sum, key, spare, sumOf, tiles, passes)
	if passes%2 == 1 {
		key, spare = spare, key
	}
	name := named[V]("msrep_tiles_arrange")
	if short {
		name = named[V]("msrep_tiles_arrange_short")
	}
	g.schedule.Shared = 4 * plan.Sums()
	val, count := nullable(g, "val", p.val), array[int64](g, "count", int(tiles))
	g.launch(name, tiles, key, spare, sumOf, val, from, head, sum, count, ptx.Addr(0), ptx.Addr(0), ptx.Addr(0), tiles)
	m.SetRounds(download[int64](g, count, int(tiles)))
	head = upload(g, "head", m.Head)
	n := int(m.Places)
	code, base := array[int32](g, "code", n), array[int32](g, "base", n/32)
	if short {
		out := array[float32](g, "outVal", n)
		g.launch(name, tiles, key, spare, sumOf, val, from, head, sum, ptx.Addr(0), out, code, base, tiles)
		m.Short = download[float32](g, out, n)
	} else {
		out := array[V](g, "outVal", n)
		g.launch(name, tiles, key, spare, sumOf, val, from, head, sum, ptx.Addr(0), out, code, base, tiles)
		m.Val = download[V](g, out, n)
	}
	g.schedule.Shared = 0
	m.Code, m.Base = download[int32](g, code, n), download[int32](g, base, n/32)
	return m
}

func TestTheDeviceBuildsTheTilesOfTheHost(t *testing.T) {
	t.Run("float64", rapid.MakeCheck(buildProperty[float64]))
	t.Run("float32", rapid.MakeCheck(buildProperty[float32]))
}

func buildProperty[V sparse.Value](t *rapid.T) {
	p, g := parts[V]().Draw(t, "part"), newGPU(t)
	if p.rows() == 0 || p.nnz() == 0 {
		return
	}
	drawForTiles(t, p)
	g.blocks = rapid.Int64Range(0, 2).Draw(t, "blocks")
	g.schedule.Turn, g.schedule.Seed = rapid.SampledFrom([]int64{0, 50}).Draw(t, "turn"), rapid.Uint64().Draw(t, "seed")
	plan, err := tiled.NewPlan(p.ellRows(), rapid.IntRange(1, 5).Draw(t, "tiles"), rapid.SampledFrom([]int{40, 300, 14336}).Draw(t, "sums"))
	require.NoError(t, err)
	requireTiles(t, g, p, plan)
}

// requireTiles checks that the kernels build the tiles that the host builds, and returns them.
func requireTiles[V sparse.Value](t require.TestingT, g *gpu, p *part[V], plan *tiled.Plan[V]) *tiled.Matrix[V] {
	want, err := plan.Build(nil)
	require.NoError(t, err)
	got := buildTiles(g, p, plan)
	g.ok()
	require.Equal(t, want, got)
	return got
}

// TestTheDeviceBuildsTilesWithManyRoundsAndLongQueues has rows that wait for many rounds.
func TestTheDeviceBuildsTilesWithManyRoundsAndLongQueues(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	lengths := make([]int, 40)
	for i := range lengths {
		lengths[i] = r.IntN(1500)
	}
	p := fixed(9, 0, 0, 0, lengths...)
	p.cols *= 2000
	for k := range p.idx {
		p.idx[k] = p.idx[k]*2000 + int32(k%3)
	}
	for _, sums := range []int{50, 5000} {
		g := newGPU(t)
		g.schedule.MaxInstructions = 1 << 26
		plan, err := tiled.NewPlan(p.ellRows(), 2, sums)
		require.NoError(t, err)
		got := requireTiles(t, g, p, plan)
		t.Logf("%d entries, %d places, %.1f thread instructions an entry to store them", p.nnz(), got.Places, 32*float64(g.last.WarpInstructions)/float64(p.nnz()))
	}
}

// TestPlantedFaultsInBuildersOfTilesAreCaught shows that the tests above can fail.
func TestPlantedFaultsInBuildersOfTilesAreCaught(t *testing.T) {
	p := fixed(7, 0, 400, 9, 3000, 2, 0, 900)
	for i, c := range []struct{ pattern, with string }{
		{`bar\.sync\s+0`, "bar.warp.sync -1"},
		{`atom\.shared\.min`, "atom.shared.max"},
		{`match\.any\.sync\.b32(\s+%r\d+, )%r\d+`, "match.any.sync.b32${1}0"},
	} {
		t.Run(strconv.Itoa(i)+" "+c.pattern, func(t *testing.T) {
			plan, err := tiled.NewPlan(p.ellRows(), 3, 300)
			require.NoError(t, err)
			want, err := plan.Build(nil)
			require.NoError(t, err)
			g := broken(t, "tiles_build", c.pattern, c.with, -1)
			got := buildTiles(g, p, plan)
			require.True(t, g.err != nil || !assert.ObjectsAreEqual(want, got))
		})
	}
}
