package experiment

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/bench/record"
)

// cpmsAs returns means for which all statements of the CPMS paper hold, or none.
func cpmsAs(thePaper bool) cpmsMeans {
	m := cpmsMeans{bytes: 1 << 40, products: map[string]map[string]float64{}, counted: map[string]map[string]float64{}, ranked: map[string]map[string][]float64{}}
	pick := func(good, bad float64) float64 {
		if thePaper {
			return good
		}
		return bad
	}
	m.extra = pick(24, 25)
	for _, format := range cpmsFormats {
		m.products[format] = map[string]float64{"32 bits, 2-seg, 128 B": pick(1.05, 1.3), "32 bits, 2-seg, 8 KiB": pick(1.4, 0.5), "32 bits, 2-seg, separated": pick(1.45, 0.9)}
		m.counted[format] = map[string]float64{countedName(countedCases[firstCase]): pick(1.5, 1)}
		m.ranked[format] = map[string][]float64{
			"stored cpms2, separated": {pick(1.5, 1), 1.4, 1.3, 1.2, pick(1.2, 1), 1.1},
			"stored cpms2, 128 B":     {1, 1, 1, 1, 1.1, 1},
			"stored cpms4, separated": {1, 1, 1, 1, 1.1, 1},
		}
	}
	return m
}

func TestStatementsOfTheCPMSPaperCanHoldAndCanFail(t *testing.T) {
	for thePaper, want := range map[bool]string{true: reproduced, false: notReproduced} {
		s := &Session{Record: record.New("test", nil)}
		s.judgeCPMS(cpmsAs(thePaper))
		require.Len(t, s.verdicts, len(cpmsClaims))
		for _, v := range s.verdicts {
			require.Equal(t, want, v.Outcome, v.Item+" "+v.Says)
		}
	}
	s := &Session{Record: record.New("test", nil)}
	small := cpmsAs(true)
	small.bytes, s.Record.Machine.L3 = 199, 100
	s.judgeCPMS(small)
	for _, v := range s.verdicts {
		require.Equal(t, v.Item == "Table 2" || v.Item == "Figure 4", v.Outcome == reproduced, "times of what is in the caches say nothing: %s", v.Says)
	}
	s.verdicts = nil
	s.judgeCPMS(cpmsMeans{extra: 3})
	for _, v := range s.verdicts[1:] {
		require.Equal(t, notTestable, v.Outcome)
		require.Equal(t, "-", v.Found)
	}
}

func TestACPMSRunFillsInItsOutcomes(t *testing.T) {
	s, err := New(quick("cpu:1", 500), record.New("test", nil))
	require.NoError(t, err)
	s.Record.Machine.L3 = 0 // lets small graphs count as larger than the caches
	require.NoError(t, cpmsPaper(t.Context(), s))
	require.NoError(t, outcomes(t.Context(), s))
	judged := 0
	for _, v := range s.verdicts {
		if v.Paper == "CPMS" {
			require.NotEqual(t, notTestable, v.Outcome, v.Says)
			judged++
		}
	}
	require.Equal(t, len(cpmsClaims), judged)
	require.Len(t, rowsOf(s, "CPMS, Figure 9"), 3)
}
