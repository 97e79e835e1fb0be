package bench

import (
	"bytes"
	"encoding/csv"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
)

func TestTheComparisonOfThePELLRPaperHasALineForEachMatrixAndFormat(t *testing.T) {
	p := PELLR{Paths: []string{corpus.Testdata("memplus.mtx.gz")}, Threads: 1, Interpreted: 400_000}
	var out bytes.Buffer
	require.NoError(t, p.Run(t.Context(), &out))
	lines, err := csv.NewReader(&out).ReadAll()
	require.NoError(t, err)
	require.Len(t, lines, 1+len(pellrFormats()))
	col := map[string]int{}
	for i, name := range lines[0] {
		col[name] = i
	}
	for i, f := range pellrFormats() {
		line := lines[i+1]
		require.Equal(t, string(f), line[col["format"]])
		require.Equal(t, "22.0354", line[col["sigma"]])
		csrOnly := f == "csrs" || f == "csrv"
		require.Equal(t, csrOnly, line[col["cpu_ns"]] == "", f)
		require.Equal(t, f == "ell", line[col["gpu_sectors"]] == "", "%s: 10 million steps of threads", f)
		require.Equal(t, "memplus", line[col["matrix"]])
	}
}

func TestTheInterpretedFiguresAreThoseOfOneProduct(t *testing.T) {
	p := PELLR{Paths: []string{corpus.Testdata("memplus.mtx.gz")}, Interpreted: 400_000}
	rows, err := p.Measure(t.Context())
	require.NoError(t, err)
	for _, r := range rows {
		if r.Sectors == 0 {
			continue
		}
		// At the least, each value and index is read, and y is written.
		least := (12*r.NNZ + 8*int64(r.Rows)) / 32
		require.GreaterOrEqual(t, r.Sectors, least, r.Format)
		require.GreaterOrEqual(t, r.Sectors, r.Distinct)
		require.Less(t, r.Distinct, 12*least, r.Format)
		require.Greater(t, r.Instructs, r.NNZ/32, r.Format)
	}
}

// BenchmarkPELLR writes the comparison of the PELLR paper to the file that
// MSREP_BENCH_CSV names: square real matrices of 10 000 to 300 000 entries, with
// qh1484. Run it once, with -benchtime 1x.
func BenchmarkPELLR(b *testing.B) {
	p := PELLR{Threads: 1}
	for _, row := range corpus.Table(b, corpus.Shared(b, "matrices", "INDEX.tsv")) {
		n, err := strconv.Atoi(row["nnz_expanded"])
		require.NoError(b, err)
		square := row["rows"] == row["cols"] && row["field"] == "real"
		if square && n >= 10_000 && n < 300_000 || row["name"] == "qh1484" {
			p.Paths = append(p.Paths, corpus.Shared(b, "matrices", row["file"]))
		}
	}
	path := os.Getenv("MSREP_BENCH_CSV")
	if path == "" {
		b.Skip("MSREP_BENCH_CSV names no file")
	}
	for b.Loop() {
		f, err := os.Create(path)
		require.NoError(b, err)
		require.NoError(b, p.Run(b.Context(), f))
		require.NoError(b, f.Close())
	}
	b.ReportMetric(float64(len(p.Paths)), "matrices")
}
