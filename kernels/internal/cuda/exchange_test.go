package cuda_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/kernels/internal/cuda"
	"github.com/msrep-go/msrep/kernels/internal/ptx"
	"github.com/msrep-go/msrep/sparse"
)

const pullTile = 1024 // elements of a source that a block of msrep_pull takes

// pulled is one source of msrep_pull.
type pulled[V sparse.Value] struct {
	x   []V
	idx []int32 // nil for all of x
}

// elements returns what a source gives.
func (p pulled[V]) elements() []V {
	if p.idx == nil {
		return p.x
	}
	out := make([]V, len(p.idx))
	for k, j := range p.idx {
		out[k] = p.x[j]
	}
	return out
}

// pull runs msrep_pull on a device, with the sources on two others, and returns what it wrote for each.
func pull[V sparse.Value](g *gpu, sources []pulled[V]) (got [][]V) {
	peers := []*gpu{{t: g.t, mem: ptx.NewMemory(0), offset: g.offset}, {t: g.t, mem: ptx.NewMemory(0), offset: g.offset}}
	g.schedule.Peers = []*ptx.Memory{peers[0].mem, peers[1].mem}
	var x, idx, y, n []any
	blocks := int64(0)
	k, err := cuda.Lookup(named[V]("msrep_pull"))
	require.NoError(g.t, err)
	for i := range 8 {
		if i >= len(sources) {
			x, idx, y, n = append(x, ptx.Addr(0)), append(idx, ptx.Addr(0)), append(y, ptx.Addr(0)), append(n, int64(0))
			continue
		}
		s := sources[i]
		count := len(s.elements())
		x, y, n = append(x, upload(peers[i%2], "x", s.x)), append(y, array[V](g, "y", count)), append(n, int64(count))
		if s.idx == nil {
			idx = append(idx, ptx.Addr(0))
		} else {
			idx = append(idx, upload(g, "idx", s.idx))
		}
		if count > 0 {
			blocks += k.Blocks(int64(count))
		}
	}
	if g.blocks > 0 {
		blocks = min(blocks, g.blocks)
	}
	g.launchGrid(k.Name, max(blocks, 1), slices.Concat(x, idx, y, n)...)
	for i, s := range sources {
		got = append(got, download[V](g, y[i].(ptx.Addr), len(s.elements())))
	}
	return got
}

// drawPulled draws sources, most of them shorter than two tiles.
func drawPulled[V sparse.Value](r *rand.Rand, count int) (list []pulled[V]) {
	lengths := []int{0, 1, 31, 257, 1023, 1024, 1025, 2048, 5000}
	for range count {
		s := pulled[V]{x: random[V](r, lengths[r.IntN(len(lengths))])}
		if r.IntN(2) == 0 && len(s.x) > 0 {
			s.idx = make([]int32, lengths[r.IntN(len(lengths))])
			for k := range s.idx {
				s.idx[k] = int32(r.IntN(len(s.x)))
			}
		}
		list = append(list, s)
	}
	return list
}

func TestPulledElementsAreThoseOfTheirSources(t *testing.T) {
	t.Run("float64", func(t *testing.T) { rapid.Check(t, pulls[float64]) })
	t.Run("float32", func(t *testing.T) { rapid.Check(t, pulls[float32]) })
}

func pulls[V sparse.Value](t *rapid.T) {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	g := newGPU(t)
	g.blocks = rapid.Int64Range(0, 3).Draw(t, "blocks")
	g.offset = rapid.IntRange(0, 3).Draw(t, "offset")
	g.schedule.Workers = rapid.SampledFrom([]int{1, 3}).Draw(t, "workers")
	sources := drawPulled[V](r, rapid.IntRange(0, 8).Draw(t, "sources"))
	got := pull(g, sources)
	g.ok()
	for i, s := range sources {
		require.Equal(t, s.elements(), got[i], "source %d", i)
	}
}

// An element that was not written ends the launch at the block that takes its tile.
func TestBlocksTakeTheSourcesInTurn(t *testing.T) {
	for _, tiles := range [][]int{{1}, {2, 2}, {3, 0, 1}, {1, 4, 2, 4, 0, 1}, {1, 2, 3, 4, 5, 6, 7, 8}, {5, 5, 5, 5, 5, 5, 5, 5}} {
		var want [][2]int // source and tile
		for round := range slices.Max(tiles) {
			for s, n := range tiles {
				if round < n {
					want = append(want, [2]int{s, round})
				}
			}
		}
		for block, at := range want {
			g := newGPU(t)
			var x, y, n []any
			for i := range 8 {
				count := 0
				if i < len(tiles) {
					count = tiles[i] * pullTile
				}
				a := array[float64](g, "x", count)
				for j := range count / pullTile {
					if at != [2]int{i, j} {
						require.NoError(t, g.mem.Zero(a+ptx.Addr(8*j*pullTile), 8*pullTile))
					}
				}
				x, y, n = append(x, a), append(y, array[float64](g, "y", count)), append(n, int64(count))
			}
			g.launchGrid("msrep_pull_f64", int64(len(want)), slices.Concat(x, slices.Repeat([]any{ptx.Addr(0)}, 8), y, n)...)
			var fault *ptx.Fault
			require.True(t, errors.As(g.err, &fault), "%v: %v", tiles, g.err)
			require.Contains(t, fault.Msg, "before they are written")
			require.Equal(t, int64(block), fault.Block[0], "the block of tile %d of source %d, of %v", at[1], at[0], tiles)
		}
	}
}

