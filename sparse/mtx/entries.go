package mtx

import (
	"bytes"
	"encoding/binary"

	"github.com/msrep-go/msrep/internal/lines"
	"github.com/msrep-go/msrep/internal/number"
	"github.com/msrep-go/msrep/sparse"
)

// block is the entries of one chunk of a coordinate file, up to its first fault.
type block struct {
	sparse.Triples[float64]
	err error
}

// entry is what a line of a coordinate file says.
type entry struct {
	row, col int64 // from 1 on
	val      float64
}

// parseEntries reads the entries of a chunk.
func (h *header) parseEntries(c lines.Chunk) block {
	b, line := c.Data, c.Line
	t := lines.NewTriples(c, h.field != sparse.Pattern)
	values, skew := t.Val != nil, h.symmetry == sparse.SkewSymmetric
	count := 0
	for p := 0; p < len(b); line++ {
		e, next := h.scanCommon(b, p, values)
		if next == 0 {
			p = lines.SkipBlanks(b, p)
			if b[p] == '\n' || b[p] == '%' {
				p += bytes.IndexByte(b[p:], '\n') + 1
				continue
			}
			e, next = h.scanEntry(b, p, values)
		}
		if next == 0 || uint64(e.row-1) >= uint64(h.rows) || uint64(e.col-1) >= uint64(h.cols) || skew && e.row == e.col && e.val != 0 {
			return block{lines.Cut(t, count), h.entryFault(line, lines.First(b[p:]))}
		}
		p = next
		t.Row[count], t.Col[count] = int32(e.row-1), int32(e.col-1)
		if values {
			t.Val[count] = e.val
		}
		count++
	}
	return block{lines.Cut(t, count), nil}
}

// scanCommon reads the line of b that begins at p and says where the next one does, if it
// is written as most are: indices of 1 to 8 digits, single blanks, and nothing else. Of all
// other lines, and of the last ones of b, next is 0.
func (h *header) scanCommon(b []byte, p int, value bool) (e entry, next int) {
	const room = 2 * len("12345678 ")
	if len(b)-p <= room {
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

// scanEntry reads the line of b that begins at p and says where the next one does, 0 if it
// is not an entry.
func (h *header) scanEntry(b []byte, p int, value bool) (e entry, next int) {
	e.row, next = number.ScanInt(b[p:])
	p += next
	gap := p
	p = lines.SkipBlanks(b, p)
	var n int
	e.col, n = number.ScanInt(b[p:])
	ok := next > 0 && n > 0 && p > gap
	p += n
	if ok && value {
		gap = p
		p = lines.SkipBlanks(b, p)
		e.val, n = h.scanValue(b[p:])
		ok = n > 0 && p > gap
		p += n
	}
	p = lines.SkipBlanks(b, p)
	if !ok || b[p] != '\n' {
		return e, 0
	}
	return e, p + 1
}

// scanValue reads the value that b begins with and says how many bytes it took.
func (h *header) scanValue(b []byte) (float64, int) {
	if h.field == sparse.Integer {
		v, n := number.ScanInt(b)
		return float64(v), n
	}
	return number.ScanFloat(b)
}

// entryFault says what is wrong with a line that is not an entry.
func (h *header) entryFault(line int64, text []byte) error {
	words := bytes.Fields(text)
	need, form := 3, "row, column and value"
	if h.field == sparse.Pattern {
		need, form = 2, "row and column"
	}
	if len(words) != need {
		return h.errorf(line, "entry has %d words, %s are needed: %.60q", len(words), form, text)
	}
	var at [2]int64
	for k, what := range []string{"row", "column"} {
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
	if need == 2 {
		return h.errorf(line, "not an entry: %.60q", text)
	}
	if err := h.valueFault(line, words[2]); err != nil {
		return err
	}
	if h.symmetry == sparse.SkewSymmetric && at[0] == at[1] {
		return h.errorf(line, "value %s on the diagonal of a skew-symmetric matrix: it must be 0", words[2])
	}
	return h.errorf(line, "not an entry: %.60q", text)
}

// valueFault says what is wrong with a word that is not a value; nil if nothing.
func (h *header) valueFault(line int64, word []byte) error {
	if h.field == sparse.Integer {
		if _, err := number.Int(word); err != nil {
			return h.errorf(line, "value: %s, as the field integer demands", notWhole(word, err))
		}
		return nil
	}
	if _, n := number.ScanFloat(word); n == len(word) {
		return nil
	}
	switch _, err := number.Float(word); err {
	case nil:
		return h.errorf(line, "value %.40q has an exponent without E before its sign", word)
	case number.ErrRange:
		return h.errorf(line, "value %.40q is too large for a float64", word)
	}
	return h.errorf(line, "value %.40q is not a number", word)
}
