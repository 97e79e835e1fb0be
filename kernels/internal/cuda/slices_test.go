package cuda_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels/internal/cuda/sliced"
	"github.com/msrep-go/msrep/sparse"
)

// gatherSlices multiplies by a part in slices. The slices begin at a multiple of 16
// bytes, as arrays of a device do.
func gatherSlices[V sparse.Value](g *gpu, p *part[V]) []V {
	plan, err := sliced.NewPlan(p.ellRows())
	require.NoError(g.t, err)
	m := plan.Build()
	name := named[V]("msrep_major_slices")
	if m.Short {
		name = named[V]("msrep_major_slices_short")
	}
	y, carry, offset := result(g, p.beta, p.y), carryOf[V](g, p.skip), g.offset
	perm, x := nullable(g, "perm", m.Perm), upload(g, "x", p.x)
	g.offset = 0
	data, head := nullable(g, "data", m.Data), upload(g, "head", m.Head)
	g.offset = offset
	g.launch(name, int64(p.rows()), data, head, perm, x, y.addr, carry.addr, int64(p.rows()), int64(p.skip), p.alpha, p.beta)
	return append(carry.read(), y.read()...)
}

// diagonals draws a part whose slices use all kinds: diagonals with gaps, some rows
// with a distant column, values that float32 may represent.
func diagonals[V sparse.Value]() *rapid.Generator[*part[V]] {
	return rapid.Custom(func(t *rapid.T) *part[V] {
		rows := rapid.IntRange(1, 200).Draw(t, "rows")
		at := rapid.SliceOfNDistinct(rapid.IntRange(-5, 40), 1, 20, rapid.ID).Draw(t, "diagonals")
		gaps, odd := rapid.SampledFrom([]int{0, 5, 60}).Draw(t, "gaps"), rapid.SampledFrom([]int{0, 1, 10}).Draw(t, "odd")
		wide := rapid.SampledFrom([]int{300, 70_000}).Draw(t, "columns")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		p := &part[V]{ptr: []int64{0}, cols: wide, skip: r.IntN(2), alpha: 1.5, beta: V(rapid.SampledFrom([]float64{0, 1, -0.5}).Draw(t, "beta"))}
		in := [340]bool{}
		for _, d := range at {
			in[d+5] = true
		}
		for i := range rows {
			for d, there := range in[:46] {
				if j := i + d - 5; there && j >= 0 && j < p.cols && r.IntN(100) >= gaps {
					p.idx = append(p.idx, int32(j))
				}
			}
			if r.IntN(100) < odd {
				p.idx = append(p.idx, int32(p.cols-1-r.IntN(40)))
			}
			p.ptr = append(p.ptr, int64(len(p.idx)))
		}
		p.end = int64(len(p.idx))
		p.val, p.x, p.y = random[V](r, len(p.idx)), random[V](r, p.cols), random[V](r, rows-p.skip)
		if rapid.Bool().Draw(t, "short") {
			for k := range p.val {
				p.val[k] = V(float32(p.val[k]))
			}
		}
		p.x[r.IntN(p.cols)] = V(math.NaN())
		p.x[r.IntN(p.cols)] = V(math.Inf(1))
		return p
	})
}

func TestProductsOfDiagonalsInSlicesAgreeWithTheReference(t *testing.T) {
	t.Run("float64", rapid.MakeCheck(sliceProperty[float64]))
	t.Run("float32", rapid.MakeCheck(sliceProperty[float32]))
}

func sliceProperty[V sparse.Value](t *rapid.T) {
	p, g := diagonals[V]().Draw(t, "part"), newGPU(t)
	g.blocks = rapid.Int64Range(0, 2).Draw(t, "blocks")
	got := gatherSlices(g, p)
	g.ok()
	require.Equal(t, -1, reference.Check(got, p.gathered()))
}

