package ptx

// Counters is what a launch did. Only instructions of the text are counted, once
// for each warp that executes them with at least one lane.
type Counters struct {
	Blocks, Warps      int64
	WarpInstructions   int64
	ThreadInstructions int64 // lanes of warp instructions, without those that its guard keeps from it
	Branches           int64 // bra instructions of warps
	DivergentBranches  int64 // those at which lanes of a warp parted
	Shuffles           int64 // shfl, vote and match instructions of warps
	Barriers           int64 // bar instructions of warps, bar.warp.sync not
	Shared             SharedTraffic
	LocalRequests      int64 // instructions of warps on local memory
	// Buffers has an element for each allocation that the launch touched, by
	// address.
	Buffers []BufferTraffic
	// Iterations counts, for each warp of the grid, how often it came to the label
	// of Launch.Watch.
	Iterations []int64
}

// Traffic is accesses to memory beyond the multiprocessor.
type Traffic struct {
	Loads, Stores, Atomics                   int64 // requests: instructions of warps
	LoadSectors, StoreSectors, AtomicSectors int64 // 32-byte sectors, once per request
}

// Add adds t to the traffic.
func (a *Traffic) Add(t Traffic) {
	a.Loads += t.Loads
	a.Stores += t.Stores
	a.Atomics += t.Atomics
	a.LoadSectors += t.LoadSectors
	a.StoreSectors += t.StoreSectors
	a.AtomicSectors += t.AtomicSectors
}

// BufferTraffic is the traffic of one allocation.
type BufferTraffic struct {
	Name  string
	Addr  Addr
	Bytes int64
	Traffic
	// DistinctSectors counts each loaded sector once for each block that loads
	// it: what is moved when a block's sectors stay in the first-level cache. It
	// is 0 when blocks run side by side.
	DistinctSectors int64
}

// SharedTraffic is accesses to shared memory.
type SharedTraffic struct {
	Requests  int64 // instructions of warps
	Conflicts int64 // further passes, because lanes meet in one of the 32 banks
}

// Total is the traffic of all buffers.
func (c *Counters) Total() Traffic {
	var t Traffic
	for _, b := range c.Buffers {
		t.Add(b.Traffic)
	}
	return t
}

// Buffer is the traffic of the buffers with a name.
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

// add adds what another worker counted.
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

// sectorSet finds the distinct numbers among those of one warp instruction: at
// most 32 lanes with 16 bytes each.
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

// add says whether key is new since reset.
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
