package cuda_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels/internal/cuda"
	"github.com/msrep-go/msrep/kernels/internal/ptx"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
)

// ellRows returns a part as sparse/ellpack takes it.
func (p *part[V]) ellRows() ellpack.Rows[V] {
	return ellpack.Rows[V]{Ptr: p.ptr, First: p.first, End: p.end, Idx: p.idx, Val: p.val}
}

// nullable uploads an array; the address of an empty one is 0.
func nullable[T mem.Elem](g *gpu, name string, s []T) ptx.Addr {
	if len(s) == 0 {
		return 0
	}
	return upload(g, name, s)
}

// ellLaunch is a kernel of the family with its arguments and its expected traffic.
type ellLaunch[V sparse.Value] struct {
	kernel string
	args   []any // arguments before x
	more   []any // arguments after rows
	shape  ellpack.Shape
	meta   float64 // least sectors of lengths, starts and permutations
	bits   float64 // least sectors of idx and val
}

// pack packs a part in a format on the device.
func pack[V sparse.Value](g *gpu, f sparse.Format, p *part[V], o ellpack.Options) ellLaunch[V] {
	size := mem.Size[V]()
	entries := func(idx []int32, val []V) []any { return []any{upload(g, "idx", idx), upload(g, "val", val)} }
	least := sectors(p.idx, 4) + sectors(p.val, size)
	switch f {
	case ellpack.FormatELL:
		e, err := ellpack.NewELL(p.ellRows(), o)
		require.NoError(g.t, err)
		return ellLaunch[V]{named[V]("msrep_major_ell"), entries(e.Idx, e.Val), []any{e.Stride, e.Width}, e.Shape, 0, least}
	case ellpack.FormatELLR, ellpack.FormatPELLR, ellpack.FormatPELLRWarp:
		e, err := ellpack.NewELLR(f, p.ellRows(), o)
		require.NoError(g.t, err)
		name := "ellr"
		if e.ByWarp {
			name = "pellr_warp"
		}
		args := append(entries(e.Idx, e.Val), upload(g, "length", e.Length), nullable(g, "start", e.Start), nullable(g, "perm", e.Perm))
		return ellLaunch[V]{named[V]("msrep_major_%s", name), args, []any{e.Stride}, e.Shape, sectors(e.Length, 4) + sectors(e.Perm, 4) + sectors(e.Start, 8), least}
	case ellpack.FormatBiELL, ellpack.FormatBiJAD:
		e, err := ellpack.NewBisected(f, p.ellRows(), o)
		require.NoError(g.t, err)
		args := append(entries(e.Idx, e.Val), upload(g, "start", e.Start), upload(g, "perm", e.Perm))
		return ellLaunch[V]{named[V]("msrep_major_bisected"), args, nil, e.Shape, sectors(e.Start, 8) + sectors(e.Perm, 4), least}
	case ellpack.FormatJAD:
		e, err := ellpack.NewJAD(p.ellRows(), o)
		require.NoError(g.t, err)
		args := append(entries(e.Idx, e.Val), upload(g, "start", e.Start), upload(g, "perm", e.Perm))
		return ellLaunch[V]{named[V]("msrep_major_jad"), args, []any{int64(len(e.Start) - 1)}, e.Shape, sectors(e.Start, 8) + sectors(e.Perm, 4), least}
	default:
		e, err := ellpack.NewSELL(p.ellRows(), o)
		require.NoError(g.t, err)
		args := append(entries(e.Idx, e.Val), upload(g, "start", e.Start), nullable(g, "perm", e.Perm))
		return ellLaunch[V]{named[V]("msrep_major_sell"), args, nil, e.Shape, sectors(e.Start, 8) + sectors(e.Perm, 4), least}
	}
}

// arguments returns the complete arguments of a launch; out reads carry and y.
func (l ellLaunch[V]) arguments(g *gpu, p *part[V]) (args []any, out func() []V) {
	y, carry := result(g, p.beta, p.y), carryOf[V](g, p.skip)
	args = append(args, l.args...)
	args = append(args, upload(g, "x", p.x), y.addr, carry.addr, int64(p.rows()))
	args = append(append(args, l.more...), int64(p.skip), p.alpha, p.beta)
	return args, func() []V { return append(carry.read(), y.read()...) }
}

// gatherEllpack multiplies by a part in a format. It computes hyb as README.md
// describes.
func gatherEllpack[V sparse.Value](g *gpu, f sparse.Format, p *part[V], o ellpack.Options) []V {
	if f == ellpack.FormatHYB || f == ellpack.FormatHYBMean {
		return gatherHYB(g, f, p, o)
	}
	l := pack(g, f, p, o)
	args, out := l.arguments(g, p)
	g.launch(l.kernel, int64(p.rows()), args...)
	return out()
}

