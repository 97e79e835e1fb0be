package sparse_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
	"github.com/msrep-go/msrep/sparse/internal/matrixtest"
)

// drawCSR draws a small matrix with unsorted rows and duplicates.
func drawCSR(t *rapid.T) *sparse.CSR[float64] {
	coo := &sparse.COO[float64]{Rows: rapid.IntRange(0, 12).Draw(t, "rows"), Cols: rapid.IntRange(0, 12).Draw(t, "cols")}
	if coo.Rows > 0 && coo.Cols > 0 {
		for k := range rapid.IntRange(0, 60).Draw(t, "entries") {
			coo.RowIdx = append(coo.RowIdx, int32(rapid.IntRange(0, coo.Rows-1).Draw(t, "i")))
			coo.ColIdx = append(coo.ColIdx, int32(rapid.IntRange(0, coo.Cols-1).Draw(t, "j")))
			coo.Val = append(coo.Val, float64(k+1))
		}
	}
	return sparse.ToCSR(coo)
}

// drawPermutation draws a permutation of n elements, or nil.
func drawPermutation(t *rapid.T, n int) []int32 {
	if rapid.IntRange(0, 3).Draw(t, "nil") == 0 {
		return nil
	}
	p := make([]int32, n)
	for i := range p {
		p[i] = int32(i)
	}
	return rapid.Permutation(p).Draw(t, "permutation")
}

func at(p []int32, i int) int {
	if p == nil {
		return i
	}
	return int(p[i])
}

func TestPermuteMovesRowsAndColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawCSR(t)
		p, q := drawPermutation(t, a.Rows), drawPermutation(t, a.Cols)
		b, err := sparse.Permute(a, p, q)
		require.NoError(t, err)
		require.NoError(t, b.Validate())
		require.Equal(t, a.NNZ(), b.NNZ())
		from, to := matrixtest.Dense(a), matrixtest.Dense(b)
		for i := range b.Rows {
			for j := range b.Cols {
				require.Equal(t, from[at(p, i)][at(q, j)], to[i][j])
			}
			for k := b.RowPtr[i] + 1; k < b.RowPtr[i+1]; k++ {
				require.LessOrEqual(t, b.ColIdx[k-1], b.ColIdx[k], "columns are sorted")
				if b.ColIdx[k-1] == b.ColIdx[k] {
					require.Less(t, b.Val[k-1], b.Val[k], "duplicates keep their order")
				}
			}
		}
	})
}

// A matrix that several goroutines share, with long rows.
func TestPermuteAndItsInverseGiveTheSameLargeMatrix(t *testing.T) {
	a, _, err := gen.Generate("rmat:scale=13,edges=40")
	require.NoError(t, err)
	p, q := make([]int32, a.Rows), make([]int32, a.Cols)
	for i := range p {
		p[i], q[i] = int32((i*4097+5)%a.Rows), int32((i*2731+3)%a.Cols)
	}
	b, err := sparse.Permute(a, p, q)
	require.NoError(t, err)
	pi, err := sparse.Inverse("p", p, a.Rows)
	require.NoError(t, err)
	qi, err := sparse.Inverse("q", q, a.Cols)
	require.NoError(t, err)
	back, err := sparse.Permute(b, pi, qi)
	require.NoError(t, err)
	want, err := sparse.Permute(a, nil, nil)
	require.NoError(t, err)
	matrixtest.Same(t, want, back)
}

func TestWhatIsNoPermutationIsRefused(t *testing.T) {
	a, err := sparse.NewCSR(2, 3, []int64{0, 1, 2}, []int32{0, 2}, []float64{1, 2})
	require.NoError(t, err)
	for _, c := range []struct {
		rows, cols []int32
		message    string
	}{
		{[]int32{0}, nil, "rows: a permutation of 2 elements has 1"},
		{[]int32{0, 2}, nil, "rows: element 1 of the permutation is 2: it must be in [0, 2)"},
		{nil, []int32{-1, 0, 1}, "cols: element 0 of the permutation is -1: it must be in [0, 3)"},
		{nil, []int32{1, 0, 1}, "cols: elements 0 and 2 of the permutation are both 1"},
	} {
		_, err := sparse.Permute(a, c.rows, c.cols)
		require.EqualError(t, err, c.message)
		require.True(t, sparse.IsInput(err))
	}
	bad := &sparse.CSR[float64]{Rows: 1, Cols: 1, RowPtr: []int64{0, 1}, ColIdx: []int32{1}, Val: []float64{1}}
	_, err = sparse.Permute(bad, nil, nil)
	require.True(t, sparse.IsInput(err))
	_, err = sparse.Permute[float64](nil, nil, nil)
	require.True(t, sparse.IsInput(err))
}

