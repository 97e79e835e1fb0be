//go:build cuda

package nvidia

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/devicetest"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

func TestProductsOfSparseMatricesAgree(t *testing.T) {
	t.Run("float64", multipliesSparse[float64])
	t.Run("float32", multipliesSparse[float32])
}

func multipliesSparse[V sparse.Value](t *testing.T) {
	d, s := open(t, Config{})
	rapid.Check(t, func(t *rapid.T) {
		devicetest.SpGEMM[V](t, func(require.TestingT) (kernels.Device, kernels.Stream) { return d, s })
	})
}
