package mtx

import (
	"bytes"

	"github.com/msrep-go/msrep/internal/lines"
	"github.com/msrep-go/msrep/internal/number"
	"github.com/msrep-go/msrep/sparse"
)

// block is the entries of one chunk of a coordinate file, up to its first fault.
type block struct {
	sparse.Triples[float64]
	err error
}

// parseEntries reads the entries of a chunk.
func (h *header) parseEntries(c lines.Chunk) block {
	b, line := c.Data, c.Line
	t := lines.NewTriples(c, h.field != sparse.Pattern)
	count := 0
	for p := 0; p < len(b); line++ {
		p = lines.SkipBlanks(b, p)
		if b[p] == '\n' || b[p] == '%' {
			p += bytes.IndexByte(b[p:], '\n') + 1
			continue
		}
		start := p
		i, n := number.ScanInt(b[p:])
		p += n
		gap := p
		p = lines.SkipBlanks(b, p)
		j, m := number.ScanInt(b[p:])
		ok := n > 0 && m > 0 && p > gap && uint64(i-1) < uint64(h.rows) && uint64(j-1) < uint64(h.cols)
		p += m
		if ok && t.Val != nil {
			gap = p
			p = lines.SkipBlanks(b, p)
			v, n := h.scanValue(b[p:])
			ok = n > 0 && p > gap && (i != j || h.symmetry != sparse.SkewSymmetric || v == 0)
			p += n
			if ok {
				t.Val[count] = v
			}
		}
		p = lines.SkipBlanks(b, p)
		if !ok || b[p] != '\n' {
			return block{lines.Cut(t, count), h.entryFault(line, lines.First(b[start:]))}
		}
		p++
		t.Row[count], t.Col[count] = int32(i-1), int32(j-1)
		count++
	}
	return block{lines.Cut(t, count), nil}
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
	if _, err := number.Float(word); err == number.ErrRange {
		return h.errorf(line, "value %.40q is too large for a float64", word)
	}
	return h.errorf(line, "value %.40q is not a number", word)
}
