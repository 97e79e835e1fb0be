package hb

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

// A small gzipped file may unpack to that many pointers.
func TestPointersThatDoNotFitIntoMemoryAreRefused(t *testing.T) {
	const cols = 4_000_000
	text := fmt.Sprintf("%-72s%-8s\n1 1 1 1\nrua 3 %d 5 0\n(80I1) (5I3) (5E10.3)\n%s", "Wide", "WIDE", cols,
		strings.Repeat(strings.Repeat("1", 80)+"\n", cols/80))
	defer mem.SetAvailable(16 << 20)()
	_, _, err := read(text)
	require.True(t, sparse.IsInput(err), "%v", err)
	require.ErrorContains(t, err, "t.rb:")
	require.ErrorContains(t, err, "does not fit into memory, 16777216 are available")
}
