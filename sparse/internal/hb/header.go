package hb

import (
	"fmt"
	"io"
	"strings"

	"github.com/msrep-go/msrep/internal/number"
	"github.com/msrep-go/msrep/sparse"
)

// header is the content of the header lines.
type header struct {
	field      sparse.Field
	symmetry   sparse.Symmetry
	rows, cols int64
	nnz        int64
	rightSides bool // lines of right-hand sides follow the values

	pointers, indices, values *layout // values is nil for a pattern
}

// The types of auxiliary Rutherford-Boeing files, which are at the start of the second
// line.
const auxiliary = " ord rhs sln est evl svl evc svc sbv sbm sbp ipt icv lvl geo avl "

// readHeader reads and checks the header lines.
func readHeader(t *text, lim sparse.Limits) (*header, error) {
	h := &header{}
	if _, err := headerLine(t, "the title"); err != nil {
		return nil, err
	}
	counts, err := headerLine(t, "the numbers of lines")
	if err != nil {
		return nil, err
	}
	valueLines, err := h.readCounts(t, counts)
	if err != nil {
		return nil, err
	}
	kind, err := headerLine(t, "the type and size")
	if err != nil {
		return nil, err
	}
	if err := h.readType(t, kind); err != nil {
		return nil, err
	}
	if err := lim.CheckDims(t.name, t.line, h.rows, h.cols, h.nnz); err != nil {
		return nil, err
	}
	formats, err := headerLine(t, "the formats")
	if err != nil {
		return nil, err
	}
	if h.field != sparse.Pattern && h.nnz > 0 && valueLines == 0 {
		return nil, sparse.InputLinef(t.name, 2, "0 lines of values for a %s matrix with %d entries: only a pattern (type p..) has none", h.field, h.nnz)
	}
	if err := h.readFormats(t, formats); err != nil {
		return nil, err
	}
	if h.rightSides {
		if _, err := headerLine(t, "the kind and number of right-hand sides"); err != nil {
			return nil, err
		}
	}
	return h, nil
}

func headerLine(t *text, what string) (string, error) {
	line, err := t.next()
	if err == io.EOF {
		return "", sparse.InputLinef(t.name, t.line+1, "the file ends in its header, before %s", what)
	}
	return string(line), err
}

// readCounts reads line 2 and returns the number of lines with values.
func (h *header) readCounts(t *text, line string) (values int64, err error) {
	if f := strings.Fields(line); len(f) > 0 && len(f[0]) >= 3 && strings.Contains(auxiliary, " "+strings.ToLower(f[0][:3])+" ") {
		return 0, sparse.InputLinef(t.name, t.line, "%q begins an auxiliary Rutherford-Boeing file (right-hand sides, orderings and the like): only files with a matrix can be read", clip(f[0]))
	}
	n, err := integers(line)
	if err != nil || len(n) < 4 || len(n) > 5 {
		return 0, sparse.InputLinef(t.name, t.line, "%q: 4 or 5 numbers of lines are expected here; this is not a Harwell-Boeing or Rutherford-Boeing file", clip(strings.TrimSpace(line)))
	}
	for _, v := range n {
		if v < 0 {
			return 0, sparse.InputLinef(t.name, t.line, "%d lines: a number of lines must not be negative", v)
		}
	}
	h.rightSides = len(n) == 5 && n[4] > 0
	return n[3], nil
}

// readType reads line 3: type, rows, columns, entries and, if present, the number of
// elemental entries.
func (h *header) readType(t *text, line string) error {
	kind, sizes := line, ""
	if len(line) > 3 {
		kind, sizes = line[:3], line[3:]
	}
	if err := h.setType(kind); err != nil {
		return &sparse.InputError{Subject: t.name, Line: t.line, Err: err}
	}
	n, err := integers(sizes)
	if err != nil || len(n) < 3 || len(n) > 4 {
		return sparse.InputLinef(t.name, t.line, "%q: the numbers of rows, columns, entries and elemental entries must follow the type", clip(strings.TrimSpace(sizes)))
	}
	h.rows, h.cols, h.nnz = n[0], n[1], n[2]
	const most = 1 << 48 // keeps sums and products of counts in range
	switch {
	case h.nnz < 0 || h.nnz > most:
		return sparse.InputLinef(t.name, t.line, "%d entries: must be from 0 to %d", h.nnz, int64(most))
	case h.nnz > 0 && (h.rows == 0 || h.cols == 0):
		return sparse.InputLinef(t.name, t.line, "%d entries in a matrix of %d rows and %d columns", h.nnz, h.rows, h.cols)
	case h.symmetry != sparse.General && h.rows != h.cols:
		return sparse.InputLinef(t.name, t.line, "%d rows and %d columns: a %s matrix must be square", h.rows, h.cols, h.symmetry)
	}
	return nil
}

