package mtx_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/mtx"
)

func TestAVectorTakesMemoryForItsContentNotItsHeader(t *testing.T) {
	const claimed, values = 1_000_000_000, 2_000_000 // several chunks of text
	text := fmt.Sprintf("%%%%MatrixMarket matrix array real general\n%d 1\n%s", claimed, strings.Repeat("0\n", values))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := mtx.ReadVector(t.Context(), strings.NewReader(text), "x.mtx")
	runtime.ReadMemStats(&after)
	require.True(t, sparse.IsInput(err))
	require.ErrorContains(t, err, "x.mtx:2000002: file ends after 2000000 of the 1000000000 entries")
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(20*8*values))
}
