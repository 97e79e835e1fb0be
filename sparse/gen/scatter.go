package gen

import (
	"context"
	"math"

	"github.com/msrep-go/msrep/internal/par"
)

// distribute sets n to the lengths of rows for total entries at distinct random positions
// of len(n) rows with width columns. It halves the rows recursively and draws the number
// of entries of each half. node is the number of the current node of this binary tree,
// from 1; it selects the random numbers. n must be zero. distribute ends early when ctx
// ends.
func distribute(ctx context.Context, s seed, node uint64, n []int64, total, width int64) {
	if total == 0 || len(n) == 0 {
		return
	}
	if len(n) == 1 {
		n[0] = total
		return
	}
	half := len(n) / 2
	left := firstHalf(s.sub(node), total, int64(half)*width, int64(len(n))*width)
	if len(n) > 1<<16 {
		if ctx.Err() != nil {
			return
		}
		par.Do(2, func(side int) {
			if side == 0 {
				distribute(ctx, s, 2*node, n[:half], left, width)
			} else {
				distribute(ctx, s, 2*node+1, n[half:], total-left, width)
			}
		})
		return
	}
	distribute(ctx, s, 2*node, n[:half], left, width)
	distribute(ctx, s, 2*node+1, n[half:], total-left, width)
}

// firstHalf draws how many of total entries, at distinct positions among all, are among
// the first left positions: a hypergeometric number. Small numbers are drawn entry by
// entry, large ones from the normal distribution with the same mean and variance.
func firstHalf(s seed, total, left, all int64) int64 {
	const exact = 64
	if total > all/2 { // draw the empty positions instead
		return left - firstHalf(s, all-total, left, all)
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
	// The conversion prevents a fused multiply-add, which would round differently on some
	// machines.
	x := math.Round(float64(t*p) + float64(s.normal()*sd))
	return int64(min(max(x, float64(max(0, total-(all-left)))), float64(min(total, left))))
}

// normal returns an approximately normal number with mean 0 and variance 1: the sum of 12
// uniform numbers (Irwin-Hall). It needs no logarithm, which some machines would round
// differently.
func (s seed) normal() float64 {
	var sum float64
	for i := range uint64(12) {
		sum += s.uniform(i) / 2
	}
	return sum
}
