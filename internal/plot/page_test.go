package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
)

func page() *Page {
	return &Page{
		Title: "<script>alert(1)</script>", Intro: []string{"a & b"}, Facts: [][2]string{{"CPU", "x < y"}},
		Sections: []Section{{
			Name: "one", Title: "One", Intro: []string{"intro"}, Remarks: []string{"remark"},
			Tables: []Table{{Name: "one-t", Title: "T", Origin: Paper, Header: []string{"", "a"}, Rows: [][]string{{"r", "1"}, {"s", "2"}}, Shade: [][]float64{{0}, {1}}}},
			Figures: []Figure{
				{Name: "one-f", Title: "F <&>", XLabel: "x", YLabel: "y", Series: []Series{
					{Name: "s", Origin: Measured, X: []float64{1, 2, 3}, Y: []float64{1, 4, 9}, Low: []float64{0.5, 3, 8}, High: []float64{2, 5, 10}},
					{Name: "s", Origin: Paper, X: []float64{1, 3}, Y: []float64{2, 3}},
					{Name: "m", Origin: Modelled, X: []float64{1, 3}, Y: []float64{5, 6}},
				}},
				{Name: "one-log", Title: "log", Log: true, Series: []Series{{Name: "z", X: []float64{1, 2, 3}, Y: []float64{1e-6, 0, 1e-3}}}},
				{Name: "one-empty", Title: "nothing"},
				{Name: "one-point", Title: "point", Series: []Series{{Name: "p", X: []float64{1}, Y: []float64{0}}}},
			},
		}},
	}
}

func TestThePageNeedsNothingFromOutside(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, HTML(&b, page()))
	html := b.String()
	require.NotContains(t, html, "<script>")
	without := strings.ReplaceAll(html, `xmlns="http://www.w3.org/2000/svg"`, "")
	require.NotRegexp(t, regexp.MustCompile(`(?i)https?://|src=|<link rel="stylesheet|@import|url\(`), without)
	require.Contains(t, html, "default-src 'none'", "and a browser is told to ask for nothing")
	require.Equal(t, 4, strings.Count(html, "<svg "))
	for _, want := range []string{"x &lt; y", "a &amp; b", `id="one-t"`, `id="one-f"`, "remark", "paper", "width=device-width"} {
		require.Contains(t, html, want)
	}
	require.Contains(t, html, "hsl(210 60% 25%)", "small numbers are dark")
}

func TestEveryFigureIsWellFormed(t *testing.T) {
	for _, f := range page().Sections[0].Figures {
		svg := SVG(f)
		d := xml.NewDecoder(strings.NewReader(svg))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else {
				require.NoError(t, err, svg)
			}
		}
		require.NotContains(t, svg, "NaN")
		require.NotContains(t, svg, "Inf")
	}
}

func TestSeriesOfOneNameShareAColourAndDifferInDashes(t *testing.T) {
	f := page().Sections[0].Figures[0]
	require.Equal(t, colourOf(f.Series, 0), colourOf(f.Series, 1))
	require.NotEqual(t, colourOf(f.Series, 0), colourOf(f.Series, 2))
	dashes := map[string]bool{}
	for _, o := range []Origin{Measured, Paper, Modelled, Counted, Earlier} {
		dashes[fmt.Sprint(originLook(o, inkColour).dash)] = true
	}
	require.Len(t, dashes, 5)
	require.Contains(t, SVG(f), "s (paper)")
	require.Contains(t, SVG(f), "m (modelled)")
}

func TestPointsLieWhereTheirValuesAre(t *testing.T) {
	x, y := axes(Figure{Series: []Series{{X: []float64{0, 10}, Y: []float64{0, 100}}}})
	require.InDelta(t, plotLeft, x.at(0), 1e-9)
	require.InDelta(t, chartWidth-plotRight, x.at(10), 1e-9)
	require.InDelta(t, plotTop+plotHeight, y.at(0), 1e-9)
	require.InDelta(t, plotTop, y.at(105), 1e-9)
	require.Equal(t, []float64{0, 2, 4, 6, 8, 10}, x.ticks())
	require.Equal(t, "0", shortNumber(x.ticks()[0]), "not -0")
	log := axis{lo: 1e-4, hi: 1, from: 0, to: 4, log: true}
	require.InDelta(t, 3, log.at(0.1), 1e-9)
	require.InDeltaSlice(t, []float64{1e-4, 1e-3, 1e-2, 1e-1, 1}, log.ticks(), 1e-12)
}

