package lines

import (
	"slices"

	"github.com/msrep-go/msrep/sparse"
)

// NewTriples has room for all entries that c can hold, one a line and at least
// 4 bytes long; without values if they are not wanted.
func NewTriples(c Chunk, values bool) sparse.Triples[float64] {
	room := min(c.Count, len(c.Data)/len("1 1\n"))
	t := sparse.Triples[float64]{Row: make([]int32, room), Col: make([]int32, room)}
	if values {
		t.Val = make([]float64, room)
	}
	return t
}

// Cut shortens t to n entries. Where much memory would be left over, the entries
// are copied.
func Cut(t sparse.Triples[float64], n int) sparse.Triples[float64] {
	spare := len(t.Row) - n
	t.Row, t.Col = t.Row[:n], t.Col[:n]
	if t.Val != nil {
		t.Val = t.Val[:n]
	}
	if spare > n/8 {
		t.Row, t.Col, t.Val = slices.Clone(t.Row), slices.Clone(t.Col), slices.Clone(t.Val)
	}
	return t
}
