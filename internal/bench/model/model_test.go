package model

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/bench/paper"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

func load(t *testing.T, name string) *Platform {
	t.Helper()
	p, err := Load(name)
	require.NoError(t, err)
	return p
}

func TestTheModelAgreesWithTheHeldOutHalf(t *testing.T) {
	for _, name := range Names() {
		held := load(t, name).CheckHeld(Points(name, true))
		for _, phase := range []string{"h2d", "compute", "merge", Total} {
			for _, format := range []string{"", "csr", "csc", "coo"} {
				c := Find(held, "p-opt", phase, format)
				limit := map[string]float64{"h2d": 0.10, "compute": 0.20, "merge": 0.20, Total: 0.15}[phase]
				require.LessOrEqual(t, c.Median, limit, "%s %+v", name, c)
				require.GreaterOrEqual(t, c.N, 18)
			}
		}
		require.LessOrEqual(t, Find(held, "p-opt", "partition", "coo").Median, 0.05)
		require.LessOrEqual(t, Find(held, paper.Unplaced, Total, "csr").Median, 0.10)
	}
}

func TestAGPUMakesLocalIndicesAtTheSpeedOfItsMemoryOnBothNodes(t *testing.T) {
	for _, name := range Names() { // calibrated independently; Summit on times multiplied by 4
		p := load(t, name)
		require.InDelta(t, 800, 8/p.DeviceIndex.Value/giga, 40, "GB/s, 4 bytes read and 4 written")
		partition := slices.IndexFunc(Fits(), func(f Fit) bool { return f.Params[0] == "device_index" })
		train, held := p.CheckFit(Fits()[partition], Points(name, true))
		require.LessOrEqual(t, held.Median, 0.03)
		require.NotZero(t, train.N)
	}
}

func TestWithoutTheCorrectionSummitFitsNoLink(t *testing.T) {
	p := load(t, "summit")
	held := p.CheckHeld(Points("summit", false))
	require.Greater(t, Find(held, "p-opt", "h2d", "").Median, 2.0, "the same link with the times as they are")
	raw := Calibrate(p, Points("summit", false))
	require.Greater(t, raw.HostLink.Value, 3*50.0, "more than three times what two NVLinks carry")
}

func TestTheLinksFitMatricesThatCalibratedNothing(t *testing.T) {
	for _, name := range Names() {
		others := load(t, name).CheckOthers(OtherPoints(name))
		require.Len(t, others, 3)
		require.LessOrEqual(t, Find(others, "p-opt", "h2d", "").Median, 0.10, name)
	}
}

func TestNoRunIsOnBothSides(t *testing.T) {
	for _, name := range Names() {
		points := Points(name, true)
		for _, f := range Fits() {
			train, held := load(t, name).CheckFit(f, points)
			require.NotZero(t, train.N, f)
			require.NotZero(t, held.N, f)
			// The calibration must not change with the held-out runs.
			changed := slices.Clone(points)
			for i := range changed {
				if changed[i].held() {
					changed[i].Partition, changed[i].H2D, changed[i].Compute, changed[i].Merge = 1, 1, 1, 1
				}
			}
			require.Equal(t, Calibrate(load(t, name), points), Calibrate(load(t, name), changed))
		}
	}
}

func TestChecksTellGoodFromBad(t *testing.T) {
	p := load(t, "dgx1")
	points := Points("dgx1", true)
	require.True(t, Find(p.CheckHeld(points), "p-opt", "merge", "csr").Good())
	for i := range points {
		points[i].Merge *= 2
	}
	twice := Find(p.CheckHeld(points), "p-opt", "merge", "csr")
	require.InDelta(t, 0.5, twice.Median, 0.05)
	require.False(t, twice.Good())
	require.False(t, Find(nil, "p-opt", "merge", "csr").Good(), "nothing to check with")
}

