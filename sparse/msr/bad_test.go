package msr

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/internal/matrixtest"
)

// requireInput demands an *sparse.InputError that names the file and says want.
func requireInput(t require.TestingT, err error, name, want string) {
	var in *sparse.InputError
	require.True(t, errors.As(err, &in), "%v", err)
	require.Equal(t, name, in.Subject)
	require.ErrorContains(t, err, want)
}

// requireRefused demands that Open and Read both refuse b for the reason want.
func requireRefused(t *testing.T, b []byte, want string) {
	t.Helper()
	path := save(t, b)
	f, err := Open[float64](ctx, path)
	requireInput(t, err, path, want)
	require.Nil(t, f)
	m, _, err := Read[float64](ctx, bytes.NewReader(b), "stream", sparse.Limits{})
	requireInput(t, err, "stream", want)
	require.Nil(t, m)
}

func TestDamagedFilesAreRefusedWithTheReason(t *testing.T) {
	good := encode(t, small(), sparse.Source{})
	put64 := func(at int, v int64) func([]byte) {
		return func(b []byte) { binary.LittleEndian.PutUint64(b[at:], uint64(v)); sealHeader(b) }
	}
	put8 := func(at int, v byte) func([]byte) { return func(b []byte) { b[at] = v; sealHeader(b) } }
	for _, c := range []struct {
		name   string
		damage func(b []byte)
		want   string
	}{
		{"another magic", func(b []byte) { copy(b, "%%Matrix") }, "is not an .msr file"},
		{"line ends changed by a text transfer", func(b []byte) { copy(b[4:], "\n\x1a\n\x01") }, "is not an .msr file"},
		{"version from the future", func(b []byte) { b[8] = 2 }, "layout version 2; this program reads version 1"},
		{"version zero", func(b []byte) { b[8] = 0 }, "layout version 0"},
		{"header checksum wrong", func(b []byte) { b[61] ^= 4 }, "damaged header"},
		{"value type zero", put8(12, 0), "value type 0 is unknown"},
		{"value type unknown", put8(12, 3), "value type 3 is unknown"},
		{"value type float32", func(b []byte) { b[12] = 2; put64(48, 320)(b) }, "holds float32 values, not float64"},
		{"field zero", put8(13, 0), "field 0 is unknown"},
		{"field complex", put8(13, 4), "field 4 is unknown"},
		{"symmetry zero", put8(14, 0), "symmetry 0 is unknown"},
		{"symmetry hermitian", put8(14, 4), "symmetry 4 is unknown"},
		{"symmetric but not square", put8(14, 2), "these must be equal"},
		{"reserved byte used", put8(15, 1), "must be 0"},
		{"rows negative", put64(16, -1), "-1 rows: a size"},
		{"rows beyond 32 bits", put64(16, 1<<40), "1099511627776 rows: a size must be in [0, 2147483647]"},
		{"columns negative", put64(24, math.MinInt64), "columns"},
		{"columns beyond 32 bits", put64(24, 1<<31), "2147483648 columns: a size"},
		{"entries negative", put64(32, -5), "-5 entries"},
		{"entries beyond all memory", put64(32, math.MaxInt64), "entries: the number must be in"},
		{"entries do not fit the length", put64(32, 1<<50), "these need"},
		{"stored count negative", put64(40, -1), "must not be negative"},
		{"length negative", put64(48, -320), "says -320 bytes"},
		{"length too small", put64(48, 319), "says 319 bytes"},
		{"many rows declared in a small file", func(b []byte) {
			h := Header{ValueType: Float64, Rows: 1 << 24, NNZ: 5}
			put64(16, int64(h.Rows))(b)
			put64(48, layoutOf(h).length)(b)
		}, ""},
		{"many entries declared in a small file", func(b []byte) {
			h := Header{ValueType: Float64, Rows: 4, NNZ: 1 << 50}
			put64(32, h.NNZ)(b)
			put64(48, layoutOf(h).length)(b)
		}, ""},
		{"checksum of the table wrong", func(b []byte) { b[57] ^= 1; sealHeader(b) }, "damaged table"},
		{"table damaged", func(b []byte) { b[64] ^= 1 }, "damaged table"},
		{"padding of the table damaged", func(b []byte) { b[127] ^= 1 }, "damaged table"},
		{"row pointer damaged", func(b []byte) { b[128] ^= 1 }, "chunk 0"},
		{"column index damaged", func(b []byte) { b[192] ^= 1 }, "chunk 0"},
		{"value damaged", func(b []byte) { b[256] ^= 1 }, "chunk 0"},
		{"padding of the values damaged", func(b []byte) { b[319] ^= 1 }, "chunk 0"},
		{"column index out of range", func(b []byte) { b[196] = 3; seal(b) }, "entry 1: column index 3 is outside [0, 3)"},
		{"column index negative", func(b []byte) { copy(b[192:], "\xff\xff\xff\xff"); seal(b) }, "entry 0: column index -1"},
		{"first row pointer not zero", func(b []byte) { b[128] = 1; seal(b) }, "must run from 0"},
		{"last row pointer not nnz", func(b []byte) { b[128+32] = 4; seal(b) }, "number of entries, 5"},
		{"row pointers fall", func(b []byte) { b[128+16] = 1; seal(b) }, "row pointer 2 falls from 2 to 1"},
		{"row pointer negative", func(b []byte) { b[128+15] = 0x80; seal(b) }, "row pointer 1 falls"},
		{"row pointer beyond the entries", func(b []byte) { b[128+8] = 200; seal(b) }, "row pointer 2 falls from 200"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := bytes.Clone(good)
			c.damage(b)
			requireRefused(t, b, c.want)
		})
	}
}

