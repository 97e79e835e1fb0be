package spgemm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/cases"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

func TestMain(m *testing.M) { cases.Main(m, "200") }

// plain returns A B by the definition in the package comment: an array of all columns for each row.
func plain[V sparse.Value](a, b *sparse.CSR[V]) *sparse.CSR[V] {
	c := &sparse.CSR[V]{Rows: a.Rows, Cols: b.Cols, RowPtr: []int64{0}, ColIdx: []int32{}, Val: []V{}}
	sum, has := make([]V, b.Cols), make([]bool, b.Cols)
	for i := range a.Rows {
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			j := a.ColIdx[k]
			for l := b.RowPtr[j]; l < b.RowPtr[j+1]; l++ {
				col, p := b.ColIdx[l], V(a.Val[k]*b.Val[l])
				if has[col] {
					p += sum[col]
				}
				sum[col], has[col] = p, true
			}
		}
		for col := range has {
			if has[col] {
				c.ColIdx, c.Val = append(c.ColIdx, int32(col)), append(c.Val, sum[col])
				has[col] = false
			}
		}
		c.RowPtr = append(c.RowPtr, int64(len(c.Val)))
	}
	return c
}

// byAppearance returns A B with the entries of each row in the order in which their columns appear first.
func byAppearance[V sparse.Value](a, b *sparse.CSR[V]) *sparse.CSR[V] {
	sorted := plain(a, b)
	c := &sparse.CSR[V]{Rows: a.Rows, Cols: b.Cols, RowPtr: sorted.RowPtr}
	for i := range a.Rows {
		sums := map[int32]V{}
		for k := sorted.RowPtr[i]; k < sorted.RowPtr[i+1]; k++ {
			sums[sorted.ColIdx[k]] = sorted.Val[k]
		}
		for _, j := range a.ColIdx[a.RowPtr[i]:a.RowPtr[i+1]] {
			for _, col := range b.ColIdx[b.RowPtr[j]:b.RowPtr[j+1]] {
				if sum, ok := sums[col]; ok {
					c.ColIdx, c.Val = append(c.ColIdx, col), append(c.Val, sum)
					delete(sums, col)
				}
			}
		}
	}
	return c
}

// sameBits requires equal structures and equal bits of the values.
func sameBits[V sparse.Value](t require.TestingT, want, got *sparse.CSR[V]) {
	require.NoError(t, got.Validate())
	require.Equal(t, want.Rows, got.Rows)
	require.Equal(t, want.Cols, got.Cols)
	require.True(t, slices.Equal(want.RowPtr, got.RowPtr), "row pointers: want %v, got %v", want.RowPtr, got.RowPtr)
	require.True(t, slices.Equal(want.ColIdx, got.ColIdx), "columns: want %v, got %v", want.ColIdx, got.ColIdx)
	for k := range want.Val {
		w, g := float64(want.Val[k]), float64(got.Val[k])
		if math.Float64bits(w) != math.Float64bits(g) && !(math.IsNaN(w) && math.IsNaN(g)) {
			require.Failf(t, "values", "entry %d: want %v, got %v", k, w, g)
		}
	}
}

// random draws a matrix that may have empty rows, unsorted and repeated columns, zeros of both signs, NaN and infinities.
func random[V sparse.Value](t *rapid.T, rows, cols int) *sparse.CSR[V] {
	seed := rapid.Uint64().Draw(t, "seed")
	rng := rand.New(rand.NewPCG(seed, 1))
	most := rapid.IntRange(0, 12).Draw(t, "entries of a row")
	sorted, special := rapid.Bool().Draw(t, "sorted"), rapid.IntRange(0, 3).Draw(t, "special") == 0
	m := &sparse.CSR[V]{Rows: rows, Cols: cols, RowPtr: []int64{0}}
	for range rows {
		n := 0
		if cols > 0 && most > 0 && rng.IntN(4) > 0 {
			n = rng.IntN(most + 1)
			if rng.IntN(30) == 0 {
				n *= 20
			}
		}
		row := make([]int32, n)
		for k := range row {
			row[k] = int32(rng.IntN(cols))
		}
		if sorted {
			slices.Sort(row)
		}
		m.ColIdx = append(m.ColIdx, row...)
		for range row {
			v := V(rng.NormFloat64())
			if special && rng.IntN(8) == 0 {
				v = V([]float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 1e300, 1e-300}[rng.IntN(7)])
			}
			m.Val = append(m.Val, v)
		}
		m.RowPtr = append(m.RowPtr, int64(len(m.Val)))
	}
	return m
}

