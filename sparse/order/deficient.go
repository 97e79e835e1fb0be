package order

import "github.com/msrep-go/msrep/sparse"

// Deficiency states why a matrix has no matching of all rows and columns. The lists
// ascend.
type Deficiency struct {
	// Rows have entries in Cols only, and there are more Rows than Cols: they are linearly
	// dependent, whatever the values. They are the rows that at least one largest matching
	// leaves out. Both lists are empty if all rows can be matched.
	Rows, Cols []int32
	// ColsShort have entries in RowsShort only, and there are more ColsShort than
	// RowsShort. They are the columns that at least one largest matching leaves out.
	ColsShort, RowsShort []int32
	// UnmatchedRows and UnmatchedCols are what the given matching leaves out.
	UnmatchedRows, UnmatchedCols []int32
}

// Deficient returns the parts of a matrix that make it structurally singular: the
// overdetermined and the underdetermined part of the coarse Dulmage-Mendelsohn
// decomposition (Pothen and Fan, Computing the block triangular form of a sparse matrix,
// ACM Trans. Math. Softw. 16 (1990) 303-324). rows[j] is the row that is matched with
// column j, or -1, in a matching with the largest number of columns, such as
// Matching.Rows. The matrix may be rectangular. Entries with value zero are no entries.
//
// A matrix that is not valid, and rows that are no matching of the largest size, are a
// *sparse.InputError.
func Deficient[V sparse.Value](a *sparse.CSR[V], rows []int32) (*Deficiency, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	if err := fits(a, (8+4)*a.NNZ()+32*int64(a.Rows)+32*int64(a.Cols)); err != nil {
		return nil, err
	}
	cols, err := otherSide(rows, a.Rows, a.Cols)
	if err != nil {
		return nil, err
	}
	t := sparse.ToCSR(a.Transpose())
	over, ok := alternating(a, rows, cols)
	under, alsoOK := alternating(t, cols, rows)
	if !ok || !alsoOK {
		return nil, sparse.Inputf("rows", "%d columns are matched: a larger matching exists", a.Cols-len(under.unmatched))
	}
	return &Deficiency{
		Rows: over.lines, Cols: over.others, UnmatchedRows: over.unmatched,
		ColsShort: under.lines, RowsShort: under.others, UnmatchedCols: under.unmatched,
	}, nil
}

// otherSide returns the column that is matched with each row, or none.
func otherSide(rows []int32, m, n int) ([]int32, error) {
	if len(rows) != n {
		return nil, sparse.Inputf("rows", "a matching of %d columns has %d", n, len(rows))
	}
	cols := filled(m, none)
	for j, i := range rows {
		switch {
		case i == none:
		case i < 0 || int(i) >= m:
			return nil, sparse.Inputf("rows", "column %d is matched with row %d: it must be -1 or in [0, %d)", j, i, m)
		case cols[i] != none:
			return nil, sparse.Inputf("rows", "columns %d and %d are both matched with row %d", cols[i], j, i)
		default:
			cols[i] = int32(j)
		}
	}
	return cols, nil
}

// part is what alternating paths from unmatched lines reach.
type part struct {
	unmatched, lines, others []int32
}

// alternating returns the rows of a that are not matched, and the rows and columns that
// alternating paths from these rows reach: over any entry to a column, then over its
// match to a row. rowOf is the row matched with a column, colOf the column matched with a
// row. ok is false if a path ends at a column that is not matched, so the matching can be
// enlarged.
func alternating[V sparse.Value](a *sparse.CSR[V], rowOf, colOf []int32) (p part, ok bool) {
	inRows, inCols := make([]bool, a.Rows), make([]bool, a.Cols)
	var stack []int32
	for i, j := range colOf {
		if j == none {
			p.unmatched = append(p.unmatched, int32(i))
			stack = append(stack, int32(i))
			inRows[i] = true
		}
	}
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			j := a.ColIdx[k]
			if a.Val[k] == 0 || inCols[j] {
				continue
			}
			inCols[j] = true
			next := rowOf[j]
			if next == none {
				return p, false
			}
			if !inRows[next] {
				inRows[next] = true
				stack = append(stack, next)
			}
		}
	}
	p.lines, p.others = chosen(inRows), chosen(inCols)
	return p, true
}

// chosen returns the indices of the true elements.
func chosen(in []bool) []int32 {
	var out []int32
	for i, yes := range in {
		if yes {
			out = append(out, int32(i))
		}
	}
	return out
}
