//go:build !unix

package msr

import (
	"io"
	"os"

	"github.com/msrep-go/msrep/internal/mem"
)

// mapFile reads size bytes of f into aligned memory.
func mapFile(f *os.File, size int64) ([]byte, func() error, error) {
	data := mem.Aligned(size)
	if _, err := io.ReadFull(io.NewSectionReader(f, 0, size), data); err != nil {
		return nil, nil, err
	}
	return data, func() error { return nil }, nil
}