func TestProductsHaveTheBitsOfThePlainProduct(t *testing.T) {
	t.Run("float64", rapid.MakeCheck(checkProduct[float64]))
	t.Run("float32", rapid.MakeCheck(checkProduct[float32]))
}

func checkProduct[V sparse.Value](t *rapid.T) {
	size := rapid.OneOf(rapid.IntRange(0, 3), rapid.IntRange(0, 200), rapid.Just(9000))
	m, k, n := min(size.Draw(t, "m"), 300), min(size.Draw(t, "k"), 300), size.Draw(t, "n")
	a, b := random[V](t, m, k), random[V](t, k, n)
	want := plain(a, b)
	got, err := Multiply(a, b, nil)
	require.NoError(t, err)
	sameBits(t, want, got)
	p, err := Symbolic(a, b, nil)
	require.NoError(t, err)
	require.True(t, slices.Equal(want.RowPtr, p.RowPtr))
	require.True(t, slices.Equal(want.ColIdx, p.ColIdx))
	again := &sparse.CSR[V]{Rows: p.Rows, Cols: p.Cols, RowPtr: p.RowPtr, ColIdx: p.ColIdx, Val: make([]V, len(p.ColIdx))}
	require.NoError(t, Numeric(p, a, b, again.Val, nil))
	sameBits(t, want, again)
	c := random[V](t, n, min(size.Draw(t, "q"), 200))
	if rapid.Bool().Draw(t, "groups") {
		a = repeated(a, func(int) int { return rapid.IntRange(1, 5).Draw(t, "alike") })
	}
	triple, err := Triple(a, b, c, nil)
	require.NoError(t, err)
	sameBits(t, plain(byAppearance(a, b), c), triple)
}

// repeated returns a with each row repeated, with other values.
func repeated[V sparse.Value](a *sparse.CSR[V], times func(r int) int) *sparse.CSR[V] {
	b := &sparse.CSR[V]{Cols: a.Cols, RowPtr: []int64{0}}
	for r := range a.Rows {
		for i := range times(r) {
			for k := a.RowPtr[r]; k < a.RowPtr[r+1]; k++ {
				b.ColIdx, b.Val = append(b.ColIdx, a.ColIdx[k]), append(b.Val, a.Val[k]*V(1+i)/7)
			}
			b.RowPtr = append(b.RowPtr, int64(len(b.ColIdx)))
			b.Rows++
		}
	}
	return b
}

// Places in a row are counted on from row to row, and from 1 again before they overflow.
func TestManyRowsDoNotOverflowPlaces(t *testing.T) {
	b := generated(t, "stencil:n=4,points=5")
	s := newAppearing[float64](b.Cols)
	s.base = math.MaxInt32 - 40
	again := 0
	for k := range int32(16) { // some columns appear only after that
		before := s.base
		s.reset(1)
		row, by := []int32{k, k / 2, k}, []float64{1, 2, 3}
		s.add(row, by, b)
		fresh := newAppearing[float64](b.Cols)
		fresh.reset(1)
		fresh.add(row, by, b)
		require.Equal(t, fresh.cols[:fresh.n], s.cols[:s.n])
		require.Equal(t, fresh.vals[:fresh.n], s.vals[:s.n])
		if s.base < before {
			again++
		}
	}
	require.Equal(t, 1, again)
}

func generated(t require.TestingT, spec string) *sparse.CSR[float64] {
	m, _, err := gen.Generate(spec)
	require.NoError(t, err)
	return m
}

func TestResultsDoNotDependOnTheWorkers(t *testing.T) {
	a := generated(t, "powerlaw:rows=3000,nnz=40000")
	want := plain(a, a)
	serial := Run(func(n int, f func(int)) {
		for i := range n {
			f(i)
		}
	})
	for name, run := range map[string]Run{"goroutines": nil, "one after the other": serial} {
		got, err := Multiply(a, a, run)
		require.NoError(t, err, name)
		sameBits(t, want, got)
	}
}

func TestShapesThatDoNotFitAreRefused(t *testing.T) {
	a := &sparse.CSR[float64]{Rows: 2, Cols: 3, RowPtr: []int64{0, 0, 0}}
	_, err := Multiply(a, a, nil)
	require.EqualError(t, err, "B: 2 rows; A has 3 columns, so their product needs 3")
	require.True(t, sparse.IsInput(err))
	_, err = Symbolic(a, nil, nil)
	require.EqualError(t, err, "B: is nil")
	_, err = Triple(a, Transpose(a, nil), Transpose(a, nil), nil)
	require.EqualError(t, err, "P: 3 rows; A has 2 columns, so their product needs 2")
}

