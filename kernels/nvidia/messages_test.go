//go:build cuda

package nvidia

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/nvidiatest"
)

func TestPinnedMemoryIsCopiedDirectly(t *testing.T) {
	standIn(t, nvidiatest.Machine{})
	d, _ := open(t, Config{Node: -1})
	p, free, err := d.AllocPinned(4096)
	require.NoError(t, err)
	require.Equal(t, make([]byte, 4096), p)
	for i := range p {
		p[i] = byte(i)
	}
	b, err := d.Alloc(4096)
	require.NoError(t, err)
	s, err := d.NewStream()
	require.NoError(t, err)
	require.NoError(t, s.Write(b, 0, p))
	require.NoError(t, s.Sync())
	clear(p)
	require.NoError(t, s.Read(p, b, 0))
	require.NoError(t, s.Sync())
	require.Equal(t, byte(255), p[4095])
	staged, _ := d.Staging()
	require.Zero(t, staged)
	require.NoError(t, b.Free())
	require.NoError(t, free())
	require.NoError(t, free())
	require.NoError(t, d.Close())
}

func TestOtherLibrariesFindMemoryByItsAddress(t *testing.T) {
	standIn(t, nvidiatest.Machine{Memory: 2 << 20}) // device memory of the stand-in is host memory
	d, _ := open(t, Config{Node: -1})
	b, addr, err := d.AllocAddressed(8)
	require.NoError(t, err)
	require.NoError(t, d.Enter())
	s, err := d.NewStream()
	require.NoError(t, err)
	require.NoError(t, s.Write(b, 0, []byte("elements")))
	require.NoError(t, s.Sync())
	require.Equal(t, "elements", string(unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&addr))), 8)))
	require.Equal(t, int64(8), d.InUse())
	require.Equal(t, 1, nvidiatest.Calls()["cuMemAlloc"]+nvidiatest.Calls()["cuMemAlloc_v2"], "not of the pool")
	require.NoError(t, b.Free())
	pooled, err := d.Alloc(3 << 19)
	require.NoError(t, err)
	require.NoError(t, pooled.Free())
	b, _, err = d.AllocAddressed(3 << 19)
	require.NoError(t, err, "the pool gives back what it keeps")
	require.NoError(t, b.Free())
	_, _, err = d.AllocAddressed(1 << 40)
	require.ErrorContains(t, err, "out of memory")
	require.NoError(t, d.Close())
}
