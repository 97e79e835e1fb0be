package matio

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/msr"
)

// The limit on the bytes that a reader allocates: a constant, and a multiple of the bytes
// of content.
const (
	allocatedFree = 32 << 20
	allocatedEach = 40
)

// allocated returns the bytes that f allocates, which are more than it holds at any time.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

func TestDeclaredSizesCostNoMoreThanTheContent(t *testing.T) {
	defer mem.SetAvailable(1 << 50)() // so that nothing is refused because it would not fit
	const claim int64 = 1 << 40
	var bin bytes.Buffer
	require.NoError(t, binary.Write(&bin, binary.LittleEndian, []int64{1e9, 1e9, claim}))
	bin.Write(make([]byte, 2<<20))
	var shown bytes.Buffer
	require.NoError(t, msr.Write(&shown, &sparse.CSR[float64]{Rows: 1 << 20, Cols: 1, RowPtr: make([]int64, 1<<20+1)}, sparse.Source{Field: sparse.Real, Symmetry: sparse.General}))
	for name, content := range map[string]string{
		"coordinate.mtx":    fmt.Sprintf("%%%%MatrixMarket matrix coordinate real general\n1000000000 1000000000 %d\n%s", claim, strings.Repeat("1 1 1\n", 350_000)),
		"array.mtx":         "%%MatrixMarket matrix array real general\n1000000000 1\n" + strings.Repeat("0\n", 1<<20),
		"arrayofones.mtx":   "%%MatrixMarket matrix array real general\n1000000000 1\n" + strings.Repeat("1\n", 1<<20),
		"columns.bin":       bin.String(),
		"cut.msr.gz":        string(gzipped(t, shown.Bytes()[:shown.Len()-100])),
		"columnpointers.rb": fmt.Sprintf("%-72s%-8s\n1 1 1 1\nrua 1000000000 1000000000 %d 0\n(40I2) (40I2) (40I2)\n%s", "Wide", "WIDE", claim, strings.Repeat(strings.Repeat(" 1", 40)+"\n", 25_000)),
		"window.mtx.zst":    "\x28\xb5\x2f\xfd\x00\x88\x01\x00\x00", // a window of 128 MiB for an empty block
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, name, []byte(content))
			var err error
			n := allocated(func() { _, err = Read(ctx, path) })
			requireInput(t, err, path, "")
			require.Less(t, n, int64(allocatedFree+allocatedEach*len(content)), "%d bytes of content: %v", len(content), err)
		})
	}
}

func TestDenseContentCostsAMultipleOfItsBytes(t *testing.T) {
	const n = 1 << 20
	var npz bytes.Buffer
	z := zip.NewWriter(&npz)
	for name, a := range map[string]struct {
		head string
		body []byte
	}{
		"format": {"'|S3', 'fortran_order': False, 'shape': ()", []byte("coo")},
		"shape":  {"'<i8', 'fortran_order': False, 'shape': (2,)", binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, 1), 1)},
		"row":    {fmt.Sprintf("'|i1', 'fortran_order': False, 'shape': (%d,)", n), make([]byte, n)},
		"col":    {fmt.Sprintf("'|i1', 'fortran_order': False, 'shape': (%d,)", n), make([]byte, n)},
		"data":   {fmt.Sprintf("'|b1', 'fortran_order': False, 'shape': (%d,)", n), make([]byte, n)},
	} {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Store})
		require.NoError(t, err)
		head := "{'descr': " + a.head + "}\n"
		_, err = w.Write(append([]byte("\x93NUMPY\x01\x00"+string(binary.LittleEndian.AppendUint16(nil, uint16(len(head))))+head), a.body...))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	var distinct strings.Builder // ids of 1 to 4 letters
	for k := range int64(n / 2) {
		fmt.Fprintf(&distinct, "%s,%s\n", strconv.FormatInt(2*k, 36), strconv.FormatInt(2*k+1, 36))
	}
	for name, content := range map[string]string{
		"general.mtx":   fmt.Sprintf("%%%%MatrixMarket matrix coordinate pattern general\n9 9 %d\n%s", n, strings.Repeat("2 1\n", n)),
		"symmetric.mtx": fmt.Sprintf("%%%%MatrixMarket matrix coordinate pattern symmetric\n9 9 %d\n%s", n, strings.Repeat("2 1\n", n)),
		"array.mtx":     fmt.Sprintf("%%%%MatrixMarket matrix array integer general\n%d 1\n%s", n, strings.Repeat("1\n", n)),
		"list.txt":      strings.Repeat("0 1\n", n),
		"gaps.txt":      strings.Repeat("0 9\n", n),
		"repeated.csv":  strings.Repeat("a,b\n", n),
		"distinct.csv":  distinct.String(),
		"distinct.tsv":  "p\tq\tweight\n" + strings.ReplaceAll(strings.ReplaceAll(distinct.String(), ",", "\t"), "\n", "\t1\n"),
		"narrow.npz":    npz.String(),
		"narrow.rb": fmt.Sprintf("%-72s%-8s\n1 1 1 0\npsa 9 9 %d 0\n(10I8) (80I1)\n%8d%s\n%s", "Dense", "DENSE", n, 1, strings.Repeat(fmt.Sprintf("%8d", n+1), 9),
			strings.Repeat(strings.Repeat("2", 80)+"\n", n/80)+strings.Repeat("2", n%80)+"\n"),
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, name, []byte(content))
			var err error
			for _, opts := range [][]Option{nil, {Renumber()}} {
				used := allocated(func() { _, err = Read(ctx, path, opts...) })
				require.NoError(t, err)
				t.Logf("%.1f bytes for each of %d", float64(used)/float64(len(content)), len(content))
				require.Less(t, used, int64(allocatedFree+allocatedEach*len(content)))
			}
		})
	}
}

