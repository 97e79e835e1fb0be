package order

import (
	"context"
	"math"

	"github.com/msrep-go/msrep/sparse"
)

// Matching pairs columns with rows of a matrix, and has factors that scale the matrix.
type Matching struct {
	// Rows[j] is the row that is matched with column j, or -1. If all columns of a square
	// matrix are matched, sparse.Permute(a, Rows, nil) has the matched entries on the
	// diagonal.
	Rows []int32
	// RowScale and ColScale are positive. If all of them are within the limits that Match
	// states, |RowScale[i] a_ij ColScale[j]| is at most 1 for all entries and 1 for matched
	// ones, up to rounding.
	RowScale, ColScale []float64
	// Size is the number of matched columns: the structural rank of the matrix.
	Size int
}

// Match returns a matching of columns with rows that has the largest possible number of
// columns, and among all matchings of every column of a square matrix the largest product
// of magnitudes of the matched entries. Duff and Koster, On algorithms for permuting large
// entries to the diagonal of a sparse matrix, SIAM J. Matrix Anal. Appl. 22 (2001)
// 973-996; job 5 of MC64.
//
// With the costs c_ij = log max_k |a_kj| - log |a_ij|, it finds a matching of least total
// cost by shortest augmenting paths, one column after the other, and potentials u of rows
// and v of columns with u_i + v_j <= c_ij, equal for matched entries. RowScale[i] is
// exp(u_i), ColScale[j] is exp(v_j) / max_k |a_kj|.
//
// Duplicates are added. Entries with value zero are no entries; lines without entries
// have the scale 1. Scales are limited to the range from 1e-300 to 1e300. If the matrix is
// structurally singular (Size is less than the number of rows or columns), the scales hold
// for all entries, but the product need not be the largest.
//
// A matrix that is not valid, or has a value that is NaN or infinite, is a
// *sparse.InputError.
func Match(a *sparse.CSR[float64]) (*Matching, error) {
	return MatchContext(context.Background(), a)
}

// MatchContext is Match that ends with the error of ctx when ctx ends: large matrices with
// long rows may take minutes.
func MatchContext(ctx context.Context, a *sparse.CSR[float64]) (*Matching, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	for k, v := range a.Val {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, sparse.Inputf("matrix", "entry %d is %v: a matching needs finite values", k, v)
		}
	}
	// The transposed matrix, the costs, and nine vectors.
	if err := fits(a, 28*a.NNZ()+44*int64(a.Rows)+48*int64(a.Cols)); err != nil {
		return nil, err
	}
	m, err := newMatcher(a)
	if err != nil {
		return nil, err
	}
	m.reduce()
	m.assignCheapest()
	for j := range m.rowOf {
		if m.rowOf[j] == none {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			m.augment(int32(j))
		}
	}
	m.shift()
	return m.result(), nil
}

// matcher is the state of Match. Column j has the rows row[ptr[j]:ptr[j+1]] with the costs
// cost[ptr[j]:ptr[j+1]], all at least 0.
type matcher struct {
	ptr     []int64
	row     []int32
	cost    []float64
	largest []float64 // log of the largest magnitude of each column

	u, v  []float64 // potentials of rows and columns
	rowOf []int32   // row matched with a column, or none
	colOf []int32   // column matched with a row, or none

	// Rows and columns that a search without a path reached: none of them is on a later path.
	closedRow []int32   // number of that search, from 1, or 0
	closed    [][]int32 // columns of each such search

	// For the search of one augmenting path:
	dist    []float64 // length of the shortest path to a row that is known; +Inf if none is
	from    []int32   // column before a row on that path
	state   []int32   // place of a row in heap, or unseen or done
	heap    []int32   // rows that are reached, the nearest first
	touched []int32   // rows whose dist is not +Inf
	final   []int32   // rows that are done
}

// States of a row other than its place in the heap.
const (
	unseen = -1
	done   = -2
)

