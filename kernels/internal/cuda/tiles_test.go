package cuda_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels/internal/cuda/tiled"
	"github.com/msrep-go/msrep/kernels/internal/ptx"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

// productInTiles multiplies by a part in at least blocks tiles of at most sums sums.
func productInTiles[V sparse.Value](g *gpu, p *part[V], blocks, sums int) []V {
	plan, err := tiled.NewPlan(p.ellRows(), blocks, sums)
	require.NoError(g.t, err)
	m, err := plan.Build(nil)
	require.NoError(g.t, err)
	y, carry, n := result(g, p.beta, p.y), carryOf[V](g, p.skip), plan.Tiles()
	args := []any{nullable(g, "val", m.Val), nullable(g, "code", m.Code), nullable(g, "base", m.Base), upload(g, "head", m.Head),
		nullable(g, "sum", m.Sum), upload(g, "x", p.x), y.addr, carry.addr}
	name := named[V]("msrep_major_tiles")
	if m.Short != nil {
		name, args[0] = named[V]("msrep_major_tiles_short"), upload(g, "val", m.Short)
	}
	var row, val ptx.Addr
	if m.Cut {
		row, val = array[int32](g, "carryRow", int(n)), array[V](g, "carryVal", int(n))
	}
	g.schedule.Shared = plan.Shared()
	g.launch(name, n, append(args, row, val, n, int64(p.skip), p.alpha, p.beta)...)
	g.schedule.Shared = 0
	if m.Cut {
		g.launch(named[V]("msrep_add_carries"), n, row, val, y.addr, carry.addr, n, int64(p.rows()), int64(p.skip))
	}
	return append(carry.read(), y.read()...)
}

func TestProductsOfTilesAgreeWithTheReference(t *testing.T) {
	t.Run("float64", rapid.MakeCheck(tileProperty[float64]))
	t.Run("float32", rapid.MakeCheck(tileProperty[float32]))
}

// drawForTiles may make the values of a part short, and its columns further apart than a code reaches.
func drawForTiles[V sparse.Value](t *rapid.T, p *part[V]) {
	if rapid.Bool().Draw(t, "short") {
		for k := range p.val {
			p.val[k] = V(float32(p.val[k]))
		}
	}
	if rapid.Bool().Draw(t, "far apart") {
		by := 140_000 / p.cols
		p.cols *= by
		p.x = random[V](rand.New(rand.NewPCG(1, 2)), p.cols)
		for k := range p.idx {
			p.idx[k] *= int32(by)
		}
	}
}

func tileProperty[V sparse.Value](t *rapid.T) {
	p, g := parts[V]().Draw(t, "part"), newGPU(t)
	if p.rows() == 0 {
		return
	}
	drawForTiles(t, p)
	p.x[len(p.x)-1] = V(math.NaN())
	g.blocks = rapid.Int64Range(0, 2).Draw(t, "blocks")
	got := productInTiles(g, p, rapid.IntRange(1, 5).Draw(t, "tiles"), rapid.SampledFrom([]int{40, 300, 14336}).Draw(t, "sums"))
	g.ok()
	require.Equal(t, -1, reference.Check(got, p.gathered()))
}

// TestTilesAreBalancedAndFull checks on real sizes that tiles differ little in their entries, and that few places have no
// entry.
func TestTilesAreBalancedAndFull(t *testing.T) {
	for _, c := range []struct {
		spec string
		cut  bool
	}{
		{"random:rows=200k,cols=200k,nnz=4M", false},
		{"powerlaw:rows=200k,cols=200k,nnz=4M,r=1.5", true},
		{"rmat:scale=16,edges=32", true},
		{"banded:n=200k,band=10", false},
	} {
		a, _, err := gen.Generate(c.spec)
		require.NoError(t, err, c.spec)
		plan, err := tiled.NewPlan(whole(a).ellRows(), 128, 14336)
		require.NoError(t, err)
		m, err := plan.Build(nil)
		require.NoError(t, err)
		require.GreaterOrEqual(t, plan.Tiles(), int64(124), c.spec)
		require.Equal(t, c.cut, m.Cut, c.spec)
		places := int64(0)
		for i := int64(0); i < plan.Tiles(); i++ {
			places = max(places, tiled.Round*(m.Head[3*i+3]-m.Head[3*i]))
		}
		t.Logf("%s: %s; %.3f places an entry, the largest tile has %.3f of the mean", c.spec, plan, float64(m.Places)/float64(a.NNZ()), float64(places*plan.Tiles())/float64(a.NNZ()))
		require.LessOrEqual(t, float64(m.Places), 1.1*float64(a.NNZ()), c.spec)
		require.LessOrEqual(t, float64(places*plan.Tiles()), 1.25*float64(a.NNZ()), c.spec)
	}
}

func whole[V sparse.Value](a *sparse.CSR[V]) *part[V] {
	return &part[V]{ptr: a.RowPtr, idx: a.ColIdx, val: a.Val, cols: a.Cols, end: a.NNZ(), alpha: 1, x: make([]V, a.Cols), y: make([]V, a.Rows)}
}

