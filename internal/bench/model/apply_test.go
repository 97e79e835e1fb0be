package model

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/bench/gpuruns"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

func node(t *testing.T, name string) *Node {
	t.Helper()
	n, err := LoadNode(name)
	require.NoError(t, err)
	return n
}

// count counts a generated matrix on several GPUs.
func count(t *testing.T, spec string, gpus int, rule partition.Rule) Structure {
	t.Helper()
	a, _, err := gen.Generate(spec)
	require.NoError(t, err)
	parts, _, err := partition.Split(a.RowPtr, gpus, rule)
	require.NoError(t, err)
	return Count(a.RowPtr, a.ColIdx, parts, []Cache{{1 << 20, 64}})
}

func TestTransfersShareLinksFairly(t *testing.T) {
	to := func(bytes float64, uses ...int) flow { return flow{bytes, uses} }
	for what, c := range map[string]struct {
		capacity []float64
		queue    [][]stage
		start    []float64
		want     []float64
	}{
		"two on one link, and what is left for one": {[]float64{10}, [][]stage{{{flows: []flow{to(10, 0)}}}, {{flows: []flow{to(30, 0)}}}}, []float64{0, 0}, []float64{2, 4}},
		"one after the other, with fixed times":     {[]float64{10}, [][]stage{{{fixed: 1, flows: []flow{to(10, 0)}}, {fixed: 2, flows: []flow{to(20, 0)}}}}, []float64{5}, []float64{11}},
		"both ends limit": {[]float64{4, 10, 10}, [][]stage{{{flows: []flow{to(8, 0, 1)}}}, {{flows: []flow{to(12, 0, 2)}}}, {{flows: []flow{to(16, 1)}}}},
			[]float64{0, 0, 0}, []float64{4, 5, 2}},
		"a stage ends with its last transfer": {[]float64{1, 2}, [][]stage{{{flows: []flow{to(3, 0), to(2, 1)}}, {fixed: 1}}}, []float64{0}, []float64{4}},
		"nothing to transfer":                 {[]float64{1}, [][]stage{nil, {{fixed: 3, flows: []flow{to(0, 0)}}}}, []float64{7, 0}, []float64{7, 3}},
		"no GPU":                              {nil, nil, nil, nil},
	} {
		require.InDeltaSlice(t, append([]float64{0}, c.want...), append([]float64{0}, simulate(c.capacity, c.queue, c.start)...), 1e-9, what)
	}
}

func TestCountsAreThoseMadeByHand(t *testing.T) {
	// Rows 0 to 3 have the columns 0 2 | 1 | 0 3 | 2; two parts of three entries share row 2.
	ptr, idx := []int64{0, 2, 3, 5, 6}, []int32{0, 2, 1, 0, 3, 2}
	parts, _, err := partition.Split(ptr, 2, partition.RuleWhole)
	require.NoError(t, err)
	require.Equal(t, []int{0, 2, 4}, []int{parts[0].OwnFirst, parts[1].OwnFirst, parts[1].OwnEnd})
	s := Count(ptr, idx, parts, []Cache{{1 << 10, 32}})
	require.Equal(t, [][]int64{{2, 1}, {1, 2}}, s.Need)
	require.Equal(t, [][]int64{{2, 1}, {1, 2}}, s.Span)
	require.Equal(t, [][]int64{{2, 1}, {2, 2}}, s.Range)
	one := 128.0 * (16 + 32) / (16 + 128)
	require.Equal(t, [][]float64{{one, one}, {one, one}}, s.Wire)
	require.Equal(t, PartCount{Entries: 3, Rows: 2, Bytes: 52, Lookups: 1, Misses: []int64{1}, Boundary: 2}, s.Parts[0])
	require.Equal(t, PartCount{Entries: 3, Rows: 2, Bytes: 52, Lookups: 1, Misses: []int64{1}, Boundary: 2}, s.Parts[1])
	all, most := s.Sent()
	require.Equal(t, []int64{2, 1}, []int64{all, most})

	shared := []partition.Part{{EndIdx: 3, EndMajor: 2, OwnEnd: 3}, {StartIdx: 4, EndIdx: 5, StartMajor: 2, EndMajor: 3, StartFlag: true, OwnFirst: 3, OwnEnd: 4}}
	s = Count(ptr, idx, shared, nil)
	require.Equal(t, []int{1}, s.Parts[0].Carriers)
	require.Empty(t, s.Parts[1].Carriers)
	require.EqualValues(t, 2, s.Parts[1].Rows)
	require.Equal(t, [][]int64{{3, 0}, {1, 1}}, s.Need)

	require.Equal(t, 128.0, wire(0xffff))
	require.Equal(t, 2*one, wire(1|1<<16), "two lines")
	require.Equal(t, one, wire(0xf), "one sector")
	require.Equal(t, 128.0*(16+64)/144, wire(1|1<<15))
	require.EqualValues(t, 0xf8, within(0xff, 3, 70))
	require.EqualValues(t, 0x07, within(0xff, -5, 3))
	require.EqualValues(t, 34, lookups(append(make([]int32, 31), 8, 0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128, 136, 144, 152, 160, 168, 176, 184, 192, 200, 208, 216, 224, 232, 240, 248)), "2 and 32")
}

