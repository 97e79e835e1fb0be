package msrep

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/numa"
)

// twoNodes returns a machine with cpus0 on node 0 and cpus1 on node other.
func twoNodes(cpus0 []int, other int, cpus1 []int) *numa.Topology {
	return &numa.Topology{Nodes: []numa.Node{{ID: 0, CPUs: cpus0}, {ID: other, CPUs: cpus1}}}
}

// refusals are cases in which the operating system refuses a placement request, with a part of the warning.
var refusals = map[string]struct {
	machine func(here []int) *numa.Topology
	forbid  []uint32 // system calls
	warning string
}{
	"all calls forbidden": {
		machine: func(here []int) *numa.Topology { return twoNodes(here, 1, here) },
		forbid:  []uint32{unix.SYS_MBIND, unix.SYS_SET_MEMPOLICY, unix.SYS_MOVE_PAGES, unix.SYS_SCHED_SETAFFINITY},
		warning: "sched_setaffinity: operation not permitted",
	},
	"mbind forbidden": {
		machine: func(here []int) *numa.Topology { return twoNodes(here, 1, here) },
		forbid:  []uint32{unix.SYS_MBIND},
		warning: "mbind: operation not permitted",
	},
	"memory of one node only": {
		machine: func(here []int) *numa.Topology { return twoNodes(here, 700, here) },
		warning: "mbind: invalid argument",
	},
	"CPUs that are not there": {
		machine: func(here []int) *numa.Topology { return twoNodes(here, 1, []int{numa.MaxCPU}) },
		warning: "sched_setaffinity: invalid argument",
	},
	"CPUs of one node only": {
		machine: func(here []int) *numa.Topology { return twoNodes(here, 1, nil) },
		warning: "only node 0 has CPUs",
	},
}

// A filter of system calls cannot be removed, and a process warns only once, so each case runs in its own process.
func TestRefusedPlacementGivesRightProductsAndOneWarning(t *testing.T) {
	const variable = "MSREP_TEST_REFUSED"
	if name := os.Getenv(variable); name != "" {
		multiplyRefused(t, name)
		return
	}
	for name, c := range refusals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(os.Args[0], "-test.run=^TestRefusedPlacementGivesRightProductsAndOneWarning$", "-test.v")
			cmd.Env = append(os.Environ(), variable+"="+name)
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			if strings.Contains(string(out), "--- SKIP") {
				t.Skipf("%s", out)
			}
			requireOneWarning(t, string(out), c.warning)
		})
	}
}

// requireOneWarning checks the output of a process that ran multiplyOnRefused.
func requireOneWarning(t *testing.T, out, warning string) {
	var warnings []string
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "warning: ") {
			warnings = append(warnings, line)
		}
	}
	require.Len(t, warnings, 1, "%s", out)
	require.Contains(t, warnings[0], warning)
	require.NotContains(t, out, "no tests to run")
}

func printWarning(msg string) { fmt.Printf("warning: %s\n", msg) }

func multiplyRefused(t *testing.T, name string) {
	c := refusals[name]
	here, err := numa.Affinity()
	require.NoError(t, err)
	forbid(t, c.forbid)
	multiplyOnRefused(t, c.warning, func() (*System, error) {
		return openOn(c.machine(here), Config{Devices: "cpu:4", Threads: 8, NUMA: NUMAOn, Warn: printWarning})
	})
}

// multiplyOnRefused multiplies on two systems, one after the other. Only the first one warns.
func multiplyOnRefused(t *testing.T, warning string, open func() (*System, error)) {
	const n = 40000
	a := spreadMatrix(n, 8) // enough entries for copies of x
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = float64(i%13) - 6
	}
	for range 2 {
		sys, err := open()
		require.NoError(t, err)
		require.True(t, sys.Placement().On)
		for _, read := range []XPlacement{XInPlace, XReplicated, XInterleaved} {
			plan := planOf(t, sys, a, PlanOptions{})
			readXFrom(plan, read)
			for _, op := range []Transpose{NoTrans, Trans} {
				want := reference.Multiply(bool(op), 2, a, x, 0, y)
				multiply(t, plan, op, 2, x, 0, y)
				require.Equal(t, -1, reference.Check(y, want))
			}
			require.Contains(t, sys.Placement().Refused, warning)
			require.NotEmpty(t, plan.Nodes())
			require.NoError(t, plan.Close())
		}
		require.NoError(t, sys.Close())
	}
}

// forbid makes these system calls fail with EPERM from now on, in all threads.
func forbid(t *testing.T, calls []uint32) {
	if len(calls) == 0 {
		return
	}
	const load, jumpEqual, ret = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_RET | unix.BPF_K
	filter := []unix.SockFilter{{Code: load}} // the number of the call
	for i, nr := range calls {
		filter = append(filter, unix.SockFilter{Code: jumpEqual, K: nr, Jt: uint8(len(calls) - i)})
	}
	filter = append(filter,
		unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ALLOW},
		unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)})
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	require.NoError(t, unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	if errno == unix.ENOSYS || errno == unix.EINVAL {
		t.Skipf("this kernel has no seccomp filters: %v", errno)
	}
	require.Zero(t, errno, "%v", errno)
}