// gzip and zstd reduce this content to a thousandth or less.
func TestContentThatUnpacksTooFarIsRefusedInEveryFormat(t *testing.T) {
	const mib = 300
	for name, c := range map[string]struct{ head, line string }{
		"comments.mtx": {"%%MatrixMarket matrix coordinate real general\n", "%\n"},
		"entries.mtx":  {"%%MatrixMarket matrix coordinate pattern general\n9 9 50000000\n", "1 1\n"},
		"values.mtx":   {"%%MatrixMarket matrix array real general\n100000000 1\n", "0\n"},
		"comments.txt": {"", "#\n"},
		"edges.txt":    {"", "0 1\n"},
		"edges.csv":    {"", "a,b\n"},
		"comments.csv": {"", "#\n"},
		"pointers.rb": {fmt.Sprintf("%-72s%-8s\n1 1 1 1\nrua 3 16777216 5 0\n(4I20) (5I3) (5E10.3)\n", "Wide", "WIDE"),
			strings.Repeat(strings.Repeat(" ", 19)+"1", 4) + "\n"},
		"zeros.bin": {"\x01" + strings.Repeat("\x00", 7) + "\x01" + strings.Repeat("\x00", 7) + "\x00\x2d\x31\x01\x00\x00\x00\x00", string(make([]byte, 64))},
	} {
		t.Run(name, func(t *testing.T) {
			packed := gzipped(t, []byte(c.head))
			block := gzipped(t, bytes.Repeat([]byte(c.line), (1<<20)/len(c.line)))
			path := write(t, name+".gz", append(packed, bytes.Repeat(block, mib)...))
			_, err := Read(ctx, path)
			requireInput(t, err, path, "unpacks to more than 200 times its size and 64 MiB")
			if !strings.HasSuffix(name, ".csv") {
				return
			}
			packed = zstandard(t, []byte(c.head))
			block = zstandard(t, bytes.Repeat([]byte(c.line), (1<<20)/len(c.line)))
			path = write(t, name+".zst", append(packed, bytes.Repeat(block, mib)...))
			_, err = Read(ctx, path)
			requireInput(t, err, path, "unpacks to more than 200 times its size and 64 MiB")
		})
	}
}

func TestAnArchiveInGzipIsMeasuredByTheWholeFile(t *testing.T) {
	var npz bytes.Buffer
	z := zip.NewWriter(&npz)
	w, err := z.Create("data.npy") // deflated
	require.NoError(t, err)
	for range 100 {
		_, err = w.Write(make([]byte, 1<<20))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	path := write(t, "m.npz.gz", gzipped(t, npz.Bytes()))
	_, err = Read(ctx, path)
	requireInput(t, err, path, "holds an archive that unpacks to more than 200 times its size and 64 MiB")
}