func TestLocalPatternsAreCountedLikeTheMatrix(t *testing.T) {
	for spec, l := range map[string]Local{
		"stencil:points=27,n=7":       Stencil(27, 7),
		"stencil:points=7,n=8":        Stencil(7, 8),
		"stencil:points=5,n=20":       Stencil(5, 20),
		"banded:n=300,band=29":        Band(300, 29),
		"banded:n=10,band=9":          Band(10, 9),
		"stencil:points=27,n=2":       Stencil(27, 2),
		"banded:n=5,band=0,density=1": Band(5, 0),
	} {
		for _, gpus := range []int{1, 2, 3, 8} {
			got, want := l.Count(gpus)[0], count(t, spec, gpus, partition.RuleWhole)
			what := fmt.Sprintf("%s on %d", spec, gpus)
			require.Equal(t, want.Need, got.Need, what)
			require.Equal(t, want.Span, got.Span, what)
			require.Equal(t, want.Range, got.Range, what)
			require.Equal(t, want.Wire, got.Wire, what)
			require.Equal(t, want.Rows, got.Rows)
			require.Equal(t, want.Entries, got.Entries)
			for i, p := range got.Parts {
				require.Equal(t, []int64{want.Parts[i].Entries, want.Parts[i].Rows, want.Parts[i].Boundary}, []int64{p.Entries, p.Rows, p.Boundary}, what)
				require.InDelta(t, l.RowBytes*float64(p.Rows), p.Bytes, 1e-9)
			}
		}
	}
}

func TestResizedStructuresKeepTheirFractions(t *testing.T) {
	s := count(t, "random:rows=2k,nnz=20k", 4, partition.RuleWhole)
	twice := s.Resized(4000, 40000)
	for i := range s.Parts {
		require.Equal(t, 2*s.Parts[i].Entries, twice.Parts[i].Entries)
		require.Equal(t, 2*s.Parts[i].Misses[0], twice.Parts[i].Misses[0])
		require.InDelta(t, 2*s.Parts[i].Bytes, twice.Parts[i].Bytes, 1e-6)
		for j := range s.Parts {
			require.Equal(t, 2*s.Need[i][j], twice.Need[i][j])
			require.InDelta(t, 2*s.Wire[i][j], twice.Wire[i][j], 1e-6)
		}
	}
	real := count(t, "random:rows=4k,nnz=40k", 4, partition.RuleWhole)
	all, _ := real.Sent()
	scaled, _ := twice.Sent()
	require.InEpsilon(t, float64(all), float64(scaled), 0.02, "a random matrix of twice the size needs the same fraction")
}

