package hb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/internal/matrixtest"
)

var smallDense = [][]float64{{1, 0, 4}, {0, 3, 0}, {2, 0, 5}}

func TestFilesInEveryNotationGiveTheSameMatrix(t *testing.T) {
	for name, text := range map[string]string{
		"Rutherford-Boeing":      small().String(),
		"upper case type":        with(func(f *file) { f.kind = strings.ToUpper(f.kind) }),
		"rectangular by type":    with(func(f *file) { f.kind = "rra" + f.kind[3:] }),
		"CRLF":                   strings.ReplaceAll(small().String(), "\n", "\r\n"),
		"no line end at the end": strings.TrimSuffix(small().String(), "\n"),
		"blank lines at the end": small().String() + "\n   \n\x1a",
		"free columns in header": with(func(f *file) { f.counts, f.kind, f.formats = "3 1 1 1", "RUA 3 3 5", "  (4I4) (5I3)(5E10.3)" }),
		"zero right-hand sides":  with(func(f *file) { f.counts += "             0" }),
		"trailing blanks":        with(func(f *file) { f.body[0] += "          "; f.body[2] += "     " }),
		"wrong line counts":      with(func(f *file) { f.counts = " 99 7 8 9" }),
		"several lines": with(func(f *file) {
			f.formats = "(3I4) (2I3) (2E10.3)"
			f.body = []string{"   1   3   4", "   6", "  1  3", "  2  1", "  3",
				" 1.000E+00 2.000E+00", " 3.000E+00 4.000E+00", " 5.000E+00"}
		}),
		"numbers that touch": with(func(f *file) {
			f.formats = "(4I1) (5I1) (5E9.3)"
			f.body = []string{"1346", "13213", "1.000E+002.000E+003.000E+004.000E+005.000E+00"}
		}),
		"D exponents, left-aligned, short": with(func(f *file) {
			f.formats = "(4I4) (5I3) (1P2D10.3)"
			f.body = append(f.body[:2], "1.0D0     2.0D+0", "3.0d0     .4D01", "5.0D+00")
		}),
		"exponents without letter": with(func(f *file) { f.body[2] = " .1000+001 .2000+001 3.00-0000 400.-0002   .5+0001" }),
		"decimals from the format": with(func(f *file) { f.formats, f.body[2] = "(4I4) (5I3) (5F5.2)", "  100  200  300 4.00  500" }),
		"blanks inside numbers":    with(func(f *file) { f.body[2] = " 1.000E 00 2.000E+0 3.0 0E +00 4.000E+00 5.000E+00" }),
		"unsorted columns": with(func(f *file) {
			f.body[1], f.body[2] = "  3  1  2  3  1", "     2.0E0     1.0E0     3.0E0     5.0E0     4.0E0"
		}),
		"duplicates": with(func(f *file) {
			f.kind = "rua 3 3 6 0"
			f.formats = "(4I4) (6I3) (6F4.0)"
			f.body = []string{"   1   4   5   7", "  1  3  3  2  1  3", "  1.  3. -1.  3.  4.  5."}
		}),
		"right-hand sides": with(func(f *file) {
			f.counts += "   1"
			f.formats += "(3E10.3)"
			f.body = append([]string{"F             1             0"}, append(f.body, " 1.0 2.0 3.0")...)
		}),
		"an integer matrix":          with(func(f *file) { f.kind = "iua" + f.kind[3:]; f.formats = "(4I4) (5I3) (5I2)"; f.body[2] = " 1 2 3 4 5" }),
		"integers in a real format":  with(func(f *file) { f.kind = "iua" + f.kind[3:] }),
		"real matrix, integer field": with(func(f *file) { f.formats = "(4I4) (5I3) (5I2)"; f.body[2] = " 1 2 3 4 5" }),
	} {
		t.Run(name, func(t *testing.T) {
			m, src, err := read(text)
			require.NoError(t, err)
			require.NoError(t, m.Validate())
			require.Equal(t, smallDense, matrixtest.Dense(m))
			require.EqualValues(t, 5, m.NNZ())
			require.Equal(t, sparse.General, src.Symmetry)
		})
	}
}

func TestOneTriangleIsExpandedByTheTypeOfTheMatrix(t *testing.T) {
	lower := func(kind string) string {
		return with(func(f *file) {
			f.kind = kind + " 3 3 3 0"
			f.formats = "(4I4) (5I3) (5F4.1)"
			f.body = []string{"   1   3   4   4", "  2  3  3", " 2.0 3.0-4.0"}
			if kind[0] == 'p' {
				f.counts, f.body = " 2 1 1 0", f.body[:2]
			}
		})
	}
	for kind, want := range map[string][][]float64{
		"rua": {{0, 0, 0}, {2, 0, 0}, {3, -4, 0}},
		"rsa": {{0, 2, 3}, {2, 0, -4}, {3, -4, 0}},
		"rza": {{0, -2, -3}, {2, 0, 4}, {3, -4, 0}},
		"isa": {{0, 2, 3}, {2, 0, -4}, {3, -4, 0}},
		"pua": {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}},
		"psa": {{0, 1, 1}, {1, 0, 1}, {1, 1, 0}},
		"pza": {{0, -1, -1}, {1, 0, -1}, {1, 1, 0}},
	} {
		m, src, err := read(lower(kind))
		require.NoError(t, err, kind)
		require.Equal(t, want, matrixtest.Dense(m), kind)
		require.EqualValues(t, 3, src.Stored, kind)
	}
	_, src, err := read(lower("psa"))
	require.NoError(t, err)
	require.Equal(t, sparse.Source{Field: sparse.Pattern, Symmetry: sparse.Symmetric, Stored: 3}, src)
}

