//go:build cuda

package nvidia

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"

	"gorgonia.org/cu"

	"github.com/msrep-go/msrep/kernels/cuda"
	"github.com/msrep-go/msrep/kernels/cuda/launch"
	"github.com/msrep-go/msrep/kernels/nvidia/internal/driver"
)

// gpu is one GPU with its primary context, shared by the devices on it.
type gpu struct {
	dev   cu.Device
	ctx   cu.CUContext
	info  GPU
	pools bool // memory is allocated in the order of streams
	ptx   func(family string) string
	fetch int // Config.L2Fetch
	turns int // Config.Turns

	mu      sync.Mutex
	modules map[string]driver.Module // by family of kernels
	funcs   map[string]function
	asked   map[*gpu]bool // whether this one's context may reach their memory

	devices int // open on it; guarded by opened.mu
}

// l2Fetch is CU_LIMIT_MAX_L2_FETCH_GRANULARITY.
const l2Fetch cu.Limit = 5

// opened is the GPUs that have devices.
var opened = struct {
	mu   sync.Mutex
	gpus map[int]*gpu
}{gpus: map[int]*gpu{}}

// acquire opens a GPU, or shares it, and makes its context that of the calling
// thread.
func acquire(c Config) (*gpu, error) {
	opened.mu.Lock()
	defer opened.mu.Unlock()
	g := opened.gpus[c.GPU]
	if g == nil {
		info, err := query(c.GPU)
		if err != nil {
			return nil, err
		}
		g = &gpu{info: info, ptx: c.PTX, fetch: c.L2Fetch, turns: c.Turns, modules: map[string]driver.Module{}, funcs: map[string]function{}, asked: map[*gpu]bool{}}
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

// open makes the context that of the calling thread and sets up the pool, once.
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

// release ends the use of a GPU by one device, on its thread. The last one unloads
// the kernels and lets the context go, with all that is still in it.
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

// function is a kernel, of which the GPU has so many blocks at work at once.
type function struct {
	driver.Function
	resident int64
}

// function finds a kernel; its family is compiled for the GPU by the first call.
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

// text is the kernels of a family.
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

// reach lets the context of the calling thread, which is that of g, read the memory
// of from, where the pair can do that. Copies work without, through the host: an error that
// does not lose the GPU only says why, once.
func (g *gpu) reach(from *gpu) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.asked[from] || from == g {
		return nil
	}
	g.asked[from] = true
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

// grid is the number of blocks of a call: no more than a grid may have, which then
// take several turns.
func (g *gpu) grid(c launch.Call, f function) int {
	if g.turns > 0 && c.Turns > 0 {
		c.Turns = int64(g.turns)
	}
	return int(min(c.Grid(f.resident), math.MaxInt32))
}

// deviceID names a device as in --devices, and further ones on the same GPU apart.
func deviceID(c Config) string {
	if c.Copy == 0 {
		return fmt.Sprintf("cuda:%d", c.GPU)
	}
	return fmt.Sprintf("cuda:%d.%d", c.GPU, c.Copy)
}
