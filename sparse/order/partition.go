package order

import (
	"context"
	"math"
	"slices"

	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// Partition divides the rows of a square matrix into parts that exchange little in a product
// A x, and returns an order in which part k has the rows p[cuts[k]] to p[cuts[k+1]-1].
// sparse.Permute(a, p, p) is the matrix in this order.
//
// A part has the elements of x with the numbers of its rows and receives the others that its
// rows need; Halo counts them. Partition seeks parts that receive few elements together: it
// divides the graph of A + A' and refines the result for the pattern of A
// itself. No part has more than 1.03 times the mean number of entries, or than the longest
// row if that has more, unless the rows cannot be divided so evenly. If such parts would
// receive no less than those of partition.RuleWhole, p is 0 to n-1 and cuts are the cuts of
// that rule.
//
// The method is multilevel: rows are joined into ever fewer nodes, these are divided by
// bisections, and the parts are refined while the nodes are taken apart again. Within a
// part the rows keep their order, or have the reverse Cuthill-McKee order of the part
// if rows then find what they need in fewer places of x.
//
// The time grows about linearly with the number of entries. If ctx ends, Partition returns
// its error. The result is the same on all machines with any number of threads.
//
// A matrix that is not valid or not square, and parts that are not in [1,
// partition.MaxParts], are a *sparse.InputError.
func Partition[V sparse.Value](ctx context.Context, a *sparse.CSR[V], parts int) (p []int32, cuts []int, err error) {
	if parts < 1 || parts > partition.MaxParts {
		return nil, nil, sparse.Inputf("parts", "%d: a matrix is divided into 1 to %d parts", parts, partition.MaxParts)
	}
	return PartitionWeighted(ctx, a, slices.Repeat([]int{1}, parts))
}

// PartitionWeighted is Partition for parts whose numbers of entries are in proportion to
// weights. A part with the weight 0 gets no rows with entries.
func PartitionWeighted[V sparse.Value](ctx context.Context, a *sparse.CSR[V], weights []int) (p []int32, cuts []int, err error) {
	if err := square(a); err != nil {
		return nil, nil, err
	}
	// The order, the graph, its coarser graphs, and the nets.
	if err := fits(a, 60*a.NNZ()+100*int64(a.Rows)); err != nil {
		return nil, nil, err
	}
	whole := partition.Part{EndIdx: a.NNZ() - 1, OwnEnd: a.Rows}
	inOrder, err := partition.SplitWeighted(a.RowPtr, whole, weights, partition.RuleWhole)
	if err != nil {
		return nil, nil, err
	}
	cuts = make([]int, 1, len(weights)+1)
	for _, q := range inOrder {
		cuts = append(cuts, q.OwnEnd)
	}
	p = sequence(a.Rows)
	if len(weights) == 1 || a.NNZ() == 0 {
		return p, cuts, ctx.Err()
	}
	g, err := symmetricGraph(a)
	if err != nil {
		return nil, nil, err
	}
	part, err := dividedRows(ctx, a, g, weights)
	if err != nil {
		return nil, nil, err
	}
	q, qCuts := byPart(part, len(weights))
	before, err := Halo(a, nil, cuts)
	if err != nil {
		return nil, nil, err
	}
	after, err := Halo(a, q, qCuts)
	if err != nil {
		return nil, nil, err
	}
	if after.Total >= before.Total {
		return p, cuts, nil
	}
	if q, err = withinParts(ctx, a, g, q, qCuts); err != nil {
		return nil, nil, err
	}
	return q, qCuts, nil
}

func shares(weights []int) []int64 {
	share := make([]int64, len(weights))
	for k, w := range weights {
		share[k] = int64(w)
	}
	return share
}

// rowMesh returns the graph of a with the numbers of entries of rows as weights.
func rowMesh[V sparse.Value](a *sparse.CSR[V], g *graph) *mesh {
	m := &mesh{graph: g, weight: make([]int32, a.Rows)}
	for i := range m.weight {
		m.weight[i] = int32(min(a.RowPtr[i+1]-a.RowPtr[i], math.MaxInt32))
	}
	return m
}

// dividedRows returns the part of each row.
func dividedRows[V sparse.Value](ctx context.Context, a *sparse.CSR[V], g *graph, weights []int) ([]int32, error) {
	m := rowMesh(a, g)
	part, err := m.partition(ctx, shares(weights), newNets(neededBy(a, g), len(weights)))
	if err != nil {
		return nil, err
	}
	// Rows without entries that no row needs count for nothing: they fill up the parts.
	rows := make([]int, len(weights))
	var empty []int32
	for i, q := range part {
		if m.weight[i] == 0 && m.degree(int32(i)) == 0 {
			empty = append(empty, int32(i))
		} else {
			rows[q]++
		}
	}
	full := fillUp(rows, weights, len(empty))
	q := 0
	for _, i := range empty {
		for q < len(rows)-1 && rows[q] >= full[q] {
			q++
		}
		part[i] = int32(q)
		rows[q]++
	}
	return part, nil
}

// fillUp returns how many rows each part shall have, at least, if they get count more: as
// nearly in proportion to their weights as the rows that they have allow.
func fillUp(rows, weights []int, count int) []int {
	full, in := slices.Clone(rows), make([]bool, len(rows))
	for k, w := range weights {
		in[k] = w > 0
	}
	for {
		all, sum := count, 0
		for k, w := range weights {
			if in[k] {
				all += rows[k]
				sum += w
			}
		}
		again := false
		for k, w := range weights {
			if !in[k] {
				continue
			}
			// An upper bound of all*w/sum.
			if full[k] = int(math.Ceil(float64(all) * (float64(w) / float64(sum)))); full[k] < rows[k] {
				full[k], in[k], again = rows[k], false, true
			}
		}
		if !again {
			return full
		}
	}
}

// byPart returns the order of rows by part, and the first of each part.
func byPart(part []int32, parts int) (p []int32, cuts []int) {
	cuts = make([]int, parts+1)
	for _, q := range part {
		cuts[q+1]++
	}
	for q := range parts {
		cuts[q+1] += cuts[q]
	}
	p, next := make([]int32, len(part)), slices.Clone(cuts)
	for i, q := range part {
		p[next[q]] = int32(i)
		next[q]++
	}
	return p, cuts
}

// neededBy returns the columns of each row but the diagonal, each once: g itself if the
// pattern is symmetric.
func neededBy[V sparse.Value](a *sparse.CSR[V], g *graph) *graph {
	n := a.Rows
	r := &graph{ptr: make([]int64, n+1), adj: make([]int32, 0, len(g.adj))}
	seen := make([]int32, n)
	for i := range n {
		for _, j := range a.ColIdx[a.RowPtr[i]:a.RowPtr[i+1]] {
			if int(j) != i && seen[j] != int32(i)+1 {
				seen[j] = int32(i) + 1
				r.adj = append(r.adj, j)
			}
		}
		r.ptr[i+1] = int64(len(r.adj))
	}
	if len(r.adj) == len(g.adj) {
		return g
	}
	return r
}

// withinParts returns p with the rows of all parts in the reverse Cuthill-McKee order of
// their part if this makes rows read fewer places of x, else p.
func withinParts[V sparse.Value](ctx context.Context, a *sparse.CSR[V], g *graph, p []int32, cuts []int) ([]int32, error) {
	places := placesRead(a, p)
	if 3*places <= a.NNZ() { // at most 24 bytes of x read for an element
		return p, ctx.Err()
	}
	s := &subgraph{graph: g, names: sequence(g.nodes())}
	place, q := filled(g.nodes(), none), make([]int32, 0, len(p))
	for k := range len(cuts) - 1 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rows := p[cuts[k]:cuts[k+1]]
		sub := s.part(rows, place)
		q = append(q, pick(rows, sub.rcm())...)
	}
	if placesRead(a, q) < places {
		return q, nil
	}
	return p, nil
}

// placesRead returns the sum over groups of 32 rows of the number of groups of 8 elements of
// x that the rows read: what a product moves through the caches of a device.
func placesRead[V sparse.Value](a *sparse.CSR[V], p []int32) (sum int64) {
	const rows, elements = 32, 8
	at := make([]int32, len(p))
	for k, i := range p {
		at[i] = int32(k)
	}
	seen := make([]int32, len(p)/elements+1) // the last group of rows that read it, from 1
	for k, i := range p {
		group := int32(k/rows) + 1
		for _, j := range a.ColIdx[a.RowPtr[i]:a.RowPtr[i+1]] {
			if x := at[j] / elements; seen[x] != group {
				seen[x] = group
				sum++
			}
		}
	}
	return sum
}
