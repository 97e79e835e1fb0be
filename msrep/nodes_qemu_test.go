//go:build qemu && linux

package msrep

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/msrep/internal/placement"
	"github.com/msrep-go/msrep/numa"
	"github.com/msrep-go/msrep/sparse"
)

// These tests need a kernel with several NUMA nodes. .ci/numa-qemu.sh boots one, with this test binary as its first
// process, and lists the CPUs of each node in MSREP_NODES: "0-1;2-3". An empty list is a node with memory only,
// "2-3!" a node without memory.

// init mounts the file systems that the first process of a machine needs.
func init() {
	if os.Getpid() != 1 {
		return
	}
	for dir, kind := range map[string]string{"/proc": "proc", "/sys": "sysfs", "/tmp": "tmpfs", "/dev": "devtmpfs"} {
		err := errors.Join(os.MkdirAll(dir, 0o755), unix.Mount(kind, dir, kind, 0, ""))
		if err != nil {
			panic(err)
		}
	}
	// When its first process ends, Linux stops and loses unsent console output.
	atEnd = func() { _ = unix.IoctlSetInt(int(os.Stdout.Fd()), unix.TCSBRK, 1) }
}

// machine returns the CPUs of each node.
func machine(t *testing.T) (nodes [][]int) {
	spec, ok := os.LookupEnv("MSREP_NODES")
	if !ok {
		t.Skip("MSREP_NODES is not set: run .ci/numa-qemu.sh")
	}
	for list := range strings.SplitSeq(spec, ";") {
		cpus, err := numa.ParseCPUList(strings.TrimSuffix(list, "!"))
		require.NoError(t, err)
		nodes = append(nodes, cpus)
	}
	return nodes
}

func openPlaced(t *testing.T, devices string) *System {
	sys := open(t, Config{Devices: devices})
	p := sys.Placement()
	require.True(t, p.On, "several nodes with CPUs: placement is on unless it is switched off")
	require.Empty(t, p.Refused)
	return sys
}

func TestOnNodesTheTopologyIsThatOfTheMachine(t *testing.T) {
	nodes := machine(t)
	topo, err := numa.Discover("/")
	require.NoError(t, err)
	require.Len(t, topo.Nodes, len(nodes))
	for i, cpus := range nodes {
		require.Equal(t, cpus, topo.Nodes[i].CPUs)
		require.NotZero(t, topo.Nodes[i].MemBytes)
	}
	require.Len(t, topo.GPUs, 2)
	var places []numa.DevicePlace
	for i, g := range topo.GPUs {
		require.Equal(t, i, g.Node)
		require.Equal(t, nodes[i], g.CPUs, "local_cpulist")
		places = append(places, numa.DevicePlace{ID: g.PCI, Node: g.Node})
	}
	shares := topo.DeviceShares(places)
	require.Len(t, shares, 2)
	for i, s := range shares {
		require.Equal(t, numa.DeviceShare{Device: i, Node: i, First: i, Num: 1, Den: 2, NodeFirst: i, NodeNum: 1}, s)
	}
}

func TestOnNodesMemoryGoesWhereItIsBound(t *testing.T) {
	nodes := machine(t)
	for node := range nodes { // also nodes without CPUs
		d, err := cpu.Open(cpu.Config{Threads: 1, NUMANode: node, CPUs: nodes[0]})
		require.NoError(t, err)
		buf, err := d.Alloc(8 << 20)
		require.NoError(t, err)
		m, err := d.View(buf)
		require.NoError(t, err)
		for i := range m {
			m[i] = 1
		}
		requireOn(t, node, m)
		require.NoError(t, buf.Free())
		require.NoError(t, d.Close())
	}
	require.ErrorIs(t, numa.Bind(make([]byte, 1<<16), len(nodes)), numa.ErrRefused, "a node that does not exist")
}

// requireOn requires that at least 99 % of the pages of m are on the node.
func requireOn(t *testing.T, node int, m []byte) {
	t.Helper()
	count, err := numa.Pages(m)
	require.NoError(t, err)
	all := count.Pages() + count.Missing
	require.GreaterOrEqual(t, all, len(m)/os.Getpagesize())
	require.GreaterOrEqual(t, count.Nodes[node]*100, all*99, "node %d: %+v", node, count)
}

