//go:build cuda

package nvidia

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/cases"
	"github.com/msrep-go/msrep/internal/nvidiatest"
	"github.com/msrep-go/msrep/kernels/internal/cuda"
	"github.com/msrep-go/msrep/kernels/nvidia/internal/driver"
)

// TestMain runs the tests on the GPUs of this machine. If there are none, it runs them
// on the stand-in for the driver, in a separate process. If that cannot be built, it
// skips them.
func TestMain(m *testing.M) {
	if os.Getenv(asGPU) != "" {
		nvidiatest.Hide()
	}
	if nvidiatest.Attached() || driver.Ready() == nil {
		n := "60"
		if driver.Ready() == nil && !nvidiatest.Attached() {
			n = "300"
			// An open device keeps the context, so kernels are compiled once.
			if _, err := Open(Config{Node: -1}); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
		cases.Main(m, n)
		if os.Getenv(asGPU) != "" {
			fmt.Println("kernels:", nvidiatest.Launched())
		}
		return
	}
	os.Exit(onStandIn())
}

// asGPU is set if tests are to treat the stand-in as the driver of a GPU.
const asGPU = "MSREP_TEST_AS_ON_GPU"

// The test runs all others as on a GPU, where they cannot query the stand-in, and checks
// that they launch every kernel.
func TestTheTestsRunAsTheyDoOnAGPU(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs all others once more")
	}
	standIn(t, nvidiatest.Machine{})
	cmd := exec.Command(os.Args[0], "-test.skip=TestMemory|TestTheTests", "-rapid.checks=80", "-rapid.seed=1")
	cmd.Env = append(os.Environ(), asGPU+"=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	_, names, found := strings.Cut(string(out), "kernels: [")
	require.True(t, found, "%s", out)
	ran := strings.Fields(strings.TrimRight(names, "]\n"))
	for _, k := range cuda.Kernels() {
		require.Contains(t, ran, k.Name)
	}
}

func onStandIn() int {
	dir, err := os.MkdirTemp("", "nvidiatest")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	lib, err := nvidiatest.Build(dir)
	if err != nil {
		fmt.Println("skipped:", err)
		return 0
	}
	cmd := exec.Command(os.Args[0], os.Args[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = lib.Env(), os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// standIn resets the stand-in, or skips a test that needs one.
func standIn(t *testing.T, m nvidiatest.Machine) {
	if !nvidiatest.Attached() {
		t.Skip("needs the stand-in for the driver")
	}
	if m.GPUs == 0 {
		m.GPUs = 2
	}
	if m.Memory == 0 {
		m.Memory = 128 << 20
	}
	nvidiatest.Reset(m)
	t.Cleanup(func() { require.Empty(t, nvidiatest.Live(), "left behind") })
}
