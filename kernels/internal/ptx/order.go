package ptx

import "sync"

// orders records which blocks see the writes of which others. A block that executes a
// fence and then an atomic on a variable releases its writes, and those that it has
// acquired. A block that executes an atomic on the same variable later acquires them.
type orders struct {
	mu       sync.Mutex
	fenced   map[int32]bool
	released map[uint64]map[int32]bool // by address: blocks whose writes are released there
	acquired map[int32]map[int32]bool  // by block: blocks whose writes it has acquired
}

func newOrders() *orders {
	return &orders{fenced: map[int32]bool{}, released: map[uint64]map[int32]bool{}, acquired: map[int32]map[int32]bool{}}
}

func (o *orders) fence(block int32) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fenced[block] = true
}

// atomic records an atomic of a block on a variable.
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

// knows reports whether block has acquired the writes of writer.
func (o *orders) knows(block, writer int32) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.acquired[block][writer]
}