func TestOnNodesEveryPartLiesOnItsNode(t *testing.T) {
	nodes := machine(t)
	const n = 33000
	a := wideMatrix(n)
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = float64(i%13) - 6
	}
	for _, devices := range []string{"auto", "cpu:5"} {
		sys := openPlaced(t, devices)
		for _, format := range []sparse.Format{sparse.FormatCSR, sparse.FormatCSC, sparse.FormatCOO, "slices"} {
			for _, strategy := range []Strategy{Optimized, Partial} {
				plan := planOf(t, sys, a, PlanOptions{Storage: NamedStorage(string(format)), Variant: Variant{Strategy: strategy}})
				if strategy == Optimized {
					readXFrom(plan, XReplicated)
				}
				for _, op := range []Transpose{NoTrans, Trans} {
					want := reference.Multiply(bool(op), 2, a, x, 0, y)
					multiply(t, plan, op, 2, x, 0, y)
					require.Equal(t, -1, reference.Check(y, want))
				}
				pages := checkPages(t, sys, plan)
				t.Logf("%s %s %s: %d pages on %d of %d nodes", devices, format, strategy, pages, len(plan.nodes), len(nodes))
				for _, s := range plan.Nodes() {
					require.GreaterOrEqual(t, s.Pages.Nodes[s.Node]*100, s.Pages.Pages()*99)
				}
				require.NoError(t, plan.Close())
			}
		}
		require.NoError(t, sys.Close())
	}
}

// checkPages checks every large buffer of every part. The large buffers hold at least the column indices.
func checkPages(t *testing.T, sys *System, plan *Plan[float64]) (pages int) {
	infos := sys.Devices()
	for i, s := range plan.shares {
		large := int64(0)
		for _, b := range plan.buffers(i) {
			if b.Bytes() >= 1<<14 {
				large += b.Bytes()
				pages += checkBuffer(t, infos[i].NUMANode, b)
			}
		}
		require.GreaterOrEqual(t, large, 4*s.part.NNZ())
	}
	return pages
}

func checkBuffer(t *testing.T, node int, b kernels.Buffer) int {
	m, err := b.Device().(kernels.HostMapper).View(b)
	require.NoError(t, err)
	requireOn(t, node, m)
	return len(m) / os.Getpagesize()
}

func TestOnNodesThePagesOfAnInterleavedXAlternate(t *testing.T) {
	nodes := machine(t)
	const n = 100000 // 196 pages
	a := wideMatrix(n)
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = float64(i%13) - 6
	}
	for _, devices := range []string{"auto", "cpu:5"} {
		sys := openPlaced(t, devices)
		plan := planOf(t, sys, a, PlanOptions{})
		if len(plan.nodes) == 2 {
			require.Equal(t, XInPlace, plan.XPlacement(NoTrans), "two nodes, too few entries for a copy")
			readXFrom(plan, XInterleaved)
		}
		require.Equal(t, XInterleaved, plan.XPlacement(NoTrans))
		want := reference.Multiply(false, 2, a, x, 0, y)
		multiply(t, plan, NoTrans, 2, x, 0, y)
		require.Equal(t, -1, reference.Check(y, want))

		m, err := plan.interleaved().Device().(kernels.HostMapper).View(plan.interleaved())
		require.NoError(t, err)
		pages, err := numa.Pages(m)
		require.NoError(t, err)
		t.Logf("%s, machine with %d nodes: pages of x by node %v", devices, len(nodes), pages.Nodes)
		require.Zero(t, pages.Missing)
		require.Equal(t, (8*n+os.Getpagesize()-1)/os.Getpagesize(), pages.Pages())
		require.Len(t, pages.Nodes, len(plan.nodes), "the nodes with devices")
		for at, page := 0, os.Getpagesize(); at+page < len(m); at += page { // neighbouring pages must be on different nodes
			here, err := numa.Pages(m[at : at+page])
			require.NoError(t, err)
			next, err := numa.Pages(m[at+page : at+page+1])
			require.NoError(t, err)
			require.NotEqual(t, here.Nodes, next.Nodes, "page %d", at/page)
		}
		for i, node := range plan.Nodes() {
			require.InDelta(t, pages.Pages()/len(plan.nodes), pages.Nodes[node.Node], 1)
			require.GreaterOrEqual(t, node.Pages.Nodes[node.Node]*100, node.Pages.Pages()*99)
			require.Equal(t, sys.Placement().Nodes[i].Bytes, node.Bytes)
		}
		require.NoError(t, plan.Close())
		require.NoError(t, sys.Close())
	}
}

