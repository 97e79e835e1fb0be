//go:build qemu && linux

package msrep

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep/internal/placement"
	"github.com/msrep-go/msrep/numa"
)

func TestOnNodesThreadsRunOnTheirCPUsOnlyAndEnd(t *testing.T) {
	nodes := machine(t)
	sys := openPlaced(t, "cpu:6")
	a := wideMatrix(20000)
	plan := planOf(t, sys, a, PlanOptions{})
	cpusOf := workers(t, sys, nodes)
	for _, n := range plan.nodes {
		var cpus []int
		err := placement.OnNode(sys.devices().List[n.First], func() (err error) {
			cpus, err = numa.Affinity()
			return err
		})
		require.NoError(t, err)
		require.Equal(t, nodes[n.Node], cpus, "the thread that splits the part of the node")
	}
	x, y := make([]float64, 20000), make([]float64, 20000)
	for range 40 {
		multiply(t, plan, NoTrans, 1, x, 0, y)
		for tid, cpus := range cpusOf {
			require.Contains(t, cpus, processor(t, tid), "thread %d", tid)
		}
	}
	require.NoError(t, sys.Close())
	for tid := range cpusOf {
		require.Eventually(t, func() bool {
			_, err := os.Stat(fmt.Sprintf("/proc/self/task/%d", tid))
			return errors.Is(err, os.ErrNotExist)
		}, 5*time.Second, 10*time.Millisecond, "thread %d has not ended", tid)
	}
	free, err := numa.Affinity()
	require.NoError(t, err)
	require.Len(t, free, len(slices.Concat(nodes...)), "other threads keep all CPUs")
}

// workers returns the CPUs of the node of each worker thread, and checks the affinity of the thread.
func workers(t *testing.T, sys *System, nodes [][]int) map[int][]int {
	var mu sync.Mutex
	cpusOf := map[int][]int{}
	for i, info := range sys.Devices() {
		var all sync.WaitGroup // makes each worker run f once
		all.Add(info.Threads)
		err := sys.devices().List[i].(kernels.Workers).Run(info.Threads, func(int) {
			all.Done()
			all.Wait()
			mu.Lock()
			defer mu.Unlock()
			cpus, err := numa.Affinity()
			if err != nil || !slices.Equal(cpus, nodes[info.NUMANode]) {
				t.Errorf("%s on node %d: its thread may run on %v: %v", info.ID, info.NUMANode, cpus, err)
			}
			cpusOf[unix.Gettid()] = nodes[info.NUMANode]
		})
		require.NoError(t, err)
	}
	threads := 0
	for _, info := range sys.Devices() {
		threads += info.Threads
	}
	require.Len(t, cpusOf, threads, "each worker has its own thread")
	return cpusOf
}

// processor returns the CPU on which a thread ran last: field 39 of its stat file.
func processor(t *testing.T, tid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/stat", tid))
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(text), ") ") // the name may hold blanks
	require.True(t, ok)
	cpu, err := strconv.Atoi(strings.Fields(rest)[36])
	require.NoError(t, err)
	return cpu
}

// The test runs a process in a cpuset of one node, once with only the CPUs and once with only the memory of that node.
func TestOnNodesACpusetOfOneNodeGivesRightProductsAndOneWarning(t *testing.T) {
	const variable = "MSREP_TEST_CPUSET"
	if warning := os.Getenv(variable); warning != "" {
		multiplyOnRefused(t, warning, func() (*System, error) {
			return Open(Config{Devices: "cpu:4", Threads: 4, NUMA: NUMAOn, Warn: printWarning})
		})
		return
	}
	nodes := machine(t)
	const root = "/tmp/cgroup"
	require.NoError(t, os.MkdirAll(root, 0o755))
	require.NoError(t, unix.Mount("cgroup2", root, "cgroup2", 0, ""))
	defer func() { require.NoError(t, unix.Unmount(root, 0)) }()
	require.NoError(t, os.WriteFile(root+"/cgroup.subtree_control", []byte("+cpuset"), 0o644))
	all := numa.FormatCPUList(slices.Sorted(slices.Values(slices.Concat(nodes...))))
	for warning, cpus := range map[string]string{
		"only node 0 has CPUs":    numa.FormatCPUList(nodes[0]),
		"mbind: invalid argument": all,
	} {
		dir, err := os.MkdirTemp(root, "one")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(dir+"/cpuset.cpus", []byte(cpus), 0o644))
		require.NoError(t, os.WriteFile(dir+"/cpuset.mems", []byte("0"), 0o644))
		group, err := os.Open(dir)
		require.NoError(t, err)
		cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), variable+"="+warning)
		cmd.SysProcAttr = &unix.SysProcAttr{UseCgroupFD: true, CgroupFD: int(group.Fd())}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		requireOneWarning(t, string(out), warning)
		require.NoError(t, group.Close())
		require.NoError(t, os.Remove(dir))
	}
}