// setType parses the three letters of the type.
func (h *header) setType(kind string) error {
	const want = "must be three letters such as rua (r, i or p; u, r, s or z; a)"
	if len(kind) < 3 {
		return fmt.Errorf("matrix type %q: %s", kind, want)
	}
	bad := func(letter byte) error {
		return fmt.Errorf("matrix type %q: unknown letter %q; it %s", kind, letter, want)
	}
	low := strings.ToLower(kind)
	switch low[0] {
	case 'r':
		h.field = sparse.Real
	case 'i':
		h.field = sparse.Integer
	case 'p':
		h.field = sparse.Pattern
	case 'c':
		return fmt.Errorf("matrix type %q: %w, only real and integer ones and patterns", kind, sparse.ErrComplex)
	case 'q':
		return fmt.Errorf("matrix type %q: the values are in another file, which is not supported", kind)
	default:
		return bad(kind[0])
	}
	switch low[1] {
	case 'u', 'r':
		h.symmetry = sparse.General
	case 's':
		h.symmetry = sparse.Symmetric
	case 'z':
		h.symmetry = sparse.SkewSymmetric
	case 'h':
		return fmt.Errorf("matrix type %q: Hermitian matrices are not supported, only unsymmetric, symmetric and skew-symmetric ones", kind)
	default:
		return bad(kind[1])
	}
	switch low[2] {
	case 'a':
		return nil
	case 'e':
		return fmt.Errorf("matrix type %q: elemental matrices are not supported, only assembled ones (third letter a)", kind)
	}
	return bad(kind[2])
}

// readFormats reads line 4. It finds the formats by their parentheses, because some
// writers do not keep to the columns.
func (h *header) readFormats(t *text, line string) error {
	texts := parenthesised(line)
	names := []string{"column pointers", "row indices", "values"}
	into := []**layout{&h.pointers, &h.indices, &h.values}
	if h.field == sparse.Pattern {
		into = into[:2]
	}
	for i, to := range into {
		if i >= len(texts) {
			if i == 2 && h.nnz == 0 {
				return nil
			}
			return sparse.InputLinef(t.name, t.line, "%q: the Fortran format of the %s is missing, such as (16I5)", clip(strings.TrimSpace(line)), names[i])
		}
		f, err := parseLayout(texts[i])
		if err != nil {
			return sparse.InputLinef(t.name, t.line, "%s: %v", names[i], err)
		}
		if i < 2 && !f.integer() {
			return sparse.InputLinef(t.name, t.line, "%s: format %q: must be an integer format such as (16I5)", names[i], clip(texts[i]))
		}
		*to = f
	}
	return nil
}

// integer reports whether all fields are integers.
func (f *layout) integer() bool {
	for _, x := range f.fields {
		if x.kind != 'I' {
			return false
		}
	}
	return true
}

// parenthesised returns the outermost pairs of parentheses of a line. An unclosed one
// extends to the end.
func parenthesised(line string) (out []string) {
	depth, start := 0, 0
	for i := range len(line) {
		switch line[i] {
		case '(':
			if depth == 0 {
				start = i
			}
			depth++
		case ')':
			if depth--; depth == 0 {
				out = append(out, line[start:i+1])
			}
			depth = max(depth, 0)
		}
	}
	if depth > 0 {
		out = append(out, strings.TrimSpace(line[start:]))
	}
	return out
}

// integers parses a line of integers separated by blanks.
func integers(line string) (out []int64, err error) {
	for _, f := range strings.Fields(line) {
		v, err := number.Int([]byte(f))
		if err != nil {
			return nil, err
		}
		if out = append(out, v); len(out) > 8 {
			break
		}
	}
	return out, nil
}
