package order

import "github.com/msrep-go/msrep/sparse"

// Blocks is the block upper triangular form of a square matrix.
type Blocks struct {
	// Rows and Cols are permutations: sparse.Permute(a, Rows, Cols) has no entry below
	// its diagonal blocks.
	Rows, Cols []int32
	// Start has the first row and column of each diagonal block, then the number of rows.
	Start []int
}

// BlockTriangular returns the finest block upper triangular form that keeps a matching of
// all rows and columns on the diagonal. Any such matching gives the same blocks. rows[j] is
// the row that is matched with column j, as in Matching.Rows; nil stands for the diagonal.
//
// The blocks are the strongly connected components of the graph with an edge from j to k
// for each entry (rows[j], k), found by Tarjan's algorithm (Depth-first search and linear
// graph algorithms, SIAM J. Comput. 1 (1972) 146-160) without recursion. Columns ascend
// within a block. It takes time proportional to the number of entries.
//
// A matrix that is not valid or not square, or rows that are no permutation, as those of a
// structurally singular matrix, are a *sparse.InputError.
func BlockTriangular[V sparse.Value](a *sparse.CSR[V], rows []int32) (*Blocks, error) {
	if err := square(a); err != nil {
		return nil, err
	}
	n := a.Rows
	if err := fits(a, 40*int64(n)); err != nil {
		return nil, err
	}
	if rows == nil {
		rows = sequence(n)
	} else if _, err := sparse.Inverse("rows", rows, n); err != nil {
		return nil, err
	}
	block, blocks := components(a, rows)
	b := &Blocks{Rows: make([]int32, n), Cols: make([]int32, n), Start: make([]int, blocks+1)}
	for _, c := range block {
		b.Start[c+1]++
	}
	for c := range blocks {
		b.Start[c+1] += b.Start[c]
	}
	next := make([]int, blocks)
	copy(next, b.Start)
	for j, c := range block {
		b.Rows[next[c]], b.Cols[next[c]] = rows[j], int32(j)
		next[c]++
	}
	return b, nil
}

// components returns the strongly connected component of each column, and their number.
// Entries lead to components with the same or a larger number.
func components[V sparse.Value](a *sparse.CSR[V], rows []int32) (component []int32, count int) {
	n := a.Rows
	component = filled(n, none)
	// found is the time at which a column was found, from 1; low is the smallest time of a
	// column of an unfinished component that is known to be reachable.
	found, low := make([]int32, n), make([]int32, n)
	next := make([]int64, n)  // next entry to follow
	var path, waiting []int32 // columns of the current path; columns without component yet
	time, finished := int32(0), int32(0)
	enter := func(j int32) {
		time++
		found[j], low[j], next[j] = time, time, a.RowPtr[rows[j]]
		path, waiting = append(path, j), append(waiting, j)
	}
	for root := range int32(n) {
		if found[root] != 0 {
			continue
		}
		enter(root)
		for len(path) > 0 {
			j := path[len(path)-1]
			if next[j] < a.RowPtr[rows[j]+1] {
				k := a.ColIdx[next[j]]
				next[j]++
				switch {
				case found[k] == 0:
					enter(k)
				case component[k] == none:
					low[j] = min(low[j], found[k])
				}
				continue
			}
			path = path[:len(path)-1]
			if len(path) > 0 {
				before := path[len(path)-1]
				low[before] = min(low[before], low[j])
			}
			if low[j] < found[j] {
				continue
			}
			for { // j and what was found since and waits is a component
				k := waiting[len(waiting)-1]
				waiting = waiting[:len(waiting)-1]
				component[k] = finished
				if k == j {
					break
				}
			}
			finished++
		}
	}
	// A component is finished after all that can be reached from it.
	for j := range component {
		component[j] = finished - 1 - component[j]
	}
	return component, int(finished)
}
