//go:build cuda

package nvidia

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"
	"sync/atomic"

	"gorgonia.org/cu"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/internal/cuda"
	"github.com/msrep-go/msrep/kernels/internal/cuda/launch"
	"github.com/msrep-go/msrep/kernels/nvidia/internal/driver"
)

// gpu is one context of a GPU, which its devices share: the primary context, unless
// Config.OwnContext is set.
type gpu struct {
	key            gpuKey
	dev            cu.Device
	ctx            cu.CUContext
	info           GPU
	pools          bool // memory is allocated in stream order
	ptx            func(family string) string
	fetch          int // Config.L2Fetch
	groupsPerBlock int // Config.GroupsPerBlock

	mu      sync.Mutex
	modules map[string]driver.Module // by family of kernels
	funcs   map[string]function
	shared  map[string]int64 // bytes of dynamic shared memory that a kernel may have, if more than 48 KiB

	peersMu sync.RWMutex
	peers   map[*gpu]*peer // how this context reaches the memory of others; set by Connect

	opening sync.Mutex // held while a device opens or closes
	devices int        // number of open devices; guarded by opening
	gone    bool       // no device may use it any more; guarded by opening

	stranded bool // a closed device has left work that waits for a lost device; guarded by opening
	lost     atomic.Pointer[kernels.LostError]
	users    int // devices, and devices of other contexts that work in this one; guarded by opened.mu
}

// gpuKey names a context: own is 0 for the primary context.
type gpuKey struct{ ordinal, own int }

// l2Fetch is CU_LIMIT_MAX_L2_FETCH_GRANULARITY.
const l2Fetch cu.Limit = 5

// opened holds the GPUs that have devices.
var opened = struct {
	mu   sync.Mutex
	gpus map[gpuKey]*gpu
}{gpus: map[gpuKey]*gpu{}}

// acquire opens a GPU, or shares an open one, and makes its context current on the
// calling thread. GPUs open at the same time, each under its own lock.
func acquire(c Config) (*gpu, error) {
	g := find(c)
	defer g.opening.Unlock()
	if err := g.open(); err != nil {
		if g.devices == 0 {
			g.forget()
		}
		return nil, err
	}
	g.devices++
	opened.mu.Lock()
	defer opened.mu.Unlock()
	g.users++
	return g, nil
}

// find returns the context of a GPU, with its lock held. It may have no devices yet.
func find(c Config) *gpu {
	key := gpuKey{ordinal: c.GPU}
	if c.OwnContext {
		key.own = c.Copy + 1
	}
	for {
		opened.mu.Lock()
		g := opened.gpus[key]
		if g == nil {
			g = &gpu{key: key, ptx: c.PTX, fetch: c.L2Fetch, groupsPerBlock: c.GroupsPerBlock, modules: map[string]driver.Module{}, funcs: map[string]function{}, shared: map[string]int64{}, peers: map[*gpu]*peer{}}
			opened.gpus[key] = g
		}
		opened.mu.Unlock()
		g.opening.Lock()
		if !g.gone {
			return g
		}
		g.opening.Unlock() // its last device has closed in the meantime
	}
}

// forget removes a context that has no devices.
func (g *gpu) forget() {
	opened.mu.Lock()
	defer opened.mu.Unlock()
	g.gone = true
	delete(opened.gpus, g.key)
	for _, other := range opened.gpus {
		other.setPeer(g, nil)
	}
}

// open makes the context current on the calling thread; the first device makes the
// context. After an error of the first device there is none.
func (g *gpu) open() (err error) {
	if g.devices > 0 {
		return cu.SetCurrentContext(g.ctx)
	}
	if g.info, err = query(g.key.ordinal); err != nil {
		return err
	}
	if g.dev, err = cu.GetDevice(g.key.ordinal); err != nil {
		return err
	}
	if g.key.own > 0 {
		g.ctx, err = g.dev.MakeContext(cu.SchedAuto)
	} else {
		g.ctx, err = g.dev.RetainPrimaryCtx()
	}
	if err != nil {
		return err
	}
	if err := g.setUp(); err != nil {
		return errors.Join(err, g.end())
	}
	return nil
}

// setUp makes the context current on the calling thread and sets up the pool.
func (g *gpu) setUp() error {
	if err := cu.SetCurrentContext(g.ctx); err != nil {
		return err
	}
	if g.fetch != 0 {
		if err := cu.SetLimit(l2Fetch, int64(g.fetch)); err != nil {
			return fmt.Errorf("%d bytes for the L2 cache to read at a time: %w", g.fetch, err)
		}
	}
	if g.pools = driver.PoolsSupported(g.dev); g.pools {
		return driver.KeepPool(g.dev)
	}
	return nil
}

