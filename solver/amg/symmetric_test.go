package amg

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse/gen"
)

func TestSymmetricFindsOneDifferentEntry(t *testing.T) {
	a, _, err := gen.Generate("stencil:n=300,points=5")
	require.NoError(t, err)
	require.True(t, symmetric(a))
	k := a.RowPtr[40_000]
	was := a.Val[k]
	a.Val[k] *= 1 + 1e-15
	require.True(t, symmetric(a))
	a.Val[k] = was * 1.01
	require.False(t, symmetric(a))
}
