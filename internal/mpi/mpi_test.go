//go:build mpi

package mpi_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/cluster/commtest"
	"github.com/msrep-go/msrep/internal/mpi"
)

// Run it as mpirun -n 3 ./mpi.test, or alone, as a run of one rank.
func TestProcessesExchangeWhatTheyShould(t *testing.T) {
	c, err := mpi.Start()
	require.NoError(t, err)
	t.Logf("rank %d of %d", c.Rank(), c.Size())
	for range 3 {
		require.NoError(t, commtest.Check(c))
	}
	// The handlers of Go are still there.
	require.Panics(t, func() {
		var p *int
		*p = len(os.Args)
	})
	require.NoError(t, c.Close())
}
