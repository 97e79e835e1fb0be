package npz

import "github.com/msrep-go/msrep/sparse"

// coordinates reads a coo matrix.
func (g *groupReader) coordinates() (*sparse.CSR[float64], error) {
	data, err := g.numbers(1)
	if err != nil {
		return nil, err
	}
	n := data.items()
	if err := g.checkDims(data, n); err != nil {
		return nil, err
	}
	if err := g.limits.CheckMemory(g.name, 0, g.rows, n, sparse.TripleBytes); err != nil {
		return nil, err
	}
	if g.member[g.prefix+"coords"] != nil {
		return g.coords(data, n)
	}
	var index [2][]int32
	var val []float64
	for i, key := range []string{"row", "col"} {
		x, err := g.integers(key, 1)
		if err != nil {
			return nil, err
		}
		if k := x.items(); k != n {
			return nil, x.failf("holds %d items for the %d of data: these must be equal", k, n)
		}
		what, limit := "row index", g.rows
		if i == 1 {
			what, limit = "column index", g.cols
		}
		if i == 0 {
			index[0], err = x.indices(g.ctx, what, limit)
		} else {
			index[1], val, err = g.both(func() ([]int32, error) { return x.indices(g.ctx, what, limit) }, data)
		}
		if err != nil {
			return nil, err
		}
	}
	g.note(val)
	return g.assemble(index[0], index[1], val), nil
}

// coords reads the row and column indices of newer SciPy versions, which are one array of
// two rows.
func (g *groupReader) coords(data *array, n int64) (*sparse.CSR[float64], error) {
	x, err := g.integers("coords", 2)
	if err != nil {
		return nil, err
	}
	if x.shape[0] != 2 || x.shape[1] != n {
		return nil, x.failf("has the shape %v: must be [2 %d] for the %d items of data", x.shape, n, n)
	}
	isRow := func(k int64) bool { return k < n }
	if x.fortran {
		isRow = func(k int64) bool { return k%2 == 0 }
	}
	d := x.dtype
	index, val, err := g.both(func() ([]int32, error) {
		return read(g.ctx, x, func(to []int32, b []byte, k int64) error {
			for i := range to {
				v, what, limit := d.int(b[i*d.size:]), "column index", g.cols
				if isRow(k + int64(i)) {
					what, limit = "row index", g.rows
				}
				if uint64(v) >= uint64(limit) {
					return badIndex(k+int64(i), v, what, limit)
				}
				to[i] = int32(v)
			}
			return nil
		})
	}, data)
	if err != nil {
		return nil, err
	}
	row, col := index[:n], index[n:]
	if x.fortran {
		row, col = make([]int32, n), make([]int32, n)
		for k := range row {
			row[k], col[k] = index[2*k], index[2*k+1]
		}
	}
	g.note(val)
	return g.assemble(row, col, val), nil
}
