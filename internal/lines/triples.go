package lines

import (
	"slices"

	"github.com/msrep-go/msrep/sparse"
)

// NewTriples returns triples with room for all entries that c can hold: one per line, at
// least 4 bytes each. Val is nil if values is false.
func NewTriples(c Chunk, values bool) sparse.Triples[float64] {
	room := min(c.Count, len(c.Data)/len("1 1\n"))
	t := sparse.Triples[float64]{Row: make([]int32, room), Col: make([]int32, room)}
	if values {
		t.Val = make([]float64, room)
	}
	return t
}

// Cut shortens t to n entries. It copies the entries if much memory would be unused.
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
