//go:build !linux

package formtest

import (
	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
)

// Guards is plain memory here.
type Guards struct{}

func (*Guards) Bytes(n, _ int64, _ bool) ([]byte, error) { return mem.Aligned(n), nil }

func (*Guards) Free(require.TestingT) {}

func Guarded[T mem.Elem](_ require.TestingT, _ *Guards, v []T, _ bool) []T {
	return append([]T(nil), v...)
}