func TestEveryParameterIsCalibratedOrFromADataSheet(t *testing.T) {
	fitted := map[string]int{}
	for _, f := range Fits() {
		for _, name := range f.Params {
			fitted[name]++
		}
	}
	for _, name := range Names() {
		names, params := load(t, name).Params()
		for i := range names {
			require.NotEmpty(t, params[i].Source, names[i])
			require.NotEmpty(t, params[i].Unit, names[i])
			require.Equal(t, fitted[names[i]] == 1 && params[i].Value > 0, strings.HasPrefix(params[i].Source, "calibrated"), "%s %s", name, names[i])
		}
	}
}

var update = flag.Bool("update", false, "write platforms/*.json as calibration finds them")

func TestTheFilesHoldWhatCalibrationFinds(t *testing.T) {
	for _, name := range Names() {
		p := load(t, name)
		c := Calibrate(p, Points(name, true))
		if *update {
			writePlatform(t, c)
			continue
		}
		names, was := p.Params()
		_, now := c.Params()
		for i := range was {
			require.InDelta(t, was[i].Value, now[i].Value, 0.01*was[i].Value, "%s %s", name, names[i])
		}
		for format, kernels := range c.Kernels {
			for matrix, k := range kernels {
				require.InDelta(t, p.Kernels[format][matrix].Slowdown, k.Slowdown, 2e-3*k.Slowdown, "%s %s %s", name, format, matrix)
				require.InDelta(t, p.Kernels[format][matrix].Fixed, k.Fixed, 2e-3*k.Fixed, "%s %s %s", name, format, matrix)
			}
		}
	}
}

// writePlatform writes a platform with one line for each parameter.
func writePlatform(t *testing.T, p *Platform) {
	var b strings.Builder
	fmt.Fprintf(&b, "{\n \"name\": %q,\n \"title\": %q,\n \"gpus\": %d,\n \"gpus_per_host_link\": %d,\n \"gpus_per_socket\": %d,\n", p.Name, p.Title, p.GPUs, p.GPUsPerLink, p.GPUsPerSocket)
	names, params := p.Params()
	for i, v := range params {
		value := fmt.Sprint(v.Value)
		if strings.HasPrefix(v.Source, "calibrated") {
			value = fmt.Sprintf("%.5g", v.Value)
		}
		fmt.Fprintf(&b, " %q: {\"value\": %s, \"unit\": %q, \"source\": %q},\n", names[i], value, v.Unit, v.Source)
	}
	b.WriteString(" \"kernels\": {\n")
	formats := slices.Sorted(maps.Keys(p.Kernels))
	for i, format := range formats {
		fmt.Fprintf(&b, "  %q: {\n", format)
		matrices := slices.Sorted(maps.Keys(p.Kernels[format]))
		for j, matrix := range matrices {
			k := p.Kernels[format][matrix]
			fmt.Fprintf(&b, "   %q: {\"slowdown\": %.4g, \"fixed_s\": %.4g}%s\n", matrix, k.Slowdown, k.Fixed, comma(j, len(matrices)))
		}
		fmt.Fprintf(&b, "  }%s\n", comma(i, len(formats)))
	}
	b.WriteString(" }\n}\n")
	require.NoError(t, os.WriteFile(filepath.Join("platforms", p.Name+".json"), []byte(b.String()), 0o644))
}

func comma(i, n int) string {
	if i < n-1 {
		return ","
	}
	return ""
}

func TestBothHalvesHaveEveryMatrixFormatAndPhase(t *testing.T) {
	type key struct {
		matrix, format, kind string
		held                 bool
	}
	counts := map[key]int{}
	for _, pt := range Points("dgx1", true) {
		if pt.Kind != "baseline" {
			counts[key{pt.Matrix, pt.Format, pt.Kind, pt.held()}]++
		}
	}
	require.Len(t, counts, 6*3*3*2)
	for k, n := range counts {
		require.Equal(t, 4, n, "%+v", k)
	}
}