// pullCarries runs msrep_pull_carries with the carries on another device.
func pullCarries[V sparse.Value](g *gpu, row []int32, val, y []V) []V {
	peer := &gpu{t: g.t, mem: ptx.NewMemory(0), offset: g.offset}
	g.schedule.Peers = []*ptx.Memory{peer.mem}
	args := []any{upload(g, "row", row)}
	for i := range 8 {
		var a ptx.Addr
		if i < len(val) {
			a = upload(peer, "carry", val[i:i+1])
		}
		args = append(args, a)
	}
	d := upload(g, "y", y)
	g.launch(named[V]("msrep_pull_carries"), int64(len(row)), append(args, d, int64(len(row)), int64(len(y)))...)
	return download[V](g, d, len(y))
}

func TestPulledCarriesHaveTheBitsOfCopiedOnes(t *testing.T) {
	t.Run("float64", func(t *testing.T) { rapid.Check(t, pullsCarries[float64]) })
	t.Run("float32", func(t *testing.T) { rapid.Check(t, pullsCarries[float32]) })
}

func pullsCarries[V sparse.Value](t *rapid.T) {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	n, rows := rapid.IntRange(1, 8).Draw(t, "carries"), rapid.IntRange(1, 9).Draw(t, "rows")
	row := make([]int32, n)
	for k := range row {
		row[k] = int32(r.IntN(rows + 1))
	}
	slices.Sort(row)
	val, y := random[V](r, n), random[V](r, rows)
	g := newGPU(t)
	got := pullCarries(g, row, val, y)
	d, none := upload(g, "y", y), array[V](g, "carry", 0)
	addCarries[V](g, upload(g, "row", row), upload(g, "val", val), int64(n), d, none, int64(rows), 0)
	g.ok()
	require.Equal(t, download[V](g, d, rows), got)
}

func TestPlantedFaultsOfPullsAreCaught(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 0))
	sources := []pulled[float64]{{x: random[float64](r, 5), idx: []int32{4, 0, 4}}, {x: random[float64](r, 3000)}, {}, {x: random[float64](r, 1024)}, {x: random[float64](r, 1)}}
	row, val, y := []int32{0, 2, 2, 2, 5, 6}, random[float64](r, 6), random[float64](r, 6)
	elements := func(g *gpu) bool {
		got := pull(g, sources)
		for i, s := range sources {
			if !slices.Equal(s.elements(), got[i]) {
				return false
			}
		}
		return true
	}
	carries := func(g *gpu) bool {
		want := slices.Clone(y)
		want[0] += val[0]
		want[2] += (val[1] + val[2]) + val[3]
		want[5] += val[4]
		got := pullCarries(g, row, val, y)
		for i := range want {
			if d := want[i] - got[i]; d > 1e-14 || d < -1e-14 {
				return false
			}
		}
		return true
	}
	require.True(t, elements(newGPU(t)))
	require.True(t, carries(newGPU(t)))
	for _, c := range []struct {
		name, pattern, with string
		nth                 int
		run                 func(*gpu) bool // whether the results are right
		says                string          // of the fault; "" means wrong results
	}{
		{"elements one too far", `(ld\.global\.f64\s+%fd\d+, \[%rd\d+)\]`, "$1+8]", -1, elements, "which has"},
		{"indices one too far", `(ld\.global\.nc\.u32\s+%r\d+, \[%rd\d+)\]`, "$1+4]", 0, elements, "which has"},
		{"another source", `selp\.b32(\s+%r\d+), 3,`, "selp.b32$1, 0,", 0, elements, "race"},
		{"a tile that no block takes", `(add\.s32\s+%r\d+, %r\d+), %r\d+;(\s+setp\.lt\.s32)`, "$1, 2;$2", 0, elements, ""},
		{"a round that begins too late", `setp\.ge\.s32`, "setp.gt.s32", 1, elements, ""},
		{"a sum in the wrong direction", `shfl\.sync\.up\.b32(.*), 0, -1;`, "shfl.sync.down.b32$1, 31, -1;", -1, carries, ""},
		{"half a warp in the mask", `(shfl\.sync.*), -1;`, "$1, 65535;", -1, carries, "mask"},
	} {
		t.Run(c.name, func(t *testing.T) {
			caught := false
			for blocks := range int64(2) { // each tile by its own block, and all by one
				g := broken(t, "exchange", c.pattern, c.with, c.nth)
				g.blocks = blocks
				right := c.run(g)
				if g.err != nil && c.says != "" {
					require.ErrorContains(t, g.err, c.says)
				}
				caught = caught || g.err != nil || c.says == "" && !right
			}
			require.True(t, caught)
		})
	}
}
