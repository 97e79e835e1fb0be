package model

import (
	"math/bits"
	"slices"
)

// Steps says how Plan.Apply multiplies vectors that stay on the GPUs. The zero value is the way before any of the
// steps: GPU i copies the range of x that it needs from GPU 0, then from GPU 1, and so on, its own part too, and every
// GPU waits for all others.
type Steps struct {
	Rotated bool // GPU i begins with GPU i+1
	Pull    bool // one kernel reads the needed elements of all GPUs that it can read, the others' are packed and copied; few calls
	Placed  bool // parts that are neighbours lie on GPUs with a link; large copies between GPUs without one go through a third
	Early   bool // where no sums are added and GPUs wait for neighbours only, a GPU marks that it has read x before it multiplies
	Overlap bool // rows that need no other GPU are multiplied during the exchange
}

// ApplyTimes are the modelled seconds of one of many products in a row. The GPU that is last at the end of each phase
// counts.
type ApplyTimes struct {
	Wait     float64 // for events of other GPUs
	Exchange float64 // elements of x
	Compute  float64
	Merge    float64 // sums of rows that two parts share
	Host     float64 // the most that the calls of one GPU take on the host, at the same time as the rest
	Calls    int     // of all GPUs
	Most     int     // of one GPU
}

// Total returns the time of a product. The host is ahead of the GPUs, unless its calls take longer.
func (t ApplyTimes) Total() float64 {
	return max(t.Wait+t.Exchange+t.Compute+t.Merge, t.Host)
}

// Product returns the time of the product of a part: of its bytes if x is read in order, else the longer of two: that
// of its lookups in L2, beside which the matrix streams, and that of the memory.
func (n *Node) Product(c PartCount, cache int) float64 {
	bytes := c.Bytes + 8*float64(c.Rows)
	if c.Streams {
		return (bytes+8*float64(c.Rows))/(n.Stream.Value*giga) + n.Launch.Value
	}
	t := bytes/(n.Stream.Value*giga) + n.Piece.Value*float64(c.Misses[cache])/(n.Scattered.Value*giga)
	if n.Lookups.Value > 0 {
		t = max(t, float64(c.Lookups)/(n.Lookups.Value*giga)+bytes/(n.Beside.Value*giga))
	}
	return t + n.Launch.Value
}

// apply is a product in progress.
type apply struct {
	*Node
	*network
	Steps
	s     Structure
	gpu   []int     // GPU of each part
	now   []float64 // by part
	calls []int     // by part
}

// Apply models a product of a structure on its first GPUs. cache is the number of the node's cache among those for
// which misses were counted.
func (n *Node) Apply(s Structure, steps Steps, cache int) ApplyTimes {
	gpus := len(s.Parts)
	a := &apply{Node: n, network: n.network(), Steps: steps, s: s, now: make([]float64, gpus), calls: make([]int, gpus)}
	for i := range gpus {
		a.gpu = append(a.gpu, i)
	}
	if steps.Placed {
		copy(a.gpu, n.Order)
	}
	var t ApplyTimes
	at := 0.0
	lap := func() float64 { // the time since the last lap
		end := slices.Max(a.now)
		d := end - at
		at = end
		return d
	}
	if gpus > 1 {
		a.pack()
		a.barrier(func(i, j int) bool { return a.reads(i, j) || a.adds(j, i) })
	}
	t.Wait = lap()
	begin := slices.Clone(a.now)
	if gpus > 1 {
		a.now = simulate(a.capacity, a.transfers(), a.now)
	}
	t.Exchange = lap()
	for i, c := range s.Parts {
		a.calls[i]++
		whole := n.Product(c, cache)
		if !steps.Overlap || gpus == 1 || c.Entries == 0 {
			a.now[i] += whole
			continue
		}
		boundary := float64(c.Boundary) / float64(c.Entries) * (whole - n.Launch.Value)
		a.calls[i]++
		a.now[i] = max(a.now[i], begin[i]+whole-boundary) + boundary + n.Launch.Value
	}
	t.Compute = lap()
	done := slices.Clone(a.now)
	if gpus > 1 {
		after := func(i, j int) bool { return a.adds(i, j) || a.reads(j, i) }
		a.barrier(after)
		if _, most := a.waits(after); steps.Early && most <= few && !s.carries() { // they wait for reads that have ended
			copy(a.now, done)
		}
		t.Wait += lap()
		a.carries()
		t.Merge = lap()
	}
	for _, k := range a.calls {
		t.Calls, t.Most = t.Calls+k, max(t.Most, k)
	}
	t.Host = float64(t.Most) * n.Call.Value
	return t
}

