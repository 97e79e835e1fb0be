package solver

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/cases"
	"github.com/msrep-go/msrep/msrep"
)

func TestMain(m *testing.M) { cases.Main(m, "100") }

func open(t testing.TB, devices string) *msrep.System {
	t.Helper()
	return openAs(t, msrep.Config{Devices: devices, NUMA: msrep.NUMAOff})
}

// openAs opens a System that is closed at the latest when the test ends.
func openAs(t testing.TB, c msrep.Config) *msrep.System {
	t.Helper()
	sys, err := msrep.Open(c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, sys.Close()) })
	return sys
}
