package form

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStoreRowsInPlainGoStoresOneNaN(t *testing.T) {
	bits := func(beta float64) uint64 {
		y := []float64{1}
		StoreRowsGeneric(2, beta, []float64{math.NaN()}, y)
		return math.Float64bits(y[0])
	}
	require.Equal(t, uint64(0x7FF8000000000000), bits(0))
	require.Equal(t, uint64(0x7FF8000000000000), bits(3))
}
