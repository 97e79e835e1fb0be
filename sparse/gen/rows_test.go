package gen

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRowsHaveTheLengthsThatWereAskedFor(t *testing.T) {
	for _, c := range []struct {
		spec        string
		n, nnz      int64
		sigma       float64
		least, most int64
	}{
		{"rows:n=3937,nnz=25407,sigma=3.1,min=1,max=11", 3937, 25407, 3.1, 1, 11},
		{"rows:n=4800,nnz=27520,sigma=2,min=1,max=10", 4800, 27520, 2, 1, 10},
		{"rows:n=20k,nnz=1M,sigma=14,min=8,max=178", 20000, 1000000, 14, 8, 178},
		{"rows:n=1k,nnz=5k,sigma=0,min=4,max=6", 1000, 5000, 0.1, 4, 6},
		{"rows:n=64,nnz=4096,sigma=0,min=64", 64, 4096, 0, 64, 64},
	} {
		m, _ := generateAll(t, c.spec)
		require.Equal(t, c.nnz, m.NNZ(), c.spec)
		mean, squares := float64(c.nnz)/float64(c.n), 0.0
		least, most := int64(math.MaxInt64), int64(0)
		for i := range m.Rows {
			k := m.RowPtr[i+1] - m.RowPtr[i]
			least, most = min(least, k), max(most, k)
			squares += (float64(k) - mean) * (float64(k) - mean)
		}
		require.Equal(t, []int64{c.least, c.most}, []int64{least, most}, c.spec)
		require.InDelta(t, c.sigma, math.Sqrt(squares/float64(c.n)), 0.05*c.sigma+0.1, c.spec)
	}
	m, _ := generateAll(t, "rows:n=1k,nnz=5k,max=9,width=10")
	for i := range m.Rows {
		for _, j := range m.ColIdx[m.RowPtr[i]:m.RowPtr[i+1]] {
			require.LessOrEqual(t, math.Abs(float64(int(j)-i)), 20.0)
		}
	}
}

func TestRowsThatCannotHoldTheEntriesAreRefused(t *testing.T) {
	for _, spec := range []string{"rows:n=10,nnz=9,min=1", "rows:n=10,nnz=91,max=9", "rows:n=10,nnz=90,min=1,max=9", "rows:n=10,nnz=20,min=5,max=4"} {
		_, _, err := Generate(spec)
		require.Error(t, err, spec)
		require.Contains(t, err.Error(), "rows", spec)
	}
}
