package experiment

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/bench/paper"
	"github.com/msrep-go/msrep/internal/bench/record"
	"github.com/msrep-go/msrep/internal/corpus"
)

// rowsOf returns the rows of the table of outcomes about an item.
func rowsOf(s *Session, item string) (rows [][]string) {
	last := s.Page.Sections[len(s.Page.Sections)-1]
	for _, row := range last.Tables[0].Rows {
		if row[0] == item {
			rows = append(rows, row)
		}
	}
	return rows
}

func TestEveryItemOfThePapersHasAnOutcome(t *testing.T) {
	s := session(t, quick("sim:dgx1", 100_000), "msrep-fig6", "msrep-fig16", "msrep-fig21", "outcomes")
	for _, item := range paperItems {
		rows := rowsOf(s, item.paper+", "+item.item)
		require.NotEmpty(t, rows, item.item)
		for _, row := range rows {
			require.Contains(t, []string{reproduced, notReproduced, notTestable}, row[4])
			require.NotEmpty(t, row[3], item.item)
			require.True(t, strings.HasPrefix(row[6], "msrep bench "), row[6])
		}
	}
	for _, cl := range msrepClaims { // each statement belongs to an item
		require.True(t, slices.ContainsFunc(paperItems, func(i paperItem) bool { return i.item == "Figure "+cl.figure }), cl.figure)
	}
	require.Len(t, rowsOf(s, "MSREP, Figure 6"), 3)
	require.Equal(t, reproduced, rowsOf(s, "MSREP, Figure 6")[0][4])
	require.Contains(t, rowsOf(s, "MSREP, Figure 6")[0][3], "(modelled)")
	require.Equal(t, notTestable, rowsOf(s, "MSREP, Figure 17")[0][4], "it was not run")
	require.Equal(t, notTestable, rowsOf(s, "PELLR, Figure 8")[0][4])
	require.Contains(t, rowsOf(s, "MSREP, Figure 21")[2][5], "DGX-1 4.21, does not hold")
}

func TestOutcomesAreCounted(t *testing.T) {
	s := session(t, quick("cpu:1", 3000), "outcomes")
	s.verdicts = []verdict{{Paper: "MSREP", Item: "Figure 16", Outcome: reproduced}, {Paper: "MSREP", Item: "Figure 16", Outcome: notReproduced}, {Paper: "CPMS", Item: "Table 2", Outcome: reproduced}}
	require.Equal(t, "2 reproduced, 1 not reproduced, 29 cannot be tested here.", s.outcomeSection().Remarks[0])
}

func TestMatricesOfTable2AreJudgedByTheirSizes(t *testing.T) {
	s, err := New(quick("cpu:1", 3000), record.New("test", nil))
	require.NoError(t, err)
	judged := func() verdict {
		s.verdicts = nil
		s.judgeMatrices()
		require.Len(t, s.verdicts, 1)
		return s.verdicts[0]
	}
	s.judgeMatrices()
	require.Empty(t, s.verdicts, "none was used")
	for _, m := range paper.Matrices {
		s.loaded[m.Name] = loaded{true, m.Rows, m.Cols, m.NNZ}
	}
	require.Equal(t, reproduced, judged().Outcome)
	s.loaded["HV15R"] = loaded{true, 10, 10, 100}
	require.Equal(t, notReproduced, judged().Outcome)
	require.Contains(t, judged().Found, "HV15R has 10 x 10 and 100 entries")
	s.loaded["HV15R"] = loaded{false, 10, 10, 100}
	require.Equal(t, notTestable, judged().Outcome)
	require.Contains(t, judged().Found, "5 from files, 1 generated")
}

func TestStatementsOfThePELLRPaperMustHoldByAllMeasures(t *testing.T) {
	outcomeOf := func(v *pellrView, says string) verdict {
		s := &Session{}
		s.judgePELLR(v)
		require.Len(t, s.verdicts, len(pellrClaims))
		for _, out := range s.verdicts {
			if out.Says == says {
				return out
			}
		}
		require.Fail(t, says)
		return verdict{}
	}
	v := fakePELLR()
	require.Equal(t, reproduced, outcomeOf(v, "PELLR over HYB on memplus: HYB is ahead").Outcome)
	require.Equal(t, notTestable, outcomeOf(v, "PELLR over BiJAD, the highest").Outcome)
	ellr := outcomeOf(v, "PELLR over ELLR on memplus")
	require.Equal(t, notReproduced, ellr.Outcome, "1.1 in the paper")
	require.Equal(t, "Figure 6", ellr.Item)
	require.Contains(t, ellr.Found, "warp instructions: 2")
	v.matrices[0].Runs[1].Counted.Instructs, v.matrices[0].Runs[1].Rounds = 110, []float64{2.2, 4.4}
	require.Equal(t, notReproduced, outcomeOf(v, "PELLR over ELLR, sigma > 10").Outcome)
	require.Equal(t, reproduced, outcomeOf(v, "PELLR over ELLR on memplus").Outcome, "by all three measures")
	v.matrices[0].Runs[1].Counted.Instructs = 200
	require.Equal(t, notReproduced, outcomeOf(v, "PELLR over ELLR on memplus").Outcome, "not by the instructions")
}

func TestNoRemarkIsAFixedText(t *testing.T) {
	names := []string{"msrep-fig6", "msrep-fig16", "msrep-fig17", "msrep-fig18", "msrep-fig19", "msrep-fig20", "msrep-fig21", "msrep-fig22", "msrep-fig23", "model", "outcomes"}
	for _, devices := range []string{"cpu:2", "sim:dgx1", "sim:summit"} {
		for _, sec := range session(t, quick(devices, 3000), names...).Page.Sections {
			for _, remark := range sec.Remarks {
				require.Regexp(t, "[0-9]", remark, sec.Name)
			}
		}
	}
}

func TestTheDocumentHasTheOutcomesThatAreModelled(t *testing.T) {
	if testing.Short() {
		t.Skip("matrices of a million entries")
	}
	doc, err := os.ReadFile(filepath.Join(corpus.Root(), "bench", "notebook", "reproduced.md"))
	require.NoError(t, err)
	for column, devices := range []string{"sim:dgx1", "sim:summit"} {
		var names []string
		for _, e := range All() {
			if strings.HasPrefix(e.Name, "msrep-") || e.Name == "outcomes" {
				names = append(names, e.Name)
			}
		}
		s := session(t, quick(devices, 1_000_000), names...)
		checked := 0
		for line := range strings.Lines(string(doc)) {
			cells := strings.Split(strings.TrimSpace(line), " | ")
			if len(cells) != 4 || !strings.HasPrefix(line, "| MSREP, ") {
				continue
			}
			counts := map[string]int{}
			for _, row := range rowsOf(s, strings.TrimPrefix(cells[0], "| ")) {
				counts[row[4]]++
			}
			want := fmt.Sprintf("%d, %d, %d", counts[reproduced], counts[notReproduced], counts[notTestable])
			require.Equal(t, want, strings.TrimSuffix(cells[2+column], " |"), "%s, %s", devices, cells[0])
			checked++
		}
		require.Equal(t, 9, checked)
	}
}
