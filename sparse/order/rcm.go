package order

import (
	"slices"

	"github.com/msrep-go/msrep/sparse"
)

// RCM returns the reverse Cuthill-McKee order of the pattern of A + A', which moves entries
// near the diagonal: sparse.Permute(a, p, p) usually has a small bandwidth and profile
// (Cuthill and McKee, Reducing the bandwidth of sparse symmetric matrices, 1969; George,
// Computer implementation of the finite element method, 1971).
//
// Each connected component is a range of the order. The first node of a component is a
// pseudo-peripheral node, which starts a level structure with nearly the most levels, found
// by the method of George and Liu (An implementation of a pseudoperipheral node finder, ACM
// Trans. Math. Softw. 5 (1979) 284-295), a node of the last level of that structure, or a
// node of least degree: whichever gives the smallest bandwidth.
//
// A matrix that is not valid or not square is a *sparse.InputError.
func RCM[V sparse.Value](a *sparse.CSR[V]) ([]int32, error) {
	g, err := symmetricGraph(a)
	if err != nil {
		return nil, err
	}
	if err := fits(a, 20*int64(g.nodes())); err != nil {
		return nil, err
	}
	return g.rcm(), nil
}

// rcm is RCM for a graph.
func (g *graph) rcm() []int32 {
	n := g.nodes()
	l := levels{graph: g, round: make([]int64, n)}
	order, place := make([]int32, 0, n), filled(n, none)
	var best []int32
	for i := range int32(n) {
		if place[i] != none {
			continue
		}
		first := len(order)
		least := int32(n)
		for at, start := range l.starts(i) {
			order = l.cuthillMcKee(order[:first], start)
			if width := g.bandwidth(order[first:], place); at == 0 || width < least {
				least = width
				best = append(best[:0], order[first:]...)
			}
		}
		copy(order[first:], best)
	}
	slices.Reverse(order)
	return order
}

// bandwidth returns the largest distance between the places of neighbours in the order of
// a component. It stores the places.
func (g *graph) bandwidth(order, place []int32) int32 {
	for k, i := range order {
		place[i] = int32(k)
	}
	widest := int32(0)
	for k, i := range order {
		for _, j := range g.neighbours(i) {
			widest = max(widest, int32(k)-place[j])
		}
	}
	return widest
}

// levels finds level structures of a graph: the nodes by their distance from a start.
type levels struct {
	*graph
	round []int64 // by node: the last search that found it
	now   int64   // number of this search
	queue []int32
}

// from fills queue with the component of start, by distance, and returns the last level
// and the number of levels.
func (l *levels) from(start int32) (last []int32, count int) {
	l.now++
	l.round[start] = l.now
	l.queue = append(l.queue[:0], start)
	for at := 0; at < len(l.queue); {
		first := at
		for end := len(l.queue); at < end; at++ {
			for _, j := range l.neighbours(l.queue[at]) {
				if l.round[j] != l.now {
					l.round[j] = l.now
					l.queue = append(l.queue, j)
				}
			}
		}
		last = l.queue[first:at]
		count++
	}
	return last, count
}

// starts returns the nodes of a component from which RCM may start, each once.
func (l *levels) starts(start int32) []int32 {
	last, count := l.from(start)
	lowest := slices.MinFunc(l.queue, l.compare)
	for {
		end := slices.MinFunc(last, l.compare)
		more := 0
		if last, more = l.from(end); more > count {
			count = more
			continue
		}
		starts := []int32{end, slices.MinFunc(last, l.compare), lowest}
		slices.Sort(starts)
		return slices.Compact(starts)
	}
}

// cuthillMcKee appends to order the component of start: after each node its neighbours
// that are not in order yet, by ascending degree.
func (l *levels) cuthillMcKee(order []int32, start int32) []int32 {
	l.now++
	l.round[start] = l.now
	at := len(order)
	for order = append(order, start); at < len(order); at++ {
		from := len(order)
		for _, j := range l.neighbours(order[at]) {
			if l.round[j] != l.now {
				l.round[j] = l.now
				order = append(order, j)
			}
		}
		slices.SortFunc(order[from:], l.compare)
	}
	return order
}

// compare compares nodes by degree, then by number.
func (l *levels) compare(a, b int32) int {
	if d := l.degree(a) - l.degree(b); d != 0 {
		return d
	}
	return int(a - b)
}