func newMatcher(a *sparse.CSR[float64]) (*matcher, error) {
	t := sparse.ToCSR(a.Transpose()) // rows within a column ascend
	m := &matcher{ptr: make([]int64, a.Cols+1), row: t.ColIdx, cost: t.Val, largest: make([]float64, a.Cols)}
	to := int64(0)
	for j := range a.Cols {
		first := to
		for k := t.RowPtr[j]; k < t.RowPtr[j+1]; {
			i, sum := t.ColIdx[k], 0.0
			for ; k < t.RowPtr[j+1] && t.ColIdx[k] == i; k++ {
				sum += t.Val[k]
			}
			if math.IsInf(sum, 0) {
				return nil, sparse.Inputf("matrix", "row %d, column %d: the sum of the entries is %v: a matching needs finite values", i, j, sum)
			}
			if sum != 0 {
				m.row[to], m.cost[to] = i, math.Log(math.Abs(sum))
				to++
			}
		}
		m.ptr[j+1] = to
		if to == first {
			continue
		}
		most := math.Inf(-1)
		for _, c := range m.cost[first:to] {
			most = max(most, c)
		}
		for k := first; k < to; k++ {
			m.cost[k] = most - m.cost[k]
		}
		m.largest[j] = most
	}
	m.row, m.cost = m.row[:to], m.cost[:to]
	m.u, m.v = make([]float64, a.Rows), make([]float64, a.Cols)
	m.rowOf, m.colOf = filled(a.Cols, none), filled(a.Rows, none)
	m.closedRow = make([]int32, a.Rows)
	m.from, m.state = make([]int32, a.Rows), filled(a.Rows, unseen)
	m.dist = make([]float64, a.Rows)
	for i := range m.dist {
		m.dist[i] = math.Inf(1)
	}
	return m, nil
}

func filled(n int, v int32) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = v
	}
	return s
}

// reduce sets the potentials such that every row and every column with entries has one of
// reduced cost 0: cost - u - v.
func (m *matcher) reduce() {
	for i := range m.u {
		m.u[i] = math.Inf(1)
	}
	for k, i := range m.row {
		m.u[i] = min(m.u[i], m.cost[k])
	}
	for i, u := range m.u {
		if math.IsInf(u, 1) {
			m.u[i] = 0
		}
	}
	for j := range m.v {
		least := math.Inf(1)
		for k := m.ptr[j]; k < m.ptr[j+1]; k++ {
			least = min(least, m.cost[k]-m.u[m.row[k]])
		}
		if !math.IsInf(least, 1) {
			m.v[j] = least
		}
	}
}

// assignCheapest matches columns by entries of reduced cost 0, where necessary by moving
// one other column to another row.
func (m *matcher) assignCheapest() {
	next := make([]int64, len(m.v)) // entries before this one lead to rows that are matched
	copy(next, m.ptr)
	for j := range m.v {
		for k := m.ptr[j]; k < m.ptr[j+1]; k++ {
			if i := m.row[k]; m.colOf[i] == none && m.cost[k]-m.u[i]-m.v[j] <= 0 {
				m.rowOf[j], m.colOf[i] = i, int32(j)
				break
			}
		}
	}
	for j := range m.v {
		if m.rowOf[j] != none {
			continue
		}
	search:
		for k := m.ptr[j]; k < m.ptr[j+1]; k++ {
			i := m.row[k]
			if m.cost[k]-m.u[i]-m.v[j] > 0 {
				continue
			}
			other := m.colOf[i]
			for ; next[other] < m.ptr[other+1]; next[other]++ {
				l := next[other]
				free := m.row[l]
				if m.colOf[free] == none && m.cost[l]-m.u[free]-m.v[other] <= 0 {
					m.rowOf[other], m.colOf[free] = free, other
					m.rowOf[j], m.colOf[i] = i, int32(j)
					break search
				}
			}
		}
	}
}

