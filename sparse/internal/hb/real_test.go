package hb

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/internal/matrixtest"
)

// Real files and the Matrix Market file of the same matrix. tolerance is 0 where
// both have the same digits.
var twins = []struct {
	file, twin string
	src        sparse.Source
	tolerance  float64
}{
	{"In_662_bus.rsa.gz", "662_bus.mtx.gz", sparse.Source{Field: sparse.Real, Symmetry: sparse.Symmetric, Stored: 1568}, 0},
	{"arc130.rua.gz", "arc130.mtx.gz", sparse.Source{Field: sparse.Real, Symmetry: sparse.General, Stored: 1282}, 0},
	{"bcsstk01.rb.gz", "bcsstk01.mtx.gz", sparse.Source{Field: sparse.Real, Symmetry: sparse.Symmetric, Stored: 224}, 0},
	{"bcsstk01.rsa.gz", "bcsstk01.mtx.gz", sparse.Source{Field: sparse.Real, Symmetry: sparse.Symmetric, Stored: 224}, 0},
	{"bcsstk14.hb.gz", "bcsstk14.mtx.gz", sparse.Source{Field: sparse.Real, Symmetry: sparse.Symmetric, Stored: 32630}, 0},
	{"big.rua.gz", "add32.mtx.gz", sparse.Source{Field: sparse.Real, Symmetry: sparse.General, Stored: 23884}, 0},
	{"gr_30_30.hb.gz", "gr_30_30.mtx.gz", sparse.Source{Field: sparse.Real, Symmetry: sparse.Symmetric, Stored: 4322}, 0},
	{"gre__115.mx.gz", "gre_115.mtx.gz", sparse.Source{Field: sparse.Real, Symmetry: sparse.General, Stored: 421}, 0},
	{"lp_afiro.rra.gz", "lp_afiro.mtx.gz", sparse.Source{Field: sparse.Real, Symmetry: sparse.General, Stored: 102}, 0},
	{"nos1.rsa.gz", "nos1.mtx.gz", sparse.Source{Field: sparse.Real, Symmetry: sparse.Symmetric, Stored: 627}, 0},
	{"plskz362.rb.gz", "plskz362.mtx.gz", sparse.Source{Field: sparse.Real, Symmetry: sparse.SkewSymmetric, Stored: 880}, 0},
	{"west0067.rua.gz", "west0067.mtx.gz", sparse.Source{Field: sparse.Real, Symmetry: sparse.General, Stored: 294}, 0},
	{"west0479.rb.gz", "west0479.mtx.gz", sparse.Source{Field: sparse.Real, Symmetry: sparse.General, Stored: 1910}, 0},
}

func TestRealFilesHoldTheMatrixOfTheirMatrixMarketTwin(t *testing.T) {
	for _, c := range twins {
		t.Run(c.file, func(t *testing.T) {
			file := corpus.Shared(t, "matrices", "formats", c.file)
			m, src, err := Read(context.Background(), open(t, file), c.file, sparse.Limits{})
			require.NoError(t, err)
			require.Equal(t, c.src, src)
			want := matrixtest.ReadMatrixMarket(t, corpus.Shared(t, "matrices", c.twin))
			require.Equal(t, want.Rows, m.Rows)
			require.Equal(t, want.Cols, m.Cols)
			require.Equal(t, want.RowPtr, m.RowPtr)
			require.Equal(t, want.ColIdx, m.ColIdx)
			for k, v := range want.Val {
				require.LessOrEqual(t, math.Abs(v-m.Val[k]), c.tolerance*math.Abs(v), "value %d: %v and %v", k, v, m.Val[k])
			}
			again, srcAgain, err := read(written(t, m, src))
			require.NoError(t, err)
			require.Equal(t, src, srcAgain)
			matrixtest.SameText(t, m, again)
		})
	}
}

func TestRealComplexFilesAreRefused(t *testing.T) {
	for _, file := range []string{"qc324.cua.gz", "mhd1280b.cua.gz", "cg20.cua.gz", "dwg961a.rb.gz", "qc324.rb.gz", "mhd1280b.rb.gz", "mhd1280a.rb.gz"} {
		path := corpus.Shared(t, "matrices", "formats", file)
		_, _, err := Read(context.Background(), open(t, path), file, sparse.Limits{})
		require.ErrorContains(t, err, file+":3: matrix type")
		require.ErrorContains(t, err, "complex values are not supported")
	}
}
