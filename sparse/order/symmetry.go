package order

import "github.com/msrep-go/msrep/sparse"

// Symmetry returns the fraction of the entries (i, j) outside the diagonal for which the
// matrix has an entry (j, i), and the fraction for which that entry has the same value.
// Both are 1 if there are no entries outside the diagonal. Duplicates are added and count
// as one entry.
//
// A matrix that is not valid or not square is a *sparse.InputError.
func Symmetry[V sparse.Value](a *sparse.CSR[V]) (pattern, values float64, err error) {
	if err := square(a); err != nil {
		return 0, 0, err
	}
	if err := fits(a, 24*a.NNZ()+16*int64(a.Rows)); err != nil {
		return 0, 0, err
	}
	t := sparse.ToCSR(a.Transpose()) // sorted
	s := sparse.ToCSR(t.Transpose())
	var all, mirrored, equal int64
	for i := range a.Rows {
		r, c := run[V]{s, s.RowPtr[i], s.RowPtr[i+1]}, run[V]{t, t.RowPtr[i], t.RowPtr[i+1]}
		j, v, more := r.next()
		k, w, others := c.next()
		for more {
			for others && k < j {
				k, w, others = c.next()
			}
			if int(j) != i {
				all++
				if others && k == j {
					mirrored++
					if v == w {
						equal++
					}
				}
			}
			j, v, more = r.next()
		}
	}
	if all == 0 {
		return 1, 1, nil
	}
	return float64(mirrored) / float64(all), float64(equal) / float64(all), nil
}

// run reads a sorted row.
type run[V sparse.Value] struct {
	a       *sparse.CSR[V]
	at, end int64
}

// next returns the next column of the row and the sum of its entries.
func (r *run[V]) next() (j int32, v V, ok bool) {
	if r.at == r.end {
		return 0, 0, false
	}
	j = r.a.ColIdx[r.at]
	for ; r.at < r.end && r.a.ColIdx[r.at] == j; r.at++ {
		v += r.a.Val[r.at]
	}
	return j, v, true
}
