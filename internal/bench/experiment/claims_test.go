package experiment

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/bench/model"
	"github.com/msrep-go/msrep/internal/bench/paper"
	"github.com/msrep-go/msrep/internal/bench/record"
	"github.com/msrep-go/msrep/internal/plot"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// asThePaperSays returns times for which every statement of the paper about a platform holds; with opposite, none
// does.
func asThePaperSays(platform string, opposite bool) cases {
	c := cases{}
	gpus := paper.GPUs[platform]
	share := map[sparse.Format]float64{sparse.FormatCSR: 0.023, sparse.FormatCSC: 0.023, sparse.FormatCOO: 0.62}
	headline := 6.2
	if platform == "summit" {
		share, headline = map[sparse.Format]float64{sparse.FormatCSR: 0.09, sparse.FormatCSC: 0.09, sparse.FormatCOO: 0.85}, 5.5
	}
	put := func(matrix string, f sparse.Format, version string, n int, partition, merge, total float64) {
		c[caseKey{matrix, f, version, n}] = timed{partition, total - partition - merge, 0, merge, total}
	}
	for _, m := range paper.Matrices {
		for _, f := range formats {
			for n := 1; n <= gpus; n++ {
				k := float64(n)
				merge := 0.001 // merge time of the baseline
				if f == sparse.FormatCSC {
					merge *= k
				}
				if !opposite {
					whole := 2.0 // time of the baseline; speed-ups divide 2 - partition
					put(m.Name, f, base, n, share[f]*whole, merge, whole)
					one := whole * (1 - share[f])
					speed := 0.95 * k
					if m.Name == single && f == sparse.FormatCSR {
						speed = 1 + (headline-1)*(k-1)/float64(gpus-1)
					}
					up := map[bool]float64{true: 2, false: 1}[f != sparse.FormatCSC]
					put(m.Name, f, plain, n, share[f]*whole/k, up*merge, 0.9*whole)
					put(m.Name, f, opt, n, 0.001*one/speed, 0.1*merge/k, one/speed)
					put(m.Name, f, placed, n, 0, 0, one/speed)
					if platform == "summit" {
						put(m.Name, f, paper.Unplaced, n, 0, 0, one/min(speed, 3))
					} else {
						put(m.Name, f, paper.Unplaced, n, 0, 0, one/speed)
					}
					continue
				}
				put(m.Name, f, base, n, 0.3*k/float64(gpus)*0.1, 0.01/k/k, 0.1) // fast, but slower to split with more devices
				put(m.Name, f, plain, n, 0.001, map[bool]float64{true: 0.001, false: 5}[f != sparse.FormatCSC]/k/k, 10)
				put(m.Name, f, opt, n, 3, 6, 20)
				put(m.Name, f, placed, n, 0, 0, 1/k)
				put(m.Name, f, paper.Unplaced, n, 0, 0, 2/k)
			}
		}
	}
	return c
}

func TestEveryStatementCanHoldAndCanFail(t *testing.T) {
	for _, platform := range model.Names() {
		for _, cl := range msrepClaims {
			if cl.platform != "" && cl.platform != platform {
				continue
			}
			for opposite, want := range map[bool]string{false: reproduced, true: notReproduced} {
				x := cl.value(asThePaperSays(platform, opposite))
				require.Equal(t, want, outcome(x, cl.holds), "%s, figure %s, %s: %g", platform, cl.figure, cl.says, x)
			}
			require.Equal(t, notTestable, outcome(cl.value(cases{}), cl.holds), cl.says)
			require.Equal(t, "-", cl.cell(math.NaN()))
		}
	}
}

func TestTheAuthorsOwnTimesContradictThePaper(t *testing.T) {
	value := func(figure, platform, starts string) (float64, bool) {
		for _, cl := range msrepClaims {
			if cl.figure == figure && cl.platform == platform && strings.HasPrefix(cl.says, starts) {
				x := cl.value(authorsCases(map[bool]string{true: platform, false: "dgx1"}[platform != ""]))
				return x, cl.holds(x)
			}
		}
		require.Fail(t, "no such statement")
		return 0, false
	}
	x, holds := value("20", "summit", "without placement")
	require.InDelta(t, 1.75, x, 0.1, "6 GPUs are said not to be faster than 3")
	require.False(t, holds)
	x, holds = value("21", "dgx1", "p-opt, CSR")
	require.InDelta(t, 4.21, x, 0.01)
	require.False(t, holds)
	x, holds = value("21", "summit", "p-opt, CSR")
	require.InDelta(t, 5.48, x, 0.01)
	require.True(t, holds)
	_, holds = value("18", "", "baseline, CSC")
	require.True(t, holds)
	_, holds = value("22", "dgx1", "p-opt on six")
	require.False(t, holds)
}

