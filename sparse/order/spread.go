package order

import (
	"slices"

	"github.com/msrep-go/msrep/sparse"
)

// Spread returns an order p that gives each of several parts nearly as many rows and entries as the others, and nearly as
// many of each length: part k has the rows p[cuts[k]] to p[cuts[k+1]-1]. It suits graphs with hubs and without
// neighbourhoods. If such a graph is cut where its entries are in equal parts, the part with the shortest rows has most
// elements of x, and sends most of what the others receive.
//
// The rows, sorted by the number of entries in the row and in the column of the same number, go to the parts in turn, in
// rounds of alternating direction. So the columns that most rows need come first in each part.
//
// A matrix that is not valid or not square and parts below 1 are a *sparse.InputError.
func Spread[V sparse.Value](a *sparse.CSR[V], parts int) (p []int32, cuts []int, err error) {
	if err := square(a); err != nil {
		return nil, nil, err
	}
	if err := fits(a, 16*int64(a.Rows)); err != nil {
		return nil, nil, err
	}
	if parts < 1 {
		return nil, nil, sparse.Inputf("parts", "%d: must be at least 1", parts)
	}
	n := a.Rows
	count := make([]int64, n)
	for i := range n {
		count[i] = a.RowPtr[i+1] - a.RowPtr[i]
	}
	for _, j := range a.ColIdx {
		count[j]++
	}
	sorted := sequence(n)
	slices.SortStableFunc(sorted, func(i, j int32) int { return int(count[j] - count[i]) })
	p, cuts = make([]int32, 0, n), make([]int, 1, min(parts, n)+1)
	for k := range parts {
		for first := 0; first < n; first += 2 * parts { // one round forwards, one backwards
			for _, at := range []int{first + k, first + 2*parts - 1 - k} {
				if at < n {
					p = append(p, sorted[at])
				}
			}
		}
		cuts = append(cuts, len(p))
	}
	return p, cuts, nil
}
