package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// limited returns the command under a limit of the shell (ulimit).
func limited(t *testing.T, limit string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-c", "ulimit " + limit + ` && exec "$@"`, "sh", os.Args[0]}, args...)...)
	cmd.Env = append(os.Environ(), commandEnv+"=user")
	return cmd
}

// limitsAreChecked reports whether limits_linux.c is part of the program. Without it, Go's runtime ends the process
// if the limit leaves too little for the runtime.
func limitsAreChecked() bool {
	info, ok := debug.ReadBuildInfo()
	for _, s := range info.Settings {
		if ok && s.Key == "CGO_ENABLED" {
			return s.Value == "1"
		}
	}
	return false
}

func TestALimitOfAddressesOrDataGivesAResultOrALine(t *testing.T) {
	step, v, d := 100, 1000, 50
	if testing.Short() {
		step = 500
	}
	if !limitsAreChecked() {
		v, d = 1400, 125
	}
	var limits []string
	for mb := v; mb <= 3000; mb += step {
		limits = append(limits, fmt.Sprint("-v ", 1000*mb))
	}
	for mb := d; mb <= 600; mb += step {
		limits = append(limits, fmt.Sprint("-d ", 1000*mb))
	}
	for _, args := range [][]string{
		{"spmv", "gen:stencil:n=1000", "--quiet"}, // 65 MB
		{"spmv", "gen:stencil:n=300", "--threads", "64", "--devices", "cpu:4", "--repeat", "20", "--transpose", "--quiet"},
		{"solve", "gen:stencil:n=300", "--quiet"},
		{"pagerank", "gen:rmat:scale=15,edges=16", "--quiet"},
	} {
		results := 0
		for _, limit := range limits {
			cmd := limited(t, limit, args...)
			var stderr strings.Builder
			cmd.Stderr = &stderr
			_ = cmd.Run()
			code, text := cmd.ProcessState.ExitCode(), stderr.String()
			if code == 0 {
				results++
				continue
			}
			require.True(t, code == exitFailed || code == exitUsage, "%v, ulimit %s: ended with %d: %.2000s", args, limit, code, text)
			require.Regexp(t, `^msrep[^\n]*\n$`, text, "%v, ulimit %s", args, limit)
		}
		require.Greater(t, results, len(limits)/2, "%v: most limits leave enough", args)
	}
}
