package form

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/sparse"
)

func TestListedLinesAreCopiedAndAddedTo(t *testing.T) {
	listedLines[float64](t)
	listedLines[float32](t)
}

func listedLines[V sparse.Value](t *testing.T) {
	r, line := rand.New(rand.NewPCG(1, 2)), BinLine[V]()
	for _, n := range []int{0, 1, 2, 23, 24, 25, 26, 100} {
		var lines []int32
		for i := range int32(200) {
			if r.IntN(200) < n {
				lines = append(lines, i)
			}
		}
		x, own := make([]V, 200*line), make([]V, len(lines)*line+1)
		for i := range x {
			x[i] = V(r.NormFloat64())
		}
		for i := range own {
			own[i] = V(r.NormFloat64())
		}
		copied, added := slices.Clone(own), slices.Clone(x)
		for i, l := range lines {
			for j := range line {
				copied[i*line+j] = x[int(l)*line+j]
				added[int(l)*line+j] += own[i*line+j]
			}
		}
		for l := simd.Generic; l <= simd.Best(); l++ {
			to, y := slices.Clone(own), slices.Clone(x)
			CopyLines(l, lines, x, to)
			require.Equal(t, copied, to, "%d lines, %v", len(lines), l)
			AddLines(l, lines, own, y)
			require.Equal(t, added, y, "%d lines, %v", len(lines), l)
		}
	}
}