// end releases the context.
func (g *gpu) end() error {
	if g.key.own > 0 {
		return g.ctx.Destroy()
	}
	return g.dev.ReleasePrimaryCtx()
}

// hold keeps the context until let, even if its last device closes. It returns false if
// that has closed.
func (g *gpu) hold() bool {
	opened.mu.Lock()
	defer opened.mu.Unlock()
	if g.users == 0 {
		return false
	}
	g.users++
	return true
}

// let ends hold. The last call releases the context.
func (g *gpu) let() error {
	_, err := g.leave()
	return err
}

// leave is let. ended reports whether it has released the context.
func (g *gpu) leave() (ended bool, err error) {
	opened.mu.Lock()
	g.users--
	ended = g.users == 0
	opened.mu.Unlock()
	if ended {
		err = g.end()
	}
	return ended, err
}

// release ends the use of a context by one device, on its thread. The last device unloads
// the kernels and, unless another context still uses it, releases the context with
// everything in it.
//
// If the device was stranded, the call may hang: only the context is then released, and
// nothing else waits for the call. ended reports whether the context was released.
func (g *gpu) release(stranded bool) (ended bool, err error) {
	g.opening.Lock()
	unlock := sync.OnceFunc(g.opening.Unlock)
	defer unlock()
	var errs []error
	g.stranded = g.stranded || stranded
	if g.devices--; g.devices == 0 {
		if g.stranded {
			g.forget()
			unlock()
		} else {
			defer g.forget()
			for _, m := range g.modules {
				errs = append(errs, m.Unload())
			}
			if g.pools {
				errs = append(errs, driver.TrimPool(g.dev))
			}
		}
	}
	ended, err = g.leave()
	return ended, errors.Join(append(errs, err)...)
}

// function is a loaded kernel and the number of its blocks that the GPU runs at a time.
type function struct {
	driver.Function
	resident int64
}

// function returns a kernel. The first call for a family compiles it for the GPU.
func (g *gpu) function(k cuda.Kernel) (function, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if f, ok := g.funcs[k.Name]; ok {
		return f, nil
	}
	m, ok := g.modules[k.Family]
	if !ok {
		text, err := g.text(k.Family)
		if err != nil {
			return function{}, err
		}
		if m, err = driver.Load(text); err != nil {
			return function{}, err
		}
		g.modules[k.Family] = m
	}
	f, err := m.Function(k.Name)
	if err != nil {
		return function{}, err
	}
	n, err := f.Resident(k.Block)
	if err != nil {
		return function{}, err
	}
	found := function{f, int64(n) * int64(g.info.SMs)}
	g.funcs[k.Name] = found
	return found, nil
}

// allowShared lets a kernel have bytes of dynamic shared memory.
func (g *gpu) allowShared(name string, f function, bytes int64) error {
	if bytes <= 48<<10 {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shared[name] >= bytes {
		return nil
	}
	if err := f.AllowShared(bytes); err != nil {
		return fmt.Errorf("%d bytes of shared memory: %w", bytes, err)
	}
	g.shared[name] = bytes
	return nil
}

// text returns the PTX of a family.
func (g *gpu) text(family string) (string, error) {
	if g.ptx != nil {
		if text := g.ptx(family); text != "" {
			return text, nil
		}
	}
	capability, err := strconv.ParseFloat(g.info.Compute, 64)
	if err != nil {
		return "", fmt.Errorf("compute capability %q: %w", g.info.Compute, err)
	}
	return cuda.PTXFor(family, capability)
}

// grid returns the number of blocks of a call, limited to the largest grid; blocks then
// process several groups of items.
func (g *gpu) grid(c launch.Call, f function) int {
	if g.groupsPerBlock > 0 && c.GroupsPerBlock > 0 {
		c.GroupsPerBlock = int64(g.groupsPerBlock)
	}
	return int(min(c.Grid(f.resident), math.MaxInt32))
}

// deviceID returns the name of a device as in --devices, with a suffix for additional
// devices on the same GPU.
func deviceID(c Config) string {
	switch {
	case c.Copy == 0:
		return fmt.Sprintf("cuda:%d", c.GPU)
	case c.OwnContext:
		return fmt.Sprintf("cuda:%d+%d", c.GPU, c.Copy)
	}
	return fmt.Sprintf("cuda:%d.%d", c.GPU, c.Copy)
}

// id returns the name of the first device of a context.
func (g *gpu) id() string {
	return deviceID(Config{GPU: g.key.ordinal, Copy: max(g.key.own-1, 0), OwnContext: g.key.own > 0})
}
