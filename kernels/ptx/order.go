package ptx

import "sync"

// orders is what blocks know of each other: a block that executed a fence and an
// atomic on a variable has passed on what it wrote, and what had been passed on
// to it, to the blocks that execute an atomic on the variable later.
type orders struct {
	mu       sync.Mutex
	fenced   map[int32]bool
	released map[uint64]map[int32]bool // by address: blocks whose writes are known there
	acquired map[int32]map[int32]bool  // by block: blocks whose writes it knows
}

func newOrders() *orders {
	return &orders{fenced: map[int32]bool{}, released: map[uint64]map[int32]bool{}, acquired: map[int32]map[int32]bool{}}
}

func (o *orders) fence(block int32) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fenced[block] = true
}

// atomic notes an atomic of a block on a variable.
func (o *orders) atomic(block int32, addr uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	rel := o.released[addr]
	if len(rel) > 0 {
		acq := o.acquired[block]
		if acq == nil {
			acq = map[int32]bool{}
			o.acquired[block] = acq
		}
		for b := range rel {
			acq[b] = true
		}
	}
	if o.fenced[block] {
		if rel == nil {
			rel = map[int32]bool{}
			o.released[addr] = rel
		}
		rel[block] = true
		for b := range o.acquired[block] {
			rel[b] = true
		}
	}
}

// knows says whether what writer wrote is known to block.
func (o *orders) knows(block, writer int32) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.acquired[block][writer]
}
