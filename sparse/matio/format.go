package matio

import (
	"bytes"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/msrep-go/msrep/internal/lines"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/msr"
	"github.com/msrep-go/msrep/sparse/mtx"
)

// Format names a file format.
type Format string

// The formats.
const (
	MatrixMarket  Format = "mtx"
	HarwellBoeing Format = "hb" // and Rutherford-Boeing
	NPZ           Format = "npz"
	SNAP          Format = "snap"
	EdgeList      Format = "edges" // only read
	MSR           Format = "msr"
	BinaryCSR     Format = "bincsr"
	Generated     Format = "gen" // no file
)

// extensions lists the file name extensions of each format, in the order of messages.
var extensions = []struct {
	format Format
	names  []string
}{
	{MatrixMarket, []string{".mtx"}},
	{HarwellBoeing, []string{".rb", ".rsa", ".rua", ".rra", ".psa", ".pua", ".hb"}},
	{NPZ, []string{".npz"}},
	{SNAP, []string{".txt"}},
	{EdgeList, []string{".csv", ".tsv"}},
	{MSR, []string{".msr"}},
	{BinaryCSR, []string{".bin"}},
}

// Extensions returns the known file name extensions. Each may be followed by .gz or .zst.
func Extensions() (names []string) {
	for _, e := range extensions {
		names = append(names, e.names...)
	}
	return names
}

// byName returns the format that a file name stands for, or "" if it is not known.
func byName(path string) Format {
	ext := extension(path)
	for _, e := range extensions {
		if slices.Contains(e.names, ext) {
			return e.format
		}
	}
	return ""
}

// extension returns the extension of a file name in lower case, without .gz or .zst.
func extension(path string) string {
	path = strings.ToLower(path)
	for _, packed := range []string{".gz", ".zst"} {
		if plain, ok := strings.CutSuffix(path, packed); ok {
			return filepath.Ext(plain)
		}
	}
	return filepath.Ext(path)
}

// sniffBytes is the number of bytes that byContent inspects: a Harwell-Boeing type is within
// the first three lines of 80 columns.
const sniffBytes = 512

// harwellBoeing matches the type at the start of the third line.
var harwellBoeing = regexp.MustCompile(`^[^\n]*\n[^\n]*\n[RIPCQripcq][USZHRuszhr][AEae][ \t]`)

// snapEdges matches the comments at the start of an edge list and the two nodes after them.
var snapEdges = regexp.MustCompile(`^(#[^\n]*\n)+[0-9]+[ \t]+[0-9]+\s`)

// byContent returns the format of a file that begins with head: by its content if that is
// unmistakable, else by its name, or "" if both are unknown.
func byContent(head []byte, path string) Format {
	switch named := byName(path); {
	case mtx.HasBanner(head):
		return MatrixMarket
	case bytes.HasPrefix(head, []byte(msr.Magic)):
		return MSR
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return NPZ
	case named != "":
		return named
	case harwellBoeing.Match(head):
		return HarwellBoeing
	case snapEdges.Match(bytes.TrimPrefix(head, []byte(lines.ByteOrderMark))):
		return SNAP
	}
	return ""
}

// packings are the first bytes of archives, and of files with another compression than
// gzip and zstd.
var packings = []struct {
	at    int
	magic string
	what  string
}{
	{257, "ustar\x00", "a tar archive"},
	{257, "ustar  \x00", "a tar archive"},
	{0, "7z\xbc\xaf\x27\x1c", "a 7z archive"},
	{4, "1AY&SY", "compressed by bzip2"},
	{0, "\xfd7zXZ\x00", "compressed by xz"},
}

// checkPacking refuses a file that must be unpacked first; head is its beginning.
func checkPacking(head []byte, path string) error {
	for _, p := range packings {
		if len(head) > p.at && bytes.HasPrefix(head[p.at:], []byte(p.magic)) {
			return sparse.Inputf(path, "is %s: unpack it first (files compressed by gzip or zstd need not be)", p.what)
		}
	}
	return nil
}

// unknown returns the error for a file whose name and content give no format.
func unknown(path string) error {
	return sparse.Inputf(path, "the format is unknown: the name must end in one of %s, with or without .gz or .zst", strings.Join(Extensions(), " "))
}
