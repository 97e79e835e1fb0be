package plot

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func stacked() Figure {
	return Figure{
		Title: "stacked", Kind: Bars, XLabel: "graph", YLabel: "share", Level: 1, Names: []Mark{{X: 1, Label: "Ada"}, {X: 3, Label: "Web"}},
		Series: []Series{
			{Name: "32 bits", X: []float64{1, 3}, Y: []float64{2, 1}}, {Name: "64 bits", X: []float64{1, 3}, Y: []float64{3, 0}},
			{Name: "64 bits", Origin: Paper, X: []float64{4}, Y: []float64{2}},
		},
	}
}

func heatMap() Figure {
	return Figure{
		Title: "heat", Kind: Heat, XLabel: "graph", YLabel: "tolerance", Level: 1, Names: []Mark{{X: 1, Label: "Ada"}, {X: 2, Label: "Web"}},
		Series: []Series{{Name: "1e-02", Origin: Measured, X: []float64{1, 2}, Y: []float64{2, 1}}, {Name: "1e-10", Origin: Measured, X: []float64{1, 2}, Y: []float64{0.5, 4}}},
	}
}

func TestBarsAreStackedAndHaveNames(t *testing.T) {
	f := stacked()
	x, y := axes(f)
	require.Equal(t, 0.0, y.lo)
	require.InDelta(t, 5.25, y.hi, 1e-9, "the highest stack is 5")
	require.Equal(t, []float64{0.5, 4.5}, []float64{x.lo, x.hi}, "bars are 1 wide")
	img := drawnPNG(t, f)
	first, second := ink(colours[0]), ink(colours[1])
	inside := func(v float64) (a, b point) {
		return point{x.at(0.7), y.at(v + 0.2)}, point{x.at(1.3), y.at(v - 0.2)}
	}
	for v, c := range map[float64]int{0.5: 0, 1.5: 0, 2.5: 1, 4.5: 1} {
		a, b := inside(v)
		require.Greater(t, shareOf(img, ink(colours[c]), a, b), []float64{0.9, 0.6}[c], "at %g: the first is plain, the second hatched", v)
	}
	require.Zero(t, shareOf(img, second, point{x.at(2.7), y.at(4)}, point{x.at(3.3), y.at(1.2)}), "nothing of height 0")
	require.Zero(t, shareOf(img, first, point{x.at(1.7), y.at(4)}, point{x.at(2.3), y.at(0.1)}), "nothing between the bars")
	require.Less(t, shareOf(img, second, point{x.at(3.7), y.at(1.9)}, point{x.at(4.3), y.at(0.1)}), 0.2, "the paper's bars are outlines")
	svg := SVG(f)
	for _, want := range []string{">Ada</text>", ">Web</text>", "<title>64 bits: Ada, 3</title>", "64 bits (paper)"} {
		require.Contains(t, svg, want)
	}
	require.NotContains(t, svg, ">2.5</text>", "names stand in place of numbers")
}

func TestANameAtTheRightEndStaysOnTheChart(t *testing.T) {
	svg := SVG(Figure{Names: []Mark{{X: 1, Label: "1e-02"}, {X: 2, Label: "a long name"}}, Series: []Series{{X: []float64{1, 2}, Y: []float64{1, 2}}}})
	found := regexp.MustCompile(`x="([0-9.]+)" y="[0-9.]+">a long name<`).FindStringSubmatch(svg)
	require.NotNil(t, found, svg)
	x, err := strconv.ParseFloat(found[1], 64)
	require.NoError(t, err)
	require.LessOrEqual(t, x+charWidth*11/2, float64(chartWidth))
	require.Contains(t, svg, fmt.Sprintf(`x="%.1f" y="%.1f">1e-02<`, float64(plotLeft), float64(plotTop+plotHeight+16)), "others stay where they are")
}

func TestAHeatMapHasItsNumbersInColouredCells(t *testing.T) {
	f := heatMap()
	svg := SVG(f)
	for _, want := range []string{">Ada</text>", ">1e-02</text>", ">1e-10</text>", ">0.50</text>", ">4.00</text>", "<title>1e-10, Web: 4</title>", "measured here; blue: above 1"} {
		require.Contains(t, svg, want)
	}
	require.Equal(t, "#ffffff", heatColour(1))
	require.Equal(t, aboveColour, heatColour(2))
	require.Equal(t, aboveColour, heatColour(9), "no darker")
	require.Equal(t, belowColour, heatColour(0.5))
	require.NotEqual(t, heatColour(1.2), heatColour(1.4))
	img := drawnPNG(t, f)
	require.Greater(t, shareOf(img, ink(aboveColour), point{200, plotTop + heatRow}, point{chartWidth - plotRight, plotTop + 2*heatRow}), 0.5)
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else {
			require.NoError(t, err)
		}
	}
}

func TestFiguresWithNamesHaveThemInTheirFiles(t *testing.T) {
	var b strings.Builder
	require.NoError(t, writeFigureCSV(&b, stacked()))
	require.Contains(t, b.String(), "64 bits,,Ada,3,,\n")
	b.Reset()
	require.NoError(t, writeFigureCSV(&b, heatMap()))
	require.Equal(t, "tolerance,origin,graph,value,low,high\n1e-02,measured here,Ada,2,,\n", b.String()[:strings.Index(b.String(), "1e-02,measured here,Web")])
}