func TestTrianglesAndDiagonalMakeUpTheMatrix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawCSR(t)
		d := matrixtest.Dense(a)
		for _, diagonal := range []sparse.Diagonal{sparse.KeepDiagonal, sparse.DropDiagonal, sparse.UnitDiagonal} {
			l, err := sparse.Lower(a, diagonal)
			require.NoError(t, err)
			require.NoError(t, l.Validate())
			u, err := sparse.Upper(a, diagonal)
			require.NoError(t, err)
			require.NoError(t, u.Validate())
			lower, upper := matrixtest.Dense(l), matrixtest.Dense(u)
			for i := range a.Rows {
				for j := range a.Cols {
					on := map[sparse.Diagonal]float64{sparse.KeepDiagonal: d[i][j], sparse.UnitDiagonal: 1}[diagonal]
					switch {
					case i == j:
						require.Equal(t, [2]float64{on, on}, [2]float64{lower[i][j], upper[i][j]})
					case i > j:
						require.Equal(t, [2]float64{d[i][j], 0}, [2]float64{lower[i][j], upper[i][j]})
					default:
						require.Equal(t, [2]float64{0, d[i][j]}, [2]float64{lower[i][j], upper[i][j]})
					}
				}
			}
			if diagonal == sparse.UnitDiagonal {
				for i := range min(a.Rows, a.Cols) {
					require.EqualValues(t, i, l.ColIdx[l.RowPtr[i+1]-1], "the last entry of a lower row")
					require.EqualValues(t, i, u.ColIdx[u.RowPtr[i]], "the first entry of an upper row")
				}
			}
		}
	})
	_, err := sparse.Lower(&sparse.CSR[float64]{RowPtr: []int64{0}}, 3)
	require.EqualError(t, err, "d: 3 is not a Diagonal")
	_, err = sparse.Upper[float64](nil, sparse.KeepDiagonal)
	require.True(t, sparse.IsInput(err))
}

func TestScaleMultipliesRowsAndColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawCSR(t)
		var r, c []float64
		if rapid.Bool().Draw(t, "r") {
			r = rapid.SliceOfN(rapid.Float64Range(-4, 4), a.Rows, a.Rows).Draw(t, "rows")
		}
		if rapid.Bool().Draw(t, "c") {
			c = rapid.SliceOfN(rapid.Float64Range(-4, 4), a.Cols, a.Cols).Draw(t, "cols")
		}
		b, err := sparse.Scale(a, r, c)
		require.NoError(t, err)
		require.NoError(t, b.Validate())
		for i := range a.Rows {
			for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
				want := a.Val[k]
				if r != nil {
					want *= r[i]
				}
				if c != nil {
					want *= c[a.ColIdx[k]]
				}
				require.InDelta(t, want, b.Val[k], 1e-13*math.Abs(want))
			}
		}
	})
}

func TestScaleDoesNotOverflowOnTheWay(t *testing.T) {
	one := func(r, v, c float64) float64 {
		a, err := sparse.NewCSR(1, 1, []int64{0, 1}, []int32{0}, []float64{v})
		require.NoError(t, err)
		b, err := sparse.Scale(a, []float64{r}, []float64{c})
		require.NoError(t, err)
		return b.Val[0]
	}
	for _, exponents := range [][3]int{{200, 200, -300}, {200, -300, 200}, {-300, 200, 200}, {-200, -200, 300}, {-200, 300, -200}, {300, -200, -200}} {
		got := one(math.Pow(10, float64(exponents[0])), math.Pow(10, float64(exponents[1])), -math.Pow(10, float64(exponents[2])))
		want := -math.Pow(10, float64(exponents[0]+exponents[1]+exponents[2]))
		require.InEpsilon(t, want, got, 1e-12, "%v", exponents)
	}
	require.Equal(t, 0.0, one(0, 1e300, 1e300))
}

func TestFactorsOfTheWrongLengthAreRefused(t *testing.T) {
	a := &sparse.CSR[float32]{Rows: 0, Cols: 2, RowPtr: []int64{0}}
	_, err := sparse.Scale(a, []float64{1}, nil)
	require.EqualError(t, err, "rows: 1 factors for 0 rows")
	_, err = sparse.Scale(a, nil, []float64{1})
	require.EqualError(t, err, "cols: 1 factors for 2 columns")
	_, err = sparse.Scale[float32](nil, nil, nil)
	require.True(t, sparse.IsInput(err))
}

func ExamplePermute() {
	// 1 2 .
	// . 3 .
	// 4 . 5
	a, _ := sparse.NewCSR(3, 3, []int64{0, 2, 3, 5}, []int32{0, 1, 1, 0, 2}, []float64{1, 2, 3, 4, 5})
	b, err := sparse.Permute(a, []int32{2, 0, 1}, []int32{2, 1, 0})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(b.RowPtr, b.ColIdx, b.Val)
	// Output: [0 2 4 5] [0 2 1 2 1] [5 4 2 1 3]
}

func ExampleLower() {
	// 4 1
	// 2 5
	a, _ := sparse.NewCSR(2, 2, []int64{0, 2, 4}, []int32{0, 1, 0, 1}, []float64{4, 1, 2, 5})
	l, err := sparse.Lower(a, sparse.UnitDiagonal)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(l.RowPtr, l.ColIdx, l.Val)
	// Output: [0 1 3] [0 0 1] [1 2 1]
}

func ExampleUpper() {
	a, _ := sparse.NewCSR(2, 2, []int64{0, 2, 4}, []int32{0, 1, 0, 1}, []float64{4, 1, 2, 5})
	u, err := sparse.Upper(a, sparse.KeepDiagonal)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(u.RowPtr, u.ColIdx, u.Val)
	// Output: [0 2 3] [0 1 1] [4 1 5]
}

func ExampleScale() {
	a, _ := sparse.NewCSR(2, 2, []int64{0, 2, 3}, []int32{0, 1, 1}, []float64{4, 1, 5})
	b, err := sparse.Scale(a, []float64{0.5, 2}, []float64{1, 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(b.Val)
	// Output: [2 5 100]
}

func ExampleInverse() {
	p := []int32{2, 0, 1}
	q, err := sparse.Inverse("p", p, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(q)
	_, err = sparse.Inverse("p", []int32{0, 0}, 2)
	fmt.Println(err)
	// Output:
	// [1 2 0]
	// p: elements 0 and 1 of the permutation are both 0
}
