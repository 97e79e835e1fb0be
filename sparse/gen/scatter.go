package gen

import (
	"context"
	"math"

	"github.com/msrep-go/msrep/internal/par"
)

// scatter sets n to the lengths of rows when total entries are thrown at
// distinct positions of len(n) rows of width columns. It halves the rows again
// and again and draws how many entries fall on either side. node names the
// place in this tree, from 1, and so the random numbers. n must be zero. It ends
// early when ctx does.
func scatter(ctx context.Context, s seed, node uint64, n []int64, total, width int64) {
	if total == 0 || len(n) == 0 {
		return
	}
	if len(n) == 1 {
		n[0] = total
		return
	}
	half := len(n) / 2
	left := share(s.sub(node), total, int64(half)*width, int64(len(n))*width)
	if len(n) > 1<<16 {
		if ctx.Err() != nil {
			return
		}
		par.Do(2, func(side int) {
			if side == 0 {
				scatter(ctx, s, 2*node, n[:half], left, width)
			} else {
				scatter(ctx, s, 2*node+1, n[half:], total-left, width)
			}
		})
		return
	}
	scatter(ctx, s, 2*node, n[:half], left, width)
	scatter(ctx, s, 2*node+1, n[half:], total-left, width)
}

// share draws how many of total entries, at distinct positions out of all, fall
// on the first left positions: a hypergeometric number. Small ones are drawn
// entry by entry, large ones from the normal distribution with the same mean
// and variance.
func share(s seed, total, left, all int64) int64 {
	const exact = 64
	if total > all/2 { // draw the free positions instead
		return left - share(s, all-total, left, all)
	}
	if total <= exact {
		first := left
		for k := range total {
			if s.below(uint64(k), uint64(all-k)) < uint64(first) {
				first--
			}
		}
		return left - first
	}
	t, p := float64(total), float64(left)/float64(all)
	sd := math.Sqrt(t * p * (1 - p) * float64(all-total) / float64(all-1))
	// The conversion keeps the compiler from fusing the product into the sum,
	// which would round differently from machine to machine.
	x := math.Round(float64(t*p) + float64(s.normal()*sd))
	return int64(min(max(x, float64(max(0, total-(all-left)))), float64(min(total, left))))
}

// normal is about normally distributed, mean 0 and variance 1: the sum of 12
// uniform numbers (Irwin-Hall), which needs no logarithm.
func (s seed) normal() float64 {
	var sum float64
	for i := range uint64(12) {
		sum += s.uniform(i) / 2
	}
	return sum
}
