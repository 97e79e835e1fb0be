package mtx

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/msrep-go/msrep/internal/lines"
	"github.com/msrep-go/msrep/internal/number"
	"github.com/msrep-go/msrep/internal/source"
	"github.com/msrep-go/msrep/sparse"
)

const banner = "%%MatrixMarket"

// sniffBytes is the number of bytes within which the banner must begin.
const sniffBytes = 512

// HasBanner reports whether a file that begins with head is a Matrix Market file, by its
// banner, the first line. 512 bytes are enough. The banner may have only one %, and white
// space and the byte order mark of UTF-8 before it.
func HasBanner(head []byte) bool {
	_, head = cutBlank(head)
	return hasPrefixFold(head, banner) || hasPrefixFold(head, banner[1:])
}

// cutBlank removes the byte order mark and the white space at the start of head, and
// returns the rest and its line.
func cutBlank(head []byte) (line int64, rest []byte) {
	rest = bytes.TrimLeft(bytes.TrimPrefix(head, []byte(lines.ByteOrderMark)), " \t\r\n\v\f")
	return 1 + int64(bytes.Count(head[:len(head)-len(rest)], []byte{'\n'})), rest
}

func hasPrefixFold(b []byte, prefix string) bool {
	return len(b) >= len(prefix) && strings.EqualFold(string(b[:len(prefix)]), prefix)
}

// header is the part of a file before the entries.
type header struct {
	name       string // name of the file
	first      int64  // line of the banner
	vector     bool   // sizes and entries have no column
	array      bool
	field      sparse.Field
	symmetry   sparse.Symmetry
	rows, cols int64
	entries    int64 // number of entries that must follow
	line       int64 // line of the sizes

	inexact source.Inexact // of the entries read so far
}

// readHeader reads and checks the file up to the line with the sizes.
func readHeader(r *lines.Reader, name string, lim sparse.Limits) (*header, error) {
	h := &header{name: name}
	if err := h.readBanner(r); err != nil {
		return nil, err
	}
	for {
		r.Skip("%")
		text, err := r.Next()
		if err == io.EOF {
			return nil, sparse.InputLinef(name, r.Line(), "file ends before the line with the sizes, %s", h.sizeForm())
		}
		if err != nil {
			return nil, err
		}
		if words := bytes.Fields(text); len(words) > 0 && words[0][0] != '%' {
			h.line = r.Line()
			return h, h.setSizes(words, lim)
		}
	}
}

func (h *header) errorf(line int64, format string, args ...any) error {
	return sparse.InputLinef(h.name, line, format, args...)
}

func (h *header) readBanner(r *lines.Reader) error {
	var head []byte
	for n := len(banner); len(head) < n && n <= sniffBytes; { // read no more than is needed: a pipe may not have more yet
		if head = r.Peek(n); len(head) < n {
			break
		}
		_, rest := cutBlank(head)
		n += len(banner) - len(rest)
	}
	h.first, _ = cutBlank(head)
	if !HasBanner(head) {
		if _, err := r.Next(); err != nil && err != io.EOF && r.Line() == 0 {
			return err // not even the first line can be read
		}
		return h.errorf(h.first, "not a Matrix Market file: it must begin with %s", banner)
	}
	var words []string
	for len(words) == 0 {
		text, err := r.Next()
		if err != nil {
			return err
		}
		words = strings.Fields(strings.ToLower(string(text)))
	}
	if len(words) == 4 && words[1] == "vector" { // a vector has no symmetry
		words = append(words, string(sparse.General))
	}
	if len(words) != 5 {
		return h.errorf(h.first, "the first line has %d words: it must be %s matrix FORMAT FIELD SYMMETRY", len(words), banner)
	}
	object, format, field, symmetry := words[1], words[2], words[3], words[4]
	if full := strings.ToLower(banner); words[0] != full && words[0] != full[1:] {
		return h.errorf(h.first, "not a Matrix Market file: it must begin with %s", banner)
	}
	switch object {
	case "matrix":
	case "vector":
		h.vector = true
	default:
		return h.errorf(h.first, "object %.40q is not supported: it must be matrix or vector", object)
	}
	switch format {
	case "coordinate":
	case "array":
		h.array = true
	default:
		return h.errorf(h.first, "unknown format %.40q: it must be coordinate or array", format)
	}
	switch field {
	case "unsigned-integer": // as SciPy calls integers without a sign
		field = string(sparse.Integer)
	case "double":
		field = string(sparse.Real)
	}
	switch h.field = sparse.Field(field); h.field {
	case sparse.Real, sparse.Integer, sparse.Pattern:
	default:
		if field == "complex" {
			return &sparse.InputError{Subject: h.name, Line: h.first, Err: fmt.Errorf("%w: the field must be real, integer or pattern", sparse.ErrComplex)}
		}
		return h.errorf(h.first, "unknown field %.40q: it must be real, integer or pattern", field)
	}
	switch h.symmetry = sparse.Symmetry(symmetry); h.symmetry {
	case sparse.General, sparse.Symmetric, sparse.SkewSymmetric:
	default:
		if symmetry == "hermitian" {
			return h.errorf(h.first, "hermitian matrices are not supported: the symmetry must be general, symmetric or skew-symmetric")
		}
		return h.errorf(h.first, "unknown symmetry %.40q: it must be general, symmetric or skew-symmetric", symmetry)
	}
	switch {
	case h.vector && h.field == sparse.Pattern:
		return h.errorf(h.first, "a vector cannot be a pattern: its values are needed")
	case h.vector && h.symmetry != sparse.General:
		return h.errorf(h.first, "a vector cannot be %s: its symmetry must be general", h.symmetry)
	case h.array && h.field == sparse.Pattern:
		return h.errorf(h.first, "an array cannot be a pattern: its values are needed")
	case h.symmetry == sparse.SkewSymmetric && h.field == sparse.Pattern:
		return h.errorf(h.first, "a pattern cannot be skew-symmetric: it has no signs")
	}
	return nil
}

