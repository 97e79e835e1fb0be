package hb

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
)

func TestAValueBeyondFloat64IsAnInfinityWithANote(t *testing.T) {
	m, src, err := read(with(func(f *file) {
		f.body[2] = " 1.000E999 2.000E+00-1.00D+400 4.000E+00       inf"
	}))
	require.NoError(t, err)
	require.Equal(t, []float64{math.Inf(1), 4, math.Inf(-1), 2, math.Inf(1)}, m.Val)
	require.Equal(t, "values beyond the range of float64 are read as infinities, the first in line 7", src.Note)
	require.Equal(t, sparse.Real, src.Field)
}

func TestIntegersBeyond2To53AreExactOrReal(t *testing.T) {
	text := func(last string) string {
		return with(func(f *file) {
			f.kind = strings.Replace(f.kind, "rua", "iua", 1)
			f.formats = "(4I4)           (5I3)           (3I20)              "
			f.body[2] = "                   1    9007199254740994 1152921504606846976\n                   4" + last
		})
	}
	m, src, err := read(text(" 9223372036854775808"))
	require.NoError(t, err)
	require.Equal(t, []float64{1, 4, 1 << 60, 1<<53 + 2, 1 << 63}, m.Val)
	require.Equal(t, sparse.Source{Field: sparse.Integer, Symmetry: sparse.General, Stored: 5}, src)

	m.Val[4] = 5 // 2^63 is no integer of 64 bits with a sign
	var b bytes.Buffer
	require.NoError(t, Write(&b, m, src))
	require.Contains(t, b.String(), " 1152921504606846976", "all digits of the integer, not the fewest that tell the float64")
	again, got, err := read(b.String())
	require.NoError(t, err)
	require.Equal(t, m.Val, again.Val)
	require.Equal(t, src, got)

	m, src, err = read(text("    9007199254740993"))
	require.NoError(t, err)
	require.Equal(t, float64(1<<53), m.Val[4])
	require.Equal(t, sparse.Real, src.Field)
	require.Equal(t, "integers that float64 does not hold are rounded to the nearest that it does, the first in line 8: the field is real", src.Note)
}

func TestNumbersThatAreNotFiniteAreWrittenWithoutAPlus(t *testing.T) {
	m := &sparse.CSR[float64]{Rows: 1, Cols: 3, RowPtr: []int64{0, 3}, ColIdx: []int32{0, 1, 2}, Val: []float64{math.Inf(1), math.Inf(-1), math.NaN()}}
	var b bytes.Buffer
	require.NoError(t, Write(&b, m, sparse.Source{}))
	last := strings.Split(strings.TrimSpace(b.String()), "\n")
	require.Equal(t, []string{"inf", "-inf", "nan"}, strings.Fields(last[len(last)-1]))
}