func TestHeadlinesAreComparedWithTheRuns(t *testing.T) {
	found := map[string]float64{"p-opt in CSR": 4.21, "p-opt in CSC": 4.06, "p in CSR": 5.82}
	text := headline("DGX-1 with 8 GPUs", 6.2, found)
	require.Contains(t, text, "do not give it: the nearest of p-opt is p-opt in CSR with 4.21, the fastest of all is p in CSR with 5.82")
	found["p-opt in CSC"] = 6.1
	require.Contains(t, headline("DGX-1 with 8 GPUs", 6.2, found), "give it: p-opt in CSC has 6.10")
	all := headlines()
	require.Contains(t, all[0], "times give it: p-opt in CSR has 5.48")
	require.Contains(t, all[2], "do not give it: the nearest of p-opt is p-opt in CSR with 4.21, the fastest of all is p in CSR with 5.82")
	require.Contains(t, all[3], "4.06 with the run's own kernel, 1.09 with that of the plain run")
}

func TestRemarksAboutTheAuthorsTimesAreComputed(t *testing.T) {
	points := model.Points("summit", true)
	require.Contains(t, crossings(points), "at up to 122 GB/s: in those it did not, or the times are wrong")
	for i := range points {
		points[i].H2D *= 10
	}
	require.Contains(t, crossings(points), "in 0 of 54 runs")
	require.Contains(t, crossings(points), "it may have")

	require.Contains(t, sameAsDGX1(paper.Times()), "wb-edu with 2 GPUs")
	var others []paper.Time
	for _, run := range paper.Times() {
		if run.Matrix != "wb-edu" {
			others = append(others, run)
		}
	}
	require.Contains(t, sameAsDGX1(others), "digit for digit: 0.")
	require.Contains(t, rawLink(178), "too short")
	require.Contains(t, rawLink(45), "possible")
	require.Contains(t, numaCopies(), "to")
	require.Contains(t, copyShares("dgx1"), "DGX-1: copying the matrix takes")
}

func TestARunOfTheAuthorsHasOneCurve(t *testing.T) {
	s := session(t, quick("sim:dgx1", 3000), "msrep-fig20", "msrep-fig21")
	line := func(section int, figure, name string) plot.Series {
		for _, f := range s.Page.Sections[section].Figures {
			for _, line := range f.Series {
				if f.Name == figure && line.Name == name && line.Origin == plot.Paper {
					return line
				}
			}
		}
		require.Fail(t, "no such curve")
		return plot.Series{}
	}
	for _, format := range formats {
		a, b := line(0, "msrep-fig20-"+string(format), "numa on"), line(1, "msrep-fig21-"+string(format), "p-opt")
		require.Equal(t, a.Y, b.Y, format)
		require.Len(t, a.Y, 8)
	}
	require.InDelta(t, 4.06, line(0, "msrep-fig20-csc", "numa on").Y[7], 0.01)
}

func TestModelledCurvesAreDrawnWhereTheModelIsGoodEnough(t *testing.T) {
	s, err := New(quick("sim:dgx1", 3000), nil)
	require.NoError(t, err)
	r := run{matrix: single, format: sparse.FormatCSR, strategy: msrep.Optimized, devices: 8}
	require.True(t, s.drawn(r, "merge", model.Total))
	points := model.Points("dgx1", true)
	for i := range points {
		if points[i].Matrix == single {
			points[i].H2D *= 2
		}
	}
	s.trust = newTrust(s.platform, points)
	require.True(t, s.drawn(r, "merge"))
	require.False(t, s.drawn(r, model.Total), "its copies are far off on this matrix")
	require.Contains(t, s.leftOut(r, "merge", model.Total), "csr p-opt (h2d is off by")
	s.platform = nil
	require.True(t, s.drawn(r, model.Total), "what was measured is drawn")
	require.Empty(t, notDrawn(nil))
	require.Contains(t, notDrawn([]string{"a", "b"})[0], ": a, b.")
}

func TestSummitWithoutPlacementIsNotModelled(t *testing.T) {
	for devices, want := range map[string]bool{"sim:dgx1": true, "sim:summit": false} {
		s := session(t, quick(devices, 3000), "msrep-fig20")
		for _, f := range s.Page.Sections[0].Figures {
			drawn := map[string]bool{}
			for _, line := range f.Series {
				drawn[line.Name+" "+string(line.Origin)] = true
			}
			require.True(t, drawn["numa on modelled"], f.Name)
			require.True(t, drawn["numa off paper"], f.Name)
			require.Equal(t, want, drawn["numa off modelled"], "%s %s", devices, f.Name)
		}
		text := strings.Join(s.Page.Sections[0].Remarks, " ")
		require.Equal(t, !want, strings.Contains(text, "Modelled curves that are not drawn"))
		require.Contains(t, text, "The authors' own times on Summit contradict the paper. Without placement: speed of 6 GPUs over that of 3")
	}
}

func TestFiguresOfOneMachineAreNotModelledOnAnother(t *testing.T) {
	for name, devices := range map[string]string{"msrep-fig6": "sim:summit", "msrep-fig22": "sim:summit", "msrep-fig23": "sim:dgx1"} {
		s := session(t, quick(devices, 3000), name, "outcomes")
		require.Equal(t, name+": left out", s.Page.Sections[0].Title)
		require.Empty(t, s.Page.Sections[0].Figures)
		require.Contains(t, s.Page.Sections[0].Intro[0], devices)
	}
}