func gatherHYB[V sparse.Value](g *gpu, f sparse.Format, p *part[V], o ellpack.Options) []V {
	e, err := ellpack.NewHYB(f, p.ellRows(), o)
	require.NoError(g.t, err)
	x := upload(g, "x", p.x)
	y, carry := result(g, p.beta, p.y), carryOf[V](g, p.skip)
	g.launch(named[V]("msrep_major_ell"), int64(p.rows()), upload(g, "idx", e.ELL.Idx), upload(g, "val", e.ELL.Val), x, y.addr, carry.addr,
		int64(p.rows()), e.ELL.Stride, e.ELL.Width, int64(p.skip), p.alpha, p.beta)
	rest, name := int64(len(e.Row)), named[V]("msrep_major_coo")
	k, err := cuda.Lookup(name)
	require.NoError(g.t, err)
	if rest > 0 {
		n := k.Carries(rest)
		carryRow, carryVal := array[int32](g, "carryRow", int(n)), array[V](g, "carryVal", int(n))
		g.launch(name, rest, upload(g, "major", e.Row), upload(g, "minor", e.Col), upload(g, "rest", e.RestVal), x, y.addr, carry.addr,
			carryRow, carryVal, rest, int64(p.skip), p.alpha)
		addCarries[V](g, carryRow, carryVal, n, y.addr, carry.addr, int64(len(p.y))+1, 1)
	}
	return append(carry.read(), y.read()...)
}

// gatherRival multiplies by CSRS or CSRV.
func gatherRival[V sparse.Value](g *gpu, name string, p *part[V]) []V {
	y, carry := result(g, p.beta, p.y), carryOf[V](g, p.skip)
	g.launch(named[V]("msrep_major_%s", name), int64(p.rows()),
		upload(g, "ptr", p.ptr), upload(g, "idx", p.idx), upload(g, "val", p.val), upload(g, "x", p.x), y.addr, carry.addr,
		int64(p.rows()), p.first, p.end, int64(p.skip), p.alpha, p.beta)
	return append(carry.read(), y.read()...)
}

// ellProducts returns all formats of the family and the baselines.
func ellProducts[V sparse.Value]() []product[V] {
	var list []product[V]
	add := func(name string, run func(g *gpu, p *part[V]) []V) {
		list = append(list, product[V]{"gather as " + name, run, (*part[V]).gathered})
	}
	for _, f := range ellpack.Formats() {
		add(string(f), func(g *gpu, p *part[V]) []V { return gatherEllpack(g, f, p, ellpack.Options{}) })
	}
	for _, f := range []sparse.Format{ellpack.FormatELLR, ellpack.FormatPELLR, ellpack.FormatPELLRWarp} {
		add(string(f)+" cut into warps", func(g *gpu, p *part[V]) []V { return gatherEllpack(g, f, p, ellpack.Options{Sliced: true}) })
	}
	add("sell without order", func(g *gpu, p *part[V]) []V {
		return gatherEllpack(g, ellpack.FormatSELL, p, ellpack.Options{Sigma: 1})
	})
	add("slices", gatherSlices[V])
	for _, name := range []string{"csrs", "csrv"} {
		add(name, func(g *gpu, p *part[V]) []V { return gatherRival(g, name, p) })
	}
	return list
}

var branch = regexp.MustCompile(`bra(?:\.uni)?\s+(\$\w+);`)

// innermost returns the label of the shortest loop of a kernel.
func innermost(t require.TestingT, body string) string {
	label, shortest := "", len(body)
	for _, m := range branch.FindAllStringSubmatchIndex(body, -1) {
		name := body[m[2]:m[3]]
		if at := strings.Index(body, "\n"+name+":"); at >= 0 && at < m[0] && m[0]-at < shortest {
			label, shortest = name, m[0]-at
		}
	}
	require.NotEmpty(t, label)
	return label
}

// steps runs a launch and counts the iterations of its inner loop for each warp.
func (l ellLaunch[V]) steps(g *gpu, p *part[V]) []int64 {
	args, _ := l.arguments(g, p)
	k, err := cuda.Lookup(l.kernel)
	require.NoError(g.t, err)
	s, err := cuda.PTX(k.Family)
	require.NoError(g.t, err)
	kernel, err := g.mods[k.Family].Kernel(l.kernel)
	require.NoError(g.t, err)
	c, err := kernel.Launch(g.mem, ptx.Launch{
		Grid: ptx.Dim{X: int(k.Blocks(int64(p.rows())))}, Block: ptx.Dim{X: k.Block}, Watch: innermost(g.t, entries(s)[l.kernel].body),
	}, args...)
	require.NoError(g.t, err)
	return c.Iterations
}

func TestTheLoopsOfWarpsTakeTheStepsOfEquation1(t *testing.T) {
	t.Run("float64", rapid.MakeCheck(stepsOfEquation1[float64]))
	t.Run("float32", rapid.MakeCheck(stepsOfEquation1[float32]))
}

