package order

import (
	"slices"

	"github.com/msrep-go/msrep/sparse"
)

// HaloSize counts the elements of x that parts of a square matrix receive for a product A x.
type HaloSize struct {
	Total          int64   // received by all parts, which is what all send
	Largest        int64   // the most that one part receives
	Received, Sent []int64 // by part
}

// Halo counts the elements of x that parts receive: part k has the rows p[cuts[k]] to
// p[cuts[k+1]-1] and the elements of x with the same numbers, and receives each other
// element for which one of its rows has an entry, once. A nil p is the order of the matrix.
//
// A matrix that is not valid or not square, a p that is no permutation of its rows, and
// cuts that do not ascend from 0 to the number of rows are a *sparse.InputError.
func Halo[V sparse.Value](a *sparse.CSR[V], p []int32, cuts []int) (HaloSize, error) {
	if err := square(a); err != nil {
		return HaloSize{}, err
	}
	if err := fits(a, 12*int64(a.Rows)); err != nil {
		return HaloSize{}, err
	}
	if p == nil {
		p = sequence(a.Rows)
	} else if _, err := sparse.Inverse("p", p, a.Rows); err != nil {
		return HaloSize{}, err
	}
	if len(cuts) == 0 || cuts[0] != 0 || cuts[len(cuts)-1] != a.Rows || !slices.IsSorted(cuts) {
		return HaloSize{}, sparse.Inputf("cuts", "must ascend from 0 to %d, the number of rows", a.Rows)
	}
	parts := len(cuts) - 1
	size := HaloSize{Received: make([]int64, parts), Sent: make([]int64, parts)}
	owner := make([]int32, a.Rows)
	for k := range parts {
		for _, i := range p[cuts[k]:cuts[k+1]] {
			owner[i] = int32(k)
		}
	}
	seen := filled(a.Rows, none) // the last part that receives an element
	for k := range parts {
		for _, i := range p[cuts[k]:cuts[k+1]] {
			for _, j := range a.ColIdx[a.RowPtr[i]:a.RowPtr[i+1]] {
				if owner[j] != int32(k) && seen[j] != int32(k) {
					seen[j] = int32(k)
					size.Received[k]++
					size.Sent[owner[j]]++
				}
			}
		}
		size.Total += size.Received[k]
		size.Largest = max(size.Largest, size.Received[k])
	}
	return size, nil
}
