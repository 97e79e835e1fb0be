package npz

import (
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/internal/source"
	"github.com/msrep-go/msrep/sparse"
)

// compressed reads a csr matrix or, with byColumn, a csc matrix.
func (g *groupReader) compressed(majors, minors int64, minor string, byColumn bool) (*sparse.CSR[float64], error) {
	data, err := g.numbers(1)
	if err != nil {
		return nil, err
	}
	ptr, idx, err := g.structure(majors, data, 1, data.items())
	if err != nil {
		return nil, err
	}
	index, val, err := g.both(
		func() ([]int32, error) { return idx.indices(g.ctx, minor+" index", minors) }, data)
	if err != nil {
		return nil, err
	}
	n := ptr[majors] // SciPy allows unused items after the entries
	index, val = index[:n], val[:n]
	g.note(val)
	if !byColumn && source.Rising(ptr, index) {
		return &sparse.CSR[float64]{Rows: int(g.rows), Cols: int(g.cols), RowPtr: ptr, ColIdx: index, Val: val}, nil
	}
	const read = 12 // bytes per entry, of TripleBytes, that are read already
	if err := g.limits.CheckMemory(g.name, 0, g.rows, n, sparse.TripleBytes-read); err != nil {
		return nil, err
	}
	if byColumn {
		return g.assemble(index, majorOf(ptr), val), nil
	}
	return g.assemble(majorOf(ptr), index, val), nil
}

// structure opens indptr and indices for n blocks of perBlock entries each, checks their
// sizes, and reads the pointers.
func (g *groupReader) structure(majors int64, data *array, perBlock, n int64) (ptr []int64, idx *array, err error) {
	indptr, err := g.integers("indptr", 1)
	if err != nil {
		return nil, nil, err
	}
	if idx, err = g.integers("indices", 1); err != nil {
		return nil, nil, err
	}
	if k := idx.items(); k != n {
		return nil, nil, data.failf("holds %d items for the %d of indices: these must be equal", n, k)
	}
	if err := g.checkDims(data, n*perBlock); err != nil {
		return nil, nil, err
	}
	if k := indptr.items(); k != majors+1 {
		return nil, nil, indptr.failf("holds %d pointers: must be %d for a matrix of %d rows and %d columns", k, majors+1, g.rows, g.cols)
	}
	if ptr, err = indptr.pointers(g.ctx); err != nil {
		return nil, nil, err
	}
	if last := ptr[majors]; last > n {
		return nil, nil, indptr.failf("ends with %d: there are only %d indices", last, n)
	}
	return ptr, idx, g.limits.CheckMemory(g.name, 0, g.rows, n*perBlock, sparse.EntryBytes)
}

// majorOf returns the major of every entry: the row for row pointers, the column for
// column pointers.
func majorOf(ptr []int64) []int32 {
	n := int64(len(ptr)) - 1
	out := make([]int32, ptr[n])
	par.Range(n, 1<<15, func(lo, hi int64) {
		for i := lo; i < hi; i++ {
			for k := ptr[i]; k < ptr[i+1]; k++ {
				out[k] = int32(i)
			}
		}
	})
	return out
}