// augment matches column root by the shortest augmenting path, found with Dijkstra's
// algorithm on reduced costs, and updates the potentials. If there is no such path, it
// closes all that it reached, and later searches keep out of it: each of the many columns
// without a row would otherwise take a search of all the others.
func (m *matcher) augment(root int32) {
	shortest, end := math.Inf(1), int32(none)
	for j, base := root, 0.0; ; {
		for k := m.ptr[j]; k < m.ptr[j+1]; k++ {
			i := m.row[k]
			if m.state[i] == done {
				continue
			}
			d := base + max(m.cost[k]-m.u[i]-m.v[j], 0)
			if d >= m.dist[i] || d >= shortest {
				continue
			}
			if math.IsInf(m.dist[i], 1) {
				m.touched = append(m.touched, i)
			}
			m.dist[i], m.from[i] = d, j
			if m.colOf[i] == none {
				shortest, end = d, i
			} else {
				m.raise(i)
			}
		}
		if len(m.heap) == 0 || m.dist[m.heap[0]] >= shortest {
			break
		}
		i := m.popNearest()
		m.final = append(m.final, i)
		j, base = m.colOf[i], m.dist[i]
	}
	if end != none {
		m.v[root] += shortest
		for _, i := range m.final {
			gain := shortest - m.dist[i]
			m.u[i] -= gain
			m.v[m.colOf[i]] += gain
		}
		for i := end; i != none; {
			j := m.from[i]
			m.colOf[i] = j
			m.rowOf[j], i = i, m.rowOf[j]
		}
	}
	after := int32(unseen)
	if end == none {
		after = done
		columns := []int32{root}
		for _, i := range m.final {
			columns = append(columns, m.colOf[i])
			m.closedRow[i] = int32(len(m.closed)) + 1
		}
		m.closed = append(m.closed, columns)
	}
	for _, i := range m.touched {
		m.dist[i], m.state[i] = math.Inf(1), after
	}
	m.touched, m.heap, m.final = m.touched[:0], m.heap[:0], m.final[:0]
}

// shift restores u_i + v_j <= c_ij for entries of closed rows. The columns that a search
// closed have entries in its rows and in those closed before only, so that adding the same
// number to their v and subtracting it from the u of its rows keeps all else.
func (m *matcher) shift() {
	if len(m.closed) == 0 {
		return
	}
	by := make([]float64, len(m.closed)+1) // what is added, for each search
	isClosed := make([]bool, len(m.v))
	settle := func(j, search int32) {
		m.v[j] += by[search]
		for k := m.ptr[j]; k < m.ptr[j+1]; k++ {
			i := m.row[k]
			if s := m.closedRow[i]; s > 0 && s != search {
				by[s] = max(by[s], m.u[i]+m.v[j]-m.cost[k])
			}
		}
	}
	for _, columns := range m.closed {
		for _, j := range columns {
			isClosed[j] = true
		}
	}
	for j := range m.v {
		if !isClosed[j] {
			settle(int32(j), 0)
		}
	}
	for s := len(m.closed); s > 0; s-- {
		for _, j := range m.closed[s-1] {
			settle(j, int32(s))
		}
	}
	for i, s := range m.closedRow {
		m.u[i] -= by[s]
	}
}

// raise puts row i into the heap, or moves it to the front after its distance fell.
func (m *matcher) raise(i int32) {
	at := m.state[i]
	if at == unseen {
		at = int32(len(m.heap))
		m.heap = append(m.heap, i)
	}
	for at > 0 {
		up := (at - 1) / 2
		if m.dist[m.heap[up]] <= m.dist[i] {
			break
		}
		m.place(at, m.heap[up])
		at = up
	}
	m.place(at, i)
}

// popNearest removes the nearest row from the heap.
func (m *matcher) popNearest() int32 {
	nearest := m.heap[0]
	m.state[nearest] = done
	n := int32(len(m.heap)) - 1
	i := m.heap[n]
	m.heap = m.heap[:n]
	if n == 0 {
		return nearest
	}
	at := int32(0)
	for {
		child := 2*at + 1
		if child >= n {
			break
		}
		if child+1 < n && m.dist[m.heap[child+1]] < m.dist[m.heap[child]] {
			child++
		}
		if m.dist[m.heap[child]] >= m.dist[i] {
			break
		}
		m.place(at, m.heap[child])
		at = child
	}
	m.place(at, i)
	return nearest
}

func (m *matcher) place(at, i int32) { m.heap[at], m.state[i] = i, at }

// scaleLimit bounds the scales: larger ones would overflow in products.
const scaleLimit = 1e300

func (m *matcher) result() *Matching {
	r := &Matching{Rows: m.rowOf, RowScale: m.u, ColScale: m.v}
	for j, i := range m.rowOf {
		if i != none {
			r.Size++
		}
		m.v[j] -= m.largest[j]
	}
	for _, scale := range [][]float64{m.u, m.v} {
		for k, log := range scale {
			scale[k] = min(max(math.Exp(log), 1/scaleLimit), scaleLimit)
		}
	}
	return r
}