// setSizes parses the line with the sizes.
func (h *header) setSizes(words [][]byte, lim sparse.Limits) error {
	to, names := []*int64{&h.rows, &h.cols, &h.entries}, []string{"rows", "columns", "entries"}
	if h.array {
		to, names = to[:2], names[:2]
	}
	if h.vector && len(words) == len(to) {
		h.vector = false // it has a column, as a matrix has
	}
	if h.vector {
		h.cols = 1
		to, names = slices.Delete(to, 1, 2), slices.Delete(names, 1, 2)
	}
	if len(words) != len(to) {
		return h.errorf(h.line, "the line with the sizes has %d words: it must be %s", len(words), h.sizeForm())
	}
	for i, what := range names {
		v, err := number.Int(words[i])
		if err != nil {
			return h.errorf(h.line, "number of %s: %s", what, notWhole(words[i], err))
		}
		*to[i] = v
	}
	if h.array {
		h.entries = h.arrayLength()
	}
	if err := lim.CheckDims(h.name, h.line, h.rows, h.cols, h.entries); err != nil {
		return err
	}
	switch {
	case h.entries < 0:
		return h.errorf(h.line, "%d entries: their number must not be negative", h.entries)
	case h.entries > 0 && (h.rows == 0 || h.cols == 0):
		return h.errorf(h.line, "%d entries in a matrix of %d rows and %d columns: it has room for none", h.entries, h.rows, h.cols)
	case h.symmetry != sparse.General && h.rows != h.cols:
		return h.errorf(h.line, "%d rows and %d columns: a %s matrix must be square", h.rows, h.cols, h.symmetry)
	}
	return nil
}

// source returns the Source of a file with this number of stored entries.
func (h *header) source(stored int64) sparse.Source {
	s := sparse.Source{Field: h.field, Symmetry: h.symmetry, Stored: stored}
	h.inexact.Apply(&s)
	return s
}

// arrayLength returns the number of values in an array file. It returns 0 for sizes that
// will be refused, because their product may overflow.
func (h *header) arrayLength() int64 {
	m, n := h.rows, h.cols
	if m < 0 || n < 0 || m > sparse.MaxDim || n > sparse.MaxDim {
		return 0
	}
	switch h.symmetry {
	case sparse.Symmetric:
		return n * (n + 1) / 2
	case sparse.SkewSymmetric:
		return n * (n - 1) / 2
	}
	return m * n
}

func (h *header) sizeForm() string {
	switch {
	case h.vector && h.array:
		return `"length"`
	case h.vector:
		return `"length entries"`
	case h.array:
		return `"rows columns"`
	}
	return `"rows columns entries"`
}

// notWhole says why a word is not an integer.
func notWhole(word []byte, err error) string {
	if errors.Is(err, number.ErrRange) {
		return fmt.Sprintf("%.40q does not fit into 64 bits with a sign", word)
	}
	return fmt.Sprintf("%.40q is not a whole number", word)
}
