package snap_test

import (
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/internal/snap"
)

// endless repeats a text, and counts its bytes: a Read may go on after snap.Read has returned an error.
type endless struct {
	text, rest string
	read       atomic.Int64
}

func (e *endless) Read(p []byte) (n int, err error) {
	if e.rest == "" {
		e.rest = e.text
	}
	n = copy(p, e.rest)
	e.rest = e.rest[n:]
	e.read.Add(int64(n))
	return n, nil
}

// A small gzipped file may unpack to such a list.
func TestListsThatDoNotFitIntoMemoryAreRefusedWhileTheyAreRead(t *testing.T) {
	defer mem.SetAvailable(32 << 20)()
	in := &endless{text: strings.Repeat("0 1\n", 1<<12)}
	const most = 256 << 20
	_, _, err := snap.Read(t.Context(), io.LimitReader(in, most), "g.txt", sparse.Limits{})
	require.True(t, sparse.IsInput(err), "%v", err)
	require.ErrorContains(t, err, "g.txt: ")
	require.ErrorContains(t, err, "entries in 2 rows: to read them takes at least ")
	require.Less(t, in.read.Load(), int64(most/2), "not all is read")

	text := strings.Repeat("0 1\n", 1<<20) // in less than 16 pieces
	_, _, err = snap.Read(t.Context(), strings.NewReader(text), "g.txt", sparse.Limits{})
	require.NoError(t, err)
	defer mem.SetAvailable(12<<20 + 15)()
	_, _, err = snap.Read(t.Context(), strings.NewReader(text), "g.txt", sparse.Limits{})
	require.EqualError(t, err, "g.txt: 1048576 entries in 2 rows: to read them takes at least 12582928 bytes of memory, 12582927 are available")
}
