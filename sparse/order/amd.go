package order

import (
	"math"

	"github.com/msrep-go/msrep/sparse"
)

// AMD returns an order that keeps the factors of a square matrix sparse if pivots are
// taken from the diagonal: P A P' = L L' or L U, where P has the rows p of the identity. It
// is an approximate minimum degree order of the pattern of A + A': each step eliminates
// the node with the smallest upper bound of its degree (Amestoy, Davis and Duff, SIAM J.
// Matrix Anal. Appl. 17 (1996) 886-905, and ACM Trans. Math. Softw. 30 (2004) 381-388).
//
// The columns of a node that were eliminated together are consecutive, and nodes are in a
// postorder of the assembly tree, so supernodes are consecutive too. A row with more than
// max(16, 10 sqrt(n)) entries outside the diagonal does not take part; such rows come
// last, in ascending order of length.
//
// A matrix that is not valid or not square is a *sparse.InputError.
func AMD[V sparse.Value](a *sparse.CSR[V]) ([]int32, error) {
	g, err := symmetricGraph(a)
	if err != nil {
		return nil, err
	}
	n := g.nodes()
	if err := fits(a, quotientBytes(n, 0, int64(len(g.adj)))); err != nil {
		return nil, err
	}
	return minimumDegree(g), nil
}

// minimumDegree is AMD for a graph.
func minimumDegree(g *graph) []int32 {
	n := g.nodes()
	q := newQuotient(n, 0, int64(len(g.adj)))
	q.free = int64(copy(q.lists, g.adj))
	limit := denseLimit(n)
	var last []int32
	for i := range int32(n) {
		if d := g.degree(i); d > limit {
			q.leaveOut(i)
			last = append(last, i)
		}
	}
	for i := int32(n) - 1; i >= 0; i-- { // backwards: on grids in their natural order, 1.2 times less fill
		v := &q.nodes[i]
		if v.weight == 0 {
			continue
		}
		v.start, v.length, v.degree = g.ptr[i], int32(g.degree(i)), int32(g.degree(i))
		q.insert(i)
	}
	sortByKey(last, func(i int32) int { return g.degree(i) })
	return append(q.order(), last...)
}

// denseLimit is the number of entries in a line of n elements beyond which it counts as
// dense.
func denseLimit(n int) int { return max(16, int(10*math.Sqrt(float64(n)))) }