func TestFigure6IsJudgedByItsErrors(t *testing.T) {
	lows, ratios := paper.Figure6Low, paper.Figure6Ratios
	of := func(share func(low int, ratio float64) float64) (v [][]float64) {
		for _, low := range lows {
			var row []float64
			for _, ratio := range ratios {
				row = append(row, 1000*share(low, ratio))
			}
			v = append(v, row)
		}
		return v
	}
	rule := of(func(low int, ratio float64) float64 { return paper.Balance(8, low, ratio) })
	flat := of(func(int, float64) float64 { return 1 })
	for _, v := range fig6Verdicts(lows, ratios, rule, flat) {
		require.Equal(t, reproduced, v.Outcome, v.Says)
	}
	for _, v := range fig6Verdicts(lows, ratios, flat, rule) {
		require.Equal(t, notReproduced, v.Outcome, v.Says)
	}
	noisy := of(func(low int, ratio float64) float64 { return paper.Balance(8, low, ratio) })
	noisy[7][0] *= 1.5 // one cell in 72, far off
	v := fig6Verdicts(lows, ratios, noisy, flat)
	require.Equal(t, notReproduced, v[0].Outcome)
	require.Equal(t, "1 and 50", v[0].Found)
	require.Equal(t, "1 and 4", v[0].Printed)
}

func TestNoFractionOfTheBandwidthIsPrintedForDataInTheCaches(t *testing.T) {
	s := session(t, quick("cpu:1", 3000), "msrep-fig21")
	last := func() string {
		rows := s.Page.Sections[0].Tables[1].Rows
		return rows[0][len(rows[0])-1]
	}
	require.Equal(t, "in the caches", last())
	s.Record.Machine.L3 = 1000
	require.Equal(t, "in the caches", s.cached(1000))
	require.Equal(t, "partly in the caches", s.cached(4000))
	require.Empty(t, s.cached(4001))
	s.Cache = CacheCold
	require.Empty(t, s.cached(1))
}

func TestAStatementIsJudgedOnlyWhereAllItsTimesAreKnown(t *testing.T) {
	require.True(t, math.IsNaN(greatest([]float64{1, math.NaN()})))
	require.True(t, math.IsNaN(greatest(nil)))
	require.Equal(t, 2.0, greatest([]float64{1, 2}))
	require.True(t, math.IsNaN(percentOf([]float64{1, math.NaN()}, atLeast(1))))
	require.Equal(t, 50.0, percentOf([]float64{1, 0}, atLeast(1)))
	require.Equal(t, []string{"2.00 (2 of 3)", "3.00", "-"}, knownMeans([][]float64{{1, 3, math.NaN()}, {4, 3, math.NaN()}, {math.NaN(), 3, math.NaN()}}))
}

func TestStatementsAboutParallelWorkTakeAsManyCoresAsDevices(t *testing.T) {
	for cores, want := range map[int]bool{1: false, 8: true} {
		s, err := New(quick("cpu:2", 3000), record.New("test", nil))
		require.NoError(t, err)
		s.Record.Machine.Cores = cores
		for n := 1; n <= 2; n++ {
			for _, f := range formats {
				for _, strategy := range strategies {
					s.runs[run{matrix: single, format: f, strategy: strategy, devices: n}] = phases{partition: 1 / float64(n), h2d: 1, compute: 1, merge: 1}
				}
			}
		}
		table, _ := s.judgeFigure("16")
		require.Equal(t, want, table.Rows[1][3] == "1, holds", table.Rows[1])
	}
}

func TestFiguresWithValuesFarApartAreLogarithmic(t *testing.T) {
	line := func(y ...float64) plot.Figure { return plot.Figure{Series: []plot.Series{{Y: y}}} }
	require.True(t, widened(line(1, 16)).Log)
	require.False(t, widened(line(1, 15)).Log)
	require.False(t, widened(line(0, 100)).Log)
}

func TestTimesOnSummitAreDrawnAsTheModelIsCalibrated(t *testing.T) {
	for devices, factor := range map[string]float64{"sim:dgx1": 1, "sim:summit": 4} {
		s := session(t, quick(devices, 3000), "msrep-fig18")
		run, _ := paper.Run(s.platform.Name, single, "csr", "p-opt", 2)
		found := false
		for _, line := range s.Page.Sections[0].Figures[0].Series {
			if line.Name == "p-opt" && line.Origin == plot.Paper {
				require.InEpsilon(t, 1e3*factor*run.Merge, line.Y[1], 1e-12)
				found = true
			}
		}
		require.True(t, found)
		require.Equal(t, factor == 4, strings.Contains(strings.Join(s.Page.Sections[0].Intro, " "), "multiplied by 4"))
	}
}
