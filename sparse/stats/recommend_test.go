package stats_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
	"github.com/msrep-go/msrep/sparse/stats"
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
	short := make([][]int32, 4000)
	for i := range short {
		short[i] = upTo(1 + i%5)
	}
	for _, c := range []struct {
		name string
		rows [][]int32
		want sparse.Format
	}{
		{"many short rows", short, ellpack.FormatSELL},
		{"few rows of very different length", [][]int32{upTo(5000), upTo(10), upTo(800), nil, upTo(100)}, ellpack.FormatSELL},
		{"nothing", make([][]int32, 7), sparse.FormatCSR},
	} {
		s := stats.Of(ofRows(t, 5000, c.rows...))
		r := s.Recommend()
		require.Equal(t, c.want, r.Format, c.name)
		require.NotEmpty(t, r.Why)
	}
}