func TestAnotherStructureIsRefused(t *testing.T) {
	a := generated(t, "stencil:n=10,points=5")
	p, err := Symbolic(a, a, nil)
	require.NoError(t, err)
	val := make([]float64, len(p.ColIdx))
	other := *a
	other.ColIdx = slices.Clone(a.ColIdx)
	require.NoError(t, Numeric(p, &other, a, val, nil))
	other.ColIdx[0], other.ColIdx[1] = other.ColIdx[1], other.ColIdx[0]
	require.ErrorContains(t, Numeric(p, &other, a, val, nil), "A: does not have the structure")
	require.ErrorContains(t, Numeric(p, a, &other, val, nil), "B: does not have the structure")
	require.ErrorContains(t, Numeric(p, a, a, val[1:], nil), "val: ")
}

func TestAProductBeyondMemoryIsRefused(t *testing.T) {
	for _, spec := range []string{
		"powerlaw:rows=20000,nnz=400000",
		"random:rows=2000,nnz=40000", // too few entries for a check before their number is known
	} {
		a := generated(t, spec)
		before := mem.Mapped()
		func() {
			defer mem.SetAvailable(4 << 20)()
			_, err := Multiply(a, a, nil)
			require.True(t, sparse.IsInput(err), "%v", err)
			require.ErrorContains(t, err, "bytes of memory")
		}()
		require.Equal(t, before, mem.Mapped(), "mapped memory that was not freed")
	}
}

// The columns of the product take 64 MB, more than is available, before their number is known.
func TestAProductBeyondMemoryIsRefusedBeforeItsColumnsFillIt(t *testing.T) {
	const n = 4000
	column := &sparse.CSR[float64]{Rows: n, Cols: 1, RowPtr: make([]int64, n+1), ColIdx: make([]int32, n), Val: make([]float64, n)}
	identity := &sparse.CSR[float64]{Rows: n, Cols: n, RowPtr: column.RowPtr, ColIdx: make([]int32, n), Val: column.Val}
	for i := range n {
		column.RowPtr[i+1], identity.ColIdx[i] = int64(i+1), int32(i)
	}
	row := Transpose(column, nil)
	defer mem.SetAvailable(24 << 20)()
	for name, multiply := range map[string]func() error{
		"A B":       func() error { _, err := Multiply(column, row, nil); return err },
		"R A P":     func() error { _, err := Triple(column, row, identity, nil); return err },
		"structure": func() error { _, err := Symbolic(column, row, nil); return err },
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := multiply()
		runtime.ReadMemStats(&after)
		require.True(t, sparse.IsInput(err), "%s: %v", name, err)
		require.ErrorContains(t, err, "product: at least ", name)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(96<<20), name) // C takes 192 MB
	}
}

func ExampleMultiply() {
	a, _ := sparse.NewCSR(2, 2, []int64{0, 1, 3}, []int32{1, 0, 1}, []float64{2, 3, 4})
	c, _ := Multiply(a, a, nil)
	fmt.Println(c.RowPtr, c.ColIdx, c.Val)
	// Output: [0 2 4] [0 1 0 1] [6 8 12 22]
}

// All that a product allocates, even if it is garbage before the end, and the factors are at most 1.5 times as large as the
// factors and the result.
func TestProductsTakeLittleMemory(t *testing.T) {
	for _, spec := range []string{"stencil:n=40,dims=3,points=7", "stencil:n=300,points=9", "banded:n=30000,band=8", "rmat:scale=13,edges=8", "powerlaw:rows=30000,nnz=300000"} {
		a := generated(t, spec)
		for _, threads := range []int{1, 2} {
			for _, p := range []*sync.Pool{&dense64, &columns, &pieces} { // a pool may be emptied at any time
				for p.Get() != nil {
				}
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			c, err := MultiplyOn(On{Workers: threads}, a, a)
			require.NoError(t, err)
			runtime.ReadMemStats(&after)
			took := int64(after.TotalAlloc-before.TotalAlloc) + a.Bytes()
			limit := 3 * (a.Bytes() + c.Bytes()) / 2
			require.LessOrEqual(t, took, limit, "%s, %d workers: %.2f times", spec, threads, float64(took)/float64(a.Bytes()+c.Bytes()))
			t.Logf("%s, %d workers: %.2f times", spec, threads, float64(took)/float64(a.Bytes()+c.Bytes()))
		}
	}
}
