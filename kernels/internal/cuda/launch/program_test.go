package launch

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestAGridFillsTheDeviceAWholeNumberOfTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Call{Blocks: rapid.Int64Range(1, 1<<40).Draw(t, "blocks"), GroupsPerBlock: rapid.Int64Range(0, 20).Draw(t, "turns")}
		resident := rapid.Int64Range(0, 2000).Draw(t, "resident")
		grid := c.Grid(resident)
		if c.GroupsPerBlock < 2 || resident == 0 || c.Blocks <= resident {
			require.Equal(t, c.Blocks, grid)
			return
		}
		require.LessOrEqual(t, grid, c.Blocks)
		require.LessOrEqual(t, (c.Blocks-1)/grid+1, c.GroupsPerBlock, "turns of a block")
		if grid < c.Blocks {
			require.Zero(t, grid%resident)
			require.True(t, grid == resident || (c.Blocks-1)/(grid-resident)+1 > c.GroupsPerBlock, "no fewer would do")
		}
	})
}
