package merge

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/partition"
)

// Bytes are those that must move: each partial vector read, y read and written.
func BenchmarkSum(b *testing.B) {
	const n = 1 << 20
	rng := rand.New(rand.NewSource(7))
	for _, count := range []int{2, 8} {
		partials := make([][]float64, count)
		for i := range partials {
			partials[i] = randoms[float64](rng, n)
		}
		y := make([]float64, n)
		for _, c := range []struct {
			name string
			f    func([]float64, float64, [][]float64) error
		}{{"tree", Sum[float64]}, {"serial", SumSerial[float64]}} {
			b.Run(fmt.Sprintf("%s/%d", c.name, count), func(b *testing.B) {
				b.SetBytes(int64(8 * n * (count + 2)))
				for b.Loop() {
					require.NoError(b, c.f(y, 0.5, partials))
				}
			})
		}
	}
}

func BenchmarkRows(b *testing.B) {
	const n = 1 << 20
	ptr := make([]int64, n+1)
	for r := range n {
		ptr[r+1] = int64(10 * (r + 1))
	}
	y := make([]float64, n)
	for _, count := range []int{7, 63} {
		parts, _, err := partition.Split(ptr, count, partition.RuleNNZ)
		require.NoError(b, err)
		carry := make([]float64, count)
		py := make([][]float64, count)
		for i, p := range parts {
			py[i] = make([]float64, p.Majors())
		}
		b.Run(fmt.Sprintf("carries/%d", count), func(b *testing.B) {
			for b.Loop() {
				require.NoError(b, Rows(y, parts, carry))
			}
		})
		b.Run(fmt.Sprintf("copy/%d", count), func(b *testing.B) {
			b.SetBytes(8 * n * 2)
			for b.Loop() {
				require.NoError(b, CopyRows(y, 0, parts, py))
			}
		})
	}
}