func TestWriteMakesAFileOfEachFigureAndTable(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "dir")
	require.NoError(t, Write(dir, page()))
	for _, name := range []string{"report.html", "one-f.svg", "one-f.png", "one-f.csv", "one-log.svg", "one-empty.csv", "one-t.csv"} {
		require.FileExists(t, filepath.Join(dir, name))
	}
	b, err := os.ReadFile(filepath.Join(dir, "one-f.csv"))
	require.NoError(t, err)
	require.Equal(t, "series,origin,x,y,low,high\ns,measured here,1,1,0.5,2\n", string(b)[:strings.Index(string(b), "s,measured here,2")])
	b, err = os.ReadFile(filepath.Join(dir, "one-t.csv"))
	require.NoError(t, err)
	require.Equal(t, ",a\nr,1\ns,2\n", string(b))
}

func TestAFileThatFailsDoesNotAppear(t *testing.T) {
	dir := t.TempDir()
	broken := errors.New("broken")
	require.ErrorIs(t, File(filepath.Join(dir, "a"), func(io.Writer) error { return broken }), broken)
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, files)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "f"), nil, 0o600))
	require.True(t, sparse.IsInput(Write(filepath.Join(dir, "f"), page())))
}

func TestNumbersAreShort(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 1: "1", 1234: "1234", 12_000: "12k", 2.5e6: "2.5M", 1e-6: "1e-06", 1e-4: "1e-04", 1.25e-4: "1.25e-04", -1e-5: "-1e-05", 0.25: "0.25"} {
		require.Equal(t, want, shortNumber(v))
	}
}

func TestPointsAreNotJoinedAndLevelsAreDrawn(t *testing.T) {
	f := Figure{Title: "t", Log: true, Level: 1, Marks: []Mark{{X: 2, Label: "here"}, {X: 99, Label: "outside"}},
		Series: []Series{{Name: "s", Origin: Counted, Points: true, X: []float64{1, 2, 3}, Y: []float64{2, 3, 4}}}}
	svg := SVG(f)
	require.NotContains(t, svg, `stroke-width="1.6"`, "no line of a series")
	require.Contains(t, svg, noteColour)
	require.Contains(t, svg, ">here</text>")
	require.NotContains(t, svg, "outside")
	require.Contains(t, svg, "s (counted, not time)")
	_, y := axes(f)
	require.Less(t, y.lo, 1.0, "the level is within the axis")
}

func TestShortLogarithmicAxesHaveTicksBetweenPowersOfTen(t *testing.T) {
	require.InDeltaSlice(t, []float64{0.5, 1, 2, 5, 10}, axis{lo: 0.4, hi: 12, log: true}.ticks(), 1e-12)
	require.Equal(t, []float64{1.1, 1.2}, axis{lo: 1.1, hi: 1.2, log: true}.ticks())
}

func TestNamesReplaceNumbersOnTheAxis(t *testing.T) {
	f := Figure{Name: "named", Title: "t", Names: Ranked([]string{"memplus", "a name that is longer than all that can be drawn"}), Series: []Series{{Name: "s", X: []float64{1, 2}, Y: []float64{3, 4}}}}
	svg := SVG(f)
	require.Contains(t, svg, ">memplus</text>")
	require.Contains(t, svg, ">a name that is longer t…</text>")
	require.Contains(t, svg, "s: memplus, 3")
	require.NotContains(t, svg, ">1.5</text>")
	require.Equal(t, chartWidth, widthOf(f))
	var b strings.Builder
	require.NoError(t, writeFigureCSV(&b, f))
	require.Contains(t, b.String(), "s,,memplus,3,,")
	f.Names = Ranked(make([]string, 100))
	require.Equal(t, plotLeft+plotRight+100*nameWidth, widthOf(f))
	var page strings.Builder
	require.NoError(t, HTML(&page, &Page{Sections: []Section{{Figures: []Figure{f}}}}))
	require.Contains(t, page.String(), `class="wide scroll" style="--width: 1262px"`)
}
