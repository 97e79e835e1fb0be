package cluster

import (
	"archive/tar"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
)

// readTogether reads path with n ranks and joins their rows.
func readTogether(t *testing.T, n int, path string, align Align) (whole *sparse.CSR[float64], src sparse.Source, cuts []int) {
	parts := make([]*sparse.CSR[float64], n)
	each(t, n, func(sys *System) error {
		m, s, err := Read(ctx, sys, path, align)
		if err != nil {
			return err
		}
		r := sys.Comm().Rank()
		parts[r] = m.Part
		if r == 0 {
			src, cuts = s, m.RowCut
			whole = &sparse.CSR[float64]{Rows: m.Rows, Cols: m.Cols, RowPtr: []int64{0}, ColIdx: []int32{}, Val: []float64{}}
		}
		return nil
	})
	for r, p := range parts {
		require.Equal(t, cuts[r+1]-cuts[r], p.Rows)
		for i := range p.Rows {
			whole.RowPtr = append(whole.RowPtr, int64(len(whole.Val))+p.RowPtr[i+1])
		}
		whole.ColIdx, whole.Val = append(whole.ColIdx, p.ColIdx...), append(whole.Val, p.Val...)
	}
	return whole, src, cuts
}

// unpacked writes the content of a gzipped file next to it.
func unpacked(t *testing.T, path string) string {
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	out, err := os.Create(filepath.Join(t.TempDir(), "plain.mtx"))
	require.NoError(t, err)
	_, err = out.ReadFrom(z)
	require.NoError(t, err)
	require.NoError(t, out.Close())
	return out.Name()
}

// archived puts the matrix of a gzipped file into a tar archive, plain or gzipped.
func archived(t *testing.T, path, name string) string {
	text, err := os.ReadFile(unpacked(t, path))
	require.NoError(t, err)
	name = filepath.Join(t.TempDir(), name)
	f, err := os.Create(name)
	require.NoError(t, err)
	var out io.WriteCloser = f
	if filepath.Ext(name) == ".gz" {
		out = gzip.NewWriter(f)
	}
	w := tar.NewWriter(out)
	require.NoError(t, w.WriteHeader(&tar.Header{Name: "m/m.mtx", Mode: 0o644, Size: int64(len(text))}))
	_, err = w.Write(text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, out.Close())
	f.Close()
	return name
}

func TestRanksReadTheMatrixThatOneProcessReads(t *testing.T) {
	paths := []string{corpus.Testdata("memplus.mtx.gz"), corpus.Testdata("gre_343.mtx.gz")}
	for _, path := range paths {
		want, err := matio.Read(ctx, path)
		require.NoError(t, err)
		cached := filepath.Join(t.TempDir(), "m.msr")
		require.NoError(t, matio.Write(cached, want.CSR, want.Source))
		for _, file := range []string{path, unpacked(t, path), cached, archived(t, path, "m.tar"), archived(t, path, "m.tar.gz")} {
			for _, n := range []int{1, 3, 4} {
				got, src, cuts := readTogether(t, n, file, 1)
				require.Equal(t, want.CSR, got, "%s, %d ranks", file, n)
				require.Equal(t, want.Source, src)
				parts, _, err := partition.Split(want.RowPtr, n, partition.RuleWhole)
				require.NoError(t, err)
				for r, p := range parts {
					require.Equal(t, p.OwnFirst, cuts[r], "%s, rank %d of %d", file, r, n)
				}
			}
		}
	}
}

func TestSymmetricHalvesAndEntriesGivenTwiceAreReadLikeInOneProcess(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, kind := range []string{"real symmetric", "real skew-symmetric", "pattern symmetric", "integer general", "pattern general"} {
		path := filepath.Join(t.TempDir(), "f.mtx")
		text := "%%MatrixMarket matrix coordinate " + kind + "\n50 50 2000\n"
		for range 2000 {
			i, j := 1+r.IntN(50), 1+r.IntN(50)
			if i == j && kind == "real skew-symmetric" {
				j = i%50 + 1
			}
			switch kind[0] {
			case 'r':
				text += fmt.Sprintf("%d %d %.17g\n", i, j, r.NormFloat64())
			case 'i':
				text += fmt.Sprintf("%d %d %d\n", i, j, r.IntN(100))
			default:
				text += fmt.Sprintf("%d %d\n", i, j)
			}
		}
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		want, err := matio.Read(ctx, path)
		require.NoError(t, err)
		for _, n := range []int{1, 2, 5, 60} {
			got, src, _ := readTogether(t, n, path, 1)
			require.Equal(t, want.CSR, got, "%s, %d ranks", kind, n)
			require.Equal(t, want.Source, src)
		}
	}
}

