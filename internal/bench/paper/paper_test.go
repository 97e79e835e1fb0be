package paper

import (
	"encoding/csv"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
)

func TestTheTimesAreThoseOfTheAuthors(t *testing.T) {
	f, err := os.Open(corpus.Shared(t, "paper-data", "msrep-phase-times.csv"))
	require.NoError(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	all := map[string]bool{}
	for _, r := range rows {
		all[strings.Join(r, ",")] = true
	}
	lines := strings.Split(strings.TrimSpace(phaseTimes), "\n")
	require.Len(t, lines, len(rows))
	for _, line := range lines {
		require.True(t, all[line], line)
	}
}

func TestRunsAreFoundByTheirNames(t *testing.T) {
	require.Len(t, Times(), 1746)
	r, ok := Run("dgx1", "HV15R", "csr", "p-opt", 8)
	require.True(t, ok)
	require.Equal(t, Phases{0.366208, 0.000202012, 0.0736874, 0.000681802, 0.000456429}, r.Phases)
	_, ok = Run("dgx1", "HV15R", "csr", "p-opt", 9)
	require.False(t, ok)
	for _, m := range Matrices {
		for platform, gpus := range map[string]int{"dgx1": 8, "summit": 6} {
			for _, format := range []string{"csr", "csc", "coo"} {
				require.Positive(t, Speedup(platform, m.Name, format, "p-opt", gpus))
			}
		}
	}
	require.Zero(t, Speedup("dgx1", "HV15R", "csr", "p", 9))
}

func TestThePapersHeadlinesAndTheAuthorsTimes(t *testing.T) {
	require.InDelta(t, 5.48, Speedup("summit", "HV15R", "csr", "p-opt", 6), 0.005, "the paper: 5.5")
	require.InDelta(t, 4.21, Speedup("dgx1", "HV15R", "csr", "p-opt", 8), 0.005, "the paper: 6.2")
	require.InDelta(t, 5.82, Speedup("dgx1", "HV15R", "csr", "p", 8), 0.005, "not optimised, and yet faster")
}

func TestARunHasOneSpeedup(t *testing.T) {
	require.InDelta(t, 4.06, Speedup("dgx1", "HV15R", "csc", "p-opt", 8), 0.005)
	require.InDelta(t, 1.09, Plotted("dgx1", "HV15R", "csc", 8), 0.005, "with the kernel of another run")
	one, _ := Run("dgx1", "HV15R", "csc", "baseline", 1)
	for n := 1; n <= 8; n++ {
		run, ok := Run("dgx1", "HV15R", "csc", Unplaced, n)
		require.True(t, ok)
		require.InEpsilon(t, (one.H2D+one.Compute+one.Merge)/(run.Partition+run.H2D+run.Compute+run.Merge), Speedup("dgx1", "HV15R", "csc", Unplaced, n), 1e-12)
	}
	require.Zero(t, Speedup("dgx1", "HV15R", "csc", "p-opt", 9))
	require.Zero(t, Plotted("dgx1", "HV15R", "csc", 9))
	require.Zero(t, Resident("dgx1", "HV15R", "csc", "p-opt", 9))
	require.InDelta(t, 5.32, Resident("dgx1", "HV15R", "csr", "p-opt", 8), 0.05)
}

func TestRunsAreOfTheVersionsOfThePaper(t *testing.T) {
	counts := map[string]int{}
	for _, run := range Times() {
		counts[run.Kind()]++
	}
	for _, v := range Versions {
		require.Equal(t, counts[Versions[0]], counts[v], v)
	}
	require.Equal(t, 2*counts["p"], counts[""], "the baseline with optimisations switched on")
	_, ok := Run("dgx1", "HV15R", "csr", "", 8)
	require.False(t, ok)
	_, ok = FindOther("europe_osm")
	require.True(t, ok)
}

func TestFigure6FollowsTheSlowestDevice(t *testing.T) {
	for i, low := range Figure6Low {
		for k, ratio := range Figure6Ratios {
			want := 1028 * Balance(8, low, ratio)
			require.InEpsilon(t, want, Figure6[i][k], 0.07, "low %d ratio %g", low, ratio)
		}
	}
	require.Equal(t, 1.0, Balance(8, 8, 0.1))
}

func TestSummitHasTimesOfTheDGX1AndOthersThatAreTooShort(t *testing.T) {
	s, _ := Run("summit", "wb-edu", "csr", "p-opt", 2)
	d, _ := Run("dgx1", "wb-edu", "csr", "p-opt", 2)
	require.Equal(t, d.Merge, s.Merge)
	require.Equal(t, 1.0, s.Correction())
	h, _ := Run("summit", "HV15R", "csr", "p-opt", 2)
	require.Equal(t, 4.0, h.Correction())
	_, ok := Find("HV15R")
	require.True(t, ok)
	_, ok = Find("hv15r")
	require.False(t, ok)
}

func TestTheIterationsOfTheCPMSPaperAddUp(t *testing.T) {
	misprints := 0
	for i, c := range CPMSTable2 {
		total := CPMSTable2Totals[i]
		if c.CPMS2[0]+c.CPMS2[1] != total[0] {
			misprints++
			require.Equal(t, "Bub", CPMSGraphs[i].Short)
		}
		if c.CPMS4[0]+c.CPMS4[1]+c.CPMS4[2]+c.CPMS4[3] != total[1] {
			misprints++
			require.Equal(t, "USA", CPMSGraphs[i].Short)
		}
		require.LessOrEqual(t, total[1]-c.FP64, 24)
	}
	require.Equal(t, 2, misprints)
	require.Len(t, CPMSFigure7a, len(CPMSGraphs))
	for i := range CPMSGraphs {
		require.Len(t, CPMSFigure7a[i], len(CPMSThresholds))
	}
}
