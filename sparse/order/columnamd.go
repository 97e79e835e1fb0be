package order

import "github.com/msrep-go/msrep/sparse"

// ColumnAMD returns an order of the columns that keeps L and U sparse in a factorisation P
// A Q = L U with any row exchanges P: Q has the columns q of the identity. It is an
// approximate minimum degree order of the pattern of A'A, which contains the pattern of U
// for all P (Davis, Gilbert, Larimore and Ng, A column approximate minimum degree ordering
// algorithm, ACM Trans. Math. Softw. 30 (2004) 353-376).
//
// A'A is not formed. A row of A makes its columns adjacent to each other, as an eliminated
// column does, so the rows are the first elements of the quotient graph that AMD uses.
//
// A row with more than d(columns) entries is left out, d(n) = max(16, min(10 sqrt(n), n/2)).
// A column with more than d(min(rows, columns)) entries does not take part; such columns come
// last, in ascending order of length, and after them columns without entries in other rows.
//
// The matrix may be rectangular. A matrix that is not valid is a *sparse.InputError.
func ColumnAMD[V sparse.Value](a *sparse.CSR[V]) ([]int32, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	entries := 2 * a.NNZ()
	if err := fits(a, quotientBytes(a.Cols, a.Rows, entries)+12*int64(a.Rows+a.Cols)); err != nil {
		return nil, err
	}
	b := newBipartite(a)
	n := a.Cols
	q := newQuotient(n, a.Rows, entries)
	limit := columnLimit(min(a.Rows, n))
	var dense, empty []int32
	for j := range int32(n) {
		switch d := int(b.count[j]); {
		case d == 0:
			empty = append(empty, j)
		case d > limit:
			dense = append(dense, j)
		default:
			continue
		}
		q.leaveOut(j)
	}
	b.fill(q)
	sortByKey(dense, func(j int32) int { return int(b.count[j]) })
	return append(append(q.order(), dense...), empty...), nil
}

// columnLimit is the number of entries in a line of n elements beyond which ColumnAMD
// leaves it out. Half a line is dense too: without that, U of matrices of 200 rows has up
// to 1.7 times the entries.
func columnLimit(n int) int { return max(16, min(denseLimit(n), n/2)) }

// bipartite is the graph of rows and columns of a matrix, of which only the numbers of
// distinct entries are stored.
type bipartite struct {
	ptr   []int64
	col   []int32
	count []int32 // distinct rows of each column
	seen  []int32 // by column: 1 + the last row that had it
	limit int     // longer rows are left out
}

// newBipartite counts the entries of the columns of a, in rows that are not dense.
func newBipartite[V sparse.Value](a *sparse.CSR[V]) *bipartite {
	b := &bipartite{ptr: a.RowPtr, col: a.ColIdx, count: make([]int32, a.Cols), seen: make([]int32, a.Cols), limit: columnLimit(a.Cols)}
	for i := range int32(a.Rows) {
		for _, j := range b.row(i, nil) {
			b.count[j]++
		}
	}
	return b
}

// row appends the distinct columns of row i to to, none if the row is dense. Rows must be
// passed in ascending order.
func (b *bipartite) row(i int32, to []int32) []int32 {
	first := len(to)
	for _, j := range b.col[b.ptr[i]:b.ptr[i+1]] {
		if b.seen[j] != i+1 {
			b.seen[j] = i + 1
			to = append(to, j)
		}
	}
	if len(to)-first > b.limit {
		return to[:first]
	}
	return to
}

// fill makes rows the elements and columns the variables of q.
func (b *bipartite) fill(q *quotient) {
	clear(b.seen)
	n := int32(q.variables)
	for j := range n { // places for the elements of each variable
		if v := &q.nodes[j]; v.weight != 0 {
			v.start = q.free
			q.free += int64(b.count[j])
		}
	}
	degree := make([]int64, n)
	for i := range int32(len(b.ptr) - 1) {
		e := &q.nodes[n+i]
		e.start = q.free
		columns := b.row(i, q.lists[q.free:q.free:len(q.lists)])
		kept := columns[:0]
		for _, j := range columns {
			if q.nodes[j].weight != 0 {
				kept = append(kept, j)
			}
		}
		if len(kept) == 0 {
			e.mark = 0
			continue
		}
		e.length, e.degree = int32(len(kept)), int32(len(kept))
		q.largest = max(q.largest, e.degree)
		q.free += int64(len(kept))
		for _, j := range kept {
			v := &q.nodes[j]
			q.lists[v.start+int64(v.length)] = n + i
			v.length++
			v.elements++
			degree[j] += int64(len(kept) - 1)
		}
	}
	for j, d := range degree {
		if v := &q.nodes[j]; v.weight != 0 {
			v.degree = int32(min(d, int64(q.left-1)))
			q.insert(int32(j))
		}
	}
}