// TestCallsAreThoseCounted uses the calls that were counted in products of a random matrix on 8 GPUs before the steps.
func TestCallsAreThoseCounted(t *testing.T) {
	n := node(t, "h100")
	s := count(t, "random:rows=2003,nnz=40051", 8, partition.RuleNNZ)
	for i := range 7 { // each part but the first begins within a row
		require.Equal(t, []int{i + 1}, s.Parts[i].Carriers)
	}
	require.Equal(t, 112+16+63+8+15, n.Apply(s, Steps{}, 0).Calls, "waits, marks, copies between GPUs, copies of own elements, launches")
	for _, gpus := range []int{2, 4, 8} {
		for _, spec := range []string{"random:rows=2003,nnz=40051", "banded:n=2k,band=5", "rmat:scale=11,edges=16"} {
			a := n.Apply(count(t, spec, gpus, partition.RuleNNZ), built(), 0)
			require.LessOrEqual(t, a.Most, 12, "%s on %d", spec, gpus)
			require.LessOrEqual(t, a.Calls, 12*gpus)
			require.InDelta(t, float64(a.Most)*n.Call.Value, a.Host, 1e-12)
		}
	}
}

func built() Steps { return Steps{Rotated: true, Pull: true, Placed: true, Early: true} }

// dense is a structure in which each GPU needs all elements of all others.
func dense(rows int64, gpus int) Structure {
	s := newStructure(rows*int64(gpus), 0, gpus)
	for i := range gpus {
		s.Parts[i].Rows, s.Parts[i].Streams = rows, true
		for j := range gpus {
			s.Need[i][j], s.Span[i][j], s.Range[i][j], s.Wire[i][j] = rows, rows, rows, 8*float64(rows)
		}
	}
	return s
}

func TestAHotSpotIsTheBoundOfCopiesInAscendingOrder(t *testing.T) {
	n := node(t, "h100")
	n.Copy.Value, n.Small.Value = 0, 0
	const rows = 1 << 20
	piece, own := 8*rows/(n.Port.Value*giga), 16*rows/(n.Stream.Value*giga)
	rotated := n.Apply(dense(rows, 8), Steps{Rotated: true}, 0)
	require.InEpsilon(t, 7*piece+own, rotated.Exchange, 1e-9, "in each step every GPU is read by one other")
	require.InEpsilon(t, 7*piece, n.Apply(dense(rows, 8), Steps{Rotated: true, Pull: true}, 0).Exchange, 1e-9, "all at once, no own piece")
	// GPU 1 begins with GPU 0 like the others. GPU 0 copies its own piece meanwhile, and reads GPU 1 alone: at each step
	// all GPUs read one or two.
	ascending := n.Apply(dense(rows, 8), Steps{}, 0).Exchange
	require.Greater(t, ascending, 3*rotated.Exchange)
	require.Less(t, ascending, 8*7*piece)
	require.InEpsilon(t, piece+own, n.Apply(dense(rows, 2), Steps{}, 0).Exchange, 1e-9, "two GPUs read each other")
}

func TestNodesHaveTheLinksOfTheirMachines(t *testing.T) {
	for _, name := range []string{"dgx1", "summit"} {
		n := node(t, name)
		require.Len(t, n.Links, n.GPUs)
		for a, row := range n.Links {
			require.Len(t, row, n.GPUs)
			sum := 0
			for b, k := range row {
				require.Equal(t, n.Links[b][a], k)
				sum += k
			}
			require.Equal(t, map[string]int{"dgx1": 6, "summit": 4}[name], sum, "a V100 has 6 links; on Summit 2 go to the host")
			require.Zero(t, row[a])
		}
		require.ElementsMatch(t, []int{0, 1, 2, 3, 4, 5, 6, 7}[:n.GPUs], n.Order)
	}
	d, s := node(t, "dgx1"), node(t, "summit")
	require.False(t, d.Direct(3, 4))
	for k := range 7 {
		require.True(t, d.Direct(d.Order[k], d.Order[k+1]), "neighbours in the order have a link")
	}
	require.False(t, s.Direct(2, 3))
	w := d.network()
	require.InDelta(t, 2*23.95e9, w.capacity[w.route(0, 3)[0]], 1, "two links")
	require.Len(t, w.route(3, 4), 3, "up, down and between the sockets")
	require.Len(t, s.network().host(0, 1), 2, "one socket")
	require.NotEqual(t, w.host(3, 4)[2], w.host(4, 3)[2], "each direction")
	require.Equal(t, w.host(0, 2)[0], w.host(1, 2)[0], "two GPUs of a switch")
	require.True(t, node(t, "h100").Direct(0, 7))
	require.False(t, node(t, "h100").WithoutPeers().Direct(0, 7))
	_, err := LoadNode("../nodes/h100")
	require.True(t, sparse.IsInput(err))
}

