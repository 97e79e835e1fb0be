package runs

import (
	"math"
	"math/bits"

	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// maskedRows divides RunMasked rows into pieces with masks.
type maskedRows[V sparse.Value] struct {
	b       *runsBuilder[V]
	at, end [RunMasked]int
	head    [RunMasked]int32 // column of the next entry, math.MaxInt32 at the end of the row
	last    int32            // greatest first column of a piece
}

func (b *runsBuilder[V]) maskedRows(row int) (m maskedRows[V]) {
	m.b, m.last = b, int32(b.r.Cols-b.columns)
	for i := range m.at {
		m.at[i], m.end[i] = b.entriesOf(row + i)
		m.move(i, 0)
	}
	return m
}

// move skips n entries of row i.
func (m *maskedRows[V]) move(i, n int) {
	m.at[i] += n
	m.head[i] = math.MaxInt32
	if m.at[i] < m.end[i] {
		m.head[i] = m.b.r.Idx[m.at[i]]
	}
}

// first returns the first column of the next piece; ok is false if all entries are in pieces.
func (m *maskedRows[V]) first() (first int32, ok bool) {
	first = min(m.head[0], m.head[1], m.head[2], m.head[3])
	return min(first, m.last), first != math.MaxInt32
}

// take returns the mask of row i in the piece that begins with column first, and skips its entries.
func (m *maskedRows[V]) take(i int, first int32) (mask uint8) {
	// The shift drops the columns after the piece.
	mask = m.b.runFrom(m.at[i]) << min(uint32(m.head[i]-first), form.RunRows) & (1<<m.b.columns - 1)
	m.move(i, bits.OnesCount8(mask))
	return mask
}

// putMasked appends the pieces with masks of RunMasked rows, beginning with row, and returns their
// number. If there are most pieces or more, it appends nothing and ok is false.
func (b *runsBuilder[V]) putMasked(row, most int) (pieces int, ok bool) {
	before, masks := len(b.runs.First), len(b.runs.Masks)
	m := b.maskedRows(row)
	for first, more := m.first(); more; first, more = m.first() {
		if pieces++; pieces == most {
			b.runs.First, b.runs.Masks = b.runs.First[:before], b.runs.Masks[:masks]
			return 0, false
		}
		b.runs.First = append(b.runs.First, first)
		b.runs.Masks = append(b.runs.Masks, m.take(0, first), m.take(1, first), m.take(2, first), m.take(3, first))
	}
	return pieces, true
}
