package mtx

import (
	"bytes"
	"sync"

	"github.com/msrep-go/msrep/internal/lines"
	"github.com/msrep-go/msrep/internal/source"
	"github.com/msrep-go/msrep/sparse"
)

// values is the values of one chunk of an array file, up to the first error.
type values struct {
	val     *[]float64
	inexact source.Inexact
	err     error
}

// scratch reuses the memory of values from chunk to chunk.
var scratch = sync.Pool{New: func() any { return new([]float64) }}

// parseValues parses the values of a chunk, one per line.
func (h *header) parseValues(c lines.Chunk) values {
	b, line := c.Data, c.Line
	to := scratch.Get().(*[]float64)
	*to = (*to)[:0]
	var inexact source.Inexact
	for p := 0; p < len(b); line++ {
		p = lines.SkipBlanks(b, p)
		if b[p] == '\n' || b[p] == '%' {
			p += bytes.IndexByte(b[p:], '\n') + 1
			continue
		}
		start := p
		v, n := h.scanValue(b[p:])
		if n == 0 {
			var other bool
			if v, n, other = h.scanAny(b[p:]); other {
				inexact.Merge(inexactAt(v, line))
			}
		}
		p = lines.SkipBlanks(b, p+n)
		if n == 0 || b[p] != '\n' {
			return values{to, inexact, h.lineFault(line, lines.First(b[start:]))}
		}
		p++
		*to = append(*to, v)
	}
	return values{to, inexact, nil}
}

// lineFault returns the error for a line that is not one value.
func (h *header) lineFault(line int64, text []byte) error {
	if words := bytes.Fields(text); len(words) != 1 {
		return h.errorf(line, "line has %d words: an array has one value a line: %.60q", len(words), text)
	}
	if err := h.valueFault(line, text); err != nil {
		return err
	}
	return h.errorf(line, "not a value: %.60q", text)
}

// chunkSize is the number of entries of an array in one chunk of triples.
const chunkSize = 1 << 16

// denseEntries converts the values of an array, column after column, to triples. It
// leaves out zeros.
type denseEntries struct {
	h      *header
	i, j   int64 // position of the next value
	chunks []sparse.Triples[float64]
}

func newDenseEntries(h *header) *denseEntries {
	d := &denseEntries{h: h}
	d.i = d.top()
	return d
}

// top returns the first row that a file stores of column j.
func (d *denseEntries) top() int64 {
	switch d.h.symmetry {
	case sparse.Symmetric:
		return d.j
	case sparse.SkewSymmetric:
		return d.j + 1
	}
	return 0
}

func (d *denseEntries) add(val []float64) {
	for _, v := range val {
		if v != 0 {
			d.append(int32(d.i), int32(d.j), v)
		}
		if d.i++; d.i == d.h.rows {
			d.j++
			d.i = d.top()
		}
	}
}

func (d *denseEntries) append(i, j int32, v float64) {
	k := len(d.chunks) - 1
	if k < 0 || len(d.chunks[k].Row) == chunkSize {
		size := chunkSize
		if k < 0 { // small matrices are common
			size = int(min(d.h.entries, chunkSize))
		}
		d.chunks = append(d.chunks, sparse.Triples[float64]{
			Row: make([]int32, 0, size), Col: make([]int32, 0, size), Val: make([]float64, 0, size),
		})
		k++
	}
	t := &d.chunks[k]
	t.Row, t.Col, t.Val = append(t.Row, i), append(t.Col, j), append(t.Val, v)
}