func stepsOfEquation1[V sparse.Value](t *rapid.T) {
	p := parts[V]().Draw(t, "part")
	o := ellpack.Options{Sliced: rapid.Bool().Draw(t, "sliced")}
	// Equation (1): the longest of each 32 rows.
	longest := make([]int64, (p.rows()+31)/32)
	for r := range p.rows() {
		n := min(p.ptr[r+1], p.end) - max(p.ptr[r], p.first)
		longest[r/32] = max(longest[r/32], n)
	}
	for _, f := range []sparse.Format{
		ellpack.FormatELL, ellpack.FormatELLR, ellpack.FormatPELLR, ellpack.FormatPELLRWarp, ellpack.FormatJAD, ellpack.FormatBiELL, ellpack.FormatBiJAD,
	} {
		g := newGPU(t)
		l := pack(g, f, p, o)
		got, sum := l.steps(g, p), int64(0)
		for _, n := range got {
			sum += n
		}
		require.Equal(t, l.shape.Steps, sum, f)
		if f == ellpack.FormatELLR {
			require.Equal(t, longest, got[:len(longest)])
		}
	}
}

func TestEllpackKernelsAskForFewSectorsMoreThanTheLeast(t *testing.T) {
	t.Run("float64", func(t *testing.T) { fewEllpackSectors[float64](t) })
	t.Run("float32", func(t *testing.T) { fewEllpackSectors[float32](t) })
}

func fewEllpackSectors[V sparse.Value](t *testing.T) {
	for _, band := range []int{0, 1, 2, 5, 20, 80} {
		p := banded[V](t, max(100, 20000/(2*band+1)), band)
		for _, f := range ellpack.Formats() {
			if f == ellpack.FormatHYB || f == ellpack.FormatHYBMean {
				continue // ell and the kernel for coordinates
			}
			most := 1.15
			switch {
			case f == ellpack.FormatELL:
				most = 1.2 // padding is read
			case f == ellpack.FormatJAD:
				most = 1.5 // its diagonals begin at any address, and every warp reads their starts
			case f == ellpack.FormatBiELL || f == ellpack.FormatBiJAD:
				most = 1.5 // each warp reads six starts singly; halves round up
			}
			g := newGPU(t)
			l := pack(g, f, p, ellpack.Options{})
			args, out := l.arguments(g, p)
			g.launch(l.kernel, int64(p.rows()), args...)
			got := out()
			g.ok()
			require.Equal(t, -1, reference.Check(got, p.gathered()))
			asked := 0.0
			for _, name := range []string{"idx", "val", "length", "start", "perm"} {
				asked += float64(g.last.Buffer(name).LoadSectors)
			}
			ratio := asked / (l.bits + l.meta)
			t.Logf("band %d, %s: %.3f of the least sectors, %.2f warp instructions an entry", band, f, ratio, float64(g.last.WarpInstructions)/float64(p.nnz()))
			require.LessOrEqual(t, ratio, most, "band %d, %s", band, f)
		}
	}
}

// TestPlantedFaultsInEllpackKernelsAreCaught shows that the tests above can fail.
func TestPlantedFaultsInEllpackKernelsAreCaught(t *testing.T) {
	by := func(f sparse.Format) func(*gpu, *part[float64]) []float64 {
		return func(g *gpu, p *part[float64]) []float64 { return gatherEllpack(g, f, p, ellpack.Options{}) }
	}
	for i, c := range []struct {
		family, pattern, with string
		run                   func(*gpu, *part[float64]) []float64
	}{
		{"ell", `ld\.global\.nc\.f64(\s+%fd\d+, \[%rd\d+)\]`, "ld.global.nc.f64$1+8]", by(ellpack.FormatELLR)},
		{"ell", `setp\.lt\.s32(\s+%p\d+, %r\d+, 0;)`, "setp.gt.s32$1", by(ellpack.FormatELL)},
		{"ell_sorted", `shfl\.sync\.bfly`, "shfl.sync.up", by(ellpack.FormatBiELL)},
		{"ell_sorted", `ld\.global\.nc\.u64(\s+%rd\d+, \[%rd\d+)\]`, "ld.global.nc.u64$1+8]", by(ellpack.FormatJAD)},
		{"ell_rivals", `shfl\.sync\.bfly`, "shfl.sync.up", func(g *gpu, p *part[float64]) []float64 { return gatherRival(g, "csrv", p) }},
	} {
		t.Run(strconv.Itoa(i)+" "+c.family, func(t *testing.T) {
			caught := false
			for _, p := range revealing() {
				g := broken(t, c.family, c.pattern, c.with, -1)
				got := c.run(g, p)
				caught = caught || g.err != nil || reference.Check(got, p.gathered()) >= 0
			}
			require.True(t, caught, fmt.Sprint(c.pattern))
		})
	}
}