// A block stores y for all rows of its tile, so a tile must not have most of the empty rows.
func TestEmptyRowsAreSharedAmongTiles(t *testing.T) {
	p := fixed(3, 0, 10, 3)
	for range 5000 {
		p.ptr = append(p.ptr, p.end)
	}
	plan, err := tiled.NewPlan(p.ellRows(), 1, 100)
	require.NoError(t, err)
	m := plan.Header()
	require.Len(t, m.Sum, 5010+int(plan.Tiles()))
	sums := int32(0)
	for i := int64(1); i <= plan.Tiles(); i++ {
		require.LessOrEqual(t, m.Head[3*i+1]-m.Head[3*i-2], int64(402))
		sums += m.Sum[m.Head[3*i+1]-1]
	}
	require.EqualValues(t, 30, sums, "one for each entry of so short rows, none for empty rows")
	p.y, p.beta = random[float64](rand.New(rand.NewPCG(5, 5)), p.rows()), 0.5
	g := newGPU(t)
	require.Equal(t, -1, reference.Check(productInTiles(g, p, 1, 100), p.gathered()))
	g.ok()
}

// TestARoundHasDifferentSums checks what makes atomics unnecessary, without the interpreter.
func TestARoundHasDifferentSums(t *testing.T) {
	p := fixed(7, 0, 400, 9, 3000, 2, 0, 900)
	plan, err := tiled.NewPlan(p.ellRows(), 3, 200)
	require.NoError(t, err)
	m, err := plan.Build(nil)
	require.NoError(t, err)
	entries := 0
	for r := int64(0); r < m.Places; r += tiled.Round {
		seen := map[int32]bool{}
		for _, code := range m.Code[r : r+tiled.Round] {
			if s := int32(uint32(code) >> 16); s != tiled.MaxSums {
				require.False(t, seen[s])
				require.Less(t, s, int32(200))
				seen[s] = true
				entries++
			}
		}
	}
	require.Equal(t, p.nnz(), entries)
}

var errStop = errors.New("stopped")

func TestBuildingTilesCanBeStopped(t *testing.T) {
	plan, err := tiled.NewPlan(fixed(1, 0, 300, 13).ellRows(), 4, 100)
	require.NoError(t, err)
	_, err = plan.Build(func() error { return errStop })
	require.ErrorIs(t, err, errStop)
}

// TestPlantedFaultsInTilesAreCaught shows that the tests above can fail.
func TestPlantedFaultsInTilesAreCaught(t *testing.T) {
	for i, c := range []struct{ pattern, with string }{
		{`bar\.sync\s+0`, "bar.warp.sync -1"},
		{`65535`, "65534"},
		{`st\.shared\.f64(\s+\[%rd\d+)\]`, "st.shared.f64$1+8]"},
		{`shr\.u32(\s+%r\d+, %r\d+), 16`, "shr.u32$1, 15"},
		{`ld\.global\.nc\.u64(\s+%rd\d+, \[%rd\d+)\+24\]`, "ld.global.nc.u64$1+0]"},
		{`st\.global\.f64(\s+\[%rd\d+)\]`, "st.global.f64$1+8]"},
	} {
		t.Run(strconv.Itoa(i)+" "+c.pattern, func(t *testing.T) {
			caught := false
			for _, p := range revealing() {
				g := broken(t, "tiles", c.pattern, c.with, -1)
				got := productInTiles(g, p, 3, 300)
				caught = caught || g.err != nil || reference.Check(got, p.gathered()) >= 0
			}
			require.True(t, caught)
		})
	}
}

// TestTilesReadTheirBytesOnce compares the sectors of all arrays except x and y with those of the arrays.
func TestTilesReadTheirBytesOnce(t *testing.T) {
	a, _, err := gen.Generate("random:rows=16k,nnz=240k,value=random")
	require.NoError(t, err)
	p, g := whole(a), newGPU(t)
	got := productInTiles(g, p, 2, 14336)
	g.ok()
	require.Equal(t, -1, reference.Check(got, p.gathered()))
	read := int64(0)
	for _, name := range []string{"val", "code", "base"} {
		read += 32 * g.last.Buffer(name).LoadSectors
	}
	each := float64(read) / float64(a.NNZ())
	t.Logf("%.2f bytes an entry, %.2f warp instructions an entry", each, float64(g.last.WarpInstructions)/float64(a.NNZ()))
	require.LessOrEqual(t, each, 13.5) // 12 for value and code, 1 for the base of each 32, and empty places
}

// lookups returns how many 64-byte pieces of x the warps ask for in a product in tiles, and in CSR, if 32 consecutive
// entries are one request.
func lookups[V sparse.Value](m *tiled.Matrix[V], idx []int32) (tiles, csr int64) {
	size := int32(mem.Size[V]())
	count := func(n int, column func(i int) (c int32, ok bool)) (pieces int64) {
		var seen [32]int32
		for from := 0; from < n; from += 32 {
			distinct := seen[:0]
			for i := from; i < min(from+32, n); i++ {
				if c, ok := column(i); ok && !slices.Contains(distinct, c/(64/size)) {
					distinct = append(distinct, c/(64/size))
				}
			}
			pieces += int64(len(distinct))
		}
		return pieces
	}
	tiles = count(len(m.Code), func(i int) (int32, bool) {
		return m.Base[i/32] + m.Code[i]&0xffff, uint32(m.Code[i])>>16 != tiled.MaxSums
	})
	return tiles, count(len(idx), func(i int) (int32, bool) { return idx[i], true })
}

