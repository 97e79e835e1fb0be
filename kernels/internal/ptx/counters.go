package ptx

// Counters holds what a launch executed. It counts only instructions of the text, once
// for each warp that executes them with at least one lane.
type Counters struct {
	Blocks, Warps      int64
	WarpInstructions   int64
	ThreadInstructions int64 // lanes that execute warp instructions; lanes whose guard is false are not counted
	Branches           int64 // bra instructions of warps
	DivergentBranches  int64 // branches at which the lanes of a warp diverge
	Shuffles           int64 // shfl, vote and match instructions of warps
	Barriers           int64 // bar instructions of warps, without bar.warp.sync
	Shared             SharedTraffic
	LocalRequests      int64 // instructions of warps on local memory
	// Buffers has one element for each allocation that the launch accessed: those of the
	// device, sorted by address, then those of each of Launch.Peers.
	Buffers []BufferTraffic
	// Iterations counts, for each warp of the grid, how often it reached the label of
	// Launch.Watch.
	Iterations []int64
}

// Traffic counts accesses to global memory.
type Traffic struct {
	Loads, Stores, Atomics                   int64 // requests: instructions of warps
	LoadSectors, StoreSectors, AtomicSectors int64 // 32-byte sectors, once per request
	LoadPieces                               int64 // 64-byte pieces of loads, once per request: what an NVIDIA L2 serves at a time
}

// Add adds t to the traffic.
func (a *Traffic) Add(t Traffic) {
	a.Loads += t.Loads
	a.Stores += t.Stores
	a.Atomics += t.Atomics
	a.LoadSectors += t.LoadSectors
	a.StoreSectors += t.StoreSectors
	a.AtomicSectors += t.AtomicSectors
	a.LoadPieces += t.LoadPieces
}

// BufferTraffic is the traffic of one allocation.
type BufferTraffic struct {
	Name  string
	Addr  Addr
	Bytes int64
	Peer  int // 0 for memory of the device, k for that of Launch.Peers[k-1]
	Traffic
	// DistinctSectors counts each loaded sector once for each block that loads it.
	// These are the sectors that the device moves if a block's sectors stay in the
	// first-level cache. It is 0 if several workers run blocks.
	DistinctSectors int64
}

// SharedTraffic counts accesses to shared memory.
type SharedTraffic struct {
	Requests  int64 // instructions of warps
	Conflicts int64 // additional passes, because lanes access the same one of the 32 banks
}

// Total returns the traffic of all buffers.
func (c *Counters) Total() Traffic {
	var t Traffic
	for _, b := range c.Buffers {
		t.Add(b.Traffic)
	}
	return t
}

// Buffer returns the sum of the traffic of all buffers named name.
func (c *Counters) Buffer(name string) BufferTraffic {
	sum := BufferTraffic{Name: name}
	for _, b := range c.Buffers {
		if b.Name == name {
			sum.Addr = b.Addr
			sum.Bytes += b.Bytes
			sum.Traffic.Add(b.Traffic)
			sum.DistinctSectors += b.DistinctSectors
		}
	}
	return sum
}

// add adds the counters of another worker.
func (c *Counters) add(o *Counters) {
	c.Blocks += o.Blocks
	c.Warps += o.Warps
	c.WarpInstructions += o.WarpInstructions
	c.ThreadInstructions += o.ThreadInstructions
	c.Branches += o.Branches
	c.DivergentBranches += o.DivergentBranches
	c.Shuffles += o.Shuffles
	c.Barriers += o.Barriers
	c.Shared.Requests += o.Shared.Requests
	c.Shared.Conflicts += o.Shared.Conflicts
	c.LocalRequests += o.LocalRequests
}

// sectorSet finds the distinct sectors of one warp instruction. An instruction accesses
// at most 32 lanes times 16 bytes.
type sectorSet struct {
	keys [256]uint64
	gens [256]uint32
	gen  uint32
}

func (s *sectorSet) reset() {
	if s.gen++; s.gen == 0 {
		s.gens = [256]uint32{}
		s.gen = 1
	}
}

// add reports whether key is new since reset.
func (s *sectorSet) add(key uint64) bool {
	for i := uint8(key); ; i++ {
		switch {
		case s.gens[i] != s.gen:
			s.gens[i], s.keys[i] = s.gen, key
			return true
		case s.keys[i] == key:
			return false
		}
	}
}

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
	w.worker.pieces.reset()
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
	if t.kind == loadRequest && wk.pieces.add((r.base+uint64(off))/pieceBytes) {
		c.LoadPieces++
	}
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
