package plot

import (
	"image/color"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func brightness(c color.RGBA) float64 {
	return 0.2126*float64(c.R) + 0.7152*float64(c.G) + 0.0722*float64(c.B)
}

func TestMoreEntriesAreDarkerAndEmptyAndFullBinsStandOut(t *testing.T) {
	least := 1e-6
	last := 255.0
	for _, share := range []float64{1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 0.9, 1, 3} {
		c := shadeOf(share, least)
		require.LessOrEqual(t, brightness(c), last, share)
		last = brightness(c)
	}
	require.Less(t, brightness(shadeOf(least, least)), 190.0, "the fewest entries differ from white paper")
	require.Equal(t, fullColour, shadeOf(1, least))
	require.Greater(t, brightness(shadeOf(0.999, least)), brightness(fullColour)+40, "nearly full is not black")
}

func TestBinsArePixelsAtTheirPlaces(t *testing.T) {
	f := Figure{Kind: Density, Grid: &Grid{Rows: 2, Cols: 2, OfRows: 2, OfCols: 2, Share: []float64{1, 0, 0, 1}}}
	c, err := newPNGCanvas(widthOf(f), chartHeight(f))
	require.NoError(t, err)
	drawFigure(c, f)
	quarter := densitySquare / 4.
	at := func(row, col float64) (lo, hi point) {
		x, y := densityLeft+quarter*(1+2*col), plotTop+quarter*(1+2*row)
		return point{x - 20, y - 20}, point{x + 20, y + 20}
	}
	for _, p := range [][3]float64{{0, 0, 1}, {0, 1, 0}, {1, 0, 0}, {1, 1, 1}} {
		lo, hi := at(p[0], p[1])
		require.Equal(t, p[2], shareOf(c.img, fullColour, lo, hi), p)
	}
	require.Contains(t, SVG(f), ">no entry</text>")
	require.Contains(t, SVG(f), "image-rendering:pixelated")
	f.Grid.OfCols = 20
	f.Grid.Share[0] = 0.25
	require.Contains(t, SVG(f), ">25 %</text>")
	require.Contains(t, inlineSVG(f), `class="image"`)
}

func TestFewBinsAreDrawnLargeEnough(t *testing.T) {
	g := &Grid{Rows: 1, Cols: 512, OfRows: 1, OfCols: 5000, Share: make([]float64, 512)}
	g.Share[0], g.Share[100], g.Share[511] = 0.1, 0.2, 0.1
	occupied := 0
	for x := range 512 {
		if _, _, _, a := g.pixels(0.1).At(x, 0).RGBA(); a > 0 {
			occupied++
		}
	}
	require.Equal(t, 2+3+2, occupied)
}

func TestThePictureKeepsTheShapeOfTheMatrixWithinLimits(t *testing.T) {
	for _, c := range []struct {
		rows, cols int
		want       float64
	}{{100, 100, densitySquare}, {1, 1 << 30, densityLeast}, {1 << 30, 1, densityMost}, {50, 100, densitySquare / 2}, {0, 0, densityLeast}} {
		require.InDelta(t, c.want, (&Grid{OfRows: c.rows, OfCols: c.cols}).picture(), 1e-9)
	}
}

func TestTimesShareTheirLane(t *testing.T) {
	f := Figure{Title: "t", Kind: Timeline, Lanes: []string{"calls", "cpu:0 with a very long name"}, Spans: []Span{
		{0, "plan", 0, 0.002, ""}, {0, "spmv", 0.002, 0.003, ""}, {1, "major-product", 0.0021, 0.0029, "80 bytes"}, {1, "sync", 0.0029, 0.0029, ""},
	}}
	svg := SVG(f)
	for _, want := range []string{">milliseconds</text>", ">calls</text>", ">cpu:0 with a ve…</text>", "spmv: 1 ms from 2 ms", "major-product: 800 us from 2.1 ms, 80 bytes"} {
		require.Contains(t, svg, want)
	}
	require.Equal(t, []string{"plan", "spmv", "major-product", "sync"}, spanNames(f))
	seen := map[bar]bool{}
	for k := range 30 {
		seen[spanLook(k)] = true
	}
	require.Len(t, seen, 30, "names differ in colour or hatch")
	require.NotContains(t, SVG(Figure{Kind: Timeline}), "NaN")
	var b strings.Builder
	require.NoError(t, HTML(&b, &Page{Sections: []Section{{Figures: []Figure{f}}}}))
	require.Contains(t, b.String(), `class="wide scroll"`)
}

func TestHatchesStayInTheirRectangle(t *testing.T) {
	for h := range hatch(hatches) {
		for _, shift := range []float64{0, 3.3, 101} {
			var c recorder
			h.draw(&c, point{10 + shift, 90}, point{40 + shift, 20})
			require.Equal(t, h > 0, len(c.points) > 0)
			for _, p := range c.points {
				require.True(t, p.x >= 10+shift-1e-9 && p.x <= 40+shift+1e-9 && p.y >= 20-1e-9 && p.y <= 90+1e-9, "hatch %d: %v", h, p)
			}
		}
	}
}

// recorder keeps the points of lines.
type recorder struct {
	canvas
	points []point
}

func (r *recorder) line(points []point, _ string, _ float64, _ []float64) {
	r.points = append(r.points, points...)
}

func TestSeriesWithoutOriginDifferWithoutColours(t *testing.T) {
	var series []Series
	for range orderLooks {
		series = append(series, Series{})
	}
	seen := map[string]bool{}
	for k := range series {
		l := lookOf(series, k)
		l.colour = ""
		var c svgCanvas
		c.shape(l.shape.at(point{}), inkColour, l.hollow, "")
		c.line([]point{{}, {1, 1}}, inkColour, 1, l.dash)
		seen[c.String()] = true
	}
	require.Len(t, seen, len(orderLooks))
}