func TestAllRanksKnowThatOneOfThemRoundedIntegers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.mtx")
	require.NoError(t, os.WriteFile(path, []byte("%MatrixMarket matrix coordinate integer general\n3 3 3\n1 1 1\n2 2 2\n3 3 9007199254740993\n"), 0o600))
	want, err := matio.Read(ctx, path)
	require.NoError(t, err)
	require.Equal(t, sparse.Real, want.Source.Field)
	for _, n := range []int{1, 2, 3} {
		got, src, _ := readTogether(t, n, path, 1)
		require.Equal(t, want.CSR, got)
		require.Equal(t, sparse.Real, src.Field, "%d ranks", n)
	}
}

func TestGeneratedMatricesAreDividedAmongRanks(t *testing.T) {
	want, err := matio.Read(ctx, "gen:stencil:dims=2,n=20")
	require.NoError(t, err)
	got, _, _ := readTogether(t, 3, "gen:stencil:dims=2,n=20", 1)
	require.Equal(t, want.CSR, got)
}

func TestCutsCanBeAligned(t *testing.T) {
	_, _, cuts := readTogether(t, 4, corpus.Testdata("memplus.mtx.gz"), 1000)
	require.True(t, sort.IntsAreSorted(cuts))
	require.Equal(t, 17758, cuts[4])
	for _, c := range cuts[:4] {
		require.Zero(t, c%1000)
	}
}

// The cuts found with bunches of rows equal those found with all row pointers.
func TestCutsOfManyRowsAreThoseOfTheirPointers(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const rows, ranks = 300_000, 5
	entries := make([][]int32, ranks)
	ptr := make([]int64, rows+1)
	for i := range rows {
		n := 1 + r.IntN(4)
		switch {
		case i/1000%7 == 0:
			n = r.IntN(9)
		case i == 123_456:
			n = 100_000 // a long row
		}
		ptr[i+1] = ptr[i] + int64(n)
		for range n {
			k := r.IntN(ranks)
			entries[k] = append(entries[k], int32(i))
		}
	}
	parts, _, err := partition.Split(ptr, ranks, partition.RuleWhole)
	require.NoError(t, err)
	for r, err := range Run(ranks, func(c Comm) error {
		cuts, err := distributedCuts(c, rows, 1, func(visit func(row int32)) {
			for _, i := range entries[c.Rank()] {
				visit(i)
			}
		})
		for k, p := range parts {
			if err == nil && ptr[cuts[k]] != ptr[p.OwnFirst] {
				return fmt.Errorf("rank %d begins at row %d, entry %d: want row %d, entry %d", k, cuts[k], ptr[cuts[k]], p.OwnFirst, ptr[p.OwnFirst])
			}
		}
		return err
	}) {
		require.NoError(t, err, "rank %d", r)
	}
}

func TestBadFilesAreRefusedByAllRanksAlike(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	m, err := matio.Read(ctx, "gen:diag:n=9")
	require.NoError(t, err)
	damaged := filepath.Join(dir, "m.msr")
	require.NoError(t, matio.Write(damaged, m.CSR, m.Source))
	b, err := os.ReadFile(damaged)
	require.NoError(t, err)
	b[len(b)-100] ^= 1
	require.NoError(t, os.WriteFile(damaged, b, 0o600))
	packed := filepath.Join(dir, "m.msr.gz")
	require.NoError(t, matio.Write(packed, m.CSR, m.Source))
	const head = "%%MatrixMarket matrix coordinate real general\n"
	for path, says := range map[string]string{
		filepath.Join(dir, "none.mtx"): "no such file",
		dir:                            "is a directory; a file is needed",
		write("short.mtx", head+"3 3 2\n1 1 1\n"):      "short.mtx: has 1 entries, not the 2 that line 2 declares",
		write("bad.mtx", head+"3 3 2\n1 1 1\n4 1 1\n"): "bad.mtx:4: row index 4 is outside 1..3",
		write("edges.txt", "0 1\n1 2\n"):               "ranks read parts of .mtx and .msr files only",
		damaged:                                        "does not match its checksum",
		packed:                                         "unpack it first",
		"gen:nothing":                                  "nothing",
	} {
		var texts []string
		errs := Run(3, func(c Comm) error {
			return withSystem(c, func(sys *System) error {
				_, _, err := Read(ctx, sys, path, 1)
				return err
			})
		})
		for _, err := range errs {
			require.ErrorContains(t, err, says)
			require.True(t, sparse.IsInput(err), "%v", err)
			texts = append(texts, err.Error())
		}
		require.Equal(t, texts[0], texts[1])
		require.Equal(t, texts[0], texts[2])
	}
}

func TestRanksThatDifferAreFound(t *testing.T) {
	errs := Run(3, func(c Comm) error {
		return withSystem(c, func(sys *System) error {
			if err := sys.Same("msrep", "version 1"); err != nil {
				return fmt.Errorf("all are the same: %w", err)
			}
			return sys.Same("msrep", fmt.Sprintf("version %d", 1+c.Rank()/2))
		})
	})
	for _, err := range errs {
		require.ErrorContains(t, err, "has version 1, rank 2 on ")
		require.True(t, sparse.IsInput(err))
	}
}
