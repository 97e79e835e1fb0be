package cpu

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/devicetest"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

func TestTriangularSystemsAreSolved(t *testing.T) {
	t.Run("float64", func(t *testing.T) { rapid.Check(t, solvesTriangular[float64]) })
	t.Run("float32", func(t *testing.T) { rapid.Check(t, solvesTriangular[float32]) })
}

func solvesTriangular[V sparse.Value](t *rapid.T) {
	d := open(t, Config{Threads: rapid.IntRange(1, 3).Draw(t, "threads"), NUMANode: -1})
	s, err := d.NewStream()
	require.NoError(t, err)
	devicetest.Triangular[V](t, func(require.TestingT) (kernels.Device, kernels.Stream) { return d, s })
	require.NoError(t, s.Close())
	require.NoError(t, d.Close())
}
