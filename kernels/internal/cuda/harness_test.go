package cuda_test

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/cases"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/internal/cuda"
	"github.com/msrep-go/msrep/kernels/internal/ptx"
	"github.com/msrep-go/msrep/sparse"
)

func TestMain(m *testing.M) { cases.Main(m, "60") }

// modules holds the parsed PTX of each family.
var modules = sync.OnceValues(func() (map[string]*ptx.Module, error) {
	all := map[string]*ptx.Module{}
	for _, f := range cuda.Families() {
		s, err := cuda.PTX(f)
		if err != nil {
			return nil, err
		}
		if all[f], err = ptx.Parse(f+".ptx", s); err != nil {
			return nil, err
		}
	}
	return all, nil
})

// gpu is an interpreted device. It stops at the first access outside of an array, read
// of unwritten memory, or race.
type gpu struct {
	t   require.TestingT
	mem *ptx.Memory
	// mods holds test copies of families that replace the real ones.
	mods map[string]*ptx.Module
	// blocks limits the grids, so that blocks process several groups of items; 0 means
	// no limit.
	blocks int64
	// offset is the number of elements before each uploaded array, which gives the
	// arrays odd alignments.
	offset int
	// schedule has the workers, the turns and the limit of launches.
	schedule ptx.Launch
	// err is the first fault; later launches do nothing.
	err  error
	last ptx.Counters
}

func newGPU(t require.TestingT) *gpu {
	mods, err := modules()
	require.NoError(t, err)
	return &gpu{t: t, mem: ptx.NewMemory(0), mods: mods}
}

// broken returns a device with a test copy of one family, in which the nth match of a
// pattern (from 0, -1 for all) is replaced.
func broken(t testing.TB, family, pattern, with string, nth int) *gpu {
	t.Helper()
	g := newGPU(t)
	find, seen := regexp.MustCompile(pattern), 0
	s := find.ReplaceAllStringFunc(text(t, family), func(m string) string {
		seen++
		if nth < 0 || nth == seen-1 {
			return find.ReplaceAllString(m, with)
		}
		return m
	})
	require.Greater(t, seen, max(nth, 0), "the pattern is in the text")
	m, err := ptx.Parse(family+".ptx", s)
	require.NoError(t, err)
	g.mods = maps.Clone(g.mods)
	g.mods[family] = m
	return g
}

// array allocates n unwritten elements of device memory.
func array[T mem.Elem](g *gpu, name string, n int) ptx.Addr {
	a, err := g.mem.Alloc(name, int64(n)*mem.Size[T]())
	require.NoError(g.t, err)
	return a
}

// upload copies s to the device.
func upload[T mem.Elem](g *gpu, name string, s []T) ptx.Addr {
	a := array[T](g, name, g.offset+len(s)) + ptx.Addr(g.offset*int(mem.Size[T]()))
	require.NoError(g.t, g.mem.Write(a, mem.Bytes(s)))
	return a
}

// download reads n elements from the device. After a fault it returns zeros.
func download[T mem.Elem](g *gpu, a ptx.Addr, n int) []T {
	s := make([]T, n)
	if g.err == nil {
		require.NoError(g.t, g.mem.Read(mem.Bytes(s), a))
	}
	return s
}

// launch runs a kernel on n items.
func (g *gpu) launch(name string, n int64, args ...any) {
	k, err := cuda.Lookup(name)
	require.NoError(g.t, err)
	blocks := k.Blocks(n)
	if g.blocks > 0 {
		blocks = min(blocks, g.blocks)
	}
	g.launchGrid(name, blocks, args...)
}

func (g *gpu) launchGrid(name string, blocks int64, args ...any) {
	if g.err != nil {
		return
	}
	k, err := cuda.Lookup(name)
	require.NoError(g.t, err)
	kernel, err := g.mods[k.Family].Kernel(name)
	require.NoError(g.t, err)
	c := g.schedule
	c.Grid, c.Block, c.MaxInstructions = ptx.Dim{X: int(blocks)}, ptx.Dim{X: k.Block}, cmp.Or(c.MaxInstructions, 1<<22)
	g.last, g.err = kernel.Launch(g.mem, c, args...)
}

// ok fails the test if a fault occurred.
func (g *gpu) ok() { require.NoError(g.t, g.err) }

// named returns the name of a kernel for values of type V.
func named[V sparse.Value](format string, args ...any) string {
	suffix := "_f64"
	if mem.Size[V]() == 4 {
		suffix = "_f32"
	}
	return fmt.Sprintf(format, args...) + suffix
}
