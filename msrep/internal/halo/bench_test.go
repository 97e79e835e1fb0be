package halo

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkMap numbers the elements that the first of 8 devices needs: its part has 10 million random indices.
func BenchmarkMap(b *testing.B) {
	const n, nnz, devices = 8_000_000, 10_000_000, 8
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name  string
		among int32
	}{{"of all elements", n}, {"of a sixteenth", n / 16}} {
		idx, cuts := make([]int32, nnz), make([]int, devices+1)
		for k := range idx {
			idx[k] = r.Int32N(c.among) * (n / c.among)
		}
		for j := range cuts {
			cuts[j] = n / devices * j
		}
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(4 * nnz)
			for b.Loop() {
				m, err := New(idx, n, cuts, 0)
				require.NoError(b, err)
				_, err = m.Renumber(idx)
				require.NoError(b, err)
			}
		})
	}
}
