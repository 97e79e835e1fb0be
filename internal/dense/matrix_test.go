package dense_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/dense"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/sparse"
)

// matrix is a matrix in column-major order. Elements that a function must not use are NaN, which spreads, or 77, which
// does not stay when it is written.
type matrix[V sparse.Value] struct {
	rows, cols, ld int
	val            []V // ends with the last element
	memory         []V // val and what is beside it
}

// around is the number of elements before and after a matrix.
const around = 40

// newMatrix returns a matrix without used elements. There are up to 9 elements between columns.
func newMatrix[V sparse.Value](random *rand.Rand, rows, cols int) *matrix[V] {
	a := &matrix[V]{rows: rows, cols: cols, ld: max(1, rows+random.IntN(10))}
	size := 0
	if rows > 0 && cols > 0 {
		size = (cols-1)*a.ld + rows
	}
	a.memory = make([]V, around+size+around)
	unused := []float64{math.NaN(), 77}[random.IntN(2)]
	for i := range a.memory {
		a.memory[i] = V(unused)
	}
	a.val = a.memory[around:][:size:size]
	return a
}

// newRandom returns a matrix whose used elements, for which part reports true, are random.
func newRandom[V sparse.Value](random *rand.Rand, rows, cols int, part func(i, j int) bool) *matrix[V] {
	a := newMatrix[V](random, rows, cols)
	for j := range cols {
		for i := range rows {
			if part(i, j) {
				a.set(i, j, V(random.Float64()-0.5))
			}
		}
	}
	return a
}

func (a *matrix[V]) at(i, j int) V     { return a.val[i+j*a.ld] }
func (a *matrix[V]) set(i, j int, v V) { a.val[i+j*a.ld] = v }

// from returns the memory from an element on.
func (a *matrix[V]) from(i, j int) []V { return a.val[min(i+j*a.ld, len(a.val)):] }

func (a *matrix[V]) clone() *matrix[V] {
	b := *a
	b.memory = slices.Clone(a.memory)
	b.val = b.memory[around:][:len(a.val):len(a.val)]
	return &b
}

// same requires the same bits in all memory.
func (a *matrix[V]) same(t *testing.T, b *matrix[V], format string, args ...any) {
	t.Helper()
	for i, v := range a.memory {
		w := b.memory[i]
		if v != w && (v == v || w == w) || v == 0 && math.Signbit(float64(v)) != math.Signbit(float64(w)) {
			require.Failf(t, "other bits", "element %d of the memory: %v, not %v: "+format, append([]any{i - around, w, v}, args...)...)
		}
	}
}

// sameElsewhere requires that b differs from a only in elements for which part reports true.
func (a *matrix[V]) sameElsewhere(t *testing.T, b *matrix[V], part func(i, j int) bool, format string, args ...any) {
	t.Helper()
	c := b.clone()
	for j := range a.cols {
		for i := range a.rows {
			if part(i, j) {
				c.set(i, j, a.at(i, j))
			}
		}
	}
	a.same(t, c, format, args...)
}

func everywhere(int, int) bool { return true }
func lower(i, j int) bool      { return i >= j }
func below(i, j int) bool      { return i > j }
func upper(i, j int) bool      { return i <= j }

// near requires |got - want| <= factor*steps*epsilon*size: size is the sum of the absolute values of what was added, steps
// their number.
func near[V sparse.Value](t *testing.T, want, size float64, got V, steps int, format string, args ...any) {
	t.Helper()
	epsilon := 0x1p-53
	if _, single := any(got).(float32); single {
		epsilon = 0x1p-24
	}
	const factor = 4
	if d := math.Abs(float64(got) - want); !(d <= factor*float64(steps)*epsilon*size) {
		require.Failf(t, "too far", "%v, not %v (size %v): "+format, append([]any{got, want, size}, args...)...)
	}
}

// eachLevel runs a test for float64 and float32 with each instruction set of this processor.
func eachLevel(t *testing.T, double, single func(t *testing.T)) {
	for _, l := range simd.Levels() {
		for name, f := range map[string]func(t *testing.T){"float64": double, "float32": single} {
			t.Run(l.String()+"/"+name, func(t *testing.T) {
				defer dense.SetLevel(l)()
				f(t)
			})
		}
	}
}

// rounds is the number of random cases of a test.
func rounds() int {
	if testing.Short() {
		return 20
	}
	return 100
}

// dimension returns 0 to 70, often small, seldom up to 299.
func dimension(random *rand.Rand) int {
	switch random.IntN(16) {
	case 0, 1, 2, 3:
		return random.IntN(12)
	case 4:
		return random.IntN(300)
	}
	return random.IntN(71)
}
