//go:build cuda

package nvidia

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/devicetest"
)

func TestVectorOperationsFollowTheirFormulas(t *testing.T) {
	d, err := Open(Config{Node: -1})
	require.NoError(t, err)
	t.Run("float64", func(t *testing.T) { rapid.Check(t, func(t *rapid.T) { devicetest.VectorOps[float64](t, d) }) })
	t.Run("float32", func(t *testing.T) { rapid.Check(t, func(t *rapid.T) { devicetest.VectorOps[float32](t, d) }) })
	t.Run("scalars of CG", func(t *testing.T) { rapid.Check(t, func(t *rapid.T) { devicetest.CGScalars(t, d) }) })
	require.NoError(t, d.Close())
}
