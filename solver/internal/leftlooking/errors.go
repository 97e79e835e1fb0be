package leftlooking

import "fmt"

// SingularError reports a matrix that has no LU factors with nonzero pivots. Rows and
// columns are numbered from 0, as in the matrix given.
type SingularError struct {
	// Structural says that the matrix is singular for all values of its nonzero entries.
	Structural bool
	// Rows and Columns are those left without a pivot. If Structural is set, they are the
	// rows and columns that a largest matching leaves unmatched. Otherwise Columns has the
	// one column that is zero, or not finite, in all rows left, and Rows the row whose
	// entry was the preferred pivot.
	Rows, Columns []int
	// Rank is the structural rank if Structural is set, otherwise the number of pivots
	// before the column in the order of the factorisation.
	Rank int
	// Overflow says that an entry of the column exceeded the range of float64.
	Overflow bool
}

// Error says which row and column have no pivot.
func (e *SingularError) Error() string {
	switch {
	case e.Structural:
		return fmt.Sprintf("the matrix is structurally singular: %d of %d rows can be matched with columns; row %d and column %d cannot", e.Rank, e.Rank+len(e.Rows), e.Rows[0], e.Columns[0])
	case e.Overflow:
		return fmt.Sprintf("column %d exceeds the range of float64 after %d pivots", e.Columns[0], e.Rank)
	}
	return fmt.Sprintf("the matrix is singular: column %d has no nonzero pivot after %d pivots", e.Columns[0], e.Rank)
}

// MemoryError reports factors that need more memory than is allowed.
type MemoryError struct {
	Need, Have  int64 // bytes
	Done, Count int   // columns that were factored, and all columns
}

// Error states the bytes.
func (e *MemoryError) Error() string {
	return fmt.Sprintf("the factors of %d columns need %d bytes after column %d, %d are available", e.Count, e.Need, e.Done, e.Have)
}
