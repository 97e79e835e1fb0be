package msrep

import (
	"slices"
	"time"
)

// Timing is how long the phases of one product took. With several devices at
// work at once a phase is as long as on the slowest; with Baseline, which serves
// one after the other, phases add up.
type Timing struct {
	Distribute time.Duration // vectors to the devices; 0 where they are used in place
	Kernel     time.Duration
	Merge      time.Duration   // results back to the host, shared rows or partial vectors joined
	Total      time.Duration   // of the whole call
	Devices    []time.Duration // the kernel of each device
}

// LastTiming returns the timing of the last product by SpMV or SpMM: zero before the first one and after a product that
// failed. It waits for a product that is running.
func (p *Plan[V]) LastTiming() Timing {
	if p == nil {
		return Timing{}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.last
	t.Devices = slices.Clone(t.Devices)
	return t
}

// PlanTiming is how long it took to make a plan.
type PlanTiming struct {
	Validate   time.Duration
	Convert    time.Duration // to another format, or into order; on GPUs also the pointers of parts in COO
	Pack       time.Duration // finding and making the forms of the parts
	Partition  time.Duration // the split, and local pointers where a device needs its own
	Distribute time.Duration // parts to the devices; 0 where they are used in place
}

// add joins the times of another product, done after this one.
func (t *Timing) add(o Timing) {
	t.Distribute += o.Distribute
	t.Kernel += o.Kernel
	t.Merge += o.Merge
	t.Total += o.Total
	if t.Devices == nil {
		t.Devices = make([]time.Duration, len(o.Devices))
	}
	for i, d := range o.Devices {
		t.Devices[i] += d
	}
}
