package bench

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/msrep-go/msrep/internal/fileio"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/mtx"
)

// BenchmarkReading reads a generated Matrix Market file with 16 entries per row on average. It reports the speed in
// MB of text per second, and the peak of resident memory as a multiple of the size of the resulting matrix.
//
//	MSREP_BENCH_MB=300 go test -run - -bench 'Reading/digits16/banded$' -benchtime 1x ./bench
//
// The peak is that of the whole process since the case started, on Linux. It is meaningful only with -benchtime 1x
// and a file much larger than the runtime's memory. MSREP_BENCH_KEEP names a folder that keeps the files for other
// programs:
//
//	python3 -c "import scipy.io, sys, time; t=time.time(); scipy.io.mmread(sys.argv[1]).tocsr(); print(time.time()-t)" FILE
//
// banded files are ordered by column with rows near the diagonal, as most matrices of the public collections.
// scattered files hold the same entries in another order. Symmetric files of both kinds hold one triangle. No entry
// occurs twice.
func BenchmarkReading(b *testing.B) {
	for _, text := range []string{"digits16", "short", "pattern"} {
		for _, order := range []string{"banded", "scattered", "symmetric-banded", "symmetric-scattered"} {
			b.Run(text+"/"+order, func(b *testing.B) { benchmarkReading(b, text, order, "") })
		}
	}
	b.Run("gzip/digits16/banded", func(b *testing.B) { benchmarkReading(b, "digits16", "banded", ".gz") })
}

func benchmarkReading(b *testing.B, text, order, suffix string) {
	dir := os.Getenv("MSREP_BENCH_KEEP")
	if dir == "" {
		dir = b.TempDir()
	}
	path := filepath.Join(dir, fmt.Sprintf("%s-%s-%d.mtx%s", text, order, megabytes(b), suffix))
	size, err := generate(path, text, order, int64(megabytes(b))<<20)
	if err != nil {
		b.Fatal(err)
	}
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // resets the peak to the current resident memory
	b.SetBytes(size)
	b.ResetTimer()
	var m *sparse.CSR[float64]
	for range b.N {
		f, err := fileio.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		m, _, err = mtx.Read(context.Background(), f, path, sparse.Limits{})
		f.Close()
		if err != nil {
			b.Fatal(err)
		}
	}
	if peak := peakBytes(); peak > 0 {
		b.ReportMetric(float64(peak)/float64(m.Bytes()), "peak/CSR")
	}
}

func megabytes(b *testing.B) int {
	s := os.Getenv("MSREP_BENCH_MB")
	if s == "" {
		return 64
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		b.Fatalf("MSREP_BENCH_MB=%s: it must be a number of megabytes", s)
	}
	return n
}

// generate writes a file of about size bytes of text, unless it exists, and returns its exact size before
// compression.
func generate(path, text, order string, size int64) (int64, error) {
	if suffix := filepath.Ext(path); suffix != ".gz" {
		if st, err := os.Stat(path); err == nil {
			return st.Size(), nil
		}
	}
	perLine := map[string]int64{"digits16": 34, "short": 18, "pattern": 14}[text]
	rows := max(size/perLine/16, 1)
	entries := 16 * rows
	const stride = 1_000_003 // a prime: k*stride visits every entry once
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var to io.Writer = f
	var z *gzip.Writer
	if filepath.Ext(path) == ".gz" {
		z = gzip.NewWriter(f)
		to = z
	}
	count := &counter{w: to}
	w := bufio.NewWriterSize(count, 1<<16)
	scattered, symmetry := order == "scattered", "general"
	if kind, ok := strings.CutPrefix(order, "symmetric-"); ok {
		scattered, symmetry = kind == "scattered", "symmetric"
	}
	field := "real"
	if text == "pattern" {
		field = "pattern"
	}
	fmt.Fprintf(w, "%%%%MatrixMarket matrix coordinate %s %s\n%d %d %d\n", field, symmetry, rows, rows, entries)
	r := rand.New(rand.NewPCG(1, 2))
	var line []byte
	for k := range entries {
		if scattered {
			k = k * stride % entries
		}
		// 16 rows of column j, one in each range of 125: no entry occurs twice.
		j := k / 16 % rows
		i := (j + k%16*125 + r.Int64N(125)) % rows
		if symmetry == "symmetric" {
			i, j = max(i, j), min(i, j)
		}
		line = strconv.AppendInt(line[:0], i+1, 10)
		line = append(line, ' ')
		line = strconv.AppendInt(line, j+1, 10)
		switch text {
		case "digits16":
			line = append(line, ' ')
			line = strconv.AppendFloat(line, r.NormFloat64(), 'g', 16, 64)
		case "short":
			line = append(line, ' ')
			line = strconv.AppendFloat(line, float64(r.IntN(2000)-1000)/8, 'g', -1, 64)
		}
		w.Write(append(line, '\n'))
	}
	if err := w.Flush(); err != nil {
		return 0, err
	}
	if z != nil {
		if err := z.Close(); err != nil {
			return 0, err
		}
	}
	return count.n, f.Close()
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// peakBytes returns the peak of the resident memory since the last reset, or 0 if the system does not report it.
func peakBytes() (bytes int64) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &bytes); err == nil {
			return bytes << 10
		}
	}
	return 0
}
