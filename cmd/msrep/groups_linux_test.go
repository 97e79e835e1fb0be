package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// limitedGroup makes a control group and returns its folder and the file of its memory limit. It needs root, and some
// containers forbid it.
func limitedGroup(t *testing.T) (dir, limit string) {
	t.Helper()
	for root, file := range map[string]string{"/sys/fs/cgroup/memory": "memory.limit_in_bytes", "/sys/fs/cgroup": "memory.max"} {
		dir := filepath.Join(root, fmt.Sprintf("msrep-test-%d", os.Getpid()))
		if os.Mkdir(dir, 0o755) != nil {
			continue
		}
		limit := filepath.Join(dir, file)
		_, err := os.Stat(limit)
		if err == nil {
			err = os.WriteFile(limit, []byte("1000000000"), 0o644)
		}
		t.Cleanup(func() {
			require.Eventually(t, func() bool { return os.Remove(dir) == nil }, 5*time.Second, 10*time.Millisecond)
		})
		if err == nil {
			return dir, limit
		}
	}
	t.Skip("no control group with a limit can be made here")
	return "", ""
}

func TestInASmallControlGroupCommandsEndInOrder(t *testing.T) {
	dir, limit := limitedGroup(t)
	for _, c := range []struct {
		megabytes int
		args      []string
	}{
		{52, []string{"spmv", "gen:random:rows=300k,nnz=900k", "--format", "tiles"}},
		{64, []string{"pagerank", "gen:random:rows=300k,nnz=900k", "--layout", "separated", "--tol", "0.1"}},
	} {
		require.NoError(t, os.WriteFile(limit, []byte(strconv.Itoa(c.megabytes*1_000_000)), 0o644))
		cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-c", `echo $$ >"$0/cgroup.procs" && exec "$@"`, dir, os.Args[0]}, c.args...)...)
		cmd.Env = append(os.Environ(), commandEnv+"=user", "GOMAXPROCS=4") // every process also takes memory of its own: 61 take too much
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		err := cmd.Run()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			require.Equal(t, exitUsage, exit.ExitCode(), "%v: %v %s", c.args, err, stderr.String())
			require.Equal(t, 1, strings.Count(stderr.String(), "\n"), stderr.String())
			continue
		}
		require.NoError(t, err, "%v", c.args)
	}
}
