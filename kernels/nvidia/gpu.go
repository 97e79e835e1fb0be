//go:build cuda

package nvidia

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"

	"gorgonia.org/cu"

	"github.com/msrep-go/msrep/kernels/internal/cuda"
	"github.com/msrep-go/msrep/kernels/internal/cuda/launch"
	"github.com/msrep-go/msrep/kernels/nvidia/internal/driver"
)

// gpu is one GPU with its primary context, which its devices share.
type gpu struct {
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
	reached map[*gpu]bool // whether this GPU's context may access their memory

	devices int // number of open devices; guarded by opened.mu
}

// l2Fetch is CU_LIMIT_MAX_L2_FETCH_GRANULARITY.
const l2Fetch cu.Limit = 5

// opened holds the GPUs that have devices.
var opened = struct {
	mu   sync.Mutex
	gpus map[int]*gpu
}{gpus: map[int]*gpu{}}

// acquire opens a GPU, or shares an open one, and makes its context current on the
// calling thread.
func acquire(c Config) (*gpu, error) {
	opened.mu.Lock()
	defer opened.mu.Unlock()
	g := opened.gpus[c.GPU]
	if g == nil {
		info, err := query(c.GPU)
		if err != nil {
			return nil, err
		}
		g = &gpu{info: info, ptx: c.PTX, fetch: c.L2Fetch, groupsPerBlock: c.GroupsPerBlock, modules: map[string]driver.Module{}, funcs: map[string]function{}, reached: map[*gpu]bool{}}
		if g.dev, err = cu.GetDevice(c.GPU); err != nil {
			return nil, err
		}
		if g.ctx, err = g.dev.RetainPrimaryCtx(); err != nil {
			return nil, err
		}
	}
	if err := g.open(); err != nil {
		if g.devices == 0 {
			err = errors.Join(err, g.dev.ReleasePrimaryCtx())
		}
		return nil, err
	}
	g.devices++
	opened.gpus[c.GPU] = g
	return g, nil
}

// open makes the context current on the calling thread and sets up the pool, once.
func (g *gpu) open() error {
	if err := cu.SetCurrentContext(g.ctx); err != nil {
		return err
	}
	if g.devices == 0 && g.fetch != 0 {
		if err := cu.SetLimit(l2Fetch, int64(g.fetch)); err != nil {
			return fmt.Errorf("%d bytes for the L2 cache to read at a time: %w", g.fetch, err)
		}
	}
	if g.devices == 0 && driver.PoolsSupported(g.dev) {
		if err := driver.KeepPool(g.dev); err != nil {
			return err
		}
		g.pools = true
	}
	return nil
}

// release ends the use of a GPU by one device, on its thread. The last device unloads
// the kernels and releases the context with everything in it.
func (g *gpu) release() error {
	opened.mu.Lock()
	defer opened.mu.Unlock()
	if g.devices--; g.devices > 0 {
		return nil
	}
	delete(opened.gpus, g.info.Ordinal)
	var errs []error
	for _, m := range g.modules {
		errs = append(errs, m.Unload())
	}
	if g.pools {
		errs = append(errs, driver.TrimPool(g.dev))
	}
	errs = append(errs, g.dev.ReleasePrimaryCtx())
	return errors.Join(errs...)
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

// reach lets the context of g, which is current on the calling thread, read the memory
// of from, if the pair supports that. Otherwise copies go through the host. An error
// that does not lose the GPU is only reported, once.
func (g *gpu) reach(from *gpu) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.reached[from] || from == g {
		return nil
	}
	g.reached[from] = true
	can, err := g.dev.CanAccessPeer(from.dev)
	if err == nil && can != 0 {
		err = from.ctx.EnablePeerAccess(0)
		if code(err) == codePeerEnabled {
			err = nil
		}
		if err == nil && from.pools {
			err = driver.SharePool(from.dev, g.dev)
		}
	}
	return err
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
	if c.Copy == 0 {
		return fmt.Sprintf("cuda:%d", c.GPU)
	}
	return fmt.Sprintf("cuda:%d.%d", c.GPU, c.Copy)
}
