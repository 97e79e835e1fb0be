package mtx_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/internal/matrixtest"
	"github.com/msrep-go/msrep/sparse/mtx"
)

func write(t require.TestingT, m *sparse.CSR[float64], src sparse.Source) string {
	var b bytes.Buffer
	require.NoError(t, mtx.Write(&b, m, src))
	return b.String()
}

func TestFilesKeepTheirFieldAndSymmetryWhenTheyAreWritten(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{"real", general + "2 3 3\n1 1 0.1\n1 3 -1e+300\n2 2 5e-324\n"},
		{"integer symmetric", "%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n1 1 7\n2 1 -5\n3 2 6\n"},
		{"skew-symmetric", "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 5.5\n3 2 -6.25\n"},
		{"pattern symmetric", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n"},
		{"pattern", "%%MatrixMarket matrix coordinate pattern general\n2 3 2\n1 3\n2 1\n"},
		{"no entries", "%%MatrixMarket matrix coordinate real symmetric\n3 3 0\n"},
		{"no rows", general + "0 0 0\n"},
		{"not finite", general + "1 3 3\n1 1 inf\n1 2 -inf\n1 3 nan\n"},
		{"integers beyond 2^53", "%%MatrixMarket matrix coordinate integer general\n1 2 2\n1 1 9007199254740994\n1 2 1152921504606846976\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, src, err := read(c.text)
			require.NoError(t, err)
			require.Equal(t, c.text, write(t, m, src))
		})
	}
}

func TestAFieldOrSymmetryThatNoLongerHoldsIsNotWritten(t *testing.T) {
	csr := func(v ...float64) *sparse.CSR[float64] {
		return &sparse.CSR[float64]{Rows: 2, Cols: 2, RowPtr: []int64{0, 2, 4}, ColIdx: []int32{0, 1, 0, 1}, Val: v}
	}
	unsorted := csr(2, 1, 3, 2)
	unsorted.ColIdx = []int32{1, 0, 1, 0}
	for _, c := range []struct {
		name   string
		m      *sparse.CSR[float64]
		src    sparse.Source
		banner string
	}{
		{"pattern with a value", csr(1, 1, 1, 2), sparse.Source{Field: "pattern", Symmetry: "general"}, "real general"},
		{"integer with a fraction", csr(1, 1, 1, 2.5), sparse.Source{Field: "integer", Symmetry: "symmetric"}, "real symmetric"},
		{"integer with -0", csr(1, 1, 1, math.Copysign(0, -1)), sparse.Source{Field: "integer", Symmetry: "general"}, "real general"},
		{"integer beyond 64 bits", csr(1, 1, 1, 1<<63), sparse.Source{Field: "integer", Symmetry: "general"}, "real general"},
		{"integer that is infinite", csr(1, 1, 1, math.Inf(1)), sparse.Source{Field: "integer", Symmetry: "general"}, "real general"},
		{"symmetric with other values", csr(1, 2, 3, 4), sparse.Source{Field: "real", Symmetry: "symmetric"}, "real general"},
		{"skew with a diagonal", csr(1, 2, -2, 0), sparse.Source{Field: "real", Symmetry: "skew-symmetric"}, "real general"},
		{"skew", csr(0, 2, -2, 0), sparse.Source{Field: "real", Symmetry: "skew-symmetric"}, "real skew-symmetric"},
		{"skew with signs wrong", csr(0, 2, 2, 0), sparse.Source{Field: "real", Symmetry: "skew-symmetric"}, "real general"},
		{"unsorted", unsorted, sparse.Source{Field: "integer", Symmetry: "symmetric"}, "integer general"},
		{"upper triangle only", &sparse.CSR[float64]{Rows: 2, Cols: 2, RowPtr: []int64{0, 1, 1}, ColIdx: []int32{1}, Val: []float64{1}}, sparse.Source{Field: "pattern", Symmetry: "symmetric"}, "pattern general"},
		{"lower triangle only", &sparse.CSR[float64]{Rows: 2, Cols: 2, RowPtr: []int64{0, 0, 1}, ColIdx: []int32{0}, Val: []float64{1}}, sparse.Source{Field: "pattern", Symmetry: "symmetric"}, "pattern general"},
		{"not square", &sparse.CSR[float64]{Rows: 1, Cols: 2, RowPtr: []int64{0, 1}, ColIdx: []int32{0}, Val: []float64{1}}, sparse.Source{Symmetry: "symmetric"}, "real general"},
		{"unknown source", csr(1, 1, 1, 1), sparse.Source{}, "real general"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := write(t, c.m, c.src)
			require.True(t, strings.HasPrefix(text, "%%MatrixMarket matrix coordinate "+c.banner+"\n"), text)
			again, _, err := read(text)
			require.NoError(t, err)
			if c.name != "unsorted" {
				matrixtest.SameText(t, c.m, again)
			}
		})
	}
}

