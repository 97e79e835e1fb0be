package docs

import (
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
