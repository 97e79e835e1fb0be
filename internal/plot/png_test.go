package plot

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func drawnPNG(t *testing.T, f Figure) image.Image {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, PNG(&b, f))
	img, err := png.Decode(&b)
	require.NoError(t, err)
	require.Equal(t, image.Pt(pngScale*chartWidth, pngScale*chartHeight(f)), img.Bounds().Size())
	return img
}

// shareOf returns the fraction of the pixels in a box of the chart with nearly the colour c.
func shareOf(img image.Image, c color.RGBA, lo, hi point) float64 {
	near, all := 0.0, 0.0
	for y := int(pngScale * lo.y); y < int(pngScale*hi.y); y++ {
		for x := int(pngScale * lo.x); x < int(pngScale*hi.x); x++ {
			r, g, b, _ := img.At(x, y).RGBA()
			all++
			if math.Abs(float64(r>>8)-float64(c.R))+math.Abs(float64(g>>8)-float64(c.G))+math.Abs(float64(b>>8)-float64(c.B)) < 60 {
				near++
			}
		}
	}
	return near / all
}

func TestAPNGHasItsLinesWhereTheSVGHasThem(t *testing.T) {
	f := Figure{Title: "t", XLabel: "x", YLabel: "y", Series: []Series{{Name: "s", Origin: Measured, X: []float64{0, 10}, Y: []float64{50, 50}}, {Name: "up", Origin: Paper, X: []float64{5, 5}, Y: []float64{0, 100}}}}
	img := drawnPNG(t, f)
	x, y := axes(f)
	blue, red := ink(colours[0]), ink(colours[1])
	line := func(at float64) (lo, hi point) {
		return point{x.at(1), at - 0.4}, point{x.at(4), at + 0.4}
	}
	lo, hi := line(y.at(50))
	require.Greater(t, shareOf(img, blue, lo, hi), 0.9)
	lo, hi = line(y.at(60))
	require.Zero(t, shareOf(img, blue, lo, hi))
	dotted := shareOf(img, red, point{x.at(5) - 0.4, y.at(95)}, point{x.at(5) + 0.4, y.at(60)})
	require.InDelta(t, 0.4, dotted, 0.15, "2 of 5 units are drawn")
}

func TestTextsOfAPNGAreAtTheirPositions(t *testing.T) {
	img := drawnPNG(t, Figure{Title: "a title", XLabel: "to the right", YLabel: "upwards", Series: []Series{{Name: "one", X: []float64{0, 1}, Y: []float64{0, 1}}}})
	black := ink(inkColour)
	require.Positive(t, shareOf(img, black, point{150, 4}, point{210, 18}), "the title")
	require.Positive(t, shareOf(img, black, point{2, 100}, point{14, 160}), "the label of y, turned")
	require.Positive(t, shareOf(img, black, point{170, plotTop + plotHeight + 20}, point{240, plotTop + plotHeight + 35}), "the label of x")
	require.Positive(t, shareOf(img, black, point{38, plotTop + plotHeight + axisHeight}, point{70, plotTop + plotHeight + axisHeight + 14}), "the legend")
	require.Zero(t, shareOf(img, black, point{2, 20}, point{14, 60}), "nothing where no text is")
}

func TestEveryFigureHasAPNG(t *testing.T) {
	for _, f := range page().Sections[0].Figures {
		img := drawnPNG(t, f)
		require.Positive(t, shareOf(img, ink(axisColour), point{plotLeft - 1, plotTop}, point{plotLeft + 1, plotTop + plotHeight}), f.Title)
	}
}

func TestDashesGoOnAroundCorners(t *testing.T) {
	pieces := dashed([]point{{0, 0}, {3, 0}, {3, 10}}, []float64{2, 2})
	require.Equal(t, [][2]point{{{0, 0}, {2, 0}}, {{3, 1}, {3, 3}}, {{3, 5}, {3, 7}}, {{3, 9}, {3, 10}}}, pieces)
	require.Equal(t, [][2]point{{{0, 0}, {3, 0}}, {{3, 0}, {3, 4}}}, dashed([]point{{0, 0}, {3, 0}, {3, 4}}, nil))
	require.Empty(t, dashed([]point{{1, 1}}, []float64{1, 1}))
}

func TestMarksTellOriginsApart(t *testing.T) {
	seen := map[string]bool{}
	for _, o := range []Origin{Measured, Paper, Modelled, Counted, Earlier} {
		look := originLook(o, inkColour)
		corners := look.shape.at(point{10, 10})
		var c svgCanvas
		c.shape(corners, inkColour, look.hollow, "")
		seen[c.String()] = true
		for _, p := range corners {
			require.InDelta(t, 1.15*markSize, math.Hypot(p.x-10, p.y-10), 0.2*markSize)
		}
	}
	require.Len(t, seen, 5)
}