// TestSlicesReadTheirBytesOnce compares the sectors of all arrays except x and y with
// those of the plan, and limits the bytes of the plan for each entry.
func TestSlicesReadTheirBytesOnce(t *testing.T) {
	whole := banded[float64](t, 2000, 4)
	short := banded[float64](t, 2000, 4)
	for k := range short.val {
		short.val[k] = 0.5
	}
	apart := banded[float64](t, 2000, 4) // no diagonals: columns 3 apart
	for k := range apart.idx {
		apart.idx[k] = int32(int(apart.idx[k]) * 13 % 2000)
	}
	far := banded[float64](t, 2000, 4)
	far.cols = 200_000
	far.x = make([]float64, far.cols)
	for k := range far.idx {
		far.idx[k] = int32((int(far.idx[k])*9973 + k*7919) % far.cols)
	}
	for _, c := range []struct {
		name string
		p    *part[float64]
		most float64 // bytes for an entry
	}{{"diagonals", whole, 8.8}, {"diagonals of short values", short, 4.8}, {"columns nearby", apart, 10.3}, {"columns far away", far, 12.3}} {
		g := newGPU(t)
		got := gatherSlices(g, c.p)
		g.ok()
		require.Equal(t, -1, reference.Check(got, c.p.gathered()), c.name)
		plan, err := sliced.NewPlan(c.p.ellRows())
		require.NoError(t, err)
		asked := 32 * float64(g.last.Buffer("data").LoadSectors+g.last.Buffer("head").LoadSectors+g.last.Buffer("perm").LoadSectors)
		each := asked / float64(c.p.nnz())
		t.Logf("%s: %.2f bytes an entry, %.3f of the least, %.2f warp instructions an entry", c.name, each, asked/float64(plan.Bytes()), float64(g.last.WarpInstructions)/float64(c.p.nnz()))
		require.LessOrEqual(t, each, c.most, c.name)
		require.LessOrEqual(t, asked/float64(plan.Bytes()), 1.07, c.name)
	}
}

// Two blocks take 8 of 16 slices each, 4 at a time. Slice s causes a fault, which names
// the block.
func TestABlockTakesNeighbouringSlices(t *testing.T) {
	for s := range 16 {
		p := banded[float64](t, 16*sliced.Height, 4)
		p.cols += 500
		p.idx[p.ptr[s*sliced.Height+1]-1] = int32(p.cols - 1) // x ends before that
		g := newGPU(t)
		g.blocks = 2
		gatherSlices(g, p)
		require.ErrorContains(t, g.err, "block "+strconv.Itoa(s/8)+", thread", "slice %d", s)
		require.ErrorContains(t, g.err, "of x", "slice %d", s)
	}
}

// TestPlantedFaultsInSlicesAreCaught shows that the tests above can fail.
func TestPlantedFaultsInSlicesAreCaught(t *testing.T) {
	apart := banded[float64](t, 100, 4)
	for k := range apart.idx {
		apart.idx[k] = int32(int(apart.idx[k]) * 13 % 100)
	}
	for i, c := range []struct{ pattern, with string }{
		{`ld\.global\.nc\.f64(\s+%fd\d+, \[%rd\d+)\]`, "ld.global.nc.f64$1+8]"},
		{`ld\.global\.nc\.v4\.u32(\s+{.*}, \[%rd\d+)\]`, "ld.global.nc.v4.u32$1+16]"},
		{`bar\.warp\.sync\s+-1`, "bar.warp.sync 1"},
		{`65535`, "65534"},
		{`ld\.global\.cs\.nc\.u16(\s+%rs\d+, \[%rd\d+)\]`, "ld.global.cs.nc.u16$1+2]"},
	} {
		t.Run(strconv.Itoa(i)+" "+c.pattern, func(t *testing.T) {
			caught := false
			for _, p := range append(revealing(), banded[float64](t, 100, 4), apart) {
				g := broken(t, "slices", c.pattern, c.with, -1)
				got := gatherSlices(g, p)
				caught = caught || g.err != nil || reference.Check(got, p.gathered()) >= 0
			}
			require.True(t, caught)
		})
	}
}
