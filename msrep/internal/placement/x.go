package placement

import "slices"

// X states where the devices of a plan read x.
type X string

// The values of X; see msrep.XPlacement.
const (
	InPlace     X = "in place"
	Replicated  X = "replicated"
	Interleaved X = "interleaved"
)

// MinCopied is the least size in bytes of an x that is copied. A smaller x stays in the caches of all cores after the
// first read.
const MinCopied = 256 << 10

// copyDivisor limits the copies of x on a node to 1/copyDivisor of its memory.
const copyDivisor = 8

// ChooseX decides where major products on the nodes read x, for the number and the size in bytes of its elements and the number
// of entries of the matrix.
func (n Nodes) ChooseX(elements, size, entries int64) X {
	bytes, nodes := elements*size, int64(len(n.Groups))
	if nodes < 2 || bytes < MinCopied {
		return InPlace
	}
	least := slices.Max(n.memory)
	for _, m := range n.memory {
		if m > 0 {
			least = min(least, m)
		}
	}
	fits := func(copy int64) bool { return least == 0 || copy <= least/copyDivisor }
	best := InPlace
	cost := costs(elements, entries, len(n.Groups), n.Farness)
	if fits(bytes/nodes) && cost[Interleaved] < cost[best] {
		best = Interleaved
	}
	if fits(bytes) && cost[Replicated] < cost[best] {
		best = Replicated
	}
	return best
}

// costs models the time that a major product spends on x: the time of the memory of the busiest node, in units of the
// time of one element of local memory. Each entry reads an element of x. x has n elements, all on one node.
//
//	in place     entries
//	interleaved  n + n/nodes + entries/nodes * (1 + (farness-1)*(nodes-1)/nodes)
//	replicated   n*nodes + n + entries/nodes
//
// The terms are, in this order, the time to read the caller's x (once for each copy), to write the copies, and to read
// them in the product. A fraction (nodes-1)/nodes of the reads of the interleaved copy is from another node and takes
// farness times as long.
func costs(n, entries int64, nodes int, farness float64) map[X]float64 {
	x, e, k := float64(n), float64(entries), float64(nodes)
	return map[X]float64{
		InPlace:     e,
		Interleaved: x + x/k + e/k*(1+(farness-1)*(k-1)/k),
		Replicated:  x*k + x + e/k,
	}
}
