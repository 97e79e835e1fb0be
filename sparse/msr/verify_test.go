package msr

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

func TestPartsOfTheChecksumsTogetherCoverTheFile(t *testing.T) {
	m, src, err := gen.Generate("random:rows=30000,nnz=900000")
	require.NoError(t, err)
	b := encode(t, m, src)
	chunks := (len(b) - HeaderSize - 64 + chunkSize - 1) / chunkSize
	require.Greater(t, chunks, 2)
	verify := func(b []byte, n int) (bad int) {
		path := save(t, b)
		for i := range n {
			if err := VerifyPart(ctx, path, i, n); err != nil {
				requireInput(t, err, path, "does not match its checksum")
				bad++
			}
		}
		return bad
	}
	for _, n := range []int{1, 2, 3, 10} {
		require.Zero(t, verify(b, n))
		for at := HeaderSize + 64; at < len(b); at += chunkSize - 1000 {
			b[at] ^= 4
			require.Equal(t, 1, verify(b, n), "byte %d, %d shares", at, n)
			b[at] ^= 4
		}
	}
}

func TestAPartOfADamagedFileIsRefused(t *testing.T) {
	b := encode(t, small(), sparse.Source{Field: sparse.Real, Symmetry: sparse.General, Stored: 5})
	for _, c := range []struct {
		b    []byte
		want string
	}{{b[:40], "truncated"}, {b[:len(b)-1], "truncated"}, {append(b[:len(b):len(b)], 0), "after its end"}} {
		path := save(t, c.b)
		requireInput(t, VerifyPart(ctx, path, 0, 2), path, c.want)
	}
	b[64] ^= 1
	path := save(t, b)
	requireInput(t, VerifyPart(ctx, path, 1, 2), path, "table of checksums")
}
