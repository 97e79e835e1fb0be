package bench

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/form"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/cpms"
	"github.com/msrep-go/msrep/sparse/gen"
)

// cpmsGraphs is graphs of the families of the CPMS paper's Table 1, too large for
// the caches of the machine that the figures are from.
var cpmsGraphs = []struct{ name, spec string }{
	{"adaptive", "planar:kind=quads,nx=2000,ny=2000"},
	{"delaunay", "planar:kind=delaunay,nx=2000,ny=1500"},
	{"bubbles", "planar:kind=bubbles,nx=2500,ny=2000"},
	{"rgg", "planar:kind=rgg,nx=1200,ny=1000"},
	{"road", "planar:kind=road,nx=2500,ny=2000"},
	{"web", "chunglu:n=1M,nnz=12M,r=2.1,local=0.7"},
}

// turns is how often each way is timed, in turn with the others.
const turns = 3

// cpmsCase is a way to read values and x.
type cpmsCase struct {
	name     string
	segments int // 0 for plain float64
	read     int
	width    int // bytes of each element of x
	bank     int
}

var cpmsCases = []cpmsCase{
	{"fp64", 0, 1, 8, 0},
	{"cpms2:1", 2, 1, 4, 0},
	{"cpms2:1/8KiB", 2, 1, 4, 8192},
	{"cpms2:1/128B", 2, 1, 4, 128},
	{"cpms2:2", 2, 2, 8, 0},
	{"cpms4:1", 4, 1, 2, 0},
	{"cpms4:1/8KiB", 4, 1, 2, 8192},
	{"cpms4:2", 4, 2, 4, 0},
	{"cpms4:3", 4, 3, 6, 0},
	{"cpms4:4", 4, 4, 8, 0},
	{"cpms2:1/x64", 2, 1, 8, 0},
	{"cpms4:1/x64", 4, 1, 8, 0},
}

// BenchmarkCPMSProducts times y = A*x with values and x of less precision than
// float64, in turn with plain float64 and the same kernels: fp64-ms is the time of
// that, the others are how many times as fast they are. cpms4:1 reads the first of 4
// segments of the values and 16 bits of x; the segments are separated, or lie in
// banks of 8 KiB or 128 bytes; /x64 has x in float64.
//
//	go test -run - -bench CPMSProducts -benchtime 1x ./bench
func BenchmarkCPMSProducts(b *testing.B) {
	for _, g := range cpmsGraphs {
		for _, format := range []kernels.Form{form.FormCPMSRows, form.FormCPMSSlices} {
			b.Run(g.name+"/"+string(format), func(b *testing.B) {
				a, _, err := gen.Generate(g.spec)
				require.NoError(b, err)
				for k := range a.Val {
					a.Val[k] = 1 / float64(3+a.ColIdx[k]%5)
				}
				times := make([][]time.Duration, len(cpmsCases))
				xs, y := map[int]*cpms.Heads{}, make([]float64, a.Rows)
				for i := range y {
					y[i] = 1 // the pages are there before the first product
				}
				for range b.N {
					ms := map[[2]int]*form.Segmented{}
					for range turns {
						for i, c := range cpmsCases {
							key := [2]int{c.segments, c.bank}
							if ms[key] == nil {
								ms[key] = segmented(b, format, a, c)
							}
							if xs[c.width] == nil {
								xs[c.width] = heads(b, a.Cols, c.width)
							}
							times[i] = append(times[i], sums(ms[key], c.read, xs[c.width], y))
						}
					}
				}
				b.ReportMetric(0, "ns/op")
				base := least(times[0])
				b.ReportMetric(base.Seconds()*1e3, "fp64-ms")
				for i, c := range cpmsCases[1:] {
					b.ReportMetric(base.Seconds()/least(times[i+1]).Seconds(), c.name)
				}
			})
		}
	}
}

func least(d []time.Duration) time.Duration { return slices.Min(d) }

func segmented(b *testing.B, format kernels.Form, a *sparse.CSR[float64], c cpmsCase) *form.Segmented {
	m, err := form.NewSegmented(format, form.Rows[float64]{Ptr: a.RowPtr, Idx: a.ColIdx, Val: a.Val, Cols: a.Cols},
		cpms.Layout{Segments: max(c.segments, 2), Bank: c.bank})
	require.NoError(b, err)
	if c.segments == 0 {
		m.Join()
	}
	return m
}