func TestParametersOfNodesHaveSources(t *testing.T) {
	for _, name := range NodeNames() {
		n := node(t, name)
		names, params := n.Params()
		for i, p := range params {
			require.NotEmpty(t, p.Unit, names[i])
			require.GreaterOrEqual(t, p.Value, 0.0)
		}
		for _, must := range []string{"host_up", "host_down", "signal", "copy", "staged", "launch", "small", "call", "stream", "scattered", "piece", "l2"} {
			require.Contains(t, names, must, name)
		}
		if n.Platform != "" {
			p := load(t, n.Platform)
			require.Equal(t, []int{p.GPUs, p.GPUsPerLink, p.GPUsPerSocket}, []int{n.GPUs, n.GPUsPerLink, n.GPUsPerSocket})
			require.Equal(t, p.HBM, n.Stream)
		}
	}
}

func TestTheH100sProductsAreThoseMeasured(t *testing.T) {
	run, err := gpuruns.Read(filepath.Join("..", "..", "..", "bench", "results", "2026-11-26-h100"))
	require.NoError(t, err)
	n := node(t, "h100")
	require.Len(t, n.Products, 13)
	within := 0
	for _, m := range n.Products {
		i := slices.IndexFunc(run.Products, func(p gpuruns.Product) bool { return p.Matrix == m.Matrix && p.Value == "fp64" })
		require.GreaterOrEqual(t, i, 0, m.Matrix)
		require.Equal(t, m.Entries, run.Products[i].NNZ)
		require.InEpsilon(t, run.Products[i].Own(), m.Seconds, 1e-6)
		require.InEpsilon(t, run.Products[i].Seconds[m.Form], m.Seconds, 1e-6)
		var counted Structure
		if w := m.Workload(); w.Spec != nil {
			counted = countScaled(t, n, w, 300_000)
		}
		p := n.Predict(m, counted)
		require.InEpsilon(t, m.Seconds, p, 0.25, m.Matrix)
		if p > 0.8*m.Seconds && p < 1.2*m.Seconds {
			within++
		}
	}
	require.GreaterOrEqual(t, within, 12, "within 20 %")
}

func countScaled(t *testing.T, n *Node, w Workload, entries int64) Structure {
	a, _, err := gen.Generate(w.Spec(entries))
	require.NoError(t, err)
	all := []partition.Part{{EndIdx: a.NNZ() - 1, EndMajor: a.Rows - 1, OwnEnd: a.Rows}}
	return Count(a.RowPtr, a.ColIdx, all, []Cache{n.Cache(float64(a.Rows) / float64(w.Rows))})
}

func TestNoStepMakesAProductOfAStencilSlower(t *testing.T) {
	for _, name := range NodeNames() {
		n := node(t, name)
		s := Stencil(27, 100).Count(1, n.GPUs)
		one := n.Apply(s[0], Steps{}, 0)
		require.Zero(t, one.Wait+one.Exchange+one.Merge)
		require.InDelta(t, n.Product(s[0].Parts[0], 0), one.Compute, 1e-12)
		last := n.Apply(s[1], Steps{Rotated: true}, 0).Total()
		for _, steps := range []Steps{{Rotated: true, Pull: true}, built(), {Rotated: true, Pull: true, Placed: true, Early: true, Overlap: true}} {
			a := n.Apply(s[1], steps, 0)
			require.LessOrEqual(t, a.Total(), last+1e-12, "%s %+v", name, steps)
			require.Greater(t, a.Total(), one.Total()/float64(n.GPUs))
			last = a.Total()
		}
		fast := *n
		for _, p := range []*Param{&fast.Link, &fast.Port, &fast.HostUp, &fast.HostDown, &fast.Cross} {
			p.Value *= 2
		}
		require.LessOrEqual(t, fast.Apply(s[1], built(), 0).Total(), n.Apply(s[1], built(), 0).Total())
		require.Greater(t, n.WithoutPeers().Apply(s[1], built(), 0).Total(), n.Apply(s[1], built(), 0).Total())
	}
}

