package npz

import "github.com/msrep-go/msrep/sparse"

// diagonals reads a dia matrix. It leaves out elements outside the matrix, and zeros.
func (g *groupReader) diagonals() (*sparse.CSR[float64], error) {
	data, err := g.numbers(2)
	if err != nil {
		return nil, err
	}
	n, width := data.shape[0], data.shape[1]
	if err := g.checkDims(data, data.items()); err != nil {
		return nil, err
	}
	x, err := g.integers("offsets", 1)
	if err != nil {
		return nil, err
	}
	if k := x.items(); k != n {
		return nil, x.failf("holds %d offsets for the %d diagonals of data: these must be equal", k, n)
	}
	if err := g.limits.CheckMemory(g.name, 0, g.rows, data.items(), 8+sparse.TripleBytes); err != nil {
		return nil, err
	}
	offsets, err := x.ints(g.ctx)
	if err != nil {
		return nil, err
	}
	val, err := data.values(g.ctx)
	if err != nil {
		return nil, err
	}
	span := func(offset int64) (lo, hi int64) { return max(offset, 0), min(width, g.cols, g.rows+offset) }
	room := int64(0)
	for d, offset := range offsets {
		offsets[d] = min(max(offset, -g.rows), g.cols) // larger offsets are outside the matrix too
		lo, hi := span(offsets[d])
		room += max(hi-lo, 0)
	}
	t := sparse.Triples[float64]{Row: make([]int32, 0, room), Col: make([]int32, 0, room), Val: make([]float64, 0, room)}
	for d, offset := range offsets {
		lo, hi := span(offset)
		for j := lo; j < hi; j++ {
			at := int64(d)*width + j
			if data.fortran {
				at = int64(d) + n*j
			}
			if v := val[at]; v != 0 {
				t.Row, t.Col, t.Val = append(t.Row, int32(j-offset)), append(t.Col, int32(j)), append(t.Val, v)
			}
		}
	}
	g.note(t.Val)
	return g.assemble(t.Row, t.Col, t.Val), nil
}