func TestGPUsOfOneSwitchShareItsLink(t *testing.T) {
	p := load(t, "dgx1")
	for _, f := range []sparse.Format{sparse.FormatCSR, sparse.FormatCOO} {
		one := p.Authors(even("", f, 1e3, 1e3, 1e8, 1), "p-opt").H2D
		two := p.Authors(even("", f, 1e3, 1e3, 1e8, 2), "p-opt").H2D
		three := p.Authors(even("", f, 1e3, 1e3, 1e8, 3), "p-opt").H2D
		require.InEpsilon(t, one, two, 1e-3)
		if f == sparse.FormatCSR { // the two of a link begin apart
			three += p.Apart.Value
		}
		require.InEpsilon(t, one*2/3, three, 1e-3)
	}
	require.InEpsilon(t, p.Authors(even("", sparse.FormatCSR, 1e3, 1e3, 1e6, 1), "p-opt").H2D/3,
		p.Authors(even("", sparse.FormatCSR, 1e3, 1e3, 1e6, 3), "p-opt").H2D, 5e-3, "no copy is faster than alone on its link")
	s := load(t, "summit")
	require.InEpsilon(t, s.Authors(even("", sparse.FormatCSR, 1e3, 1e3, 1e8, 1), "p-opt").H2D/2,
		s.Authors(even("", sparse.FormatCSR, 1e3, 1e3, 1e8, 2), "p-opt").H2D, 1e-3)
}

func TestWithoutNUMAAwarenessCopiesWaitForTheLinkBetweenSockets(t *testing.T) {
	p := load(t, "summit")
	j := even("HV15R", sparse.FormatCSR, 2e6, 2e6, 283e6, 6)
	ratio := p.Authors(j, paper.Unplaced).H2D / p.Authors(j, "p-opt").H2D
	require.InDelta(t, 2.05, ratio, 0.1, "three parts over a link of 66 GB/s, beside one over 45")
	require.Equal(t, p.Authors(j, paper.Unplaced).H2D, p.Authors(j, "baseline").H2D)
}

func TestTheSlowestPartCounts(t *testing.T) {
	p := load(t, "dgx1")
	ptr := make([]int64, 801) // 90 % of the entries are in the first half of the rows
	for i := range 800 {
		ptr[i+1] = ptr[i] + map[bool]int64{true: 90_000, false: 10_000}[i < 400]
	}
	blocks, _, err := partition.Split(ptr, 8, partition.RuleMajor)
	require.NoError(t, err)
	even, _, err := partition.Split(ptr, 8, partition.RuleNNZ)
	require.NoError(t, err)
	ratio := p.Library(Of("", sparse.FormatCSR, 800, 800, blocks), true).Compute /
		p.Library(Of("", sparse.FormatCSR, 800, 800, even), true).Compute
	require.InDelta(t, 1.8, ratio, 0.1)
}

func TestPhasesOfOneGPUHaveNothingToExchange(t *testing.T) {
	p := load(t, "dgx1")
	one := p.Library(even("", sparse.FormatCSR, 1e6, 1e6, 1e7, 1), true)
	require.Equal(t, Times{Compute: one.Compute}, one)
	require.InDelta(t, (12e7+20e6)/(p.HBM.Value*1e9)+p.Launch.Value, one.Compute, 1e-9)
	eight := p.Library(even("", sparse.FormatCSC, 1e6, 1e6, 1e7, 8), false)
	require.Positive(t, eight.H2D)
	require.Greater(t, eight.Merge, p.Launch.Value)
	require.InDelta(t, eight.H2D+eight.Compute+eight.Merge, eight.Total(), 1e-12)
}