// The numbers that the mmread of SciPy and of MATLAB, fast_matrix_market and Julia's
// MatrixMarket accept. SciPy and fast_matrix_market accept no plus before a number; Julia
// and SciPy accept no integers beyond signed 64 bits.
var foreign = map[string]*regexp.Regexp{
	"real":    regexp.MustCompile(`^(-?[0-9]+(\.[0-9]+)?(e[+-][0-9]{2,3})?|-?inf|nan)$`),
	"integer": regexp.MustCompile(`^-?[0-9]+$`),
}

func TestOtherReadersAcceptEveryWrittenNumber(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		val := rapid.SliceOfN(rapid.OneOf(
			rapid.Map(rapid.Uint64(), math.Float64frombits), rapid.Map(rapid.Int64(), func(v int64) float64 { return float64(v) }),
			rapid.SampledFrom([]float64{math.Inf(1), math.Inf(-1), math.NaN(), math.Copysign(math.NaN(), -1), 0, math.Copysign(0, -1), 5e-324, math.MaxFloat64, 1 << 53, 1 << 63, -1 << 63, 1 << 64}),
		), 1, 50).Draw(t, "values")
		m := &sparse.CSR[float64]{Rows: 1, Cols: len(val), RowPtr: []int64{0, int64(len(val))}, ColIdx: make([]int32, len(val)), Val: val}
		for k := range val {
			m.ColIdx[k] = int32(k)
		}
		text := write(t, m, sparse.Source{Field: rapid.SampledFrom([]sparse.Field{sparse.Real, sparse.Integer}).Draw(t, "field")})
		lines := strings.Split(strings.TrimSpace(text), "\n")
		field := strings.Fields(lines[0])[3]
		for _, line := range lines[2:] {
			v := strings.Fields(line)[2]
			require.Regexp(t, foreign[field], v)
			if field == "integer" {
				_, err := strconv.ParseInt(v, 10, 64)
				require.NoError(t, err)
			}
		}
		var b bytes.Buffer
		require.NoError(t, mtx.WriteVector(&b, val))
		for _, v := range strings.Split(strings.TrimSpace(b.String()), "\n")[2:] {
			require.Regexp(t, foreign["real"], v)
		}
	})
}

func TestRoundedIntegersAreWrittenAsReal(t *testing.T) {
	for _, field := range []string{"integer", "unsigned-integer"} {
		m, src, err := read("%%MatrixMarket matrix coordinate " + field + " general\n1 2 2\n1 1 3\n1 2 9007199254740993\n")
		require.NoError(t, err)
		require.Equal(t, general+"1 2 2\n1 1 3\n1 2 9.007199254740992e+15\n", write(t, m, src))
	}
}

func TestANoteNamesTheFirstLineOfEachKindInEveryWayOfReading(t *testing.T) {
	const n = 300_000
	lines := strings.Split(strings.Repeat("7\n", n), "\n")[:n]
	lines[200_000], lines[250_000], lines[299_999] = "9007199254740993", "1"+strings.Repeat("0", 400), "9007199254740993"
	text := fmt.Sprintf("%%%%MatrixMarket vector array integer\n%d\n%s\n", n, strings.Join(lines, "\n"))
	const note = "values beyond the range of float64 are read as infinities, the first in line 250003; " +
		"integers that float64 does not hold are rounded to the nearest that it does, the first in line 200003: the field is real"
	x, src, err := mtx.ReadVectorSource(t.Context(), strings.NewReader(text), "x.mtx")
	require.NoError(t, err)
	require.Equal(t, sparse.Source{Field: sparse.Real, Symmetry: sparse.General, Stored: n, Note: note}, src)
	require.Equal(t, []float64{7, 1 << 53, math.Inf(1)}, []float64{x[0], x[200_000], x[250_000]})
	for k, v := range lines {
		lines[k] = fmt.Sprintf("%d %s", k+1, v)
	}
	text = fmt.Sprintf("%%%%MatrixMarket vector coordinate integer\n%d %d\n%s\n", n, n, strings.Join(lines, "\n"))
	_, src, err = read(text)
	require.NoError(t, err)
	require.Equal(t, note, src.Note)
	path := filepath.Join(t.TempDir(), "x.mtx")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	part, err := mtx.ReadPart(t.Context(), path, 2, 3, sparse.Limits{})
	require.NoError(t, err)
	require.Contains(t, part.Source.Note, "infinities, the first in line 250003")
	part, err = mtx.ReadPart(t.Context(), path, 0, 3, sparse.Limits{})
	require.NoError(t, err)
	require.Empty(t, part.Source.Note)
	require.Equal(t, sparse.Integer, part.Source.Field)
}

