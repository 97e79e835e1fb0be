package ptx

// requestKind is load, store or atomic.
type requestKind uint8

const (
	loadRequest requestKind = iota
	storeRequest
	atomicRequest
)

// tally counts the sectors and the bank passes of one memory instruction of a
// warp.
type tally struct {
	wk     *worker
	kind   requestKind
	bytes  int
	shared bool
	local  bool
	banks  [warpSize]uint8
}

func (w *warp) newTally(kind requestKind, bytes int) tally {
	w.worker.sectors.reset()
	return tally{wk: w.worker, kind: kind, bytes: bytes}
}

// touch counts the access of one lane.
func (t *tally) touch(r *region, off int64) {
	wk := t.wk
	switch {
	case r == wk.shared:
		t.shared = true
		for word := off / 4; word <= (off+int64(t.bytes)-1)/4; word++ {
			if wk.sectors.add(uint64(word)) {
				t.banks[word%warpSize]++
			}
		}
		return
	case r.traffic < 0:
		t.local = true
		return
	}
	c := &wk.traffic[r.traffic]
	if wk.requested[r.traffic] != wk.step {
		wk.requested[r.traffic] = wk.step
		*t.counter(&c.Loads, &c.Stores, &c.Atomics)++
	}
	// An access is aligned and at most 16 bytes, so it lies in one sector.
	if !wk.sectors.add((r.base + uint64(off)) / sectorBytes) {
		return
	}
	*t.counter(&c.LoadSectors, &c.StoreSectors, &c.AtomicSectors)++
	if t.kind == loadRequest && wk.stamp != 0 {
		if s := &r.sectors[off/sectorBytes]; *s != wk.stamp {
			*s = wk.stamp
			c.DistinctSectors++
		}
	}
}

func (t *tally) counter(load, store, atomic *int64) *int64 {
	switch t.kind {
	case loadRequest:
		return load
	case storeRequest:
		return store
	}
	return atomic
}

// done adds the accesses of the whole warp to shared and local memory. A pass serves
// one word of each bank. If all 32 lanes take part, accesses of 8 or 16 bytes need at
// least 2 or 4 passes.
func (t *tally) done(lanes int) {
	c := &t.wk.counters
	if t.local {
		c.LocalRequests++
	}
	if !t.shared {
		return
	}
	c.Shared.Requests++
	most := 0
	for _, n := range t.banks {
		most = max(most, int(n))
	}
	least := (lanes*t.bytes + 4*warpSize - 1) / (4 * warpSize)
	c.Shared.Conflicts += int64(max(most-least, 0))
}