func TestOnNodesALargePartHasHugePagesOfItsNode(t *testing.T) {
	machine(t)
	// Huge pages only for memory that requests them.
	require.NoError(t, os.WriteFile("/sys/kernel/mm/transparent_hugepage/enabled", []byte("madvise"), 0o644))
	const n = 400000 // 5 MB of values for each of three nodes: above 4 MiB they ask for huge pages
	sys := openPlaced(t, "auto")
	plan := planOf(t, sys, wideMatrix(n), PlanOptions{Storage: Storage{Format: sparse.FormatCSR}, SkipValidation: true})
	x, y := make([]float64, n), make([]float64, n)
	multiply(t, plan, NoTrans, 1, x, 0, y)
	pages := checkPages(t, sys, plan)
	for _, s := range plan.shares {
		m, err := s.host.View(s.val.Buf)
		require.NoError(t, err)
		huge := hugeBytes(t, m)
		t.Logf("%d pages in all; values of a part: %d of %d bytes in huge pages", pages, huge, len(m))
		require.NotZero(t, huge)
	}
	require.NoError(t, sys.Close())
}

// hugeBytes returns the bytes in huge pages of the mapping that contains the start of m.
func hugeBytes(t *testing.T, m []byte) int {
	text, err := os.ReadFile("/proc/self/smaps")
	require.NoError(t, err)
	at, inside := uint64(uintptr(unsafe.Pointer(&m[0]))), false
	for line := range strings.Lines(string(text)) {
		var lo, hi uint64
		var kb int
		if n, _ := fmt.Sscanf(line, "%x-%x ", &lo, &hi); n == 2 {
			inside = lo <= at && at < hi
		} else if n, _ := fmt.Sscanf(line, "AnonHugePages: %d kB", &kb); n == 1 && inside {
			return kb << 10
		}
	}
	return 0
}

func TestOnNodesSwitchedOffTheMatrixStaysInPlace(t *testing.T) {
	machine(t)
	sys := open(t, Config{NUMA: NUMAOff})
	require.False(t, sys.Placement().On)
	plan := planOf(t, sys, wideMatrix(1000), PlanOptions{})
	require.Less(t, plan.Bytes(), int64(100))
	require.NoError(t, sys.Close())
}

// This test needs its own machine: node 2 has CPUs and no memory.
func TestOnANodeWithoutMemoryDevicesUseThatOfTheNearest(t *testing.T) {
	nodes := machine(t)
	topo, err := numa.Discover("/")
	require.NoError(t, err)
	require.Len(t, topo.Nodes, 3)
	require.Zero(t, topo.Nodes[2].MemBytes)
	require.Equal(t, nodes[2], topo.Nodes[2].CPUs)
	require.ErrorIs(t, numa.Bind(make([]byte, 1<<16), 2), numa.ErrRefused)

	sys := openPlaced(t, "auto")
	infos := sys.Devices()
	require.Len(t, infos, 3)
	cpus := [][]int{nodes[0], nodes[2], nodes[1]}
	for i, node := range []int{0, 0, 1} {
		require.Equal(t, node, infos[i].NUMANode)
		require.NoError(t, placement.OnNode(sys.devices().List[i], func() error {
			got, err := numa.Affinity()
			require.Equal(t, cpus[i], got)
			return err
		}))
	}
	const n = 33000
	a := wideMatrix(n)
	x, y := make([]float64, n), make([]float64, n)
	x[5] = 1
	plan := planOf(t, sys, a, PlanOptions{Storage: Storage{Format: sparse.FormatCSR}})
	want := reference.Multiply(false, 2, a, x, 0, y)
	multiply(t, plan, NoTrans, 2, x, 0, y)
	require.Equal(t, -1, reference.Check(y, want))
	t.Logf("%d pages on 2 of 3 nodes", checkPages(t, sys, plan))
	require.Empty(t, sys.Placement().Refused)
	require.NoError(t, sys.Close())
}
