package npz

import (
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

// blocks reads a bsr matrix.
func (g *groupReader) blocks() (*sparse.CSR[float64], error) {
	data, err := g.numbers(3)
	if err != nil {
		return nil, err
	}
	n, r, c := data.shape[0], data.shape[1], data.shape[2]
	if r < 1 || c < 1 || r > sparse.MaxDim || c > sparse.MaxDim || g.rows%r != 0 || g.cols%c != 0 {
		return nil, data.failf("holds blocks of %d x %d for a matrix of %d rows and %d columns, which they do not divide", r, c, g.rows, g.cols)
	}
	ptr, idx, err := g.structure(g.rows/r, data, r*c, n)
	if err != nil {
		return nil, err
	}
	index, val, err := g.both(func() ([]int32, error) { return idx.indices(g.ctx, "block column index", g.cols/c) }, data)
	if err != nil {
		return nil, err
	}
	used := ptr[g.rows/r]
	if err := g.limits.CheckMemory(g.name, 0, g.rows, used*r*c, sparse.TripleBytes); err != nil {
		return nil, err
	}
	row, col := make([]int32, used*r*c), make([]int32, used*r*c)
	entries := make([]float64, used*r*c)
	par.Range(g.rows/r, 1<<10, func(lo, hi int64) {
		for i := lo; i < hi; i++ {
			for b := ptr[i]; b < ptr[i+1]; b++ {
				for k := range r * c {
					at := b*r*c + k
					row[at], col[at] = int32(i*r+k/c), int32(int64(index[b])*c+k%c)
					if data.fortran {
						entries[at] = val[b+n*(k/c+r*(k%c))]
					} else {
						entries[at] = val[at]
					}
				}
			}
		}
	})
	g.note(entries)
	return g.assemble(row, col, entries), nil
}
