package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
)

// TestTheOutputInTheREADMEIsThatOfTheCommand runs the first command of the README. Times,
// rates, and the last digits of sums, which depend on the instruction set, don't count.
func TestTheOutputInTheREADMEIsThatOfTheCommand(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command")
	}
	text := readFile(t, filepath.Join(corpus.Root(), "README.md"))
	command := regexp.MustCompile(`(?m)^    go (run \./cmd/msrep spmv testdata/\S+)$`).FindStringSubmatch(text)
	require.NotNil(t, command)
	_, rest, found := strings.Cut(text, "```\nmemplus")
	require.True(t, found)
	shown, _, found := strings.Cut("memplus"+rest, "```")
	require.True(t, found)

	run := exec.CommandContext(t.Context(), "go", append(strings.Fields(command[1]), "--devices", "cpu:1")...)
	run.Dir = corpus.Root()
	out, err := run.Output()
	require.NoError(t, err)
	require.Equal(t, withoutTimes(shown), withoutTimes(string(out)))
}

// TestTheLibraryExampleInTheREADMERuns compiles the example, calls it on a small matrix and on a missing file, and
// counts its lines.
func TestTheLibraryExampleInTheREADMERuns(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a program")
	}
	text := readFile(t, filepath.Join(corpus.Root(), "README.md"))
	_, rest, found := strings.Cut(text, "```go\n")
	require.True(t, found)
	code, _, found := strings.Cut(rest, "```")
	require.True(t, found)
	require.LessOrEqual(t, strings.Count(code, "\n"), 25, "lines")

	program := filepath.Join(t.TempDir(), "main.go")
	require.NoError(t, os.WriteFile(program, []byte(`package main

import (
	"context"
	"fmt"
	"os"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse/matio"
)

func main() { fmt.Print(powers(context.Background(), os.Args[1])) }

`+code), 0o600))
	run := func(path string) string {
		cmd := exec.CommandContext(t.Context(), "go", "run", program, path)
		cmd.Dir = corpus.Root()
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	require.Equal(t, "<nil>", run("testdata/gre_343.mtx.gz"))
	require.Contains(t, run("missing.mtx"), "missing.mtx")
}

var (
	durations = regexp.MustCompile(`\b\d+(\.\d+)?(ns|µs|ms|s)\b`)
	rates     = regexp.MustCompile(`\d+(\.\d+)? G(FLOP|B)/s`)
	lastDigit = regexp.MustCompile(`(\d\.\d{8})\d+`)
)

// withoutTimes is a text without what differs from run to run and machine to machine.
func withoutTimes(s string) string {
	s = durations.ReplaceAllString(s, "TIME")
	s = rates.ReplaceAllString(s, "RATE")
	return lastDigit.ReplaceAllString(s, "$1")
}
