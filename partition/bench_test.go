package partition

import (
	"fmt"
	"math/rand"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/par"
)

// large returns the pointers of a matrix with 5 M rows and 50 M entries.
var large = sync.OnceValue(func() []int64 {
	rng := rand.New(rand.NewSource(3))
	ptr := make([]int64, 5_000_001)
	for r := range 5_000_000 {
		ptr[r+1] = ptr[r] + int64(rng.Intn(21))
	}
	ptr[5_000_000] = 50_000_000 + ptr[5_000_000]%2
	return ptr
})

func BenchmarkSplit50MEntries(b *testing.B) {
	ptr := large()
	for _, rule := range []Rule{RuleNNZ, RuleMergePath, RuleMajor} {
		for _, np := range []int{8, 64} {
			b.Run(fmt.Sprintf("%s/%d", rule, np), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					_, _, err := Split(ptr, np, rule)
					require.NoError(b, err)
				}
			})
		}
	}
}

// Both benchmarks count the bytes read and written. The last one copies as many bytes
// with as many goroutines, for comparison.
func BenchmarkLocalPtr(b *testing.B) {
	ptr := large()
	whole := Part{EndIdx: ptr[len(ptr)-1] - 1, OwnEnd: len(ptr) - 1}
	dst := make([]int64, len(ptr))
	narrow := make([]int32, len(ptr))
	n := int64(len(ptr))
	b.Run("64bit", func(b *testing.B) {
		b.SetBytes(16 * n)
		for b.Loop() {
			require.NoError(b, LocalPtr(dst, ptr, whole))
		}
	})
	b.Run("32bit", func(b *testing.B) {
		b.SetBytes(12 * n)
		for b.Loop() {
			require.NoError(b, LocalPtr(narrow, ptr, whole))
		}
	})
	b.Run("copy", func(b *testing.B) {
		b.SetBytes(16 * n)
		for b.Loop() {
			par.Range(n, 1<<15, func(lo, hi int64) { copy(dst[lo:hi], ptr[lo:hi]) })
		}
	})
}
