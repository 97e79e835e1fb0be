package order

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/sparse"
)

func TestDissectionReturnsPermutations(t *testing.T) {
	specs := []string{"stencil:dims=2,n=120", "stencil:dims=3,n=20", "diag:n=3000", "random:rows=3000,nnz=3000", "random:rows=2000,nnz=20000", "rmat:scale=12,edges=4"}
	for _, spec := range shapes {
		specs = append(specs, spec)
	}
	for _, spec := range specs {
		a := generate(t, spec)
		p, err := Dissection(a)
		require.NoError(t, err, spec)
		requirePermutation(t, p, a.Rows)
		again, err := Dissection(a)
		require.NoError(t, err, spec)
		require.Equal(t, p, again)
	}
}

func TestDissectionMakesLessWorkThanAMDInThreeDimensions(t *testing.T) {
	a := generate(t, "stencil:dims=3,n=28")
	p := sequence(a.Rows)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(p), func(i, j int) { p[i], p[j] = p[j], p[i] })
	b, err := sparse.Permute(a, p, p)
	require.NoError(t, err)
	for _, a := range []*sparse.CSR[float64]{a, b} {
		p, err := AMD(a)
		require.NoError(t, err)
		_, amd := fill(t, a, p)
		q, err := Dissection(a)
		require.NoError(t, err)
		_, dissected := fill(t, a, q)
		require.Less(t, dissected, 0.85*amd)
	}
}

func TestASeparatorSeparates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawMatrix(t, 300, true)
		if a.Rows == 0 {
			return
		}
		g, err := symmetricGraph(a)
		require.NoError(t, err)
		side := (&mesh{graph: g}).separate()
		require.Len(t, side, a.Rows)
		for i := range int32(a.Rows) {
			for _, j := range g.neighbours(i) {
				require.False(t, side[i]+side[j] == 1, "%d and %d", i, j)
			}
		}
	})
}

func TestTheSeparatorOfAGridIsALine(t *testing.T) {
	g, err := symmetricGraph(generate(t, "stencil:dims=2,nx=90,ny=40"))
	require.NoError(t, err)
	m := &mesh{graph: g}
	r := newRefiner(m, m.separate())
	require.LessOrEqual(t, r.total[between], int64(42))
	require.LessOrEqual(t, max(r.total[0], r.total[1]), int64(90*40*11/20))
}

// moved and its totals are as if the sides were counted anew.
func TestRefinementCountsSidesAsTheyAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawMatrix(t, 40, true)
		if a.Rows == 0 {
			return
		}
		g, err := symmetricGraph(a)
		require.NoError(t, err)
		m := &mesh{graph: g}
		r := newRefiner(m, m.grow(int32(rapid.IntRange(0, a.Rows-1).Draw(t, "start"))))
		before := r.score()
		r.refine()
		require.False(t, newRefiner(m, r.side).score() != r.score())
		after := r.score()
		require.True(t, after == before || r.better(before))
	})
}
