package mtx_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/internal/matrixtest"
	"github.com/msrep-go/msrep/sparse/mtx"
)

const general = "%%MatrixMarket matrix coordinate real general\n"

func read(text string) (*sparse.CSR[float64], sparse.Source, error) {
	return mtx.Read(context.Background(), strings.NewReader(text), "f.mtx", sparse.Limits{})
}

var valid = []struct {
	name, text string
	rows, cols int
	entries    string
	source     sparse.Source
}{
	{"plain", general + "2 3 2\n1 1 1.5\n2 3 -2e3\n", 2, 3, "0,0=1.5 1,2=-2000", sparse.Source{Field: "real", Symmetry: "general", Stored: 2}},
	{"any case, any white space, CRLF", "%%mAtRiXmArKeT\tMATRIX  Coordinate REAL General \r\n\t2  3\t2 \r\n  1\t 1  1.5 \r\n2 3\v-2\f\r\n", 2, 3, "0,0=1.5 1,2=-2", sparse.Source{Field: "real", Symmetry: "general", Stored: 2}},
	{"no last line end", general + "1 1 1\n1 1 4", 1, 1, "0,0=4", sparse.Source{Field: "real", Symmetry: "general", Stored: 1}},
	{"comments and blank lines anywhere", general + "% a\n\n %b\n2 2 2\n\n%c 1 1 1\n1 1 1\n  % d\n\n \n2 2 2\n% e\n\n", 2, 2, "0,0=1 1,1=2", sparse.Source{Field: "real", Symmetry: "general", Stored: 2}},
	{"unsorted and duplicate entries", general + "2 2 5\n2 2 1\n1 2 4\n2 2 2\n1 1 3\n2 2 -0.5\n", 2, 2, "0,0=3 0,1=4 1,1=2.5", sparse.Source{Field: "real", Symmetry: "general", Stored: 5}},
	{"duplicates that cancel stay entries", general + "1 1 2\n1 1 1\n1 1 -1\n", 1, 1, "0,0=0", sparse.Source{Field: "real", Symmetry: "general", Stored: 2}},
	{"zeros that are written are entries", general + "2 2 1\n2 1 0\n", 2, 2, "1,0=0", sparse.Source{Field: "real", Symmetry: "general", Stored: 1}},
	{"integer", "%%MatrixMarket matrix coordinate integer general\n1 2 2\n1 1 -7\n1 2 +9007199254740993\n", 1, 2, "0,0=-7 0,1=9.007199254740992e+15", sparse.Source{Field: "real", Symmetry: "general", Stored: 2, Note: "integers that float64 does not hold are rounded to the nearest that it does, the first in line 4: the field is real"}},
	{"unsigned integers of SciPy", "%%MatrixMarket matrix coordinate unsigned-integer symmetric\n2 2 2\n1 1 255\n2 1 9223372036854775807\n", 2, 2, "0,0=255 0,1=9.223372036854776e+18 1,0=9.223372036854776e+18", sparse.Source{Field: "real", Symmetry: "symmetric", Stored: 2, Note: "integers that float64 does not hold are rounded to the nearest that it does, the first in line 4: the field is real"}},
	{"unsigned integers from 2^63 on", "%%MatrixMarket matrix coordinate unsigned-integer general\n1 2 2\n1 1 9223372036854775808\n1 2 18446744073709549568\n", 1, 2, "0,0=9.223372036854776e+18 0,1=1.844674407370955e+19", sparse.Source{Field: "integer", Symmetry: "general", Stored: 2}},
	{"the largest unsigned integer", "%%MatrixMarket matrix array unsigned-integer general\n1 2\n1\n18446744073709551615\n", 1, 2, "0,0=1 0,1=1.8446744073709552e+19", sparse.Source{Field: "real", Symmetry: "general", Stored: 2, Note: "integers that float64 does not hold are rounded to the nearest that it does, the first in line 4: the field is real"}},
	{"integers that float64 holds beyond 2^53", "%%MatrixMarket matrix coordinate integer general\n1 3 3\n1 1 9007199254740994\n1 2 -9223372036854775808\n1 3 -1152921504606846976\n", 1, 3, "0,0=9.007199254740994e+15 0,1=-9.223372036854776e+18 0,2=-1.152921504606847e+18", sparse.Source{Field: "integer", Symmetry: "general", Stored: 3}},
	{"an integer of 25 digits", "%%MatrixMarket matrix coordinate integer general\n%\n1 1 1\n1 1 -0001000000000000000000000001\n", 1, 1, "0,0=-1e+24", sparse.Source{Field: "real", Symmetry: "general", Stored: 1, Note: "integers that float64 does not hold are rounded to the nearest that it does, the first in line 4: the field is real"}},
	{"values beyond float64", general + "1 3 3\n1 1 1e309\n1 2 -1D+400\n1 3 1e-400\n", 1, 3, "0,0=+Inf 0,1=-Inf 0,2=0", sparse.Source{Field: "real", Symmetry: "general", Stored: 3, Note: "values beyond the range of float64 are read as infinities, the first in line 3"}},
	{"one %", general[1:] + "1 1 1\n1 1 2\n", 1, 1, "0,0=2", sparse.Source{Field: "real", Symmetry: "general", Stored: 1}},
	{"byte order mark, blank lines and blanks before the banner", "\xef\xbb\xbf\n\n \t" + general + "1 1 1\n1 1 2\n", 1, 1, "0,0=2", sparse.Source{Field: "real", Symmetry: "general", Stored: 1}},
	{"blanks before one %", "\r\n " + general[1:] + "1 1 1\n1 1 2\n", 1, 1, "0,0=2", sparse.Source{Field: "real", Symmetry: "general", Stored: 1}},
	{"vector as array", "%%MatrixMarket vector array real general\n% c\n3\n1\n0\n-2\n", 3, 1, "0,0=1 2,0=-2", sparse.Source{Field: "real", Symmetry: "general", Stored: 2}},
	{"vector as array without symmetry", "%MatrixMarket vector array integer\n2\n1\n5\n", 2, 1, "0,0=1 1,0=5", sparse.Source{Field: "integer", Symmetry: "general", Stored: 2}},
	{"vector with a column", "%%MatrixMarket vector array real general\n2 1\n1\n5\n", 2, 1, "0,0=1 1,0=5", sparse.Source{Field: "real", Symmetry: "general", Stored: 2}},
	{"vector of coordinates", "%%MatrixMarket vector coordinate real general\n9 2\n3 1.5\n  9\t-2D0 \n", 9, 1, "2,0=1.5 8,0=-2", sparse.Source{Field: "real", Symmetry: "general", Stored: 2}},
	{"vector of coordinates with a column", "%%MatrixMarket vector coordinate real general\n9 1 2\n3 1 1.5\n9 1 -2\n", 9, 1, "2,0=1.5 8,0=-2", sparse.Source{Field: "real", Symmetry: "general", Stored: 2}},
	{"double", "%%MatrixMarket matrix array DOUBLE general\n1 1\n1.5\n", 1, 1, "0,0=1.5", sparse.Source{Field: "real", Symmetry: "general", Stored: 1}},
	{"pattern with duplicates", "%%MatrixMarket matrix coordinate pattern general\n2 2 3\n1 2\n2 1\n1 2\n", 2, 2, "0,1=2 1,0=1", sparse.Source{Field: "pattern", Symmetry: "general", Stored: 3}},
	{"pattern symmetric", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n", 3, 3, "0,1=1 1,0=1 2,2=1", sparse.Source{Field: "pattern", Symmetry: "symmetric", Stored: 2}},
	{"symmetric in both triangles", "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n2 1 5\n2 3 6\n1 1 7\n", 3, 3, "0,0=7 0,1=5 1,0=5 1,2=6 2,1=6", sparse.Source{Field: "real", Symmetry: "symmetric", Stored: 3}},
	{"skew-symmetric in both triangles", "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 3\n2 1 5\n2 3 6\n1 1 0.0\n", 3, 3, "0,0=0 0,1=-5 1,0=5 1,2=6 2,1=-6", sparse.Source{Field: "real", Symmetry: "skew-symmetric", Stored: 3}},
	{"symmetric with both of two twins", "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n2 1 5\n1 2 7\n1 1 1\n", 2, 2, "0,0=1 0,1=12 1,0=12", sparse.Source{Field: "real", Symmetry: "symmetric", Stored: 3}},
	{"exponents of Fortran", general + "2 2 3\n1 1 1.5D+3\n2 1 -0.25d-1\n2 2 1D0\n", 2, 2, "0,0=1500 1,0=-0.025 1,1=1", sparse.Source{Field: "real", Symmetry: "general", Stored: 3}},
	{"array with exponents of Fortran", "%%MatrixMarket matrix array real general\n2 1\n1.5D+03\n0.123456789012345678901234D+1\n", 2, 1, "0,0=1500 1,0=1.2345678901234567", sparse.Source{Field: "real", Symmetry: "general", Stored: 2}},
	{"nan and inf", general + "1 3 3\n1 1 NaN\n1 2 -inf\n1 3 Infinity\n", 1, 3, "0,0=NaN 0,1=-Inf 0,2=+Inf", sparse.Source{Field: "real", Symmetry: "general", Stored: 3}},
	{"leading zeros and signs", general + "2 2 1\n+01 002 +1.E-0\n", 2, 2, "0,1=1", sparse.Source{Field: "real", Symmetry: "general", Stored: 1}},
	{"no entries", general + "3 4 0\n", 3, 4, "", sparse.Source{Field: "real", Symmetry: "general"}},
	{"no rows", general + "0 4 0\n", 0, 4, "", sparse.Source{Field: "real", Symmetry: "general"}},
	{"array by columns, zeros left out", "%%MatrixMarket matrix array real general\n%\n2 3\n1\n0\n-0.0\n2\n\n% c\n3e0\nnan\n", 2, 3, "0,0=1 0,2=3 1,1=2 1,2=NaN", sparse.Source{Field: "real", Symmetry: "general", Stored: 4}},
	{"array symmetric", "%%MatrixMarket matrix array integer symmetric\n3 3\n1\n2\n0\n4\n5\n6\n", 3, 3, "0,0=1 0,1=2 1,0=2 1,1=4 1,2=5 2,1=5 2,2=6", sparse.Source{Field: "integer", Symmetry: "symmetric", Stored: 5}},
	{"array skew-symmetric", "%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n", 3, 3, "0,1=-1 0,2=-2 1,0=1 1,2=-3 2,0=2 2,1=3", sparse.Source{Field: "real", Symmetry: "skew-symmetric", Stored: 3}},
	{"array without rows", "%%MatrixMarket matrix array real general\n0 5\n", 0, 5, "", sparse.Source{Field: "real", Symmetry: "general"}},
	{"array 1 x 1 skew-symmetric", "%%MatrixMarket matrix array real skew-symmetric\n1 1\n", 1, 1, "", sparse.Source{Field: "real", Symmetry: "skew-symmetric"}},
}

func TestValidFilesGiveTheirEntries(t *testing.T) {
	for _, c := range valid {
		t.Run(c.name, func(t *testing.T) {
			m, src, err := read(c.text)
			require.NoError(t, err)
			require.NoError(t, m.Validate())
			require.Equal(t, []int{c.rows, c.cols}, []int{m.Rows, m.Cols})
			require.Equal(t, c.entries, matrixtest.Entries(m))
			require.Equal(t, c.source, src)
		})
	}
}

var bad = []struct {
	name, text string
	line       int64
	message    string
}{
	{"empty file", "", 1, "must begin with %%MatrixMarket"},
	{"no banner", "3 3 1\n1 1 1\n", 1, "must begin with %%MatrixMarket"},
	{"binary", "\x00\x01\x02" + strings.Repeat("\xff", 1<<17), 1, "must begin with %%MatrixMarket"},
	{"banner with a tail", "%%MatrixMarketX matrix coordinate real general\n1 1 0\n", 1, "must begin with %%MatrixMarket"},
	{"short banner", "%%MatrixMarket matrix coordinate\n", 1, "has 3 words: it must be %%MatrixMarket matrix FORMAT"},
	{"long banner", "%%MatrixMarket matrix coordinate real general x\n", 1, "has 6 words"},
	{"object", "%%MatrixMarket tensor coordinate real general\n", 1, `object "tensor" is not supported: it must be matrix or vector`},
	{"object behind blank lines", "\n\n%%MatrixMarket tensor coordinate real general\n", 3, `object "tensor"`},
	{"something else behind blank lines", "\n\n1 1 1\n", 3, "must begin with %%MatrixMarket"},
	{"vector of a pattern", "%%MatrixMarket vector coordinate pattern general\n3 1\n1\n", 1, "a vector cannot be a pattern"},
	{"vector that is symmetric", "%%MatrixMarket vector array real symmetric\n1\n1\n", 1, "a vector cannot be symmetric"},
	{"vector without a length", "%%MatrixMarket vector array real general\n1 1 1\n", 2, `it must be "length"`},
	{"vector without a value", "%%MatrixMarket vector coordinate real general\n3 1\n1\n", 3, "entry has 1 words, row and value are needed"},
	{"vector with three words", "%%MatrixMarket vector coordinate real general\n3 1\n1 1 1\n", 3, "entry has 3 words, row and value are needed"},
	{"index beyond the vector", "%%MatrixMarket vector coordinate real general\n3 1\n4 1\n", 3, "row index 4 is outside 1..3"},
	{"a word in a vector", "%%MatrixMarket vector coordinate real general\n3 1\n3 one\n", 3, `value "one" is not a number`},
	{"integer out of range with a point", "%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 99999999999999999999.5\n", 3, "is not a whole number"},
	{"format", "%%MatrixMarket matrix dense real general\n", 1, `unknown format "dense"`},
	{"field", "%%MatrixMarket matrix coordinate quaternion general\n", 1, `unknown field "quaternion"`},
	{"complex", "%%MatrixMarket matrix coordinate complex general\n", 1, "complex values are not supported"},
	{"symmetry", "%%MatrixMarket matrix coordinate real diagonal\n", 1, `unknown symmetry "diagonal"`},
	{"hermitian", "%%MatrixMarket matrix coordinate real hermitian\n", 1, "hermitian matrices are not supported"},
	{"array pattern", "%%MatrixMarket matrix array pattern general\n", 1, "an array cannot be a pattern"},
	{"skew pattern", "%%MatrixMarket matrix coordinate pattern skew-symmetric\n", 1, "a pattern cannot be skew-symmetric"},
	{"long first line", "%%MatrixMarket " + strings.Repeat(" ", 1<<16), 1, "line is longer than 65536 bytes"},
	{"no sizes", general + "% only a comment\n", 2, `file ends before the line with the sizes, "rows columns entries"`},
	{"two sizes", general + "3 3\n", 2, "the line with the sizes has 2 words"},
	{"array with three sizes", "%%MatrixMarket matrix array real general\n3 3 9\n", 2, `it must be "rows columns"`},
	{"rows NaN", general + "NaN 3 1\n", 2, `number of rows: "NaN" is not a whole number`},
	{"columns real", general + "3 3.0 1\n", 2, `number of columns: "3.0" is not a whole number`},
	{"entries huge", general + "3 3 99999999999999999999\n", 2, `number of entries: "99999999999999999999" does not fit`},
	{"negative rows", general + "\n-3 3 1\n", 3, "-3 rows: a size must not be negative"},
	{"negative columns", general + "3 -3 1\n", 2, "-3 columns"},
	{"negative entries", general + "3 3 -1\n", 2, "-1 entries: their number must not be negative"},
	{"2^40 rows", general + "1099511627776 3 1\n1 1 1\n", 2, "1099511627776 rows: more than 2147483647"},
	{"2^30 rows for one entry", general + "1073741824 3 1\n1 1 1\n", 2, "1073741824 rows for 1 entries"},
	{"2^30 rows and no such entries", general + "1073741824 3 1073741824\n1 1 1\n", 3, "file ends after 1 of the 1073741824 entries that line 2 declares"},
	{"huge array", "%%MatrixMarket matrix array real general\n2000000000 2000000000\n1\n", 3, "file ends after 1 of the 4000000000000000000 entries that line 2 calls for"},
	{"array beyond any product", "%%MatrixMarket matrix array real general\n9000000000000000000 9000000000000000000\n1\n", 2, "more than 2147483647"},
	{"entries without room", general + "0 3 1\n1 1 1\n", 2, "0 rows and 3 columns: it has room for none"},
	{"symmetric but not square", "%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 1 1\n", 2, "a symmetric matrix must be square"},
	{"skew array not square", "%%MatrixMarket matrix array real skew-symmetric\n3 2\n1\n", 2, "a skew-symmetric matrix must be square"},
	{"too few entries", general + "3 3 3\n1 1 1\n\n2 2 2\n\n", 6, "file ends after 2 of the 3 entries that line 2 declares"},
	{"no entries at all", general + "3 3 3\n", 2, "file ends after 0 of the 3 entries"},
	{"too many entries", general + "3 3 2\n1 1 1\n% c\n\n2 2 2\n\n3 3 3\n1 2 x\n", 8, "more entries than the 2 that line 2 declares"},
	{"a sign for the gap between indices", general + "3 3 1\n1+2 1\n", 3, "entry has 2 words"},
	{"a point for the gap before the value", general + "3 3 1\n1 2.5\n", 3, "entry has 2 words"},
	{"row index 0", general + "3 3 1\n0 1 1\n", 3, "row index 0: indices start at 1"},
	{"column index 0", general + "3 3 2\n1 1 1\n1 0 1\n", 4, "column index 0: indices start at 1"},
	{"row index too large", general + "3 3 1\n4 1 1\n", 3, "row index 4 is outside 1..3"},
	{"column index too large", general + "3 3 1\n1 4294967297 1\n", 3, "column index 4294967297 is outside 1..3"},
	{"negative index", general + "3 3 1\n-1 1 1\n", 3, "row index -1 is outside 1..3"},
	{"index beyond 64 bits", general + "3 3 1\n1 18446744073709551617 1\n", 3, `column index: "18446744073709551617" does not fit into 64 bits`},
	{"index not a number", general + "3 3 1\nx 1 1\n", 3, `row index: "x" is not a whole number`},
	{"index real", general + "3 3 1\n1 1.0 1\n", 3, `column index: "1.0" is not a whole number`},
	{"index glued to a sign", general + "3 3 1\n1-1 1\n", 3, "entry has 2 words, row, column and value are needed"},
	{"no value", general + "3 3 1\n1 1\n", 3, `entry has 2 words, row, column and value are needed: "1 1"`},
	{"a blank for the value", general + "3 3 1\n1 1 \n", 3, "entry has 2 words"},
	{"two blanks for the column", general + "3 3 1\n1  1\n", 3, "entry has 2 words"},
	{"a blank for the row", "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n 1\n", 3, "entry has 1 words"},
	{"one word", general + "3 3 1\n1\n", 3, "entry has 1 words"},
	{"extra word", general + "3 3 1\n1 1 1 1\n", 3, "entry has 4 words"},
	{"comment after an entry", general + "3 3 1\n1 1 1 % one\n", 3, "entry has 5 words"},
	{"pattern with a value", "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 1 1\n", 3, "entry has 3 words, row and column are needed"},
	{"value not a number", general + "3 3 1\n1 1 one\n", 3, `value "one" is not a number`},
	{"value with a comma", general + "3 3 1\n1 1 1,5\n", 3, `value "1,5" is not a number`},
	{"hex value", general + "3 3 1\n1 1 0x1p3\n", 3, `value "0x1p3" is not a number`},
	{"exponent without E", general + "3 3 1\n1 1 0.15-300\n", 3, `value "0.15-300" has an exponent without E before its sign`},
	{"exponent without digits", general + "3 3 1\n1 1 1D\n", 3, `value "1D" is not a number`},
	{"integer with a point", "%%MatrixMarket matrix coordinate integer general\n3 3 1\n1 1 1.5\n", 3, `value: "1.5" is not a whole number, as the field integer demands`},
	{"skew with a diagonal", "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 1\n2 2 1\n", 3, "value 1 on the diagonal of a skew-symmetric matrix: it must be 0"},
	{"skew with a negative diagonal", "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 1\n2 2 -1\n", 3, "value -1 on the diagonal"},
	{"skew with a NaN diagonal", "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 1\n2 2 nan\n", 3, "on the diagonal"},
	{"array with too few values", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n", 5, "file ends after 3 of the 4 entries that line 2 calls for"},
	{"array with too many values", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n%\n5\n", 8, "more entries than the 4 that line 2 calls for"},
	{"array with two values a line", "%%MatrixMarket matrix array real general\n2 2\n1 2\n3 4\n", 3, "line has 2 words: an array has one value a line"},
	{"array with a word", "%%MatrixMarket matrix array real general\n2 2\n1\nx\n", 4, `value "x" is not a number`},
	{"array of integers with a point", "%%MatrixMarket matrix array integer general\n2 2\n1\n2.5\n", 4, `"2.5" is not a whole number`},
	{"long line among the entries", general + "3 3 2\n1 1 1\n%" + strings.Repeat("x", 1<<16) + "\n1 1 1\n", 4, "line is longer than 65536 bytes"},
	{"zero bytes at the end", general + "3 3 2\n1 1 1\n\x00\x00\x00\x00", 4, "entry has 1 words"},
	{"old line ends", "%%MatrixMarket matrix coordinate real general\r1 1 1\r1 1 1\r", 1, "the first line has 11 words"},
}

func TestBadFilesAreRefusedWithTheLineAndTheReason(t *testing.T) {
	for _, c := range bad {
		t.Run(c.name, func(t *testing.T) {
			texts := []string{c.text}
			if strings.HasSuffix(c.text, "\n") && !strings.Contains(c.message, "file ends") {
				texts = append(texts, c.text+"%"+strings.Repeat(" far from the end", 10)+"\n")
			}
			for _, text := range texts {
				m, _, err := read(text)
				require.Nil(t, m)
				var in *sparse.InputError
				require.ErrorAs(t, err, &in)
				require.Equal(t, "f.mtx", in.Subject)
				require.Equal(t, c.line, in.Line, err)
				require.Contains(t, err.Error(), c.message)
				require.NotContains(t, err.Error(), "\n")
				require.Less(t, len(err.Error()), 400)
			}
		})
	}
}

// An error late in a file of several chunks has the right line number, and the first
// error is reported.
func TestFaultsInLongFilesHaveTheirTrueLine(t *testing.T) {
	var b strings.Builder
	b.WriteString(general + "% comment\n1000 1000 120000\n")
	for k := range 120_000 {
		if k%1000 == 999 {
			b.WriteString("\n% comment\n")
		}
		fmt.Fprintf(&b, "%d %d %d.25\n", k%1000+1, k/1000+1, k)
	}
	text := b.String()
	m, _, err := read(text)
	require.NoError(t, err)
	require.EqualValues(t, 120_000, m.NNZ())
	require.Equal(t, 119_999.25, m.Val[m.NNZ()-1])

	lines := strings.SplitAfter(text, "\n")
	broken := func(at ...int) string {
		l := append([]string(nil), lines...)
		for _, i := range at {
			l[i-1] = "1 1 x\n"
		}
		return strings.Join(l, "")
	}
	for _, first := range []int{4, 50_001, 120_099} {
		for range 3 {
			_, _, err = read(broken(first, first+1, 120_100, 120_200))
			require.ErrorContains(t, err, fmt.Sprintf("f.mtx:%d: value", first))
		}
	}
	_, _, err = read(strings.Replace(text, "1000 1000 120000", "1000 1000 119999", 1))
	require.ErrorContains(t, err, fmt.Sprintf("f.mtx:%d: more entries", len(lines)-1))
	_, _, err = read(strings.Replace(text, "1000 1000 120000", "1000 1000 120001", 1))
	require.ErrorContains(t, err, fmt.Sprintf("f.mtx:%d: file ends after 120000 of the 120001", len(lines)-1))
}

func TestReadFaultsAndCancellationPassThrough(t *testing.T) {
	fault := sparse.Inputf("f.mtx", "gzip content ends early")
	text := general + "3 3 3\n1 1 1\n2 2"
	for _, head := range []string{"", "%%Matrix", general, general + "3 3 ", text} {
		_, _, err := mtx.Read(context.Background(), io.MultiReader(strings.NewReader(head), iotest.ErrReader(fault)), "f.mtx", sparse.Limits{})
		if head == "%%Matrix" { // nothing but a fault can be read
			require.True(t, sparse.IsInput(err))
			continue
		}
		require.Equal(t, fault, err, head)
	}
	_, _, err := mtx.Read(context.Background(), io.MultiReader(strings.NewReader(text), iotest.ErrReader(errors.New("disk on fire"))), "f.mtx", sparse.Limits{})
	require.True(t, sparse.IsInput(err))
	require.ErrorContains(t, err, "disk on fire")

	pipe, w := io.Pipe()
	defer w.Close()
	go io.WriteString(w, text)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, _, err = mtx.Read(ctx, pipe, "f.mtx", sparse.Limits{})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Less(t, time.Since(start), time.Second)
}

func TestArraysThatDoNotFitIntoMemoryAreRefused(t *testing.T) {
	const n = 1_500_000 // in several chunks
	text := fmt.Sprintf("%%%%MatrixMarket matrix array real general\n%d 1\n%s", n, strings.Repeat("1\n", n))
	defer mem.SetAvailable(20 << 20)()
	_, _, err := read(text)
	require.True(t, sparse.IsInput(err), "%v", err)
	require.ErrorContains(t, err, "f.mtx:2: 1500000 entries in 1500000 rows: to read them takes at least 54000000 bytes of memory, 20971520 are available")
	x, err := mtx.ReadVector(t.Context(), strings.NewReader(text), "x.mtx")
	require.NoError(t, err)
	require.Len(t, x, n)
	defer mem.SetAvailable(8 << 20)()
	for _, text := range []string{text, general + "1500000 1 1\n1 1 1\n"} {
		_, err = mtx.ReadVector(t.Context(), strings.NewReader(text), "x.mtx")
		require.ErrorContains(t, err, "x.mtx:2: ")
		require.ErrorContains(t, err, "to read them takes at least 12000000 bytes of memory, 8388608 are available")
	}
}