// genCSR draws a matrix with sorted rows that has the field and symmetry of src.
func genCSR(t *rapid.T) (*sparse.CSR[float64], sparse.Source) {
	src := sparse.Source{
		Field:    rapid.SampledFrom([]sparse.Field{sparse.Real, sparse.Integer, sparse.Pattern}).Draw(t, "field"),
		Symmetry: rapid.SampledFrom([]sparse.Symmetry{sparse.General, sparse.Symmetric, sparse.SkewSymmetric}).Draw(t, "symmetry"),
	}
	rows, cols := rapid.IntRange(0, 12).Draw(t, "rows"), rapid.IntRange(0, 12).Draw(t, "cols")
	if src.Symmetry != sparse.General {
		cols = rows
	}
	var tr sparse.Triples[float64]
	seen := map[[2]int32]bool{}
	for range rapid.IntRange(0, rows*cols).Draw(t, "entries") {
		i, j := int32(rapid.IntRange(0, rows-1).Draw(t, "i")), int32(rapid.IntRange(0, cols-1).Draw(t, "j"))
		if src.Symmetry != sparse.General && j > i || seen[[2]int32{i, j}] {
			continue
		}
		seen[[2]int32{i, j}] = true
		v := 1.0
		switch src.Field {
		case sparse.Real:
			v = rapid.Float64().Draw(t, "v")
		case sparse.Integer:
			v = float64(rapid.Int64Range(-1<<53, 1<<53).Draw(t, "v"))
		}
		if src.Symmetry == sparse.SkewSymmetric && i == j {
			v = 0
		}
		tr.Row, tr.Col, tr.Val = append(tr.Row, i), append(tr.Col, j), append(tr.Val, v)
	}
	src.Stored = int64(len(tr.Row))
	return sparse.Assemble(rows, cols, src.Symmetry, []sparse.Triples[float64]{tr}), src
}

func TestWhatIsWrittenReadsBackTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, src := genCSR(t)
		again, got, err := read(write(t, m, src))
		require.NoError(t, err)
		matrixtest.SameText(t, m, again)
		fields := src.Field == got.Field || src.Symmetry == sparse.SkewSymmetric && src.Field != sparse.Real
		for _, v := range m.Val { // -0 needs real
			fields = fields || v == 0 && math.Signbit(v)
		}
		require.True(t, fields, "field %s became %s", src.Field, got.Field)
		if src.Field != sparse.Pattern || src.Symmetry != sparse.SkewSymmetric {
			require.Equal(t, src.Symmetry, got.Symmetry)
			require.Equal(t, src.Stored, got.Stored)
		}
	})
}

func TestALargeMatrixReadsBackTheSame(t *testing.T) {
	const n = 30_000
	var tr sparse.Triples[float64]
	for i := range int32(n) {
		for d := range int32(3) {
			if j := i - d*d*7; j >= 0 && i%5 != 3 { // some rows are empty
				tr.Row, tr.Col, tr.Val = append(tr.Row, i), append(tr.Col, j), append(tr.Val, math.Sqrt(float64(i+1)*float64(d+1)))
			}
		}
	}
	stored := int64(len(tr.Row))
	m := sparse.Assemble(n, n, sparse.Symmetric, []sparse.Triples[float64]{tr})
	text := write(t, m, sparse.Source{Field: sparse.Real, Symmetry: sparse.Symmetric})
	again, src, err := read(text)
	require.NoError(t, err)
	require.Equal(t, sparse.Source{Field: sparse.Real, Symmetry: sparse.Symmetric, Stored: stored}, src)
	matrixtest.SameText(t, m, again)
	again, _, err = read(write(t, m, sparse.Source{}))
	require.NoError(t, err)
	matrixtest.SameText(t, m, again)
}

func TestBadMatricesAndFailingWritersGiveErrors(t *testing.T) {
	broken := &sparse.CSR[float64]{Rows: 1, Cols: 1, RowPtr: []int64{0, 1}, ColIdx: []int32{7}, Val: []float64{1}}
	require.True(t, sparse.IsInput(mtx.Write(&bytes.Buffer{}, broken, sparse.Source{})))
	require.True(t, sparse.IsInput(mtx.Write(&bytes.Buffer{}, nil, sparse.Source{})))
	m, src, err := read(general + "1 1 1\n1 1 1\n")
	require.NoError(t, err)
	for room := range 2 { // fails on the header, then on what follows
		require.ErrorIs(t, mtx.Write(&full{room}, m, src), errFull, room)
		require.ErrorIs(t, mtx.WriteVector(&full{room}, []float64{1}), errFull, room)
	}
}