// irregular are single tiles of generated matrices whose columns jump about, in float64 and float32, and the lookups an
// entry that were predicted for them.
var irregular = []struct {
	of    string
	specs [2]string
	tiles [2]float64
}{
	{"random:rows=2M,nnz=50M", [2]string{"random:rows=14336,cols=2M,nnz=358k", "random:rows=15625,cols=2M,nnz=391k"}, [2]float64{0.53, 0.34}},
	{"random:rows=1M,nnz=10M", [2]string{"random:rows=7813,cols=1M,nnz=78k", "random:rows=7813,cols=1M,nnz=78k"}, [2]float64{0.76, 0.59}},
}

// TestTilesNeedFewLookups compares the requests that the interpreter counts with those of the structure, and both with what
// was predicted.
func TestTilesNeedFewLookups(t *testing.T) {
	for _, c := range irregular {
		t.Run(c.of+" float64", func(t *testing.T) { fewLookups[float64](t, c.specs[0], c.tiles[0]) })
		t.Run(c.of+" float32", func(t *testing.T) { fewLookups[float32](t, c.specs[1], c.tiles[1]) })
	}
}

func fewLookups[V sparse.Value](t *testing.T, spec string, want float64) {
	a, _, err := gen.Generate(spec)
	require.NoError(t, err)
	p := whole(&sparse.CSR[V]{Rows: a.Rows, Cols: a.Cols, RowPtr: a.RowPtr, ColIdx: a.ColIdx, Val: random[V](rand.New(rand.NewPCG(1, 1)), len(a.Val))})
	sums := 112 << 10 / int(mem.Size[V]())
	plan, err := tiled.NewPlan(p.ellRows(), 1, sums)
	require.NoError(t, err)
	require.EqualValues(t, 1, plan.Tiles())
	m, err := plan.Build(nil)
	require.NoError(t, err)
	n, _ := lookups(m, p.idx)
	each := float64(n) / float64(p.nnz())
	t.Logf("%.3f lookups an entry: %s", each, plan)
	require.InEpsilon(t, want, each, 0.1)
	g := newGPU(t)
	g.schedule.AllowRaces, g.schedule.MaxInstructions = true, 1<<30
	productInTiles(g, p, 1, sums)
	g.ok()
	require.Equal(t, n, g.last.Buffer("x").LoadPieces)
}

// BenchmarkLookups counts, at full size, the lookups an entry of irregular matrices in CSR and in tiles, and predicts the
// times of a product on an H100: lookups/(135 per ns) + bytes/(7.25 TB/s). It measures the time to build tiles.
func BenchmarkLookups(b *testing.B) {
	for _, spec := range []string{"powerlaw:rows=1M,nnz=10M", "powerlaw:rows=2M,nnz=40M", "random:rows=1M,nnz=10M", "random:rows=2M,nnz=50M",
		"random:rows=10M,nnz=150M", "rmat:scale=21,edges=16", "rmat:scale=23,edges=16"} {
		b.Run(spec+" float64", func(b *testing.B) { countLookups[float64](b, spec) })
		b.Run(spec+" float32", func(b *testing.B) { countLookups[float32](b, spec) })
	}
}

func countLookups[V sparse.Value](b *testing.B, spec string) {
	a, _, err := gen.Generate(spec + ",value=random")
	require.NoError(b, err)
	p := &part[V]{ptr: a.RowPtr, idx: a.ColIdx, cols: a.Cols, end: a.NNZ(), val: make([]V, a.NNZ())}
	for k, v := range a.Val {
		p.val[k] = V(v)
	}
	a.Val = nil
	for b.Loop() {
		plan, err := tiled.NewPlan(p.ellRows(), 128, 112<<10/int(mem.Size[V]()))
		require.NoError(b, err)
		m, err := plan.Build(nil)
		require.NoError(b, err)
		tiles, csr := lookups(m, p.idx)
		n, size := float64(p.nnz()), float64(mem.Size[V]())
		vectors := size * float64(a.Rows+a.Cols)
		b.ReportMetric(float64(csr)/n, "csr-lookups")
		b.ReportMetric(float64(tiles)/n, "tile-lookups")
		b.ReportMetric(float64(m.Places)/n, "places")
		b.ReportMetric((float64(csr)/135+(n*(4+size)+8*float64(a.Rows)+vectors)/7250)/1000, "csr-us")
		b.ReportMetric((float64(tiles)/135+(float64(m.Bytes())+vectors)/7250)/1000, "tile-us")
		b.ReportMetric(float64(plan.Tiles()), "tiles")
	}
}
