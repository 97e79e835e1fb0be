package ptx

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

// Dim is the extent of a grid or a block. An extent of 0 means 1.
type Dim struct{ X, Y, Z int }

func (d Dim) axes() [3]int64 {
	return [3]int64{int64(max(d.X, 1)), int64(max(d.Y, 1)), int64(max(d.Z, 1))}
}

// Launch is the configuration of a launch.
type Launch struct {
	Grid, Block Dim
	Shared      int64 // bytes of dynamic shared memory
	// Workers is the number of blocks that run at the same time; 0 means 1. With one
	// worker, blocks run in order and a launch is deterministic.
	Workers int
	// AllowUnwritten disables the fault for reads of unwritten bytes. AllowRaces
	// disables those for races and for .nc loads of memory that the launch writes.
	AllowUnwritten, AllowRaces bool
	// Peers are memories of other devices that the kernel may read, but not write.
	Peers []*Memory
	// Watch is a label. Counters.Iterations counts how often each warp reaches it.
	Watch string
	// Turn makes the Workers run their blocks one at a time, and lets a warp run for up to
	// Turn warp instructions before a random warp of a random block goes on; Seed decides
	// which. 0 means that a warp runs until it ends, waits at a barrier, or waits for
	// another warp.
	Turn int64
	Seed uint64
	// MaxInstructions is the number of warp instructions after which the launch ends
	// with a fault; 0 means 2^32.
	MaxInstructions int64
}

// The bounds of a launch are those of devices.
const (
	warpSize   = 32
	maxThreads = 1024
	maxGridX   = math.MaxInt32
	maxGridYZ  = 65535
)

// Launch runs the kernel on m and returns when it has ended. Arguments are int32,
// uint32, int64, uint64, Addr, float32, float64, or []byte for a struct passed by
// value; their types must match the parameters. An error is a *sparse.InputError for
// wrong arguments, a *Fault for an error of the kernel, or wraps ErrOutOfMemory. A
// launch that fails returns the counters up to the error.
func (k *Kernel) Launch(m *Memory, l Launch, args ...any) (Counters, error) {
	params, err := k.pack(args)
	if err != nil {
		return Counters{}, err
	}
	r, err := k.newRun(l)
	if err != nil {
		return Counters{}, err
	}
	r.memory, r.params = m, params
	defer r.lock()()
	at, err := m.load(k.mod)
	if err != nil {
		return Counters{}, err
	}
	r.constants(at)
	if err := r.watchMemory(); err != nil {
		return Counters{}, err
	}
	return r.execute()
}

func (k *Kernel) bad(format string, args ...any) error {
	return sparse.Inputf("kernel "+k.name, format, args...)
}

// pack writes the arguments to the parameter space.
func (k *Kernel) pack(args []any) ([]byte, error) {
	if len(args) != len(k.params) {
		return nil, k.bad("%d arguments, it has %d parameters", len(args), len(k.params))
	}
	b := make([]byte, k.nparam)
	for i, q := range k.params {
		var v uint64
		size, float := int64(8), false
		switch a := args[i].(type) {
		case int32:
			v, size = uint64(uint32(a)), 4
		case uint32:
			v, size = uint64(a), 4
		case int64:
			v = uint64(a)
		case uint64:
			v = a
		case Addr:
			v = uint64(a)
		case float32:
			v, size, float = uint64(math.Float32bits(a)), 4, true
		case float64:
			v, float = math.Float64bits(a), true
		case []byte:
			if !q.array || int64(len(a)) != q.size {
				return nil, k.bad("argument %d is %d bytes, %s has %d", i, len(a), q.name, q.size)
			}
			copy(b[q.off:], a)
			continue
		default:
			return nil, k.bad("argument %d is a %T, which no parameter can be", i, a)
		}
		if q.array || size != q.size || q.typ.kind != bitsKind && float != (q.typ.kind == floatKind) {
			return nil, k.bad("argument %d is a %T, parameter %s has another type of %d bytes", i, args[i], q.name, q.size)
		}
		for j := range size {
			b[q.off+j] = byte(v >> (8 * j))
		}
	}
	return b, nil
}

