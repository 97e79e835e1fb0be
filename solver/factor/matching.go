package factor

import (
	"context"
	"math"

	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/order"
)

// Order returns a permutation p of the rows and columns of a square matrix, to be used as A[p][:, p], or nil for the
// order that the matrix has. Functions of package order, such as order.AMD[float64], are of this type.
type Order func(a *sparse.CSR[float64]) ([]int32, error)

// Natural is the order that the matrix has.
func Natural(*sparse.CSR[float64]) ([]int32, error) { return nil, nil }

// ordered returns the order of the matrix whose row i is row rows[i] of a.
func ordered(a *sparse.CSR[float64], rows []int32, by Order) ([]int32, error) {
	b := a
	if rows != nil {
		var err error
		if b, err = sparse.Permute(a, rows, nil); err != nil {
			return nil, err
		}
	}
	p, err := by(b)
	if err != nil || isIdentity(p) {
		return nil, err
	}
	_, err = sparse.Inverse("order", p, a.Rows)
	return p, err
}

// matching says which matrix is factored: B(i, j) = rowScale[i] A(rows[i], cols[j]) colScale[j]. Nil slices stand for
// the identity. Scales are powers of two, so that scaling does not round; there are both or none.
type matching struct {
	rows, cols         []int32
	rowScale, colScale []float64
}

// match matches the rows of a with its columns, if the factors want that.
func (f *Incomplete) match(ctx context.Context, a *sparse.CSR[float64]) (matching, error) {
	if !f.matching {
		return matching{}, nil
	}
	return matchRows(ctx, a)
}

// matchRows matches the rows of a with its columns and scales them: large entries are then on the diagonal, and no entry
// is much larger than 1.
func matchRows(ctx context.Context, a *sparse.CSR[float64]) (matching, error) {
	if scale := diagonalScale(a); scale != nil {
		return matching{rowScale: scale, colScale: scale}, nil
	}
	found, err := fullMatching(ctx, a)
	if err != nil {
		return matching{}, err
	}
	return matchedRows(found), nil
}

// fullMatching returns a maximum product matching of all rows and columns.
func fullMatching(ctx context.Context, a *sparse.CSR[float64]) (*order.Matching, error) {
	found, err := order.MatchContext(ctx, a)
	if err == nil && found.Size < a.Rows {
		err = unmatched(found)
	}
	return found, err
}

// matchedRows returns the matching that moves rows to the columns they are matched with. It changes the scales of found.
func matchedRows(found *order.Matching) matching {
	m := matching{rowScale: found.RowScale, colScale: found.ColScale}
	for _, scale := range [][]float64{m.rowScale, m.colScale} {
		for i, s := range scale {
			scale[i] = nearPower(s)
		}
	}
	if !isIdentity(found.Rows) {
		m.rows, m.rowScale = found.Rows, through(found.Rows, m.rowScale)
	}
	return m
}

// diagonalScale returns the scales of a matrix whose diagonal is a maximum product matching, as no entry is larger
// than the geometric mean of the elements on the diagonal in its row and its column. This is so for every positive
// definite matrix. For other matrices it returns nil.
func diagonalScale(a *sparse.CSR[float64]) []float64 {
	scale := make([]float64, a.Rows)
	for i := range scale {
		d := 0.0
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			if int(a.ColIdx[k]) == i {
				d += a.Val[k]
			}
		}
		if d == 0 || math.IsInf(d, 0) {
			return nil
		}
		scale[i] = 1 / math.Sqrt(math.Abs(d))
	}
	for i, s := range scale {
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			if !(math.Abs(a.Val[k])*s*scale[a.ColIdx[k]] <= 1+0x1p-40) {
				return nil
			}
		}
	}
	for i, s := range scale {
		scale[i] = nearPower(s)
	}
	return scale
}

// unmatched is the error of a matching of fewer columns than there are.
func unmatched(m *order.Matching) error {
	e := &SingularError{Structural: true}
	used := make([]bool, len(m.Rows))
	for j, i := range m.Rows {
		if i >= 0 {
			used[i] = true
		} else {
			e.Columns = append(e.Columns, j)
		}
	}
	for i := range used {
		if !used[i] {
			e.Rows = append(e.Rows, i)
		}
	}
	return e
}

// inOrder returns the matching of the matrix whose columns, and rows matched with them, are in an order.
func (m matching) inOrder(p []int32) matching {
	if p == nil {
		return m
	}
	return matching{through(p, m.rows), p, through(p, m.rowScale), through(p, m.colScale)}
}

// place returns B, with sorted columns and without duplicates.
func (m *matching) place(a *sparse.CSR[float64]) (*sparse.CSR[float64], error) {
	b, err := sparse.Permute(a, m.rows, m.cols)
	if err != nil {
		return nil, err
	}
	to := int64(0)
	for i := range b.Rows {
		k, first := b.RowPtr[i], to
		b.RowPtr[i] = to
		for ; k < b.RowPtr[i+1]; k++ {
			j, v := b.ColIdx[k], b.Val[k]
			if m.rowScale != nil {
				v *= m.rowScale[i] * m.colScale[j]
			}
			if to > first && b.ColIdx[to-1] == j {
				b.Val[to-1] += v
				continue
			}
			b.ColIdx[to], b.Val[to] = j, v
			to++
		}
	}
	b.RowPtr[b.Rows] = to
	b.ColIdx, b.Val = b.ColIdx[:to], b.Val[:to]
	return b, nil
}

// maxScale is the largest exponent of a scale. The product of two scales is far from overflow.
const maxScale = 250

// nearPower returns the power of two nearest to s > 0, by ratio.
func nearPower(s float64) float64 {
	_, e := math.Frexp(s * math.Sqrt2)
	return math.Ldexp(1, min(max(e-1, -maxScale), maxScale))
}

func isIdentity(p []int32) bool {
	for i, k := range p {
		if int(k) != i {
			return false
		}
	}
	return true
}

// through returns v[p[i]] for each i. A nil v is the identity of indices, and remains nil for scales.
func through[T int32 | float64](p []int32, v []T) []T {
	if indices, ok := any(p).([]T); ok && v == nil {
		return indices
	}
	if v == nil {
		return nil
	}
	out := make([]T, len(p))
	for i, k := range p {
		out[i] = v[k]
	}
	return out
}

// at returns p[i], or i if p is nil.
func at(p []int32, i int) int {
	if p == nil {
		return i
	}
	return int(p[i])
}
