package placement

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/numa"
)

// readX returns the placement of x for a matrix of n rows and columns with inRow entries in each row, on nodes with the
// given memory.
func readX(n, inRow, nodes int, memory int64) X {
	var devices []kernels.Device
	for i := range nodes {
		d, err := cpu.Open(cpu.Config{Index: i, Threads: 1, NUMANode: i, Memory: memory})
		if err != nil {
			panic(err)
		}
		defer d.Close()
		devices = append(devices, d)
	}
	return Place(&numa.Topology{}, devices).ChooseX(int64(n), 8, int64(n)*int64(inRow))
}

func TestXPlacementDependsOnSizeEntriesAndNodes(t *testing.T) {
	const large = MinCopied / 8
	for _, c := range []struct {
		n, inRow, nodes int
		memory          int64
		want            X
	}{
		{large, 100, 1, 0, InPlace},
		{large - 1, 100, 2, 0, InPlace}, // small
		{large, 5, 2, 0, InPlace},       // 5 < 1.5+3.75, 3+2.5
		{large, 7, 2, 0, Replicated},    // 7 > 3+3.5
		{large, 2, 4, 0, InPlace},       // 2 < 1.25+0.875
		{large, 3, 4, 0, Interleaved},   // 3 > 1.25+1.3
		{large, 19, 4, 0, Interleaved},  // 1.25+8.3 < 5+4.75
		{large, 21, 4, 0, Replicated},   // 1.25+9.2 > 5+5.25
		{large, 21, 4, MinCopied*copyDivisor - 1, Interleaved},
		{large, 21, 4, MinCopied * copyDivisor, Replicated},
		{large, 21, 4, MinCopied/4*copyDivisor - 1, InPlace},
		{1 << 30, 40, 2, 1 << 39, Replicated},
		{1 << 30, 40, 2, 1 << 35, Interleaved},
		{0, 0, 2, 0, InPlace},
	} {
		require.Equal(t, c.want, readX(c.n, c.inRow, c.nodes, c.memory), "%+v", c)
	}
}
