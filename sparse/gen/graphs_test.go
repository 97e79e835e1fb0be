package gen

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/internal/fileio"
	"github.com/msrep-go/msrep/internal/stats"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/mtx"
)

func TestLikeMatchesRowsEntriesAndPowerLaw(t *testing.T) {
	for _, c := range []struct {
		spec      string
		rows, nnz int64
		r         float64
	}{
		{"like=wb-edu,scale=0.02", 196_915, 1_143_131, 2.13},
		{"like=com-LiveJournal,scale=0.02", 79_959, 1_387_248, 2.40},
		{"like=hollywood-2009,scale=0.01", 11_399, 1_138_913, 1.92},
		{"like=com-Orkut,scale=0.01", 30_724, 2_343_702, 2.13},
		{"like:name=HV15R,scale=0.01", 20_172, 2_830_735, 3.09},
	} {
		m, _ := generateAll(t, c.spec)
		require.Equal(t, []int64{c.rows, c.nnz}, []int64{int64(m.Rows), m.NNZ()}, c.spec)
		require.InDelta(t, c.r, *stats.Of(m).PowerLawR, 0.5, c.spec)
	}
	m, _ := generateAll(t, "like=mouse_gene,scale=0.1")
	require.Equal(t, []int64{4510, 2_896_729}, []int64{int64(m.Rows), m.NNZ()})
}

func TestChungLuKeepsItsParameters(t *testing.T) {
	for _, c := range []string{
		"chunglu:n=0,nnz=0", "chunglu:n=1,nnz=1", "chunglu:n=50,nnz=2500", "chunglu:n=300,nnz=89k,r=1",
		"chunglu:n=2k,nnz=20k,r=1,longest=1", "chunglu:n=500,nnz=9k,local=1,width=1", "chunglu:n=1k,nnz=30k,r=10",
	} {
		_, p, err := parse(c)
		require.NoError(t, err)
		m, _ := generateAll(t, c)
		require.Equal(t, p.count("nnz", 0, 1<<40), m.NNZ(), c)
	}
	m, _ := generateAll(t, "chunglu:n=3k,nnz=30k,local=1,width=20,longest=3")
	near := 0
	for i := range m.Rows {
		for _, j := range m.ColIdx[m.RowPtr[i]:m.RowPtr[i+1]] {
			if int(j) >= i-20 && int(j) <= i+20 {
				near++
			}
		}
	}
	require.Greater(t, near, 29_000)
}

func TestWebGraphsHaveDanglingRowsAndClosedPairs(t *testing.T) {
	const n = 20_001
	plain, _ := generateAll(t, "chunglu:n=20001,nnz=200k")
	m, _ := generateAll(t, "chunglu:n=20001,nnz=200k,dangling=0.07,closed=0.02")
	closed, dangling := 0, 0
	for i, length := range lengths(m) {
		row := m.ColIdx[m.RowPtr[i]:m.RowPtr[i+1]]
		switch {
		case length == 0:
			dangling++
		case length == 1 && int(row[0]) == i^1:
			closed++
		default:
			require.Equal(t, plain.ColIdx[plain.RowPtr[i]:plain.RowPtr[i+1]], row, "the other rows stay as they are")
		}
	}
	require.InEpsilon(t, 0.07*0.98*n, dangling, 0.1)
	require.InEpsilon(t, 0.02*n, closed, 0.3)
	m, _ = generateAll(t, "chunglu:n=7,nnz=20,closed=1")
	for i := range 6 {
		require.Equal(t, []int32{int32(i ^ 1)}, m.ColIdx[m.RowPtr[i]:m.RowPtr[i+1]])
	}
	require.Greater(t, m.NNZ(), int64(6), "the seventh row has no partner and keeps its entries")
	m, _ = generateAll(t, "web:n=100,nnz=2k,dangling=1")
	require.Zero(t, m.NNZ())
	m, _ = generateAll(t, "chunglu:n=100,nnz=0,closed=1")
	require.EqualValues(t, 100, m.NNZ())
}

func TestMycielskiGraphsAreThoseOfTheCollection(t *testing.T) {
	for _, k := range []string{"8", "9", "14"} {
		f, err := fileio.Open(corpus.Shared(t, "matrices", "mycielskian"+k+".mtx.gz"))
		require.NoError(t, err)
		want, _, err := mtx.Read(t.Context(), f, "mycielskian", sparse.Limits{})
		require.NoError(t, err)
		require.NoError(t, f.Close())
		got, _ := generateAll(t, "mycielskian:value=ones,k="+k)
		require.Equal(t, want.RowPtr, got.RowPtr)
		require.Equal(t, want.ColIdx, got.ColIdx)
	}
	m, _ := generateAll(t, "mycielskian:k=3") // the pentagon
	require.Equal(t, []int64{2, 2, 2, 2, 2}, lengths(m))
}

func TestCFDMatricesHaveFullBlocks(t *testing.T) {
	m, _ := generateAll(t, "cfd:n=4,unknowns=3")
	s, _ := generateAll(t, "stencil:n=4,points=7")
	require.Equal(t, 9*s.NNZ(), m.NNZ())
	for i := range m.Rows {
		var cells []int32
		row := m.ColIdx[m.RowPtr[i]:m.RowPtr[i+1]]
		for k := 0; k < len(row); k += 3 {
			require.Equal(t, []int32{row[k], row[k] + 1, row[k] + 2}, row[k:k+3])
			cells = append(cells, row[k]/3)
		}
		require.Equal(t, s.ColIdx[s.RowPtr[i/3]:s.RowPtr[i/3+1]], cells)
	}
	_, _, err := Generate("cfd:n=1290,unknowns=64")
	require.ErrorContains(t, err, "more than")
	_, _, err = Generate("like=nobody")
	require.ErrorContains(t, err, "must be one of")
}