func heads(b *testing.B, n, width int) *cpms.Heads {
	x, err := cpms.NewHeads(n, width)
	require.NoError(b, err)
	for i := range n {
		x.Set(i, 1/float64(i+1))
	}
	return x
}

// sums is the time of one product on all threads.
func sums(m *form.Segmented, read int, x *cpms.Heads, y []float64) time.Duration {
	workers := par.Workers(int64(len(y)), 1)
	scratch := make([]*form.SegmentScratch, workers)
	for i := range scratch {
		scratch[i] = form.NewSegmentScratch()
	}
	const block = 4096
	begin := time.Now()
	var next atomic.Int64
	par.Do(workers, func(w int) {
		for {
			first := int(next.Add(1)-1) * block
			if first >= len(y) {
				return
			}
			m.Sums(y[first:min(first+block, len(y))], first, read, x, scratch[w])
		}
	})
	return time.Since(begin)
}

// BenchmarkCPMSPageRank times PageRank with adaptive precision, in turn with the
// two baselines in float64: weights stored with the links, as in the CPMS paper,
// and weights folded into the ranks. s is the time of all iterations with the first;
// the others are how many times as fast they are, changes of precision included.
//
//	go test -run - -bench CPMSPageRank -benchtime 1x ./bench
func BenchmarkCPMSPageRank(b *testing.B) {
	sys, err := msrep.Open(msrep.Config{Devices: "cpu:1", NUMA: msrep.NUMAOff})
	require.NoError(b, err)
	defer sys.Close()
	ways := []struct {
		name string
		opt  solver.PageRankOptions
	}{
		{"stored/fp64", solver.PageRankOptions{Weights: solver.WeightsStored}},
		{"folded/fp64", solver.PageRankOptions{Weights: solver.WeightsFolded}},
		{"stored/cpms2", solver.PageRankOptions{Weights: solver.WeightsStored, Precision: solver.CPMS2}},
		{"stored/cpms4", solver.PageRankOptions{Weights: solver.WeightsStored, Precision: solver.CPMS4}},
		{"stored/cpms2/8KiB", solver.PageRankOptions{Weights: solver.WeightsStored, Precision: solver.CPMS2, Bank: 8192}},
		{"folded/cpms2", solver.PageRankOptions{Weights: solver.WeightsFolded, Precision: solver.CPMS2}},
		{"folded/cpms4", solver.PageRankOptions{Weights: solver.WeightsFolded, Precision: solver.CPMS4}},
	}
	for _, tol := range []float64{1e-4, 1e-10} {
		for _, format := range []solver.GraphFormat{solver.GraphCSR, solver.GraphELL} {
			logs, done := make([]float64, len(ways)), 0
			for _, g := range cpmsGraphs {
				b.Run(fmt.Sprintf("%g/%s/%s", tol, format, g.name), func(b *testing.B) {
					a, _, err := gen.Generate(g.spec + ",value=ones")
					require.NoError(b, err)
					times, iterations := make([]time.Duration, len(ways)), make([]int, len(ways))
					for range b.N {
						for i, w := range ways {
							w.opt.Tol, w.opt.Format = tol, format
							res, err := solver.PageRank(context.Background(), sys, a, w.opt)
							require.NoError(b, err)
							took := res.Timing.Iterate + res.Timing.Convert
							if times[i] == 0 || took < times[i] {
								times[i] = took
							}
							iterations[i] = res.Iterations
						}
					}
					b.ReportMetric(0, "ns/op")
					b.ReportMetric(times[0].Seconds(), "s")
					b.ReportMetric(float64(iterations[0]), "iterations")
					for i, w := range ways {
						ratio := times[0].Seconds() / times[i].Seconds()
						b.ReportMetric(ratio, w.name)
						logs[i] += math.Log(ratio)
						require.LessOrEqual(b, iterations[i], iterations[0]+1, w.name)
					}
					done++
				})
			}
			for i, w := range ways {
				if done == len(cpmsGraphs) {
					fmt.Printf("geometric mean %g %s %s: %.2f of stored, %.2f of folded\n", tol, format, w.name,
						math.Exp(logs[i]/float64(done)), math.Exp((logs[i]-logs[1])/float64(done)))
				}
			}
		}
	}
}