func TestEveryTruncationIsNoticed(t *testing.T) {
	good := encode(t, small(), sparse.Source{})
	path := filepath.Join(t.TempDir(), "m.msr")
	for n := range good {
		want := "the file is truncated"
		if n == 0 {
			want = "is empty"
		}
		require.NoError(t, os.WriteFile(path, good[:n], 0o600))
		for _, opts := range [][]Option{nil, {SkipChecksums(), SkipIndexCheck()}} {
			_, err := Open[float64](ctx, path, opts...)
			requireInput(t, err, path, want)
		}
		_, _, err := Read[float64](ctx, bytes.NewReader(good[:n]), "stream", sparse.Limits{})
		requireInput(t, err, "stream", want)
	}
}

func TestBytesAfterTheEndAreNoticed(t *testing.T) {
	b := append(encode(t, small(), sparse.Source{}), 0)
	path := save(t, b)
	_, err := Open[float64](ctx, path, SkipChecksums())
	requireInput(t, err, path, "is 321 bytes long, its header says 320: there are bytes after its end")
	_, _, err = Read[float64](ctx, bytes.NewReader(b), "stream", sparse.Limits{})
	requireInput(t, err, "stream", "goes on after 320 bytes")
}

func TestEveryFlippedBitIsNoticed(t *testing.T) {
	good := encode(t, small(), sparse.Source{})
	for bit := range 8 * len(good) {
		b := bytes.Clone(good)
		b[bit/8] ^= 1 << (bit % 8)
		_, _, err := Read[float64](ctx, bytes.NewReader(b), "stream", sparse.Limits{})
		require.Error(t, err, "bit %d", bit)
		_, err = openBytes[float64](b, "m", options{})
		require.Error(t, err, "bit %d", bit)
	}
}

// openBytes is Open for a file in memory.
func openBytes[V sparse.Value](b []byte, name string, o options) (*sparse.CSR[V], error) {
	data := mem.Aligned(int64(len(b)))
	copy(data, b)
	h, sum, err := readHeader(bytes.NewReader(data), name)
	if err == nil {
		err = checkType[V](h, name)
	}
	if err == nil {
		err = checkLength(h, int64(len(b)), name)
	}
	if err != nil {
		return nil, err
	}
	return load[V](ctx, h, sum, data, name, o)
}

