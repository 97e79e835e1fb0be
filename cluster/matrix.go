package cluster

import (
	"slices"

	"github.com/msrep-go/msrep/sparse"
)

// Matrix is a matrix over ranks, as one rank stores it: some whole rows. Read, Slice, Convert, Transpose, Multiply and Add
// make it; NewPlan takes ownership of it.
type Matrix[V sparse.Value] struct {
	Rows, Cols int   // of all ranks together
	NNZ        int64 // of all ranks together
	// RowCut and ColCut are the cuts of vectors among ranks; the rows of rank r are [RowCut[r], RowCut[r+1]). See the
	// package comment.
	RowCut, ColCut []int
	// Part holds the rows of this rank, with the column numbers of the whole matrix.
	Part *sparse.CSR[V]

	rank int
}

// Align restricts the cuts between ranks: the first row of each rank is a multiple of Align. Values below 2 mean no
// restriction.
type Align int

// Slice returns this rank's rows of a matrix that all ranks have as a whole: for generated matrices and tests.
func Slice[V sparse.Value](c Comm, a *sparse.CSR[V], align Align) (*Matrix[V], error) {
	if c == nil {
		return nil, errNoComm
	}
	if err := a.Validate(); err != nil {
		return nil, err
	}
	return rowsOf(c, a, align)
}

// rowsOf is Slice for a matrix whose pointers may be wrong.
func rowsOf[V sparse.Value](c Comm, a *sparse.CSR[V], align Align) (*Matrix[V], error) {
	cuts, err := rowCuts(a.RowPtr, c.Size(), int(align))
	if err != nil {
		return nil, err
	}
	m := &Matrix[V]{Rows: a.Rows, Cols: a.Cols, NNZ: a.NNZ(), RowCut: cuts, ColCut: columnCuts(cuts, a.Rows, a.Cols), rank: c.Rank()}
	first, end := cuts[m.rank], cuts[m.rank+1]
	if k0, k1 := a.RowPtr[first], a.RowPtr[end]; k0 < 0 || k0 > k1 || k1 > a.NNZ() {
		return nil, sparse.Inputf("matrix", "rows %d to %d have entries %d to %d of %d: row pointers must ascend from 0 to the number of entries", first, end-1, k0, k1-1, a.NNZ())
	}
	m.Part = window(a, first, end)
	return m, nil
}

// window returns a copy of the rows [first, end) of a.
func window[V sparse.Value](a *sparse.CSR[V], first, end int) *sparse.CSR[V] {
	k0, k1 := a.RowPtr[first], a.RowPtr[end]
	ptr := make([]int64, end-first+1)
	for i := range ptr {
		ptr[i] = a.RowPtr[first+i] - k0
	}
	return &sparse.CSR[V]{Rows: end - first, Cols: a.Cols, RowPtr: ptr, ColIdx: slices.Clone(a.ColIdx[k0:k1]), Val: slices.Clone(a.Val[k0:k1])}
}

// Convert returns the matrix with another type of values.
func Convert[W, V sparse.Value](m *Matrix[V]) *Matrix[W] {
	return &Matrix[W]{
		Rows: m.Rows, Cols: m.Cols, NNZ: m.NNZ, RowCut: m.RowCut, ColCut: m.ColCut, Part: sparse.Convert[W](m.Part),
		rank: m.rank,
	}
}

// First returns the first row of this rank.
func (m *Matrix[V]) First() int { return m.RowCut[m.rank] }

// FirstCol returns the first element of this rank in vectors with one element for each column.
func (m *Matrix[V]) FirstCol() int { return m.ColCut[m.rank] }

// Transpose returns the transposed matrix: the rows of rank r are the columns [ColCut[r], ColCut[r+1]) of m, with
// entries in the order of the rows of m. All ranks call it.
func (m *Matrix[V]) Transpose(c Comm) (*Matrix[V], error) {
	switch {
	case c == nil:
		return nil, errNoComm
	case m == nil || m.Part == nil:
		return nil, errNoPart
	}
	to := router[V]{comm: c, cuts: m.ColCut, values: true}
	first, a := m.First(), m.Part
	batch := sparse.Triples[V]{}
	i := 0
	err := to.run(func() (sparse.Triples[V], bool) {
		batch.Row, batch.Col, batch.Val = batch.Row[:0], batch.Col[:0], batch.Val[:0]
		for ; i < a.Rows && len(batch.Row) < routeBatch; i++ {
			for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
				batch.Row = append(batch.Row, a.ColIdx[k])
				batch.Col = append(batch.Col, int32(first+i))
				batch.Val = append(batch.Val, a.Val[k])
			}
		}
		return batch, i < a.Rows
	})
	if err != nil {
		return nil, err
	}
	t := &Matrix[V]{Rows: m.Cols, Cols: m.Rows, NNZ: m.NNZ, RowCut: m.ColCut, ColCut: m.RowCut, rank: m.rank}
	t.Part = arrange(t.RowCut[m.rank+1]-t.RowCut[m.rank], t.Cols, to.blocks())
	return t, nil
}

// arrange makes rows from triples and keeps the order of the entries of a row.
func arrange[V sparse.Value](rows, cols int, blocks []sparse.Triples[V]) *sparse.CSR[V] {
	m := &sparse.CSR[V]{Rows: rows, Cols: cols, RowPtr: make([]int64, rows+1)}
	next := m.RowPtr[1:]
	var nnz int64
	for _, b := range blocks {
		for _, i := range b.Row {
			next[i]++
		}
		nnz += int64(len(b.Row))
	}
	var sum int64
	for i, n := range next {
		next[i] = sum
		sum += n
	}
	m.ColIdx, m.Val = make([]int32, nnz), make([]V, nnz)
	for _, b := range blocks {
		for k, i := range b.Row {
			m.ColIdx[next[i]], m.Val[next[i]] = b.Col[k], b.Val[k]
			next[i]++
		}
	}
	return m
}
