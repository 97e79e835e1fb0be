//go:build unix

package main

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// longCommands run for minutes.
var longCommands = [][]string{
	{"spmv", "gen:stencil:dims=2,n=400", "--repeat", "1000000"},
	{"solve", "gen:stencil:dims=2,n=700", "--method", "cg", "--max-iter", "10000000", "--tol", "1e-30"},
	{"pagerank", "gen:stencil:n=1000", "--damping", "0.99999999", "--tol", "1e-15", "--max-iter", "10000000"},
}

func TestSignalsThatWereIgnoredAtTheStartStayIgnored(t *testing.T) {
	var all sync.WaitGroup
	for _, args := range longCommands {
		all.Go(func() {
			cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-c", `trap "" HUP INT QUIT; echo; exec "$@"`, "sh", os.Args[0]}, args...)...)
			cmd.Env = append(os.Environ(), commandEnv+"=user")
			var stderr strings.Builder
			cmd.Stderr = &stderr
			stdout, err := cmd.StdoutPipe()
			if !assert.NoError(t, err) || !assert.NoError(t, cmd.Start(), args) {
				return
			}
			_, err = stdout.Read(make([]byte, 1)) // from here on the shell ignores them
			assert.NoError(t, err, args)
			over := make(chan error, 1)
			go func() { over <- cmd.Wait() }()
			for begin := time.Now(); time.Since(begin) < 3*time.Second; time.Sleep(50 * time.Millisecond) {
				_ = cmd.Process.Signal(syscall.SIGHUP)
				_ = cmd.Process.Signal(syscall.SIGINT)
				if time.Since(begin) > 2*time.Second { // Go's runtime handles the signal until main starts
					_ = cmd.Process.Signal(syscall.SIGQUIT)
				}
			}
			select {
			case err := <-over:
				assert.Fail(t, "it ended", "%v: %v: %.300s", args, err, stderr.String())
				return
			default:
			}
			assert.NoError(t, cmd.Process.Signal(syscall.SIGTERM), "%v: SIGTERM was not ignored at the start", args)
			select {
			case <-over:
				assert.Equal(t, exitFailed, cmd.ProcessState.ExitCode(), args)
			case <-time.After(20 * time.Second):
				_ = cmd.Process.Kill()
				assert.Fail(t, "SIGTERM does not end it", args)
			}
		})
	}
	all.Wait()
}
