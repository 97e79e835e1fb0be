package model

import (
	"math"
	"slices"
)

// flow is a transfer between two GPUs.
type flow struct {
	bytes float64
	uses  []int // numbers of the links that it passes
}

// stage is a set of transfers that a GPU makes at the same time, after a fixed time.
type stage struct {
	fixed float64
	flows []flow
}

// simulate returns the time at which each GPU ends its stages. GPU i makes the stages queue[i] one after the other and
// begins at start[i]. At any time the transfers share the links fairly: the one that gets least gets as much as
// possible, then the next (max-min fairness).
func simulate(capacity []float64, queue [][]stage, start []float64) []float64 {
	type gpu struct {
		next  int
		begin float64 // time at which the flows of the current stage begin
		left  []flow
	}
	end, on := slices.Clone(start), make([]gpu, len(queue))
	open := func(i int, now float64) {
		for g := &on[i]; ; {
			if g.next == len(queue[i]) {
				g.begin, g.left, end[i] = math.Inf(1), nil, now
				return
			}
			s := queue[i][g.next]
			g.next++
			g.begin, g.left = now+s.fixed, slices.DeleteFunc(slices.Clone(s.flows), func(f flow) bool { return f.bytes <= 0 })
			if len(g.left) > 0 {
				return
			}
			now += s.fixed
		}
	}
	for i := range on {
		open(i, start[i])
	}
	for now := slices.Min(append(slices.Clone(start), math.Inf(1))); ; {
		var active []*flow
		after := math.Inf(1)
		for i := range on {
			if g := &on[i]; g.begin > now*(1+1e-12) {
				after = min(after, g.begin-now)
				continue
			}
			for k := range on[i].left {
				active = append(active, &on[i].left[k])
			}
		}
		if len(active) == 0 && math.IsInf(after, 1) {
			return end
		}
		rate := share(capacity, active)
		for k, f := range active {
			after = min(after, f.bytes/rate[k])
		}
		for k, f := range active {
			f.bytes -= rate[k] * after
		}
		now += after
		for i := range on {
			g := &on[i]
			if g.begin > now*(1+1e-12) || len(g.left) == 0 {
				continue
			}
			g.left = slices.DeleteFunc(g.left, func(f flow) bool { return f.bytes < 1e-6 })
			if len(g.left) == 0 {
				open(i, now)
			}
		}
	}
}

// share returns the bytes per second that each flow gets.
func share(capacity []float64, flows []*flow) []float64 {
	rate, free := make([]float64, len(flows)), slices.Clone(capacity)
	users := make([]int, len(capacity))
	for _, f := range flows {
		for _, r := range f.uses {
			users[r]++
		}
	}
	for range flows {
		tight, least := -1, math.Inf(1)
		for r, n := range users {
			if n > 0 && free[r]/float64(n) < least {
				tight, least = r, free[r]/float64(n)
			}
		}
		if tight < 0 {
			break
		}
		for k, f := range flows {
			if rate[k] > 0 || !slices.Contains(f.uses, tight) {
				continue
			}
			rate[k] = least
			for _, r := range f.uses {
				users[r]--
				free[r] = max(free[r]-least, 0)
			}
		}
	}
	return rate
}
