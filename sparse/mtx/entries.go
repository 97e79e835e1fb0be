package mtx

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/msrep-go/msrep/internal/lines"
	"github.com/msrep-go/msrep/internal/number"
	"github.com/msrep-go/msrep/internal/source"
	"github.com/msrep-go/msrep/sparse"
)

// chunkEntries is the entries of one chunk of a coordinate file, up to the first error.
type chunkEntries struct {
	sparse.Triples[float64]
	inexact source.Inexact
	err     error
}

// entry is the content of a line of a coordinate file.
type entry struct {
	row, col int64 // 1-based
	val      float64
}

// parseEntries parses the entries of a chunk.
func (h *header) parseEntries(c lines.Chunk) chunkEntries {
	b, line := c.Data, c.Line
	t := lines.NewTriples(c, h.field != sparse.Pattern)
	values, skew := t.Val != nil, h.symmetry == sparse.SkewSymmetric
	count := 0
	var inexact source.Inexact
	for p := 0; p < len(b); line++ {
		e, next := h.scanCommon(b, p, values)
		if next == 0 {
			p = lines.SkipBlanks(b, p)
			if b[p] == '\n' || b[p] == '%' {
				p += bytes.IndexByte(b[p:], '\n') + 1
				continue
			}
			var other bool
			if e, next, other = h.scanEntry(b, p, values); other {
				inexact.Merge(inexactAt(e.val, line))
			}
		}
		if next == 0 || uint64(e.row-1) >= uint64(h.rows) || uint64(e.col-1) >= uint64(h.cols) || skew && e.row == e.col && e.val != 0 {
			return chunkEntries{lines.Cut(t, count), inexact, h.entryFault(line, lines.First(b[p:]))}
		}
		p = next
		t.Row[count], t.Col[count] = int32(e.row-1), int32(e.col-1)
		if values {
			t.Val[count] = e.val
		}
		count++
	}
	return chunkEntries{lines.Cut(t, count), inexact, nil}
}

// scanCommon parses the line at b[p:] if it has the common form: indices of 1 to 8
// digits, single blanks, and nothing else. It returns the start of the next line, or 0
// for all other lines and for the last lines of b.
func (h *header) scanCommon(b []byte, p int, value bool) (e entry, next int) {
	const room = 2 * len("12345678 ")
	if len(b)-p <= room || h.vector {
		return e, 0
	}
	i, n := number.ScanWord(binary.LittleEndian.Uint64(b[p:]))
	if n == 0 || b[p+n] != ' ' {
		return e, 0
	}
	p += n + 1
	j, n := number.ScanWord(binary.LittleEndian.Uint64(b[p:]))
	if n == 0 {
		return e, 0
	}
	p += n
	if value {
		if b[p] != ' ' {
			return e, 0
		}
		p++
		if e.val, n = h.scanValue(b[p:]); n == 0 {
			return e, 0
		}
		p += n
	}
	if b[p] != '\n' {
		return e, 0
	}
	e.row, e.col = int64(i), int64(j)
	return e, p + 1
}

// scanEntry parses the line at b[p:] and returns the start of the next line, or 0 if the
// line is not an entry. inexact reports that the value differs from the written one.
func (h *header) scanEntry(b []byte, p int, value bool) (e entry, next int, inexact bool) {
	e.row, next = number.ScanInt(b[p:])
	p += next
	ok := next > 0
	var n int
	if e.col = 1; !h.vector {
		gap := p
		p = lines.SkipBlanks(b, p)
		e.col, n = number.ScanInt(b[p:])
		ok = ok && n > 0 && p > gap
		p += n
	}
	if ok && value {
		gap := p
		p = lines.SkipBlanks(b, p)
		e.val, n, inexact = h.scanAny(b[p:])
		ok = n > 0 && p > gap
		p += n
	}
	p = lines.SkipBlanks(b, p)
	if !ok || b[p] != '\n' {
		return e, 0, false
	}
	return e, p + 1, inexact
}

// scanValue parses the value at the start of b and returns its length in bytes. The
// length is 0 if there is no value, and also for integers of more than 15 bytes and
// values beyond the range of float64; scanAny parses those.
func (h *header) scanValue(b []byte) (float64, int) {
	if h.field == sparse.Integer {
		v, n := number.ScanInt(b)
		if n > len("999999999999999") { // 15 digits are below 2^53
			return 0, 0
		}
		return float64(v), n
	}
	return number.ScanFloat(b)
}

// scanAny is scanValue for every value. inexact reports that v differs from the written
// value.
func (h *header) scanAny(b []byte) (v float64, n int, inexact bool) {
	if v, n = h.scanValue(b); n > 0 {
		return v, n, false
	}
	if h.field == sparse.Integer {
		v, n, exact := number.ScanWhole(b)
		return v, n, !exact
	}
	v, n = number.ScanBeyond(b)
	return v, n, n > 0
}

// inexactAt returns the Inexact of a line whose value was read as v.
func inexactAt(v float64, line int64) source.Inexact {
	if math.IsInf(v, 0) {
		return source.Inexact{Infinite: line}
	}
	return source.Inexact{Rounded: line}
}

// entryFault returns the error for a line that is not an entry.
func (h *header) entryFault(line int64, text []byte) error {
	words := bytes.Fields(text)
	need, form := 3, "row, column and value"
	switch {
	case h.vector:
		need, form = 2, "row and value"
	case h.field == sparse.Pattern:
		need, form = 2, "row and column"
	}
	if len(words) != need {
		return h.errorf(line, "entry has %d words, %s are needed: %.60q", len(words), form, text)
	}
	var at [2]int64
	for k, what := range []string{"row", "column"} {
		if k == 1 && h.vector {
			break
		}
		v, err := number.Int(words[k])
		size := []int64{h.rows, h.cols}[k]
		switch {
		case err != nil:
			return h.errorf(line, "%s index: %s", what, notWhole(words[k], err))
		case v == 0:
			return h.errorf(line, "%s index 0: indices start at 1", what)
		case v < 0 || v > size:
			return h.errorf(line, "%s index %d is outside 1..%d", what, v, size)
		}
		at[k] = v
	}
	if h.field == sparse.Pattern {
		return h.errorf(line, "not an entry: %.60q", text)
	}
	value := words[need-1]
	if err := h.valueFault(line, value); err != nil {
		return err
	}
	if h.symmetry == sparse.SkewSymmetric && at[0] == at[1] {
		return h.errorf(line, "value %s on the diagonal of a skew-symmetric matrix: it must be 0", value)
	}
	return h.errorf(line, "not an entry: %.60q", text)
}

// valueFault returns the error for a word that is not a value, or nil.
func (h *header) valueFault(line int64, word []byte) error {
	if _, n, _ := h.scanAny(word); n == len(word) {
		return nil
	}
	if h.field == sparse.Integer {
		return h.errorf(line, "value: %.40q is not a whole number, as the field integer demands", word)
	}
	if _, err := number.Float(word); err != number.ErrSyntax {
		return h.errorf(line, "value %.40q has an exponent without E before its sign", word)
	}
	return h.errorf(line, "value %.40q is not a number", word)
}
