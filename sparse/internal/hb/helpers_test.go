package hb

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
)

// read reads a file given as text.
func read(text string) (*sparse.CSR[float64], sparse.Source, error) {
	return Read(context.Background(), strings.NewReader(text), "t.rb", sparse.Limits{})
}

// file is a small Rutherford-Boeing file with one number format each.
type file struct {
	title, counts, kind, formats string
	body                         []string
}

// small is the 3x3 matrix [1 0 4; 0 3 0; 2 0 5], by columns.
func small() file {
	return file{
		title:   fmt.Sprintf("%-72s%-8s", "A small matrix", "SMALL"),
		counts:  "             3             1             1             1",
		kind:    "rua                        3             3             5             0",
		formats: "(4I4)           (5I3)           (5E10.3)            ",
		body:    []string{"   1   3   4   6", "  1  3  2  1  3", " 1.000E+00 2.000E+00 3.000E+00 4.000E+00 5.000E+00"},
	}
}

func (f file) String() string {
	return strings.Join(append([]string{f.title, f.counts, f.kind, f.formats}, f.body...), "\n") + "\n"
}

// with is small with changes.
func with(change func(f *file)) string {
	f := small()
	change(&f)
	return f.String()
}

// open opens a gzipped file.
func open(t testing.TB, path string) io.Reader {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	return z
}
