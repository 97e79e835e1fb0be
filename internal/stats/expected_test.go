package stats_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/internal/stats"
	"github.com/msrep-go/msrep/sparse"
)

func TestStructureOfEveryRealMatrixIsWhatSciPySays(t *testing.T) {
	for _, want := range corpus.Table(t, corpus.Shared(t, "expected", "products.tsv")) {
		if number(t, want["nnz"]) > raceEntries {
			continue
		}
		t.Run(want["name"], func(t *testing.T) {
			t.Parallel()
			s := stats.Of(structure(t, corpus.Shared(t, "matrices", want["name"]+".mtx.gz")))
			for column, got := range map[string]int64{
				"rows":            int64(s.Rows),
				"cols":            int64(s.Cols),
				"nnz":             s.NNZ,
				"row_min":         s.Row.Min,
				"row_max":         s.Row.Max,
				"empty_rows":      s.EmptyRows,
				"empty_cols":      s.EmptyCols,
				"warp_iter_ellr":  *s.Formats["ellr"].WarpIterations,
				"warp_iter_pellr": *s.Formats["pellr"].WarpIterations,
			} {
				require.Equal(t, want[column], strconv.FormatInt(got, 10), column)
			}
			// The table has 9 digits.
			require.InEpsilon(t, number(t, want["row_mean"]), s.Row.Mean, 1e-8)
			require.InDelta(t, number(t, want["row_stddev"]), s.Row.StdDev, 1e-8*(1+s.Row.StdDev))
		})
	}
}

func number(t *testing.T, s string) float64 {
	f, err := strconv.ParseFloat(s, 64)
	require.NoError(t, err)
	return f
}

// structure reads the positions of a gzipped Matrix Market coordinate file with any
// values. The file must be well-formed.
func structure(t *testing.T, path string) *sparse.CSR[float32] {
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(bufio.NewReader(f))
	require.NoError(t, err)
	r := bufio.NewReaderSize(z, 1<<16)

	header, err := r.ReadString('\n')
	require.NoError(t, err)
	sym := sparse.Symmetric // also for skew-symmetric and hermitian: values are not looked at
	if strings.HasSuffix(strings.TrimSpace(strings.ToLower(header)), " general") {
		sym = sparse.General
	}
	var rows, cols int32
	var entries sparse.Triples[float32]
	for sized := false; ; {
		line, err := r.ReadSlice('\n')
		if i, rest := index(line); len(rest) > 0 && line[0] != '%' {
			j, _ := index(rest)
			if sized {
				entries.Row, entries.Col = append(entries.Row, i-1), append(entries.Col, j-1)
			} else {
				rows, cols, sized = i, j, true
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
	}
	m := sparse.Assemble(int(rows), int(cols), sym, []sparse.Triples[float32]{entries})
	require.NoError(t, m.Validate())
	return m
}

// index parses a number at the start of a line and returns it with the rest of the line.
func index(line []byte) (n int32, rest []byte) {
	line = bytes.TrimLeft(line, " \t\r\n")
	k := 0
	for ; k < len(line) && line[k] >= '0' && line[k] <= '9'; k++ {
		n = 10*n + int32(line[k]-'0')
	}
	return n, line[k:]
}
