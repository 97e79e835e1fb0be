package structure

import (
	"bytes"
	"image/png"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/plot"
	"github.com/msrep-go/msrep/internal/stats"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

func TestPagesOfMatricesOfAnyShape(t *testing.T) {
	full := func(rows, cols int) *sparse.CSR[float64] {
		m := &sparse.CSR[float64]{Rows: rows, Cols: cols, RowPtr: make([]int64, rows+1)}
		for i := range rows {
			for j := range cols {
				m.ColIdx = append(m.ColIdx, int32(j))
			}
			m.RowPtr[i+1] = int64(len(m.ColIdx))
		}
		m.Val = make([]float64, len(m.ColIdx))
		return m
	}
	few := &sparse.CSR[float64]{Rows: 3, Cols: 1 << 24, RowPtr: []int64{0, 1, 1, 2}, ColIdx: []int32{0, 1<<24 - 1}, Val: make([]float64, 2)}
	graph, _, err := gen.Generate("rmat:scale=10")
	require.NoError(t, err)
	for name, m := range map[string]*sparse.CSR[float64]{
		"0 x 0": full(0, 0), "0 x 5": full(0, 5), "5 x 0": full(5, 0), "1 x 1": full(1, 1), "1 x 900": full(1, 900), "900 x 1": full(900, 1),
		"no entries": {Rows: 4, Cols: 4, RowPtr: make([]int64, 5)}, "wide": few, "graph": graph,
	} {
		s := stats.Of(m)
		section := Section(m, s)
		require.Equal(t, plot.Density, section.Figures[0].Kind, name)
		require.NotEmpty(t, section.Remarks)
		if m.NNZ() == 0 {
			require.Equal(t, []string{"The matrix has no entries."}, section.Remarks, name)
		}
		page := &plot.Page{Title: name, Sections: []plot.Section{section, Halo([][]int64{{1, 2}, {3, 4, 5}}, m.Cols)}}
		for _, ext := range plot.Extensions {
			var b bytes.Buffer
			if ext == ".png" && name != "0 x 5" && name != "graph" {
				continue // large images take time
			}
			require.NoError(t, plot.Writer("a"+ext)(&b, page), name)
			if ext == ".png" {
				_, err := png.DecodeConfig(&b)
				require.NoError(t, err)
				continue
			}
			for _, bad := range []string{"NaN", "Inf", "%!"} {
				require.NotContains(t, b.String(), bad, name)
			}
		}
	}
	require.Nil(t, plot.Writer("a.pdf"))
	require.NotNil(t, plot.Writer("A.PNG"))
}

func TestFiguresSayWhatTheMatrixIs(t *testing.T) {
	m, _, err := gen.Generate("stencil:dims=2,n=30")
	require.NoError(t, err)
	section := Section(m, stats.Of(m))
	require.Contains(t, section.Remarks, "All entries are on 5 diagonals.")
	figures := map[string]plot.Figure{}
	for _, f := range section.Figures {
		figures[f.Name] = f
		require.NotEmpty(t, f.Desc, f.Name)
	}
	require.Equal(t, plot.Ranked([]string{"-30", "-1", "0", "+1", "+30"}), figures["diagonals"].Names)
	require.InDeltaSlice(t, []float64{100, 100 * 870 / 899., 100, 100 * 870 / 899., 100}, figures["diagonals"].Series[0].Y, 1e-9)
	require.Equal(t, []float64{4, 112, 784}, figures["rows"].Series[0].Y, "corners, edges, the inside")
	share := figures["bandwidth"]
	sum := 0.0
	for _, s := range share.Series {
		for _, y := range s.Y {
			sum += y
		}
	}
	require.InDelta(t, 100, sum, 1e-9)
	occupied := 0
	for k, s := range figures["entries"].Grid.Share {
		if s > 0 {
			occupied++
			i, d := k/512, k%512-k/512
			require.True(t, d <= 20 && d >= -20, "row bin %d is off the band by %d", i, d) // 30 of 900 rows are 17 bins
		}
	}
	require.Positive(t, occupied)
}

func TestLongListsOfLengthsAreDrawnInPowersOfTwo(t *testing.T) {
	var counts []stats.LengthCount
	for k := range int64(40) {
		counts = append(counts, stats.LengthCount{Length: k, Count: 1})
	}
	require.Equal(t, []bar{{"0", 1}, {"1", 1}, {"2–3", 2}, {"4–7", 4}, {"8–15", 8}, {"16–31", 16}, {"32–63", 8}}, bars(counts))
	require.Len(t, bars(counts[:20]), 20)
	require.Equal(t, "1Ki–2Ki", powerRange(11))
	require.Equal(t, "1Gi–2Gi", powerRange(31))
}

func TestBlocksThatAreDenseAreNamed(t *testing.T) {
	m := &sparse.CSR[float64]{Rows: 300, Cols: 300, RowPtr: make([]int64, 301)}
	for i := range 300 {
		for j := i / 3 * 3; j < i/3*3+3; j++ {
			m.ColIdx = append(m.ColIdx, int32(j))
		}
		m.RowPtr[i+1] = int64(len(m.ColIdx))
	}
	m.Val = make([]float64, len(m.ColIdx))
	require.Contains(t, Section(m, stats.Of(m)).Remarks, "Blocks of 3 x 3 hold the entries and are 100 % full.")
}

func TestTheHaloOfEachPartIsInTheTable(t *testing.T) {
	s := Halo([][]int64{{5, 6}, {7, 8, 9}}, 100)
	require.Equal(t, [][]string{{"2", "5", "6", ""}, {"3", "7", "8", "9"}}, s.Tables[0].Rows)
	require.Equal(t, []float64{6, 9}, s.Figures[0].Series[1].Y)
	var b bytes.Buffer
	require.NoError(t, plot.HTML(io.Writer(&b), &plot.Page{Sections: []plot.Section{s}}))
	require.Equal(t, 1, strings.Count(b.String(), "<svg "))
}
