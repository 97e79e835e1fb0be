package leftlooking

import (
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/mem"
)

// store has the entries of L and U of a group of blocks.
type store struct {
	li, ui []int32
	lx, ux []float64
	limit  *limit

	work        float64 // multiply-add operations of the blocks
	offDiagonal int64   // pivots off the diagonal
}

// limit counts the bytes of all stores of a factorisation.
type limit struct {
	most int64 // 0: none but the available memory
	used atomic.Int64
}

const (
	bytesPerEntry  = 12 // a value and its row
	bytesPerColumn = 60 // the fields of LU with an element for each column
)

// factorBytes returns the bytes of factors of n columns with l and u entries off the
// diagonal, and f entries above the blocks.
func factorBytes(n int, l, u, f int64) int64 {
	return bytesPerEntry*(l+u+f) + bytesPerColumn*int64(n)
}

// reserve makes room for more rows and values of L and entries of U. For want of memory it
// returns a *MemoryError, without the columns.
func (s *store) reserve(rows, values, u int) (err error) {
	if s.li, err = withRoom(s.limit, s.li, rows); err != nil {
		return err
	}
	if s.lx, err = withRoom(s.limit, s.lx, values); err != nil {
		return err
	}
	if s.ui, err = withRoom(s.limit, s.ui, u); err != nil {
		return err
	}
	s.ux, err = withRoom(s.limit, s.ux, u)
	return err
}

// begin makes room for the predicted entries of L and of U, if they are within the limit.
func (s *store) begin(predicted int) error {
	need := int64(predicted) * 22 // 12 bytes each, and about half of the rows of L, which runs share
	if most := s.limit.most; most > 0 && s.limit.used.Load()+need > most {
		return nil
	}
	if _, ok := mem.Fits(need); !ok {
		return nil
	}
	return s.reserve(predicted/2, predicted, predicted)
}

// withRoom returns a slice with the elements of s and room for more of them: half as much
// again as there was, or just enough if that is too much.
func withRoom[T int32 | float64](l *limit, s []T, more int) ([]T, error) {
	if cap(s)-len(s) >= more {
		return s, nil
	}
	least := len(s) + more
	n := max(least, cap(s)+cap(s)/2, 64)
	if l.take(mem.Size[T](), cap(s), n) != nil {
		n = least
		if err := l.take(mem.Size[T](), cap(s), n); err != nil {
			return s, err
		}
	}
	out := make([]T, len(s), n)
	copy(out, s)
	return out, nil
}

// take counts the growth of a slice from before to after elements of the given size. The
// new slice exists beside the old one while it is copied.
func (l *limit) take(size int64, before, after int) error {
	more, all := size*int64(after-before), size*int64(after)
	if used := l.used.Load(); l.most > 0 && used+more > l.most {
		return &MemoryError{Need: used + more, Have: l.most}
	}
	if have, ok := mem.Fits(all); !ok {
		return &MemoryError{Need: all, Have: have}
	}
	l.used.Add(more)
	return nil
}