func TestWithoutCarriesThereIsNothingToMerge(t *testing.T) {
	p := load(t, "dgx1")
	ptr := make([]int64, 1002)
	for i := range 1001 {
		ptr[i+1] = ptr[i] + 999 // parts with equal numbers of entries end inside rows
	}
	cut, _, err := partition.Split(ptr, 8, partition.RuleNNZ)
	require.NoError(t, err)
	whole, _, err := partition.Split(ptr, 8, partition.RuleWhole)
	require.NoError(t, err)
	require.Equal(t, p.Launch.Value, p.Library(Of("", sparse.FormatCSR, 1001, 1001, cut).Resized(1e6, 1e6, 1e9), true).Merge)
	require.Zero(t, p.Library(Of("", sparse.FormatCSR, 1001, 1001, whole).Resized(1e6, 1e6, 1e9), true).Merge)
}

// byHand is a platform with simple numbers: two GPUs on each link and socket, and times that are bytes divided by
// small powers of two.
func byHand() *Platform {
	gb := func(v float64) Param { return Param{Value: v / giga} }
	return &Platform{GPUsPerLink: 2, GPUsPerSocket: 2, HostLink: gb(1), HostBack: gb(2), Apart: Param{Value: 100}, CrossCopy: gb(0.5), CrossMerge: gb(0.5), HBM: gb(4), PeerIn: gb(8), PlainCopy: gb(16),
		Launch: Param{Value: 0.25}, PerGPU: Param{Value: 0.125}, Pointer: Param{Value: 1}, Index: Param{Value: 2},
		DeviceIndex: Param{Value: 4}, Split: Param{Value: 32}, SplitWait: Param{Value: 64}}
}

func TestPhasesAreThoseMadeByHand(t *testing.T) {
	p := byHand()
	job := func(f sparse.Format) Job {
		return Job{Format: f, Rows: 100, Cols: 1000, Parts: []Part{{NNZ: 10, Majors: 20}, {NNZ: 30, Majors: 40, Carry: true}, {NNZ: 50, Majors: 40, Gather: 700}}}
	}
	csr, coo, csc := job(sparse.FormatCSR), job(sparse.FormatCOO), job(sparse.FormatCSC)
	// The parts have 200, 520 and 760 bytes, x has 8000, y 160, 320 and 320. The kernels stream 520, 1160 and 1400
	// bytes, the last one 1.5 times as slowly.
	const compute, merge = 1.5*1400/4 + 0.25, 320/0.5 + 3*0.125
	for what, c := range map[string]struct{ want, got Times }{
		"csr, baseline":   {Times{100, 9080 / 0.5, compute, merge}, p.Authors(csr, "baseline")},
		"csr, p":          {Times{40, 9080 / 0.5, compute, merge + 8*100.0/16}, p.Authors(csr, "p")},
		"csr, p-opt":      {Times{32 + 64 + 40*4, 8360 + 8840 - 100, compute, merge}, p.Authors(csr, "p-opt")},
		"coo, p-opt":      {Times{32 + 50*4, (160 + 480 + 2*8000 + 480), compute, merge}, p.Authors(coo, "p-opt")},
		"coo, baseline":   {Times{2 * 90, (800 + 8000 + 320) / 0.5, compute, merge}, p.Authors(coo, "baseline")},
		"csc, p":          {Times{40, (760 + 320 + 800) / 0.5, compute, 2*800/2 + 3*0.125 + 3*800/16}, p.Authors(csc, "p")},
		"csc, p-opt":      {Times{32 + 64 + 40*4, 360 + 840 + 2*800 - 100, compute, 2*800/2 + 3*0.125}, p.Authors(csc, "p-opt")},
		"csr, own":        {Times{0, 8360 + 8840, 2100/4 + 0.25, 0.25 + 480/2}, p.Library(csr, false)},
		"csc, own":        {Times{0, 360 + 840, 2100/4 + 0.25, 2*800.0/3/8 + 4*800.0/3/4 + 0.25 + 2*800.0/3/2}, p.Library(csc, false)},
		"csr, own, there": {Times{0, 0, 2100/4 + 0.25, 0.25}, p.Library(csr, true)},
	} {
		require.InDeltaSlice(t, []float64{c.want.Partition, c.want.H2D, c.want.Compute, c.want.Merge},
			[]float64{c.got.Partition, c.got.H2D, c.got.Compute, c.got.Merge}, 1e-9, what)
	}
	want := csc
	want.Rows, want.Cols = 10, 2000
	want.Parts = []Part{{NNZ: 20, Majors: 400}, {NNZ: 60, Majors: 800, Carry: true}, {NNZ: 100, Majors: 800, Gather: 1400}}
	require.Equal(t, want, csc.Resized(10, 2000, 180))
	require.Equal(t, []Part{{NNZ: 3, Majors: 40}, {NNZ: 4, Majors: 40}}, even("", sparse.FormatCSC, 8, 80, 7, 2).Parts)
}

