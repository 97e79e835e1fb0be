//go:build unix

package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// commandEnv makes the test program run as the command: as the current user, or as nobody.
const commandEnv = "MSREP_TEST_COMMAND"

const nobody = 65534

func TestMain(m *testing.M) {
	switch os.Getenv(commandEnv) {
	case "nobody":
		if syscall.Setgid(nobody) != nil || syscall.Setuid(nobody) != nil {
			os.Exit(exitFailed)
		}
		main()
	case "user":
		main()
	}
	listen()
	os.Exit(m.Run())
}

// listen enables signals that were ignored when the tests started, as in background jobs of a script. The commands
// that tests start would inherit the ignored state.
func listen() {
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
}

// process returns the command in a separate process.
func process(ctx context.Context, user string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), commandEnv+"="+user)
	return cmd
}

// expectRefusal runs the command and checks that it prints one line that contains message and exits with code 2,
// within one second of processor time and 200 MB. It returns the line.
func expectRefusal(t *testing.T, message string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := process(ctx, "user", args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit, "%v must fail", args)
	line := stderr.String()
	require.Equal(t, exitUsage, exit.ExitCode(), "%v: %s", args, line)
	require.Empty(t, stdout.String(), "%v", args)
	require.Equal(t, 1, strings.Count(line, "\n"), "%v must print one line, not %q", args, line)
	require.Contains(t, line, message, "%v", args)
	st := cmd.ProcessState
	require.Less(t, st.UserTime()+st.SystemTime(), time.Second, "%v", args)
	if ru, ok := st.SysUsage().(*syscall.Rusage); ok && runtime.GOOS == "linux" {
		require.Less(t, int64(ru.Maxrss), int64(200<<10), "%v: kilobytes", args)
	}
	return line
}
