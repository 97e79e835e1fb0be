package cluster

import (
	"errors"
	"math"
	"slices"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

// errMessage is the error for a message that is shorter than the numbers in it say.
var errMessage = errors.New("a message between ranks is incomplete")

// named returns this rank's rows with columns numbered anew, in their order: only the columns [first, end) and those that a
// names. halo lists the named columns outside [first, end) in ascending order; the first before of them are below first.
// The result shares pointers and values with a.
func named[V sparse.Value](a *sparse.CSR[V], first, end int) (b *sparse.CSR[V], halo []int32, before int) {
	set := remoteColumns(a.ColIdx, a.Cols, first, end)
	halo = set.members()
	before, _ = slices.BinarySearch(halo, int32(first))
	own := int32(end - first)
	b = &sparse.CSR[V]{Rows: a.Rows, Cols: int(own) + set.size, RowPtr: a.RowPtr, ColIdx: make([]int32, len(a.ColIdx)), Val: a.Val}
	for k, j := range a.ColIdx {
		switch {
		case j < int32(first):
			b.ColIdx[k] = set.number(j)
		case j < int32(end):
			b.ColIdx[k] = j - int32(first) + int32(before)
		default:
			b.ColIdx[k] = set.number(j) + own
		}
	}
	return b, halo, before
}

// withRows returns the rows of this rank and the rows of other ranks that halo lists, all in ascending order, with the
// column numbers of the whole matrix. The first before rows of halo are before those of this rank. All ranks call it.
func (m *Matrix[V]) withRows(c Comm, halo []int32, before int) (*sparse.CSR[V], error) {
	w, err := requestHalo(c, m.RowCut, halo)
	if err != nil {
		return nil, err
	}
	a := m.Part
	send := make([][]byte, c.Size())
	for _, r := range w.out {
		send[r.rank] = packRows(a, r.idx)
	}
	received, err := c.Swap(send)
	if err != nil {
		return nil, err
	}
	if len(halo) == 0 {
		return a, nil
	}
	nnz := a.NNZ()
	got := make([]rowMessage[V], len(w.in))
	for i, r := range w.in {
		if err := got[i].unpack(received[r.rank], r.n); err != nil {
			return nil, err
		}
		nnz += int64(len(got[i].val))
	}
	rows := a.Rows + len(halo)
	if need := 8*int64(rows) + nnz*(4+mem.Size[V]()); nnz < 0 || nnz > math.MaxInt64/16 {
		return nil, sparse.Inputf("matrix", "the rows that a rank needs have more entries than a number of 64 bits can count")
	} else if have, ok := mem.Fits(need); !ok {
		return nil, sparse.Inputf("matrix", "the rows that a rank needs take %d bytes, %d are available", need, have)
	}
	out := &sparse.CSR[V]{Rows: rows, Cols: m.Cols, RowPtr: append(make([]int64, 0, rows+1), 0), ColIdx: make([]int32, 0, nnz), Val: make([]V, 0, nnz)}
	for i, r := range w.in {
		if r.at == before {
			appendRows(out, a)
		}
		got[i].appendTo(out)
	}
	if before == len(halo) {
		appendRows(out, a)
	}
	return out, nil
}

// appendRows appends the rows of a to those of out.
func appendRows[V sparse.Value](out, a *sparse.CSR[V]) {
	end := out.NNZ()
	for _, p := range a.RowPtr[1:] {
		out.RowPtr = append(out.RowPtr, end+p)
	}
	out.ColIdx, out.Val = append(out.ColIdx, a.ColIdx...), append(out.Val, a.Val...)
}

// rowMessage is rows in a message: the number of entries of each row, then all values, then all columns.
type rowMessage[V sparse.Value] struct {
	length []int64
	val    []V
	col    []int32
}

// packRows makes a message of the given rows.
func packRows[V sparse.Value](a *sparse.CSR[V], rows []int32) []byte {
	var nnz int64
	for _, i := range rows {
		nnz += a.RowPtr[i+1] - a.RowPtr[i]
	}
	b := make([]byte, 8*int64(len(rows))+nnz*(4+mem.Size[V]()))
	var g rowMessage[V]
	g.view(b, len(rows), nnz)
	at := int64(0)
	for k, i := range rows {
		k0, k1 := a.RowPtr[i], a.RowPtr[i+1]
		g.length[k] = k1 - k0
		copy(g.val[at:], a.Val[k0:k1])
		copy(g.col[at:], a.ColIdx[k0:k1])
		at += k1 - k0
	}
	return b
}

// view finds the arrays of a message of n rows with nnz entries.
func (g *rowMessage[V]) view(b []byte, n int, nnz int64) (ok bool) {
	size := mem.Size[V]()
	if g.length, ok = mem.Slice[int64](b, int64(n)); !ok || nnz < 0 || int64(len(b)) != 8*int64(n)+nnz*(4+size) {
		return false
	}
	b = b[8*n:]
	g.val, _ = mem.Slice[V](b, nnz)
	g.col, _ = mem.Slice[int32](b[nnz*size:], nnz)
	return true
}

// unpack finds the arrays of a message of n rows.
func (g *rowMessage[V]) unpack(b []byte, n int) error {
	length, ok := mem.Slice[int64](b, int64(n))
	if !ok {
		return errMessage
	}
	var nnz int64
	for _, k := range length {
		nnz += k
	}
	if !g.view(b, n, nnz) {
		return errMessage
	}
	return nil
}

// appendTo appends the rows to those of a.
func (g *rowMessage[V]) appendTo(a *sparse.CSR[V]) {
	end := a.NNZ()
	for _, n := range g.length {
		end += n
		a.RowPtr = append(a.RowPtr, end)
	}
	a.ColIdx, a.Val = append(a.ColIdx, g.col...), append(a.Val, g.val...)
}

// whole returns all rows of a matrix, on every rank. All ranks call it.
func (m *Matrix[V]) whole(c Comm) (*sparse.CSR[V], error) {
	rows := make([]int32, m.Part.Rows)
	for i := range rows {
		rows[i] = int32(i)
	}
	all, err := toAll(c, packRows(m.Part, rows))
	if err != nil {
		return nil, err
	}
	a := &sparse.CSR[V]{Rows: m.Rows, Cols: m.Cols, RowPtr: append(make([]int64, 0, m.Rows+1), 0), ColIdx: make([]int32, 0, m.NNZ), Val: make([]V, 0, m.NNZ)}
	for r, b := range all {
		var g rowMessage[V]
		if err := g.unpack(b, m.RowCut[r+1]-m.RowCut[r]); err != nil {
			return nil, err
		}
		g.appendTo(a)
	}
	return a, nil
}

// toAll sends b to all ranks and returns the bytes of each rank. Unlike Comm.Share it has no limit of size.
func toAll(c Comm, b []byte) ([][]byte, error) {
	send := make([][]byte, c.Size())
	for r := range send {
		send[r] = b
	}
	return c.Swap(send)
}
