package gen

var mycielskianInfo = Info{
	Name:    "mycielskian",
	Summary: "the Mycielski graph of order k, without triangles and of chromatic number k; symmetric, 3*2^(k-2)-1 rows",
	Example: "mycielskian:k=14",
	Params:  []Param{{"k", "8", "order, 2 to 30"}, valueParam, seedParam},
}

// mycielskian starts with a graph of one edge. Each step replaces a graph of n nodes by
// one of 2n+1 nodes (Mycielski, Colloquium Mathematicum 3, 1955): node n+i is joined to
// the neighbours of i, and the last node to nodes n to 2n-1. The numbering is that of the
// collection's matrices mycielskian2 to mycielskian20.
func mycielskian(p *params) *plan {
	k := p.count("k", 2, 30)
	n := int64(3)<<(k-2) - 1
	entries := int64(2)
	for half, step := int64(2), int64(2); step < k; step++ {
		entries = 3*entries + 2*half
		half = 2*half + 1
	}
	pl := &plan{rows: n, cols: n, entries: entries, symmetric: true}
	pl.setValues(p)
	pl.lengths = perRow(func(i int64) int64 { return mycielskiDegree(i, n) })
	pl.row = func(i int64, col []int32, _ *scratch) { mycielskiRow(i, n, col[:0]) }
	return pl
}

// mycielskiDegree returns the number of neighbours of node i in the graph of n nodes.
func mycielskiDegree(i, n int64) int64 {
	if n == 2 {
		return 1
	}
	half := n / 2
	switch {
	case i < half:
		return 2 * mycielskiDegree(i, half)
	case i < n-1:
		return mycielskiDegree(i-half, half) + 1
	}
	return half
}

// mycielskiRow appends the neighbours of node i in ascending order.
func mycielskiRow(i, n int64, col []int32) []int32 {
	if n == 2 {
		return append(col, int32(1-i))
	}
	half := n / 2
	switch {
	case i < half:
		col = mycielskiRow(i, half, col)
		for _, j := range col {
			col = append(col, j+int32(half))
		}
		return col
	case i < n-1:
		return append(mycielskiRow(i-half, half, col), int32(n-1))
	}
	for j := half; j < n-1; j++ {
		col = append(col, int32(j))
	}
	return col
}