func TestGatherCountsWhatMissesTheCache(t *testing.T) {
	cols := make([]int32, 4000)
	for i := range cols {
		cols[i] = int32(i) // in order: a sector holds 4 elements
	}
	require.EqualValues(t, 1000*sector, Gather(cols, 1<<20))
	require.EqualValues(t, 1000*sector, Gather(append(cols, cols...), 1<<20), "it stays in the cache")
	require.EqualValues(t, 2000*sector, Gather(append(cols, cols...), 1<<10), "it does not fit")
	for i := range cols {
		cols[i] = 7
	}
	require.EqualValues(t, sector, Gather(cols, 1<<10))
	require.EqualValues(t, 0, Gather(nil, 0))
	require.EqualValues(t, 6*sector, Gather([]int32{0, 4, 8, 12, 0, 16, 0, 4}, 256), "one set: 16 puts out 4, the least recently used")
	require.EqualValues(t, sector, Gather([]int32{math.MaxInt32}, 1<<10))
}

func TestUnknownPlatformsAreInputErrors(t *testing.T) {
	for _, name := range []string{"", "dgx2", "../platforms/dgx1", "dgx1.json"} {
		_, err := Load(name)
		require.True(t, sparse.IsInput(err), name)
	}
}

func TestAFixedPartThatWouldBeNegativeIsNone(t *testing.T) {
	p := load(t, "dgx1")
	var points []Point
	for gpus, seconds := range []float64{0, 1, 0.3, 0.15} { // faster than proportional
		if gpus > 0 {
			points = append(points, Point{Time: paper.Time{GPUs: gpus, Phases: paper.Phases{Compute: seconds}}, Job: even("", sparse.FormatCSR, 100, 100, 1e9, gpus)})
		}
	}
	k := fitKernel(p, points)
	require.Zero(t, k.Fixed)
	require.Positive(t, k.Slowdown)
}

func TestWithoutPlacementCopiesAreSaidToPassTheLinkBetweenSockets(t *testing.T) {
	p := load(t, "summit")
	most, held := 0.0, p.CheckHeld(Points("summit", true))
	for _, pt := range Points("summit", true) {
		if pt.Kind == paper.Unplaced {
			most = max(most, p.Crossing(pt))
		}
		require.Equal(t, pt.GPUs > 3, p.Crossing(pt) > 0)
	}
	require.InDelta(t, 122, most, 2, "GB/s, over a link that carries 64: the matrix was not all on one socket")
	require.False(t, Find(held, paper.Unplaced, "h2d", "coo").Good())
	require.True(t, Find(held, "p-opt", "h2d", "").Good())
}

func TestChecksTellOneSocketFromBoth(t *testing.T) {
	points := Points("summit", true)
	for i := range points {
		if points[i].GPUs > 3 {
			points[i].H2D *= 2
		}
	}
	c := Find(load(t, "summit").CheckHeld(points), "p-opt", "h2d", "csr")
	require.False(t, c.Good())
	require.True(t, c.On(false).Good())
	require.False(t, c.On(true).Good())
	require.Equal(t, c.N, c.On(false).N+c.On(true).N)
}