// reads reports whether part i needs elements of part j.
func (a *apply) reads(i, j int) bool {
	if a.Pull {
		return a.s.Need[i][j] > 0
	}
	return a.s.Range[i][j] > 0
}

// adds reports whether part i adds a sum of part j.
func (a *apply) adds(i, j int) bool { return slices.Contains(a.s.Parts[i].Carriers, j) }

// few is the largest number of GPUs that a GPU waits for directly, if calls are to be few.
const few = 3

// barrier lets part i wait for part j, for all i and j with after(i, j).
func (a *apply) barrier(after func(i, j int) bool) {
	waits, most := a.waits(after)
	if a.Pull && most > few { // a tree: each GPU waits for two at most, then all for the first
		end := slices.Max(a.now) + float64(bits.Len(uint(len(a.now))))*a.Signal.Value
		for i := range a.now {
			a.calls[i] += min(max(len(a.now)-2*i-1, 0), 2) + 1 + min(i, 1)
			a.now[i] = end
		}
		return
	}
	before := slices.Clone(a.now)
	for i, on := range waits {
		a.calls[i] += 1 + len(on)
		for _, j := range on {
			a.now[i] = max(a.now[i], before[j]+a.Signal.Value)
		}
	}
}

// waits returns the GPUs that each GPU waits for, and the largest number of them.
func (a *apply) waits(after func(i, j int) bool) (waits [][]int, most int) {
	waits = make([][]int, len(a.now))
	for i := range a.now {
		for j := range a.now {
			if i != j && after(i, j) {
				waits[i] = append(waits[i], j)
			}
		}
		most = max(most, len(waits[i]))
	}
	return waits, most
}

// carries reports whether a part adds sums of another.
func (s *Structure) carries() bool {
	return slices.ContainsFunc(s.Parts, func(c PartCount) bool { return len(c.Carriers) > 0 })
}

// pulls reports whether part i reads what it needs of part j with a kernel.
func (a *apply) pulls(i, j int) bool { return a.Pull && a.Direct(a.gpu[j], a.gpu[i]) }

// listed reports whether part i gets only those elements of part j that it needs, not all from the first to the last.
func (a *apply) listed(i, j int) bool {
	return 2*a.s.Need[i][j] < a.s.Span[i][j]
}

// bytes returns the bytes on a link for what part i gets of part j.
func (a *apply) bytes(i, j int) float64 {
	switch {
	case !a.Pull:
		return 8 * float64(a.s.Range[i][j])
	case !a.listed(i, j):
		return 8 * float64(a.s.Span[i][j])
	case a.pulls(i, j):
		return a.s.Wire[i][j]
	}
	return 8 * float64(a.s.Need[i][j]) // packed
}

// pack lets each GPU pack the elements that others copy.
func (a *apply) pack() {
	for j := range a.now {
		for i := range a.now {
			if i != j && a.Pull && a.listed(i, j) && !a.pulls(i, j) {
				a.now[j] += a.Small.Value
				a.calls[j]++
				break // one kernel packs for all
			}
		}
	}
}

