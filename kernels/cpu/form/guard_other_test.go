//go:build !linux

package form_test

import (
	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
)

// guards is plain memory here.
type guards struct{}

func (*guards) bytes(n, _ int64, _ bool) ([]byte, error) { return mem.Aligned(n), nil }

func (*guards) free(require.TestingT) {}

func guarded[T mem.Elem](_ require.TestingT, _ *guards, v []T, _ bool) []T {
	return append([]T(nil), v...)
}
