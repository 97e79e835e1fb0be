package diagonals

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFullDiagonalsOfShortRowsAreExpectedToBeFast(t *testing.T) {
	dense, empty := cached(.1, 5), cached(3, 5)
	require.Less(t, dense.Product, empty.Product)
	require.Less(t, dense.Build, empty.Build)
	require.Less(t, empty.Product, cached(3, 40).Product)
}
