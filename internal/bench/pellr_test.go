package bench

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
)

func TestTheComparisonOfThePELLRPaperHasEveryFormatOfAMatrix(t *testing.T) {
	flushed := 0
	p := PELLR{Paths: []string{corpus.Testdata("memplus.mtx.gz")}, Devices: "cpu:1", Threads: 1, Interpreted: 400_000, Before: func() { flushed++ }}
	all, err := p.Measure(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 1)
	m := all[0]
	require.Equal(t, "memplus", m.Name)
	require.InDelta(t, 22.0354, m.StdDev, 1e-4)
	require.Len(t, m.Runs, len(PELLRFormats()))
	samples := 0
	for i, f := range PELLRFormats() {
		r := m.Runs[i]
		require.Equal(t, f, r.Format)
		ofGPUs := f == "csrs" || f == "csrv" || f == "cucsr"
		require.Equal(t, ofGPUs, r.Rounds == nil, f)
		require.Equal(t, f == "ell" || f == "cucsr", r.Sectors == 0, "%s: 10 million steps of threads, and what is not ours", f)
		for _, s := range r.Rounds {
			if !math.IsNaN(s) {
				require.Greater(t, s, 1e-6)
				require.Less(t, s, 1.0)
				samples++
			}
		}
	}
	require.Equal(t, samples, flushed, "the caches are emptied before each product")
}

func TestTheInterpretedFiguresAreThoseOfOneProduct(t *testing.T) {
	p := PELLR{Paths: []string{corpus.Testdata("memplus.mtx.gz")}, Interpreted: 400_000}
	all, err := p.Measure(t.Context())
	require.NoError(t, err)
	nnz, rows := all[0].NNZ, int64(all[0].Rows)
	for _, r := range all[0].Runs {
		require.Nil(t, r.Rounds, "no devices, no times")
		if r.Sectors == 0 {
			continue
		}
		// A product reads at least each value and index, and writes y.
		least := (12*nnz + 8*rows) / 32
		require.GreaterOrEqual(t, r.Sectors, least, r.Format)
		require.GreaterOrEqual(t, r.Sectors, r.Distinct)
		require.Less(t, r.Distinct, 12*least, r.Format)
		require.Greater(t, r.Instructs, nnz/32, r.Format)
	}
}

func TestComplexMatricesAreLeftOut(t *testing.T) {
	dir := t.TempDir()
	hb := "t\n4 1 1 2 0\ncua 1 1 1 0\n(2I8) (1I8) (2E20.12)\n1 2\n1\n1.0 0.0\n"
	for name, text := range map[string]string{"a.mtx": "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n", "a.rb": hb} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		all, err := PELLR{Paths: []string{filepath.Join(dir, name), "gen:diag:n=9"}, Interpreted: -1}.Measure(t.Context())
		require.NoError(t, err, name)
		require.Len(t, all, 1, name)
	}
	path := filepath.Join(dir, "complex.mtx") // another error that names the file
	require.NoError(t, os.WriteFile(path, []byte("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 x\n"), 0o600))
	_, err := PELLR{Paths: []string{path}, Interpreted: -1}.Measure(t.Context())
	require.ErrorContains(t, err, "complex.mtx:3:")
}

func TestMatricesAreFilteredAndSortedBySigma(t *testing.T) {
	var seen []string
	p := PELLR{
		Paths:       []string{"gen:arrow:n=200", "gen:banded:n=300,band=2", corpus.Testdata("gre_343.mtx.gz"), "gen:diag:n=9"},
		Filter:      func(_ string, m *matio.Matrix) bool { return m.Rows > 9 },
		Interpreted: -1,
		Step: func(_, total int, name string) error {
			seen = append(seen, name)
			require.Equal(t, 4, total)
			return nil
		},
	}
	all, err := p.Measure(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 3)
	require.Equal(t, []string{"gen:arrow:n=200", "gen:banded:n=300,band=2", "gre_343", "gen:diag:n=9"}, seen)
	for i := 1; i < len(all); i++ {
		require.LessOrEqual(t, all[i-1].StdDev, all[i].StdDev)
	}
	require.Zero(t, all[0].Runs[0].Sectors)
	_, found := all[0].Run(sparse.FormatCSR)
	require.True(t, found)
	_, found = all[0].Run("none")
	require.False(t, found)

	broken := errors.New("broken")
	p.Step = func(int, int, string) error { return broken }
	_, err = p.Measure(t.Context())
	require.ErrorIs(t, err, broken)
	p = PELLR{Paths: []string{"no such file.mtx"}}
	_, err = p.Measure(t.Context())
	require.True(t, sparse.IsInput(err))
	p.Devices = "cpu:x"
	_, err = p.Measure(t.Context())
	require.True(t, sparse.IsInput(err))
}

func TestOnlyMatricesOfASizeAreCompared(t *testing.T) {
	dir := t.TempDir()
	for name, bytes := range map[string]int{"a.mtx": 10, "b.mtx.gz": 10, "large.mtx": 1000, "notes.txt": 10, "c.rua": 10} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), make([]byte, bytes), 0o600))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "d.mtx"), 0o700))
	paths, err := PELLRFiles(dir, 100)
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(dir, "a.mtx"), filepath.Join(dir, "b.mtx.gz"), filepath.Join(dir, "c.rua")}, paths)
	_, err = PELLRFiles(filepath.Join(dir, "none"), 100)
	require.True(t, sparse.IsInput(err))
}
