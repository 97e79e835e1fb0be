package mtx

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/msrep-go/msrep/internal/lines"
	"github.com/msrep-go/msrep/internal/number"
	"github.com/msrep-go/msrep/sparse"
)

const banner = "%%MatrixMarket"

// header is what stands before the entries.
type header struct {
	name       string // of the file
	array      bool
	field      sparse.Field
	symmetry   sparse.Symmetry
	rows, cols int64
	entries    int64 // that have to follow
	line       int64 // of the sizes
}

// readHeader reads up to the line with the sizes and checks all of it.
func readHeader(r *lines.Reader, name string, lim sparse.Limits) (*header, error) {
	h := &header{name: name}
	if err := h.readBanner(r); err != nil {
		return nil, err
	}
	for {
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
	if !r.Prefix(banner) {
		if _, err := r.Next(); err != nil && err != io.EOF && r.Line() == 0 {
			return err // nothing can be read at all
		}
		return h.errorf(1, "not a Matrix Market file: the first line must begin with %s", banner)
	}
	text, err := r.Next()
	if err != nil {
		return err
	}
	words := strings.Fields(strings.ToLower(string(text)))
	if len(words) != 5 {
		return h.errorf(1, "the first line has %d words: it must be %s matrix FORMAT FIELD SYMMETRY", len(words), banner)
	}
	object, format, field, symmetry := words[1], words[2], words[3], words[4]
	if words[0] != strings.ToLower(banner) {
		return h.errorf(1, "not a Matrix Market file: the first line must begin with %s", banner)
	}
	if object != "matrix" {
		return h.errorf(1, "object %.40q is not supported: it must be matrix", object)
	}
	switch format {
	case "coordinate":
	case "array":
		h.array = true
	default:
		return h.errorf(1, "unknown format %.40q: it must be coordinate or array", format)
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
			return h.errorf(1, "complex values are not supported: the field must be real, integer or pattern")
		}
		return h.errorf(1, "unknown field %.40q: it must be real, integer or pattern", field)
	}
	switch h.symmetry = sparse.Symmetry(symmetry); h.symmetry {
	case sparse.General, sparse.Symmetric, sparse.SkewSymmetric:
	default:
		if symmetry == "hermitian" {
			return h.errorf(1, "hermitian matrices are not supported: the symmetry must be general, symmetric or skew-symmetric")
		}
		return h.errorf(1, "unknown symmetry %.40q: it must be general, symmetric or skew-symmetric", symmetry)
	}
	switch {
	case h.array && h.field == sparse.Pattern:
		return h.errorf(1, "an array cannot be a pattern: its values are needed")
	case h.symmetry == sparse.SkewSymmetric && h.field == sparse.Pattern:
		return h.errorf(1, "a pattern cannot be skew-symmetric: it has no signs")
	}
	return nil
}

// setSizes takes the sizes from the words of their line.
func (h *header) setSizes(words [][]byte, lim sparse.Limits) error {
	to := []*int64{&h.rows, &h.cols, &h.entries}
	if h.array {
		to = to[:2]
	}
	if len(words) != len(to) {
		return h.errorf(h.line, "the line with the sizes has %d words: it must be %s", len(words), h.sizeForm())
	}
	for i, what := range []string{"rows", "columns", "entries"}[:len(to)] {
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

// arrayLength is how many values an array file has; 0 for sizes that are about
// to be refused, whose product may overflow.
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
	if h.array {
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
