package csr

import (
	"testing"

	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
)

// InAllWays runs a test with rows that the processor predicts and with rows that it does not, and
// with entries and vectors in the caches and outside them.
func InAllWays(t *testing.T, f func(t *testing.T)) {
	foresees, near, many, far := predictsRows, form.NearBytes, nearManyBytes, farRowsBytes
	defer func() { predictsRows, form.NearBytes, nearManyBytes, farRowsBytes = foresees, near, many, far }()
	for _, way := range []struct {
		name     string
		foresees bool
		near     int64
	}{{"near", false, 1 << 40}, {"predicted", true, 1 << 40}, {"far", false, 0}} {
		predictsRows, form.NearBytes, nearManyBytes, farRowsBytes = way.foresees, way.near, way.near, way.near
		t.Run(way.name, f)
	}
}
