package numa_test

import (
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/msrep-go/msrep/numa"
	"github.com/msrep-go/msrep/sparse"
)

// pages maps n untouched pages.
func pages(t *testing.T, n int) []byte {
	m, err := unix.Mmap(-1, 0, n*os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, unix.Munmap(m)) })
	return m
}

// usableNode returns a node that memory of this machine may come from.
func usableNode(t *testing.T) int {
	topo, err := numa.Discover("/")
	require.NoError(t, err)
	m := pages(t, 1)
	for _, n := range topo.Nodes {
		if numa.Bind(m, n.ID) == nil {
			return n.ID
		}
	}
	t.Skip("this system refuses mbind")
	return 0
}

func TestBoundPagesAreCountedOnTheirNodeOnceTheyAreTouched(t *testing.T) {
	node := usableNode(t)
	m := pages(t, 5000) // more than one batch
	require.NoError(t, numa.Bind(m, node))
	count, err := numa.Pages(m)
	if err != nil {
		t.Skip(err)
	}
	require.Equal(t, numa.PageCount{Nodes: map[int]int{}, Missing: 5000}, count)
	for i := range 4900 {
		m[i*os.Getpagesize()] = 1
	}
	count, err = numa.Pages(m)
	require.NoError(t, err)
	require.Equal(t, numa.PageCount{Nodes: map[int]int{node: 4900}, Missing: 100}, count)
	require.Equal(t, 4900, count.Pages())
	count, err = numa.Pages(m[1 : os.Getpagesize()+1])
	require.NoError(t, err)
	require.Equal(t, 2, count.Pages(), "pages that the memory only touches count too")
	none, err := numa.Pages(nil)
	require.NoError(t, err)
	require.Zero(t, none.Pages()+none.Missing)
	none.Add(count)
	none.Add(numa.PageCount{Missing: 3})
	require.Equal(t, numa.PageCount{Nodes: map[int]int{node: 2}, Missing: 3}, none)
}

func TestBindRefusesNodesThatAreNotThere(t *testing.T) {
	m := pages(t, 1)
	require.ErrorIs(t, numa.Bind(m, 1023), numa.ErrRefused)
	require.True(t, sparse.IsInput(numa.Bind(m, -1)))
	require.True(t, sparse.IsInput(numa.Bind(m, 1024)))
	require.NoError(t, numa.Bind(nil, 0))
}

func TestInterleavedPagesComeFromTheNodesGiven(t *testing.T) {
	node := usableNode(t)
	m := pages(t, 10)
	require.NoError(t, numa.Interleave(m, []int{node}))
	for i := range m {
		m[i] = 1
	}
	count, err := numa.Pages(m)
	if err != nil {
		t.Skip(err)
	}
	require.Equal(t, map[int]int{node: 10}, count.Nodes)
	require.NoError(t, numa.Interleave(m, []int{node, 1023}), "one of them is there")
	require.ErrorIs(t, numa.Interleave(m, []int{1023}), numa.ErrRefused)
	require.NoError(t, numa.Interleave(nil, []int{node}))
	require.True(t, sparse.IsInput(numa.Interleave(m, nil)))
	require.True(t, sparse.IsInput(numa.Interleave(m, []int{node, 1024})))
	require.True(t, sparse.IsInput(numa.Interleave(m, []int{-1})))
}

func TestAThreadPrefersANode(t *testing.T) {
	node := usableNode(t)
	type result struct{ there, absent, negative error }
	done := make(chan result)
	go func() { // its thread ends with it
		runtime.LockOSThread()
		done <- result{numa.Prefer(node), numa.Prefer(1023), numa.Prefer(-1)}
	}()
	got := <-done
	require.NoError(t, got.there)
	require.ErrorIs(t, got.absent, numa.ErrRefused)
	require.ErrorContains(t, got.absent, "set_mempolicy")
	require.True(t, sparse.IsInput(got.negative))
}

func TestAPinnedThreadRunsOnItsCPUs(t *testing.T) {
	all, err := numa.Affinity()
	require.NoError(t, err)
	last := all[len(all)-1]
	type result struct {
		pin      error
		affinity []int
	}
	done := make(chan result)
	go func() { // its thread ends with it
		runtime.LockOSThread()
		err := numa.Pin([]int{last})
		cpus, _ := numa.Affinity()
		done <- result{err, cpus}
	}()
	got := <-done
	require.NoError(t, got.pin)
	require.Equal(t, []int{last}, got.affinity)
	again, err := numa.Affinity()
	require.NoError(t, err)
	require.Equal(t, all, again, "other threads keep their CPUs")
}

func TestPinRefusesCPUsThatAreNotThere(t *testing.T) {
	require.True(t, sparse.IsInput(numa.Pin(nil)))
	require.True(t, sparse.IsInput(numa.Pin([]int{-1})))
	require.True(t, sparse.IsInput(numa.Pin([]int{numa.MaxCPU + 1})))
	require.ErrorIs(t, numa.Pin([]int{numa.MaxCPU}), numa.ErrRefused)
}
