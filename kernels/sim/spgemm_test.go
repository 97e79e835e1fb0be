package sim_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/devicetest"
	"github.com/msrep-go/msrep/kernels/sim"
)

func TestProductsOfSparseMatricesHaveTheBitsOfAPlainLoop(t *testing.T) {
	config := func(t *rapid.T) sim.Config {
		return sim.Config{Blocks: rapid.SampledFrom([]int64{0, 1, 3}).Draw(t, "limit"), Workers: rapid.SampledFrom([]int{1, 1, 4}).Draw(t, "workers")}
	}
	t.Run("float64", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) { devicetest.SpGEMM[float64](t, fresh(config(t))) })
	})
	t.Run("float32", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) { devicetest.SpGEMM[float32](t, fresh(config(t))) })
	})
}
