package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// terminal opens a pseudo-terminal: what is written to inside can be read from outside.
func terminal(t *testing.T) (outside, inside *os.File) {
	t.Helper()
	outside, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("there are no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { outside.Close() })
	fd := int(outside.Fd())
	require.NoError(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	require.NoError(t, err)
	inside, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { inside.Close() })
	require.NoError(t, unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 60}))
	return outside, inside
}

// onTerminal runs the command with a terminal for its messages, interrupts it when the line contains want, and returns
// all that the terminal got.
func onTerminal(t *testing.T, want string, args ...string) string {
	t.Helper()
	outside, inside := terminal(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := process(ctx, "user", args...)
	cmd.Env = append(cmd.Env, "TERM=xterm")
	cmd.Stderr = inside
	require.NoError(t, cmd.Start())
	inside.Close()
	var all bytes.Buffer
	buf := make([]byte, 4096)
	interrupted := false
	for {
		n, err := outside.Read(buf)
		all.Write(buf[:n])
		if !interrupted && strings.Contains(all.String(), want) {
			interrupted = true
			require.NoError(t, cmd.Process.Signal(os.Interrupt))
		}
		if err != nil { // the process has ended
			break
		}
	}
	var exit *exec.ExitError
	require.ErrorAs(t, cmd.Wait(), &exit, all.String())
	require.Equal(t, exitFailed, exit.ExitCode())
	require.True(t, interrupted, "%q", all.String())
	return all.String()
}

func TestLongCommandsShowTheTimeLeftOnATerminalAndEndWithOneLine(t *testing.T) {
	if testing.Short() {
		t.Skip("a line appears after two seconds")
	}
	dir := t.TempDir()
	for _, c := range []struct{ want, args string }{
		{"multiplying, ", "spmv gen:stencil:dims=2,n=400 --repeat 1000000 --plot " + filepath.Join(dir, "a.html")},
		{"pagerank, ", "pagerank gen:stencil:n=1000 --damping 0.99999999 --tol 1e-15 --max-iter 10000000 --out " + filepath.Join(dir, "r.mtx")},
		{" left", "solve gen:stencil:dims=2,n=700 --method cg --tol 1e-300 --plot " + filepath.Join(dir, "s.html")},
	} {
		t.Run(c.args[:5], func(t *testing.T) {
			t.Parallel()
			got := onTerminal(t, c.want, strings.Fields(c.args)...)
			command, _, _ := strings.Cut(c.args, " ")
			require.True(t, strings.HasSuffix(got, "\r\x1b[Kmsrep "+command+": interrupted\r\n"), "%q", got)
			require.Equal(t, 1, strings.Count(got, "\n"), "the line is rewritten in place: %q", got)
			for _, line := range strings.Split(got, "\r\x1b[K") {
				require.Less(t, len([]rune(line)), 60, line)
			}
			files, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Empty(t, files)
		})
	}
}

func TestNoLineGoesToAPipe(t *testing.T) {
	if testing.Short() {
		t.Skip("a line appears after two seconds")
	}
	cmd := process(t.Context(), "user", "solve", "gen:stencil:dims=2,n=600", "--method", "cg", "--tol", "1e-300", "--time", "3")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	require.Error(t, cmd.Run())
	require.NotContains(t, stderr.String(), "\r")
	require.Equal(t, 1, strings.Count(stderr.String(), "\n"), stderr.String())

	outside, inside := terminal(t) // a result in JSON goes to a pipe
	cmd = process(t.Context(), "user", "solve", "gen:stencil:dims=2,n=600", "--method", "cg", "--tol", "1e-300", "--time", "3", "--json")
	cmd.Env = append(cmd.Env, "TERM=xterm")
	var stdout bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, inside
	require.Error(t, cmd.Run())
	inside.Close()
	got := make([]byte, 4096)
	n, _ := outside.Read(got)
	require.NotContains(t, string(got[:n]), "\x1b")
	require.True(t, strings.HasPrefix(stdout.String(), "{"))
}
