package cpu

import (
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/merge"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// target is where a worker adds its products: to a stretch of y that is its own as
// long as a run of entries stays within it, and otherwise to a vector of its own.
// In matrices whose entries lie near a diagonal nearly all of them go to y at once,
// and no vector is set to zero and summed but for a few elements around the
// borders.
type target[V sparse.Value] struct {
	y          []V
	beta       V
	first, end int // the worker's own stretch of y
	done       int // up to here it is beta*y + what was added; beyond, still y

	spill  []V // zero between products
	lo, hi int // the stretch of spill that is not
}

// of gives the vector to add a run of entries with these indices to. One that lies
// outside of y lies outside of the vector.
func (t *target[V]) of(minors []int32) []V {
	least, greatest := simd.MinMax(simd.Default(), minors)
	lo, hi := int(least), int(greatest)+1
	if t.first <= lo && hi <= t.end {
		if hi > t.done {
			merge.Scale(t.y[t.done:hi], t.beta)
			t.done = hi
		}
		return t.y
	}
	if t.spill == nil || lo < 0 || hi > len(t.y) {
		return t.y
	}
	if t.lo == t.hi {
		t.lo, t.hi = lo, hi
	}
	t.lo, t.hi = min(t.lo, lo), max(t.hi, hi)
	return t.spill
}

// join finishes y[from:to]: it scales what no worker did, and adds the workers' own
// vectors, which are zero afterwards.
func join[V sparse.Value](targets []target[V], from, to int64) {
	const block = 1 << 10 // elements that stay in the nearest cache
	for ; from < to; from += block {
		lo, hi := int(from), int(min(from+block, to))
		for i := range targets {
			t := &targets[i]
			if a, b := max(lo, t.done), min(hi, t.end); a < b {
				merge.Scale(t.y[a:b], t.beta)
			}
		}
		for i := range targets {
			t := &targets[i]
			if a, b := max(lo, t.lo), min(hi, t.hi); a < b {
				y, own := t.y[a:b], t.spill[a:b]
				for j, v := range own {
					y[j] += v
				}
				clear(own)
			}
		}
	}
}

// borders cuts y into the stretches of the workers: at the mean of the indices
// around the cut between two pieces, which for a matrix with a diagonal is where
// the entries of both meet.
func borders(parts []partition.Part, minors []int32, base int64, rows int) []int {
	const sample = 64 // entries on each side
	out := make([]int, len(parts)+1)
	for i := 1; i < len(parts); i++ {
		k := parts[i].StartIdx - base
		near := minors[max(k-sample, 0):min(k+sample, int64(len(minors)))]
		sum := int64(0)
		for _, m := range near {
			sum += int64(m)
		}
		out[i] = min(max(int(sum/int64(max(len(near), 1))), out[i-1]), rows)
	}
	out[len(parts)] = rows
	return out
}