var errFull = errors.New("disk full")

// full accepts some writes and then fails.
type full struct{ room int }

func (f *full) Write(p []byte) (int, error) {
	if f.room == 0 {
		return 0, errFull
	}
	f.room--
	return len(p), nil
}

func readVector(text string) ([]float64, error) {
	return mtx.ReadVector(context.Background(), strings.NewReader(text), "x.mtx")
}

func TestVectorsAreReadFromEveryForm(t *testing.T) {
	for _, c := range []struct {
		text string
		want []float64
	}{
		{"%%MatrixMarket matrix array real general\n3 1\n1\n0\n-2.5\n", []float64{1, 0, -2.5}},
		{"%%MatrixMarket matrix array integer general\n1 3\n1\n0\n-2\n", []float64{1, 0, -2}},
		{"%%MatrixMarket matrix coordinate real general\n3 1 3\n3 1 2\n1 1 1\n3 1 0.5\n", []float64{1, 0, 2.5}},
		{"%%MatrixMarket matrix coordinate integer general\n1 4 1\n1 2 9\n", []float64{0, 9, 0, 0}},
		{"%%MatrixMarket matrix array real symmetric\n1 1\n4\n", []float64{4}},
		{"%%MatrixMarket matrix array real skew-symmetric\n1 1\n", []float64{0}},
		{"%%MatrixMarket vector array real general\n3\n1\n2\n1e310\n", []float64{1, 2, math.Inf(1)}},
		{"%%MatrixMarket vector coordinate integer\n4 2\n4 7\n2 18446744073709551615\n", []float64{0, 1 << 64, 0, 7}},
	} {
		got, err := readVector(c.text)
		require.NoError(t, err, c.text)
		require.Equal(t, c.want, got, c.text)
	}
	got, err := readVector("%%MatrixMarket matrix array real general\n0 1\n")
	require.NoError(t, err)
	require.Empty(t, got)
}

func TestBadVectorsAreRefused(t *testing.T) {
	for _, c := range []struct{ text, message string }{
		{"%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n", "x.mtx:2: 2 rows and 2 columns: a vector has one column or one row"},
		{"%%MatrixMarket matrix array real general\n3 1\n1\n", "x.mtx:3: file ends after 1 of the 3"},
		{"%%MatrixMarket matrix array real general\n1 1\n1\n2\n", "x.mtx:4: more entries than the 1"},
		{"%%MatrixMarket matrix array real general\n2000000000 1\n1\n", "x.mtx:3: file ends after 1 of the 2000000000"},
		{"%%MatrixMarket matrix coordinate real general\n2000000000 1 1\n1 1 1\n", "x.mtx:2: 2000000000 rows for 1 entries"},
		{"%%MatrixMarket matrix coordinate real general\n3 1 1\n4 1 1\n", "x.mtx:3: row index 4"},
		{"%%MatrixMarket matrix coordinate pattern general\n3 1 1\n3 1\n", "x.mtx:1: a pattern is not a vector"},
		{"%%MatrixMarket matrix array complex general\n1 1\n1 2\n", "x.mtx:1: complex values are not supported"},
		{"1\n2\n3\n", "x.mtx:1: not a Matrix Market file"},
	} {
		_, err := readVector(c.text)
		require.True(t, sparse.IsInput(err))
		require.ErrorContains(t, err, c.message)
	}
}

func TestVectorsReadBackTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOf(rapid.Float64()).Draw(t, "v")
		var b bytes.Buffer
		require.NoError(t, mtx.WriteVector(&b, v))
		got, err := readVector(b.String())
		require.NoError(t, err)
		require.Len(t, got, len(v))
		for i := range v {
			require.Equal(t, math.Float64bits(v[i]), math.Float64bits(got[i]))
		}
	})
	var b bytes.Buffer
	require.NoError(t, mtx.WriteVector(&b, []float64{0.1, 1, math.NaN(), math.Inf(-1)}))
	require.Equal(t, "%%MatrixMarket matrix array real general\n4 1\n0.10000000000000001\n1\nnan\n-inf\n", b.String())
	long := make([]float64, 100_000)
	for i := range long {
		long[i] = float64(i) / 3
	}
	b.Reset()
	require.NoError(t, mtx.WriteVector(&b, long))
	got, err := readVector(b.String())
	require.NoError(t, err)
	require.Equal(t, long, got)
}
