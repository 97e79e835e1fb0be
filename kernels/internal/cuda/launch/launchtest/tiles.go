// Package launchtest has checks of package launch for the tests of its devices.
package launchtest

import (
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/devicetest"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/internal/cuda/launch"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// DrawnTiles is Tiles for the parts of a drawn matrix.
func DrawnTiles[V sparse.Value](t *rapid.T, d kernels.Device, s kernels.Stream) {
	q := &devicetest.Problem[V]{A: devicetest.Draw[V](t)}
	parts, _, err := partition.Split(q.A.RowPtr, rapid.SampledFrom([]int{1, 2, 3}).Draw(t, "parts"), partition.RuleNNZ)
	require.NoError(t, err)
	for _, p := range parts {
		Tiles(t, d, s, q.Packing(p, kernels.FormTiles))
	}
}

// Tiles checks that a device builds the same tiles of a part as the host, byte by byte, and keeps nothing else.
func Tiles[V sparse.Value](t require.TestingT, d kernels.Device, s kernels.Stream, op *kernels.Packing[V]) {
	held := d.InUse()
	csr, tiles := *op, *op
	csr.Form, tiles.Form = kernels.FormCSR, kernels.FormTiles
	a, err := launch.Pack(d, s, &csr)
	require.NoError(t, err)
	want, err := launch.PackForm(d, s, &tiles)
	require.NoError(t, err)
	before := d.InUse()
	got, err := launch.TilesOnDevice(s, &tiles, a)
	require.NoError(t, err)
	require.Equal(t, got.Info().Bytes, d.InUse()-before, "it keeps the arrays of products only")
	require.Equal(t, want.Info().Why, got.Info().Why)
	require.Equal(t, want.Info().Padding, got.Info().Padding)
	require.Equal(t, contents(t, s, want), contents(t, s, got))
	for _, p := range []kernels.Packed{a, want, got} {
		require.NoError(t, p.Free())
	}
	require.Equal(t, held, d.InUse())
}

// contents returns the bytes of the buffers of a part.
func contents(t require.TestingT, s kernels.Stream, p kernels.Packed) (all [][]byte) {
	for _, b := range p.Buffers() {
		data := make([]byte, b.Bytes())
		require.NoError(t, s.Read(data, b, 0))
		all = append(all, data)
	}
	require.NoError(t, s.Sync())
	return all
}