func TestLargeCopiesWithoutALinkGoThroughAThirdGPU(t *testing.T) {
	n := node(t, "dgx1")
	a := &apply{Node: n, network: n.network(), gpu: []int{0, 1, 2, 3, 4, 5, 6, 7}}
	host := a.copies(3, 4, 1<<20)
	require.Equal(t, stage{n.Staged.Value, []flow{{1 << 20, a.host(3, 4)}}}, host)
	a.Placed = true
	require.Equal(t, stage{n.Staged.Value, []flow{{100 << 10, a.host(3, 4)}}}, a.copies(3, 4, 100<<10), "a small one")
	through := a.copies(3, 4, 4<<20) // 0 and 7 have links to both; (3 + 4) mod 2 is 1
	require.Equal(t, []flow{{4 << 20, []int{a.link[[2]int{3, 7}], a.link[[2]int{7, 4}]}}}, through.flows)
	require.InDelta(t, 2*n.Copy.Value+(1<<20)/(2*23.95e9), through.fixed, 1e-12)
	require.Equal(t, stage{n.Copy.Value, []flow{{8, a.route(0, 1)}}}, a.copies(0, 1, 8))
	s := node(t, "summit")
	b := &apply{Node: s, network: s.network(), gpu: []int{0, 1, 2, 3, 4, 5}, Steps: Steps{Placed: true}}
	require.Equal(t, s.Staged.Value, b.copies(0, 3, 4<<20).fixed, "no third GPU has links to both sockets")
}

func TestPartialVectorsAreReadAtOnceOrCopied(t *testing.T) {
	n := node(t, "h100")
	n.Copy.Value, n.Small.Value, n.Signal.Value = 0, 0, 0
	const rows = 8 << 20
	piece := 8.0 * rows / 8
	links, sum := 7*piece/(n.Port.Value*giga), 9*piece/(n.Stream.Value*giga)
	require.InEpsilon(t, links+sum, n.Partials(rows, 8, Steps{Rotated: true}), 1e-9)
	require.InEpsilon(t, links, n.Partials(rows, 8, Steps{Rotated: true, Pull: true}), 1e-9)
	require.Greater(t, n.Partials(rows, 8, Steps{}), 3*links)
}

// TestTheTableStays compares the modelled times of stencils, which are counted in full, with testdata/apply.txt.
func TestTheTableStays(t *testing.T) {
	var b strings.Builder
	for _, name := range NodeNames() {
		n := node(t, name)
		for _, l := range []struct {
			name string
			Local
		}{{"27 points, 128 a side", Stencil(27, 128)}, {"7 points, 128 a side", Stencil(7, 128)}, {"5 points, 1500 a side", Stencil(5, 1500)}, {"band of 59", Band(1_000_000, 29)}} {
			s := l.Count(1, n.GPUs)
			fmt.Fprintf(&b, "%s, %s: one GPU %.2f us;", name, l.name, 1e6*n.Apply(s[0], Steps{}, 0).Total())
			for _, steps := range []Steps{{}, {Rotated: true}, {Rotated: true, Pull: true}, built(), {Rotated: true, Pull: true, Placed: true, Early: true, Overlap: true}} {
				fmt.Fprintf(&b, " %.2f", 1e6*n.Apply(s[1], steps, 0).Total())
			}
			b.WriteByte('\n')
		}
	}
	golden := filepath.Join("testdata", "apply.txt")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(golden, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), b.String())
}