func TestChecksCanBeSkippedOneByOne(t *testing.T) {
	badSum := encode(t, small(), sparse.Source{})
	badSum[256] ^= 1 // a value
	badIndex := encode(t, small(), sparse.Source{})
	badIndex[192] = 100
	seal(badIndex)
	for _, c := range []struct {
		file                        []byte
		all, sums, indices, neither bool // with which checks it opens
	}{
		{badSum, false, false, true, true},
		{badIndex, false, true, false, true},
	} {
		path := save(t, c.file)
		opens := func(opts ...Option) bool {
			f, err := Open[float64](ctx, path, opts...)
			if err == nil {
				f.Close()
			}
			return err == nil
		}
		require.Equal(t, c.all, opens())
		require.Equal(t, c.sums, opens(SkipIndexCheck()))
		require.Equal(t, c.indices, opens(SkipChecksums()))
		require.Equal(t, c.neither, opens(SkipChecksums(), SkipIndexCheck()))
	}
}

func TestBigDeclaredSizesDoNotAllocate(t *testing.T) {
	defer mem.SetAvailable(math.MaxInt64)()
	h := Header{Version: 1, ValueType: Float64, Rows: 1 << 24, Cols: 1, NNZ: 1 << 45, Source: sparse.Source{Field: sparse.Real, Symmetry: sparse.General}}
	h.Length = layoutOf(h).length
	b := append(h.bytes(0), make([]byte, 3<<19)...)
	path := save(t, b)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err := Read[float64](ctx, bytes.NewReader(b), "stream", sparse.Limits{})
	message := "truncated"
	if strconv.IntSize == 32 {
		message = "more than this machine can address"
	}
	requireInput(t, err, "stream", message)
	_, err = Open[float64](ctx, path)
	requireInput(t, err, path, message)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(10<<20))
}

func TestReadKeepsToTheLimits(t *testing.T) {
	m := &sparse.CSR[float64]{Rows: 2000, Cols: 1, RowPtr: make([]int64, 2001)}
	b := encode(t, m, sparse.Source{})
	_, _, err := Read[float64](ctx, bytes.NewReader(b), "stream", sparse.Limits{EmptyLines: 1000})
	requireInput(t, err, "stream", "2000 rows for 0 entries")
	_, _, err = Read[float64](ctx, bytes.NewReader(b), "stream", sparse.Limits{EmptyLines: 2000})
	require.NoError(t, err)
}

func TestOtherKindsOfFilesAreRefused(t *testing.T) {
	dir := t.TempDir()
	gz := filepath.Join(dir, "m.msr.gz")
	require.NoError(t, os.WriteFile(gz, []byte("\x1f\x8b"), 0o600))
	secret := filepath.Join(dir, "secret.msr")
	require.NoError(t, os.WriteFile(secret, encode(t, small(), sparse.Source{}), 0o000))
	cases := map[string]string{
		dir:                             "is a directory",
		filepath.Join(dir, "none.msr"):  "no such file",
		gz:                              "is gzipped",
		filepath.Join(gz, "below.file"): "not a directory",
	}
	if os.Geteuid() != 0 {
		cases[secret] = "permission denied"
	}
	if _, err := os.Stat("/dev/zero"); err == nil {
		cases["/dev/zero"] = "is not a regular file"
	}
	for path, want := range cases {
		if runtime.GOOS == "windows" {
			want = ""
		}
		_, err := Open[float64](ctx, path)
		requireInput(t, err, path, want)
	}
}

func TestNoDamageWithRightChecksumsMakesAnInvalidMatrix(t *testing.T) {
	good := encode(t, small(), sparse.Source{})
	rapid.Check(t, func(t *rapid.T) {
		b := bytes.Clone(good)
		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			b[rapid.IntRange(8, len(b)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		}
		seal(b)
		requireSound(t, b)
	})
}

// requireSound demands of any bytes that Open and Read agree on them, and that
// what they accept is a valid matrix.
func requireSound(t require.TestingT, b []byte) {
	m1, err1 := openBytes[float64](b, "m", options{})
	m2, _, err2 := Read[float64](ctx, bytes.NewReader(b), "m", sparse.Limits{EmptyLines: -1})
	require.Equal(t, err1 == nil, err2 == nil, fmt.Sprint(err1, " / ", err2))
	if err1 != nil {
		require.True(t, sparse.IsInput(err1) && sparse.IsInput(err2), "%v / %v", err1, err2)
		return
	}
	require.NoError(t, m1.Validate())
	matrixtest.Same(t, m1, m2)
}
