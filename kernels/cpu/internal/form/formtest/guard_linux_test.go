package formtest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels/cpu/internal/form/formtest"
)

func TestGuardsAreOutsideTheArrays(t *testing.T) {
	var g formtest.Guards
	defer g.Free(t)
	b, err := g.Bytes(100, 64, true)
	require.NoError(t, err)
	require.Len(t, b, 100)
	require.Len(t, formtest.Guarded(t, &g, []float64{1, 2, 3}, false), 3)
}