// run is the state of one launch.
type run struct {
	k           *Kernel
	launch      Launch
	grid, block [3]int64
	blocks      int64
	threads     int
	shared      int64
	watch       int32
	limit       int64
	workers     int
	memory      *Memory
	params      []byte
	consts      []vec
	live        []*region
	epoch       uint32
	orders      *orders
	iterations  []int64
	counted     atomic.Int64 // warp instructions that the workers have reported
	stop        atomic.Bool
	all         []*worker
	turns       *turns
}

func (k *Kernel) newRun(l Launch) (*run, error) {
	r := &run{k: k, launch: l, grid: l.Grid.axes(), block: l.Block.axes(), watch: -1, limit: l.MaxInstructions}
	for _, n := range []int{l.Grid.X, l.Grid.Y, l.Grid.Z, l.Block.X, l.Block.Y, l.Block.Z, l.Workers} {
		if n < 0 {
			return nil, k.bad("a negative size in grid %v, block %v or workers %d", l.Grid, l.Block, l.Workers)
		}
	}
	if r.grid[0] > maxGridX || r.grid[1] > maxGridYZ || r.grid[2] > maxGridYZ {
		return nil, k.bad("grid %v: it may be %d x %d x %d", r.grid, maxGridX, maxGridYZ, maxGridYZ)
	}
	r.blocks = r.grid[0] * r.grid[1] * r.grid[2]
	if r.blocks > math.MaxInt32 {
		return nil, k.bad("%d blocks: more than %d are not supported", r.blocks, math.MaxInt32)
	}
	if r.block[0] > maxThreads || r.block[1] > maxThreads || r.block[2] > 64 || r.block[0]*r.block[1]*r.block[2] > maxThreads {
		return nil, k.bad("block %v: it may have %d threads", r.block, maxThreads)
	}
	r.threads = int(r.block[0] * r.block[1] * r.block[2])
	if k.maxDim[0] > 0 && int64(r.threads) > k.maxDim[0]*k.maxDim[1]*k.maxDim[2] {
		return nil, k.bad("block of %d threads, it was compiled for at most %d", r.threads, k.maxDim[0]*k.maxDim[1]*k.maxDim[2])
	}
	if k.reqDim[0] > 0 && r.block != k.reqDim {
		return nil, k.bad("block %v, it was compiled for %v", r.block, k.reqDim)
	}
	if l.Shared < 0 || l.Shared > maxShared-k.shared {
		return nil, k.bad("%d bytes of dynamic shared memory besides %d: there are %d", l.Shared, k.shared, maxShared)
	}
	r.shared = align(k.shared, 16) + l.Shared
	if l.Watch != "" {
		pc, ok := k.labels[l.Watch]
		if !ok {
			return nil, k.bad("it has no label %q", l.Watch)
		}
		if r.blocks > 1<<24 {
			return nil, k.bad("%d blocks are too many to count iterations of each warp", r.blocks)
		}
		r.watch = pc
		r.iterations = make([]int64, r.blocks*int64(r.warps()))
	}
	if r.limit <= 0 {
		r.limit = 1 << 32
	}
	r.workers = int(min(int64(max(l.Workers, 1)), r.blocks))
	return r, nil
}

// memories returns the memories of the launch, its own first.
func (r *run) memories() []*Memory {
	all := []*Memory{r.memory}
	for _, m := range r.launch.Peers {
		if !slices.Contains(all, m) {
			all = append(all, m)
		}
	}
	return all
}

