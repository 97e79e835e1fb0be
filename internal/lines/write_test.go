package lines_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/lines"
	"github.com/msrep-go/msrep/sparse"
)

func TestItemsAreWrittenOnceAndInOrderByAnyNumberOfGoroutines(t *testing.T) {
	format := func(buf []byte, lo, hi int64) []byte {
		for k := lo; k < hi; k++ {
			buf = fmt.Appendf(buf, "%d\n", k)
		}
		return buf
	}
	for _, n := range []int64{0, 1, 1 << 14, 1<<14 + 1, 100_000} {
		var b bytes.Buffer
		require.NoError(t, lines.Write(&b, n, format))
		require.True(t, string(format(nil, 0, n)) == b.String(), "%d items", n)
	}
}

func TestEntriesAreWrittenWithTheirRows(t *testing.T) {
	const n = 50_000 // several pieces
	m := &sparse.CSR[float64]{Rows: n, Cols: n, RowPtr: make([]int64, n+1)}
	var want strings.Builder
	for i := range n {
		for range i % 3 { // the first row and every third after it are empty
			v := 1 / float64(len(m.Val)+1)
			fmt.Fprintf(&want, "%d %d %v\n", i, n-i, v)
			m.ColIdx, m.Val = append(m.ColIdx, int32(n-i)), append(m.Val, v)
		}
		m.RowPtr[i+1] = int64(len(m.Val))
	}
	entry := func(buf []byte, i, j int, v float64) []byte { return fmt.Appendf(buf, "%d %d %v\n", i, j, v) }
	var b bytes.Buffer
	require.NoError(t, lines.WriteEntries(&b, m, entry))
	require.True(t, want.String() == b.String())
	require.ErrorIs(t, lines.WriteEntries(full{}, m, entry), errFull)
}

var errFull = errors.New("the disk is full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }
