package stats_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/stats"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
)

func TestEveryFormatOfTheEllpackFamilyIsListedAsItIsBuilt(t *testing.T) {
	m := ofRows(t, 100, upTo(3), nil, upTo(100), upTo(7), upTo(1))
	formats := stats.Of(m).Formats
	e, err := ellpack.NewBisected(ellpack.FormatBiELL, ellpack.Of(m), ellpack.Options{})
	require.NoError(t, err)
	require.EqualValues(t, 12*len(e.Val)+8*len(e.Start)+4*len(e.Perm), formats["biell"].Bytes)
	require.EqualValues(t, len(e.Val)-111, formats["biell"].Padding)
	require.EqualValues(t, len(e.Val)/32, *formats["biell"].WarpIterations)
	for _, f := range ellpack.Formats() {
		require.Contains(t, formats, string(f))
		require.NotNil(t, formats[string(f)].Work)
	}
}

func TestTheRecommendationFollowsTheRows(t *testing.T) {
	equal, short, mixed := make([][]int32, 4000), make([][]int32, 4000), make([][]int32, 4000)
	for i := range equal {
		equal[i], short[i], mixed[i] = upTo(7), upTo(1+i%5), upTo(2)
		if i%100 == 0 {
			mixed[i] = upTo(300)
		}
	}
	longRow := slices.Clone(short)
	longRow[17] = upTo(4000)
	for _, c := range []struct {
		name     string
		rows     [][]int32
		cpu, gpu sparse.Format
	}{
		{"rows of equal length", equal, ellpack.FormatSELL, ellpack.FormatELL},
		{"many short rows", short, ellpack.FormatSELL, sparse.FormatCSR},
		{"a long row in each third warp", mixed, ellpack.FormatSELL, ellpack.FormatJAD},
		{"one long row", longRow, ellpack.FormatSELL, sparse.FormatCSR},
		{"nothing", make([][]int32, 7), sparse.FormatCSR, sparse.FormatCSR},
	} {
		s := stats.Of(ofRows(t, 5000, c.rows...))
		require.Equal(t, c.cpu, s.Recommend().Format, c.name)
		require.Equal(t, c.gpu, s.RecommendGPU().Format, c.name)
		require.NotEmpty(t, s.Recommend().Why)
		require.NotEmpty(t, s.RecommendGPU().Why)
	}
	s := stats.Of(ofRows(t, 5000, longRow...))
	require.Contains(t, s.RecommendGPU().Why, "a row has 4000 entries")
}

func TestStatisticsWithoutFormatsRecommendCSR(t *testing.T) {
	for _, s := range []stats.Stats{{}, {Rows: 3, Cols: 3, NNZ: 4}} {
		require.Equal(t, sparse.FormatCSR, s.Recommend().Format)
		require.Equal(t, sparse.FormatCSR, s.RecommendGPU().Format)
	}
}
