package formtest

import (
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/msrep-go/msrep/internal/mem"
)

// Guards is memory between inaccessible pages: a kernel that leaves its arrays ends the test
// program with a fault.
type Guards struct{ maps [][]byte }

// Bytes returns n zero bytes aligned to align. They end at the page after them, as far as align
// allows, or begin at the page before.
func (g *Guards) Bytes(n, align int64, atEnd bool) ([]byte, error) {
	page := int64(unix.Getpagesize())
	inner := (n + page - 1) / page * page
	m, err := unix.Mmap(-1, 0, int(inner+2*page), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, err
	}
	g.maps = append(g.maps, m)
	for _, guard := range [][]byte{m[:page], m[page+inner:]} {
		if err := unix.Mprotect(guard, unix.PROT_NONE); err != nil {
			return nil, err
		}
	}
	from := page
	if atEnd {
		from += (inner - n) / align * align
	}
	return m[from : from+n : from+n], nil
}

func (g *Guards) Free(t require.TestingT) {
	for _, m := range g.maps {
		require.NoError(t, unix.Munmap(m))
	}
	g.maps = nil
}

// Guarded returns a copy of v between guards.
func Guarded[T mem.Elem](t require.TestingT, g *Guards, v []T, atEnd bool) []T {
	b, err := g.Bytes(int64(len(v))*mem.Size[T](), mem.Size[T](), atEnd)
	require.NoError(t, err)
	s, ok := mem.Slice[T](b, int64(len(v)))
	require.True(t, ok)
	copy(s, v)
	return s
}
