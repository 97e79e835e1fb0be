package leftlooking

import "github.com/msrep-go/msrep/sparse"

// choleskyCounts returns the entries below the diagonal of the Cholesky factor of A + A'
// in order p, and the multiply-add operations of L and U with that pattern. It walks up
// the elimination tree from the entries of each row (Liu, The role of elimination trees in
// sparse factorization, SIAM J. Matrix Anal. Appl. 11 (1990) 134-172), in time
// proportional to the entries of the factor.
func choleskyCounts(a *sparse.CSR[float32], p []int32) (entries int64, work float64) {
	n := a.Rows
	at := make([]int32, n)
	for k, i := range p {
		at[i] = int32(k)
	}
	lower := lowerRows(a, at)
	parent, ancestor, seen, count := unset(n), unset(n), unset(n), make([]int32, n)
	for k := range int32(n) {
		row := lower.row(int(k))
		for _, i := range row { // compress paths to the root
			for i != k {
				up := ancestor[i]
				ancestor[i] = k
				if up < 0 {
					parent[i] = k
					break
				}
				i = up
			}
		}
		seen[k] = k
		for _, i := range row {
			for ; seen[i] != k; i = parent[i] {
				seen[i] = k
				count[i]++
			}
		}
	}
	for _, c := range count {
		entries += int64(c)
		work += float64(c) * float64(c+1) // the update of c columns, and c divisions
	}
	return entries, work
}

// rowCliques returns a matrix whose Cholesky factor in order p has the pattern of that of A'A,
// a bound for the factors of a with columns in order p and any pivots (George and Ng, An
// implementation of Gaussian elimination with partial pivoting for sparse systems, SIAM J.
// Sci. Stat. Comput. 6 (1985) 390-409). A row of a makes a clique of its columns in A'A. It
// is enough to connect the first of them with the others: its elimination connects these.
func rowCliques(a *sparse.CSR[float32], p []int32) *sparse.CSR[float32] {
	n := a.Rows
	at := make([]int32, n)
	for k, j := range p {
		at[j] = int32(k)
	}
	out := &sparse.CSR[float32]{Rows: n, Cols: n, RowPtr: make([]int64, n+2), ColIdx: make([]int32, len(a.ColIdx)), Val: a.Val}
	first := make([]int32, n)
	for i := range n {
		row := a.ColIdx[a.RowPtr[i]:a.RowPtr[i+1]]
		first[i] = row[0]
		for _, j := range row {
			if at[j] < at[first[i]] {
				first[i] = j
			}
		}
		out.RowPtr[first[i]+2] += int64(len(row))
	}
	for k := range n {
		out.RowPtr[k+2] += out.RowPtr[k+1]
	}
	for i, f := range first {
		row := a.ColIdx[a.RowPtr[i]:a.RowPtr[i+1]]
		out.RowPtr[f+1] += int64(copy(out.ColIdx[out.RowPtr[f+1]:], row))
	}
	out.RowPtr = out.RowPtr[:n+1]
	return out
}

// pattern is a list of lists.
type pattern struct {
	ptr []int
	idx []int32
}

func (p pattern) row(k int) []int32 { return p.idx[p.ptr[k]:p.ptr[k+1]] }

// lowerRows returns the columns left of the diagonal of each row of A + A', permuted such
// that row i becomes row at[i]. Columns that both A and A' have occur twice.
func lowerRows(a *sparse.CSR[float32], at []int32) pattern {
	n := a.Rows
	ptr := make([]int, n+2)
	for i, r := range at {
		for _, j := range a.ColIdx[a.RowPtr[i]:a.RowPtr[i+1]] {
			if c := at[j]; c != r {
				ptr[max(c, r)+2]++
			}
		}
	}
	for k := range n {
		ptr[k+2] += ptr[k+1]
	}
	idx := make([]int32, ptr[n+1])
	for i, r := range at {
		for _, j := range a.ColIdx[a.RowPtr[i]:a.RowPtr[i+1]] {
			if c := at[j]; c != r {
				row := max(c, r) + 1
				idx[ptr[row]] = min(c, r)
				ptr[row]++
			}
		}
	}
	return pattern{ptr[:n+1], idx}
}

func unset(n int) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = -1
	}
	return s
}
