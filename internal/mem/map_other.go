//go:build !unix

package mem

// hasMmap reports whether memory can be mapped.
const hasMmap = false

// mapRegion allocates on the Go heap, because there is no mmap.
func mapRegion(n int64) (*Region, error) { return &Region{bytes: Aligned(n)}, nil }

func unmap([]byte, int64) error { return nil }

func pages(n int64) int64 { return n }