// transfers returns the stages of the exchange of x, by part.
func (a *apply) transfers() [][]stage {
	queue := make([][]stage, len(a.now))
	for i := range a.now {
		pull := stage{fixed: a.Small.Value}
		for k := range a.now {
			j := k
			if a.Rotated {
				j = (i + 1 + k) % len(a.now)
			}
			switch {
			case i != j && a.reads(i, j) && a.pulls(i, j):
				pull.flows = append(pull.flows, flow{a.bytes(i, j), a.route(a.gpu[j], a.gpu[i])})
			case i != j && a.reads(i, j):
				queue[i] = append(queue[i], a.copies(j, i, a.bytes(i, j)))
				a.calls[i]++
			case i == j && !a.Pull && a.s.Range[i][i] > 0: // a copy of its own elements reads and writes them
				queue[i] = append(queue[i], stage{fixed: a.Copy.Value + 16*float64(a.s.Range[i][i])/(a.Stream.Value*giga)})
				a.calls[i]++
			}
		}
		if len(pull.flows) > 0 {
			queue[i] = append(queue[i], pull)
			a.calls[i]++
		}
	}
	return queue
}

// copies returns the stage of a copy from part j to part i.
func (a *apply) copies(j, i int, bytes float64) stage {
	from, to := a.gpu[j], a.gpu[i]
	if a.Direct(from, to) {
		return stage{a.Copy.Value, []flow{{bytes, a.route(from, to)}}}
	}
	var able []int // GPUs with a link to both
	for _, k := range a.gpu {
		if a.Direct(from, k) && a.Direct(k, to) {
			able = append(able, k)
		}
	}
	if !a.Placed || bytes < leastForwarded || len(able) == 0 {
		return stage{a.Staged.Value, []flow{{bytes, a.host(from, to)}}}
	}
	// The GPU between passes on one piece while it receives the next.
	k := able[(from+to)%len(able)]
	first, second := a.route(from, k), a.route(k, to)
	piece := min(bytes, forwardedPiece) / a.capacity[second[0]]
	return stage{2*a.Copy.Value + piece, []flow{{bytes, slices.Concat(first, second)}}}
}

// A copy of at least leastForwarded bytes between GPUs without a link goes through a third one, in pieces.
const (
	leastForwarded = 256 << 10
	forwardedPiece = 1 << 20
)

// carries adds the sums that other GPUs have for rows of each GPU.
func (a *apply) carries() {
	for i, c := range a.s.Parts {
		if len(c.Carriers) == 0 {
			continue
		}
		a.now[i] += a.Small.Value
		a.calls[i]++
		if !a.Pull { // each sum is copied; a kernel reads them otherwise
			a.now[i] += float64(len(c.Carriers)) * a.Copy.Value
			a.calls[i] += len(c.Carriers)
		}
	}
}

// Partials models the end of a minor product, as in CSC: the sum of the partial vectors of all GPUs, as long as y. Each
// GPU copies its rows of the others' vectors and adds them, or with steps.Pull one kernel does both.
func (n *Node) Partials(rows int64, gpus int, steps Steps) float64 {
	bytes := 8 * float64(rows) / float64(gpus)
	s := newStructure(rows, 0, gpus)
	for i := range gpus {
		for j := range gpus {
			if i != j {
				s.Need[i][j] = rows / int64(gpus)
				s.Span[i][j], s.Range[i][j], s.Wire[i][j] = s.Need[i][j], s.Need[i][j], bytes
			}
		}
	}
	a := &apply{Node: n, network: n.network(), Steps: steps, s: s, now: make([]float64, gpus), calls: make([]int, gpus)}
	for i := range gpus {
		a.gpu = append(a.gpu, i)
	}
	if steps.Placed {
		copy(a.gpu, n.Order)
	}
	a.barrier(func(int, int) bool { return true })
	wait := slices.Max(a.now)
	queue := a.transfers()
	end := slices.Max(simulate(a.capacity, queue, a.now))
	sum := bytes * float64(gpus+1) / (n.Stream.Value * giga) // each vector is read, y written
	if steps.Pull && a.pulls(0, gpus-1) {
		return max(end, wait+sum+n.Small.Value)
	}
	return end + sum + n.Small.Value
}
