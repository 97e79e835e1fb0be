package matio_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse/matio"
)

func TestNamesOfNPYFiles(t *testing.T) {
	for _, name := range []string{"y.npy", "Y.NPY", "y.npy.gz", "a.mtx/y.npy.zst"} {
		require.True(t, matio.IsNPY(name), name)
	}
	for _, name := range []string{"", "npy", "y.npy.txt", "y.npz", "y.npy/x", ".gz"} {
		require.False(t, matio.IsNPY(name), name)
	}
}
