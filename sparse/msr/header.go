package msr

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"slices"

	"github.com/msrep-go/msrep/internal/fileio"
	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/sparse"
)

// Magic is the start of every .msr file. Its byte above 127 and its line ends reveal a
// transfer that treated the file as text.
const Magic = "\x89MSR\r\n\x1a\n"

// Version is the version of the layout that Write produces, and the only one that can be
// read.
const Version = 1

// HeaderSize is the length of the header in bytes.
const HeaderSize = 64

// ValueType names the type of the values in a file.
type ValueType string

// The value types.
const (
	Float64 ValueType = "float64"
	Float32 ValueType = "float32"
)

// Header is the content of a file's header.
type Header struct {
	Version   int
	ValueType ValueType
	Rows      int
	Cols      int
	NNZ       int64         // entries in the payload
	Source    sparse.Source // origin of the matrix
	Length    int64         // length of the file in bytes
}

// The codes in the header are indices into these slices; index 0 is not used.
var (
	valueTypes = []ValueType{"", Float64, Float32}
	fields     = []sparse.Field{"", sparse.Real, sparse.Integer, sparse.Pattern}
	symmetries = []sparse.Symmetry{"", sparse.General, sparse.Symmetric, sparse.SkewSymmetric}
)

// Peek reads the header of a file, plain or gzipped, to get its value type and dimensions
// before it is opened. Peek verifies the checksum of the header and does not read the
// rest of the file. Errors are *sparse.InputError.
func Peek(path string) (Header, error) {
	f, err := fileio.Open(path)
	if err != nil {
		return Header{}, err
	}
	defer f.Close()
	return ReadHeader(f, path)
}

// ReadHeader reads and checks the first HeaderSize bytes of r. name stands for the file
// in errors, which are *sparse.InputError if the content is wrong.
func ReadHeader(r io.Reader, name string) (Header, error) {
	if err := given.Check("reader", r); err != nil {
		return Header{}, err
	}
	h, _, err := readHeader(r, name)
	return h, err
}

// readHeader is ReadHeader and also returns the checksum of the table.
func readHeader(r io.Reader, name string) (Header, uint32, error) {
	var b [HeaderSize]byte
	n, err := io.ReadFull(r, b[:])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return Header{}, 0, err
	}
	return parseHeader(b[:n], name)
}

// checkIntact checks that b is a complete, undamaged header of this version.
func checkIntact(b []byte, name string) error {
	le := binary.LittleEndian
	switch start := min(len(b), len(Magic)); {
	case len(b) == 0:
		return sparse.Inputf(name, "is empty; an .msr file is needed")
	case len(b) >= 2 && b[0] == 0x1f && b[1] == 0x8b:
		return sparse.Inputf(name, "is gzipped: it cannot be mapped, but it can be read as a stream")
	case string(b[:start]) != Magic[:start]:
		return sparse.Inputf(name, "is not an .msr file: it must start with the bytes %q", Magic)
	case len(b) < HeaderSize:
		return sparse.Inputf(name, "ends after %d bytes, inside the header of %d: the file is truncated", len(b), HeaderSize)
	case le.Uint32(b[8:]) != Version: // before the checksum: another version may have another header
		return sparse.Inputf(name, "has layout version %d; this program reads version %d", le.Uint32(b[8:]), Version)
	}
	if sum := crc32.Checksum(b[:60], castagnoli); sum != le.Uint32(b[60:]) {
		return sparse.Inputf(name, "damaged header: its checksum is %08x, its content gives %08x", le.Uint32(b[60:]), sum)
	}
	return nil
}

// parseHeader checks a header alone. b is shorter than HeaderSize if the file is.
func parseHeader(b []byte, name string) (h Header, tableSum uint32, err error) {
	if err := checkIntact(b, name); err != nil {
		return Header{}, 0, err
	}
	fail := func(format string, args ...any) (Header, uint32, error) {
		return Header{}, 0, sparse.Inputf(name, format, args...)
	}
	le := binary.LittleEndian
	kind, field, sym := int(b[12]), int(b[13]), int(b[14])
	switch {
	case kind < 1 || kind >= len(valueTypes):
		return fail("value type %d is unknown: 1 (float64) and 2 (float32) are known", kind)
	case field < 1 || field >= len(fields):
		return fail("field %d is unknown: 1 (real), 2 (integer) and 3 (pattern) are known", field)
	case sym < 1 || sym >= len(symmetries):
		return fail("symmetry %d is unknown: 1 (general), 2 (symmetric) and 3 (skew-symmetric) are known", sym)
	case b[15] != 0:
		return fail("byte 15 is %d: it must be 0", b[15])
	}
	number := func(at int) int64 { return int64(le.Uint64(b[at:])) }
	rows, cols, nnz, stored, length := number(16), number(24), number(32), number(40), number(48)
	for _, d := range []struct {
		n    int64
		name string
	}{{rows, "rows"}, {cols, "columns"}} {
		if d.n < 0 || d.n > sparse.MaxDim {
			return fail("%d %s: a size must be in [0, %d]", d.n, d.name, sparse.MaxDim)
		}
	}
	if nnz < 0 || nnz > maxEntries {
		return fail("%d entries: the number must be in [0, %d]", nnz, int64(maxEntries))
	}
	if stored < 0 {
		return fail("%d entries in the source: the number must not be negative", stored)
	}
	if symmetries[sym] != sparse.General && rows != cols {
		return fail("%s source with %d rows and %d columns: these must be equal", symmetries[sym], rows, cols)
	}
	h = Header{
		Version:   Version,
		ValueType: valueTypes[kind],
		Rows:      int(rows),
		Cols:      int(cols),
		NNZ:       nnz,
		Source:    sparse.Source{Field: fields[field], Symmetry: symmetries[sym], Stored: stored},
		Length:    length,
	}
	if want := layoutOf(h).length; length != want {
		return fail("header says %d bytes for %d rows and %d entries of %s: these need %d", length, rows, nnz, h.ValueType, want)
	}
	if length > math.MaxInt {
		return fail("%d bytes are more than this machine can address", length)
	}
	return h, le.Uint32(b[56:]), nil
}

// bytes returns the header as it is in the file.
func (h Header) bytes(tableSum uint32) []byte {
	b := make([]byte, HeaderSize)
	copy(b, Magic)
	le := binary.LittleEndian
	le.PutUint32(b[8:], uint32(h.Version))
	b[12] = byte(slices.Index(valueTypes, h.ValueType))
	b[13] = byte(slices.Index(fields, h.Source.Field))
	b[14] = byte(slices.Index(symmetries, h.Source.Symmetry))
	le.PutUint64(b[16:], uint64(h.Rows))
	le.PutUint64(b[24:], uint64(h.Cols))
	le.PutUint64(b[32:], uint64(h.NNZ))
	le.PutUint64(b[40:], uint64(h.Source.Stored))
	le.PutUint64(b[48:], uint64(h.Length))
	le.PutUint32(b[56:], tableSum)
	le.PutUint32(b[60:], crc32.Checksum(b[:60], castagnoli))
	return b
}
