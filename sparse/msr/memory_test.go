package msr

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

func TestStreamsLargerThanMemoryAreRefusedBeforeTheyAreRead(t *testing.T) {
	defer mem.SetAvailable(100 << 20)()
	h := Header{Version: Version, ValueType: Float64, Rows: 1000, Cols: 1000, NNZ: 10_000_000, Source: sparse.Source{Field: sparse.Real, Symmetry: sparse.General, Stored: 10_000_000}}
	h.Length = layoutOf(h).length
	r := bytes.NewReader(h.bytes(0))
	_, _, err := Read[float64](t.Context(), r, "m.msr.gz", sparse.Limits{})
	require.True(t, sparse.IsInput(err), "%v", err)
	require.ErrorContains(t, err, "m.msr.gz: 10000000 entries in 1000 rows: to read them takes at least 120008000 bytes of memory, 104857600 are available")
}

func TestArraysThatOutgrowMemoryAreRefused(t *testing.T) {
	const n = 3 << 20
	for _, have := range []int64{8*n - 1, 8 * n} {
		end := mem.SetAvailable(have)
		s := &stream{ctx: t.Context(), r: bytes.NewReader(make([]byte, 8*n)), name: "m.msr.gz"}
		a := readArray[float64](s, n)
		end()
		if have == 8*n {
			require.NoError(t, s.err)
			require.Len(t, a, n)
			continue
		}
		require.True(t, sparse.IsInput(s.err), "%v", s.err)
		require.ErrorContains(t, s.err, "m.msr.gz: an array of 25165824 bytes does not fit into memory, 25165823 are available")
	}
}