// lock locks the memories of the launch, so that they serve no other launch, and numbers
// the launch and its blocks after all that used any of them. It returns the function that
// unlocks them.
func (r *run) lock() (unlock func()) {
	all := r.memories()
	slices.SortFunc(all, func(a, b *Memory) int { return cmp.Compare(a.id, b.id) }) // in one order, against deadlocks
	stamp := uint32(0)
	for _, m := range all {
		m.mu.Lock()
		r.epoch, stamp = max(r.epoch, m.launches+1), max(stamp, m.stamp)
	}
	r.memory.stamp = stamp
	for _, m := range all {
		m.launches = r.epoch
	}
	return func() {
		stamp := r.memory.stamp
		for _, m := range all {
			m.stamp = stamp
			m.mu.Unlock()
		}
	}
}

// find returns the last region of the device and its peers that begins at or before an
// address, or nil.
func (r *run) find(addr uint64) *region {
	last := r.memory.find(addr)
	for _, m := range r.launch.Peers {
		if p := m.find(addr); p != nil && (last == nil || p.base > last.base) {
			last = p
		}
	}
	return last
}

// warps returns the number of warps of a block.
func (r *run) warps() int { return (r.threads + warpSize - 1) / warpSize }

// constants fills the operands that are the same in all lanes, and numbers the regions
// for the counters.
func (r *run) constants(at map[*variable]Addr) {
	values := append([]uint64(nil), r.k.consts...)
	for _, f := range r.k.fixups {
		values[f.index] = uint64(at[f.variable]) + f.addend
	}
	r.consts = make([]vec, len(values))
	for i, v := range values {
		for l := range r.consts[i] {
			r.consts[i][l] = v
		}
	}
	for _, m := range r.memories() {
		for _, reg := range m.regions {
			if reg.freed {
				continue
			}
			reg.traffic = len(r.live)
			r.live = append(r.live, reg)
		}
	}
	r.orders = newOrders()
}

// watchMemory prepares the regions for the detection of races and for the counters.
func (r *run) watchMemory() error {
	for _, reg := range r.live {
		if reg.races == nil && !r.launch.AllowRaces {
			reg.races = newRaces(reg.size)
		}
		if reg.sectors != nil || r.workers > 1 {
			continue
		}
		n := reg.size/sectorBytes + 1
		if have, ok := mem.Fits(4 * n); !ok {
			return fmt.Errorf("%w of the host: to count the traffic of %s takes %d bytes there, %d are available", ErrOutOfMemory, reg.name, 4*n, have)
		}
		reg.sectors = make([]uint32, n)
	}
	return nil
}

// execute runs all blocks of the grid.
func (r *run) execute() (Counters, error) {
	r.all = make([]*worker, r.workers)
	for i := range r.all {
		r.all[i] = newWorker(r)
		r.all[i].stuckAt.Store(notStuck)
	}
	r.turns = newTurns(r)
	var next atomic.Int64
	var once sync.Once
	var first error
	par.Do(r.workers, func(i int) {
		wk := r.all[i]
		defer r.turns.leave(wk)
		if !r.turns.wait(wk) {
			return
		}
		for !r.stop.Load() {
			b := next.Add(1) - 1
			if b >= r.blocks {
				return
			}
			if err := wk.runBlock(b); err != nil {
				r.stop.Store(true)
				once.Do(func() { first = err })
			}
		}
	})
	var c Counters
	traffic := make([]BufferTraffic, len(r.live))
	for _, wk := range r.all {
		c.add(&wk.counters)
		for j := range wk.traffic {
			traffic[j].Add(wk.traffic[j].Traffic)
			traffic[j].DistinctSectors += wk.traffic[j].DistinctSectors
		}
	}
	for j, t := range traffic {
		if t.Traffic != (Traffic{}) {
			reg := r.live[j]
			t.Name, t.Addr, t.Bytes = reg.name, Addr(reg.base), reg.size
			t.Peer = 1 + slices.Index(r.launch.Peers, reg.of)
			c.Buffers = append(c.Buffers, t)
		}
	}
	c.Iterations = r.iterations
	return c, first
}
