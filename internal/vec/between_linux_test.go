package vec_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/msrep-go/msrep/internal/mem"
)

// between returns a copy of v that ends at an inaccessible page or begins after one: a kernel that
// leaves the copy ends the test program with a fault.
func between[T mem.Elem](t *testing.T, v []T, atEnd bool) []T {
	page := int64(unix.Getpagesize())
	size := int64(len(v)) * mem.Size[T]()
	inner := (size + page - 1) / page * page
	m, err := unix.Mmap(-1, 0, int(inner+2*page), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	require.NoError(t, err)
	t.Cleanup(func() { _ = unix.Munmap(m) })
	require.NoError(t, unix.Mprotect(m[:page], unix.PROT_NONE))
	require.NoError(t, unix.Mprotect(m[page+inner:], unix.PROT_NONE))
	from := page
	if atEnd {
		from += inner - size
	}
	s, ok := mem.Slice[T](m[from:from+size:from+size], int64(len(v)))
	require.True(t, ok)
	copy(s, v)
	return s
}
