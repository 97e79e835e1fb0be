package msrep

import (
	"slices"
	"time"
)

// Timing states how long the phases of one product took. A phase on several devices takes as long as on the slowest
// device. With Baseline, which uses one device after the other, it is the sum over the devices.
type Timing struct {
	Distribute time.Duration // copies of vectors to the devices; 0 if they are used in place
	Kernel     time.Duration
	Merge      time.Duration   // copies of results to the host, and merging
	Total      time.Duration   // of the whole call
	Devices    []time.Duration // the kernel of each device
}

// LastTiming returns the timing of the last product by SpMV or SpMM. It is zero before the first product and after a
// product that failed. LastTiming waits for a running product.
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

// PlanTiming states how long the phases of NewPlan took.
type PlanTiming struct {
	Validate   time.Duration
	Convert    time.Duration // conversion to another format, and sorting; on GPUs also the computation of pointers for parts in COO
	Pack       time.Duration // choosing and building the forms of the parts
	Partition  time.Duration // the split, and local pointers if a device needs them
	Distribute time.Duration // copies of parts to the devices; 0 if they are used in place
}

// add adds the times of a product that ran after this one.
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