func TestAnUpperTriangleIsExpandedToo(t *testing.T) {
	m, _, err := read(with(func(f *file) {
		f.kind = "rza 3 3 2 0"
		f.body = []string{"   1   1   2   3", "  1  2", " 2.000E+00 3.000E+00"}
	}))
	require.NoError(t, err)
	require.Equal(t, [][]float64{{0, 2, 0}, {-2, 0, 3}, {0, -3, 0}}, matrixtest.Dense(m))
}

func TestEmptyMatricesAndStoredZerosKeepTheirShape(t *testing.T) {
	m, _, err := read(with(func(f *file) { f.counts = "1 1 0 0"; f.kind = "rra 4 2 0 0"; f.body = []string{"   1   1   1"} }))
	require.NoError(t, err)
	require.Equal(t, 4, m.Rows)
	require.Equal(t, 2, m.Cols)
	m, _, err = read(with(func(f *file) { f.counts = "1 1 0 0"; f.kind = "rua 0 0 0 0"; f.body = []string{"   1"} }))
	require.NoError(t, err)
	require.Equal(t, 0, m.Rows)
	m, _, err = read(with(func(f *file) { f.body[2] = strings.Repeat(" 0.000E+00", 5) }))
	require.NoError(t, err)
	require.EqualValues(t, 5, m.NNZ())
}

// bigFile is an n x n file of two entries a column, of several buffers of text.
func bigFile(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "big\n1 1 1 1\nrua %d %d %d 0\n(7I9) (5I8) (3E26.17)\n", n, n, 2*n)
	put := func(count, per int, text func(k int) string) {
		for k := range count {
			b.WriteString(text(k))
			if k%per == per-1 || k == count-1 {
				b.WriteByte('\n')
			}
		}
	}
	put(n+1, 7, func(k int) string { return fmt.Sprintf("%9d", 2*k+1) })
	put(2*n, 5, func(k int) string { return fmt.Sprintf("%8d", (k*7919+k%2)%n+1) })
	put(2*n, 3, func(k int) string { return fmt.Sprintf("%26.17E", float64(k)/3) })
	return b.String()
}

func TestAFileOfManyBlocksReadsTheSameHoweverItComes(t *testing.T) {
	const n = 60000
	text := bigFile(n)
	m, _, err := read(text)
	require.NoError(t, err)
	require.NoError(t, m.Validate())
	var want sparse.Triples[float64]
	for k := range 2 * n {
		want.Row = append(want.Row, int32((k*7919+k%2)%n))
		want.Col = append(want.Col, int32(k/2))
		want.Val = append(want.Val, float64(k)/3)
	}
	require.Equal(t, sparse.Assemble(n, n, sparse.General, []sparse.Triples[float64]{want}), m)
	half, _, err := Read(context.Background(), iotest.HalfReader(strings.NewReader(text)), "t", sparse.Limits{})
	require.NoError(t, err)
	require.Equal(t, m, half)
	// A fault deep inside names its line.
	lines := strings.Split(text, "\n")
	at := len(lines) - 1000
	lines[at] = lines[at][:30] + "x" + lines[at][31:]
	_, _, err = read(strings.Join(lines, "\n"))
	require.ErrorContains(t, err, fmt.Sprintf("t.rb:%d: ", at+1))
}

func TestACancelledReadGivesTheErrorOfTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, _, err := Read(ctx, strings.NewReader(small().String()), "t", sparse.Limits{})
	require.ErrorIs(t, err, context.Canceled)
	require.False(t, sparse.IsInput(err))
}

func TestAnErrorOfTheReaderIsPassedOn(t *testing.T) {
	cause := errors.New("disk on fire")
	for _, n := range []int{0, 100, 260, 330} {
		r := &failing{data: []byte(small().String())[:n], err: cause}
		_, _, err := Read(context.Background(), r, "t.rb", sparse.Limits{})
		require.ErrorIs(t, err, cause)
		require.ErrorContains(t, err, "t.rb: ")
	}
}

type failing struct {
	data []byte
	err  error
}

func (f *failing) Read(p []byte) (int, error) {
	if len(f.data) == 0 {
		return 0, f.err
	}
	n := copy(p, f.data)
	f.data = f.data[n:]
	return n, nil
}

func BenchmarkRead(b *testing.B) {
	text := []byte(bigFile(1 << 19))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		_, _, err := Read(context.Background(), bytes.NewReader(text), "t", sparse.Limits{})
		require.NoError(b, err)
	}
}
