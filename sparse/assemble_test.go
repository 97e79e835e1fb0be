package sparse

import (
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// dense adds triples with simple code.
func dense(rows, cols int, sym Symmetry, blocks []Triples[float64]) [][]float64 {
	out := make([][]float64, rows)
	for i := range out {
		out[i] = make([]float64, cols)
		for j := range out[i] {
			out[i][j] = math.NaN() // not stored
		}
	}
	add := func(i, j int32, v float64) {
		if math.IsNaN(out[i][j]) {
			out[i][j] = 0
		}
		out[i][j] += v
	}
	for _, b := range blocks {
		for k, i := range b.Row {
			v := 1.0
			if b.Val != nil {
				v = b.Val[k]
			}
			add(i, b.Col[k], v)
			switch {
			case i == b.Col[k] || sym == General:
			case sym == SkewSymmetric:
				add(b.Col[k], i, -v)
			default:
				add(b.Col[k], i, v)
			}
		}
	}
	return out
}

func drawBlocks(t *rapid.T, rows, cols int) []Triples[float64] {
	var blocks []Triples[float64]
	if rows == 0 || cols == 0 {
		return blocks
	}
	for range rapid.IntRange(0, 4).Draw(t, "blocks") {
		n := rapid.IntRange(0, 60).Draw(t, "entries")
		b := Triples[float64]{Row: make([]int32, n), Col: make([]int32, n), Val: make([]float64, n)}
		for k := range n {
			b.Row[k] = int32(rapid.IntRange(0, rows-1).Draw(t, "i"))
			b.Col[k] = int32(rapid.IntRange(0, cols-1).Draw(t, "j"))
			b.Val[k] = float64(rapid.IntRange(-9, 9).Draw(t, "v"))
		}
		if rapid.Bool().Draw(t, "pattern") {
			b.Val = nil
		}
		blocks = append(blocks, b)
	}
	return blocks
}

func TestAssembleSortsExpandsAndAddsDuplicatesUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(0, 9).Draw(t, "rows"), rapid.IntRange(0, 70).Draw(t, "cols")
		sym := rapid.SampledFrom([]Symmetry{General, Symmetric, SkewSymmetric}).Draw(t, "symmetry")
		if sym != General {
			cols = rows
		}
		blocks := drawBlocks(t, rows, cols)
		want := dense(rows, cols, sym, blocks)
		m := Assemble(rows, cols, sym, blocks)
		require.NoError(t, m.Validate())
		stored := int64(0)
		for i, row := range want {
			k := m.RowPtr[i]
			for j, v := range row {
				if math.IsNaN(v) {
					continue
				}
				stored++
				require.Less(t, k, m.RowPtr[i+1], "row %d", i)
				require.Equal(t, int32(j), m.ColIdx[k], "row %d", i)
				require.Equal(t, v, m.Val[k], "row %d", i)
				k++
			}
		}
		require.Equal(t, stored, m.NNZ())
	})
}

func TestAssembleOfManyTriplesDoesTheSameInGroups(t *testing.T) {
	from, piece, group, near := groupFrom, pieceEntries, groupEntries, nearEntries
	defer func() { groupFrom, pieceEntries, groupEntries, nearEntries = from, piece, group, near }()
	groupFrom, pieceEntries, groupEntries, nearEntries = 0, 7, 3, 0
	TestAssembleSortsExpandsAndAddsDuplicatesUp(t)
	TestAssembleAddsDuplicatesUpInTheOrderOfTheFile(t)
	TestAssembleGivesTheSameBitsForAnyNumberOfGoroutines(t)
}

func TestAssembleInGroupsGivesTheBitsOfAssembleInOnePiece(t *testing.T) {
	from, piece, near := groupFrom, pieceEntries, nearEntries
	defer func() { groupFrom, pieceEntries, nearEntries = from, piece, near }()
	const rows, n = 50_000, 60_000
	r := rand.New(rand.NewPCG(5, 6))
	for _, sym := range []Symmetry{General, Symmetric, SkewSymmetric} {
		for _, pattern := range []bool{false, true} {
			if pattern && sym == SkewSymmetric {
				continue
			}
			b := Triples[float64]{Row: make([]int32, n), Col: make([]int32, n), Val: make([]float64, n)}
			for k := range n {
				b.Row[k], b.Col[k], b.Val[k] = r.Int32N(rows), r.Int32N(rows), r.NormFloat64()
				switch k % 6 {
				case 0: // a long row
					b.Row[k] = 7
				case 1: // many of it far from the others, duplicates too
					b.Row[k], b.Col[k] = 7, rows-1-r.Int32N(3000)
				case 2: // a long column
					b.Col[k] = 20_000
				}
			}
			if pattern {
				b.Val = nil
			}
			build := func(from int64, size int) *CSR[float64] {
				groupFrom, pieceEntries, nearEntries = from, size, 0
				c := Triples[float64]{Row: slices.Clone(b.Row), Col: slices.Clone(b.Col), Val: slices.Clone(b.Val)}
				return Assemble(rows, rows, sym, []Triples[float64]{c})
			}
			want := build(n+1, 1)
			for _, size := range []int{1000, n / 2} {
				require.True(t, reflect.DeepEqual(want, build(0, size)), "%v, pattern %v, pieces of %d", sym, pattern, size)
			}
		}
	}
}

func TestAssembleAddsDuplicatesUpInTheOrderOfTheFile(t *testing.T) {
	// (1e16 + 1) - 1e16 is 0 in this order, and 1 in another.
	b := Triples[float64]{Row: []int32{0, 1, 0, 0}, Col: []int32{2, 0, 2, 2}, Val: []float64{1e16, 5, 1, -1e16}}
	m := Assemble(2, 3, General, []Triples[float64]{b})
	require.Equal(t, []float64{0, 5}, m.Val)
	for sym, want := range map[Symmetry][]float64{Symmetric: {5, 0, 5, 0}, SkewSymmetric: {-5, 0, 5, 0}} {
		b := Triples[float64]{Row: []int32{2, 1, 0, 2}, Col: []int32{0, 0, 2, 0}, Val: []float64{1e16, 5, 1, -1e16}}
		if sym == SkewSymmetric {
			b.Val[2] = -1
		}
		require.Equal(t, want, Assemble(3, 3, sym, []Triples[float64]{b}).Val)
	}
}

func TestAssembleGivesTheSameBitsForAnyNumberOfGoroutines(t *testing.T) {
	build := func() *CSR[float64] {
		const n = 200_000
		b := Triples[float64]{Row: make([]int32, n), Col: make([]int32, n), Val: make([]float64, n)}
		h := uint64(1)
		for k := range n {
			h = h*6364136223846793005 + 1442695040888963407
			b.Row[k], b.Col[k], b.Val[k] = int32(h>>40)%500, int32(h>>20)&255, 1/float64(k+1)
		}
		return Assemble(500, 256, General, []Triples[float64]{b})
	}
	old := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(old)
	want := build()
	for _, p := range []int{2, 3, 7} {
		runtime.GOMAXPROCS(p)
		require.Equal(t, want, build(), "%d", p)
	}
}

func TestEntriesNearTheDiagonalInItsOrderAreNotScattered(t *testing.T) {
	const rows, each = 20_000, 16
	b := Triples[float64]{Row: make([]int32, rows*each), Col: make([]int32, rows*each)}
	for k := range b.Row {
		j := k / each
		b.Row[k], b.Col[k] = int32((j+k%each*100)%rows), int32(j)
	}
	blocks := []Triples[float64]{b}
	require.False(t, scattered(blocks, rows, rows*each))
	for k := range b.Row {
		b.Row[k] = int32(k * 7919 % rows)
	}
	require.True(t, scattered(blocks, rows, rows*each))
}

func TestConversionsKeepEveryEntry(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(0, 9).Draw(t, "rows"), rapid.IntRange(0, 9).Draw(t, "cols")
		coo := &COO[float64]{Rows: rows, Cols: cols}
		for _, b := range drawBlocks(t, rows, cols) {
			coo.RowIdx = append(coo.RowIdx, b.Row...)
			coo.ColIdx = append(coo.ColIdx, b.Col...)
			for k := range b.Row {
				coo.Val = append(coo.Val, float64(len(coo.Val)+k))
			}
			coo.Val = coo.Val[:len(coo.RowIdx)]
		}
		all := []Triples[float64]{{Row: coo.RowIdx, Col: coo.ColIdx, Val: coo.Val}}
		want := dense(rows, cols, General, all)
		csr, csc := ToCSR[float64](coo), ToCSC[float64](coo)
		for _, m := range []Matrix[float64]{
			coo, csr, csc, ToCOO[float64](csr), ToCOO[float64](csc), ToCSR[float64](csc), ToCSC[float64](csr), coo.SortByRow(),
			coo.Transpose().Transpose(), csr.Transpose().Transpose(),
		} {
			require.NoError(t, m.Validate())
			require.Equal(t, coo.NNZ(), m.NNZ())
			c := ToCOO(m)
			got := dense(rows, cols, General, []Triples[float64]{{Row: c.RowIdx, Col: c.ColIdx, Val: c.Val}})
			for i := range want {
				require.InDeltaSlice(t, want[i], got[i], 1e-9)
			}
		}
		require.Equal(t, RowSorted, ToCOO[float64](csr).Order())
		if o := ToCOO[float64](csc).Order(); o == Unsorted {
			t.Fatalf("COO of a CSC matrix must be sorted by column")
		}
	})
}

func TestConversionsTakeTypesThatEmbedAMatrix(t *testing.T) {
	type named struct { // as matio.Matrix
		*CSR[float64]
		Name string
	}
	type sorted struct{ *COO[float64] }
	type either struct{ Matrix[float64] }
	csr, err := FromTriples(2, 3, []int32{0, 1, 1}, []int32{0, 1, 2}, []float64{1, 2, 3}) // by row and by column
	require.NoError(t, err)
	csc, coo := ToCSC[float64](csr), ToCOO[float64](csr)
	for _, m := range []Matrix[float64]{named{csr, "m"}, &named{csr, "m"}, sorted{coo}, either{csc}, either{named{csr, "m"}}} {
		require.Equal(t, csr, ToCSR(m), "%T", m)
		require.Equal(t, csc, ToCSC(m), "%T", m)
		require.Equal(t, coo, ToCOO(m), "%T", m)
	}
	require.Same(t, csr, ToCSR(Matrix[float64](&named{csr, "m"})), "itself where it is one already")
}

func TestValidateNamesTheFault(t *testing.T) {
	ptr, idx, val := []int64{0, 1, 2}, []int32{0, 1}, []float64{1, 2}
	for _, c := range []struct {
		message string
		m       Matrix[float64]
	}{
		{"is nil", (*CSR[float64])(nil)},
		{"is nil", (*CSC[float64])(nil)},
		{"is nil", (*COO[float64])(nil)},
		{"must not be negative", &CSR[float64]{Rows: -1}},
		{"must not be negative", &CSR[float64]{Cols: -1, RowPtr: []int64{0}}},
		{"pointers for", &CSR[float64]{Rows: 1, Cols: 2, RowPtr: ptr, ColIdx: idx, Val: val}},
		{"pointers for", &CSR[float64]{}},
		{"must be equal", &CSR[float64]{Rows: 2, Cols: 2, RowPtr: ptr, ColIdx: idx, Val: val[:1]}},
		{"from 0 to the number", &CSR[float64]{Rows: 2, Cols: 2, RowPtr: []int64{0, 1, 3}, ColIdx: idx, Val: val}},
		{"from 0 to the number", &CSR[float64]{Rows: 2, Cols: 2, RowPtr: []int64{1, 1, 2}, ColIdx: idx, Val: val}},
		{"row pointer 2 falls from 3 to 2", &CSR[float64]{Rows: 2, Cols: 2, RowPtr: []int64{0, 3, 2}, ColIdx: idx, Val: val}},
		{"entry 1: column index 2 is outside [0, 2)", &CSR[float64]{Rows: 2, Cols: 2, RowPtr: ptr, ColIdx: []int32{0, 2}, Val: val}},
		{"entry 0: row index -1", &CSC[float64]{Rows: 2, Cols: 2, ColPtr: ptr, RowIdx: []int32{-1, 1}, Val: val}},
		{"must be equal", &COO[float64]{Rows: 2, Cols: 2, RowIdx: idx, ColIdx: idx[:1], Val: val}},
		{"row index", &COO[float64]{Rows: 1, Cols: 2, RowIdx: idx, ColIdx: idx, Val: val}},
		{"column index", &COO[float64]{Rows: 2, Cols: 1, RowIdx: idx, ColIdx: idx, Val: val}},
		{"rows: a size", &COO[float64]{Rows: -2}},
	} {
		err := c.m.Validate()
		require.ErrorContains(t, err, c.message)
		require.True(t, IsInput(err))
	}
	if beyond := int64(MaxDim) + 1; strconv.IntSize > 32 {
		require.ErrorContains(t, (&CSR[float64]{Cols: int(beyond), RowPtr: []int64{0}}).Validate(), "32 bits")
	}
	_, err := NewCSR(2, 2, ptr, idx, val)
	require.NoError(t, err)
	_, err = NewCSC(2, 2, ptr, idx, val)
	require.NoError(t, err)
	_, err = NewCSC(1, 2, ptr, idx, val)
	require.ErrorContains(t, err, "row index 1 is outside [0, 1)")
}

func TestConvertRoundsToNearest(t *testing.T) {
	m := &CSR[float64]{Rows: 1, Cols: 1, RowPtr: []int64{0, 1}, ColIdx: []int32{0}, Val: []float64{0.1}}
	require.Equal(t, []float32{0.1}, Convert[float32](m).Val)
}

func TestCheckDimsBoundsEmptyLinesByEntries(t *testing.T) {
	var l Limits
	require.NoError(t, l.CheckDims("f", 2, defaultEmptyLines, 3, 0))
	require.ErrorContains(t, l.CheckDims("f", 2, defaultEmptyLines+1024, 3, 0), "f:2: 16778240 rows for 0 entries")
	require.NoError(t, l.CheckDims("f", 2, 1<<30, 3, 1<<20))
	require.NoError(t, Limits{EmptyLines: -1}.CheckDims("f", 2, MaxDim, MaxDim, 0))
	require.ErrorContains(t, Limits{EmptyLines: 5}.CheckDims("f", 2, 1, 1<<20, 1), "columns")
	require.ErrorContains(t, l.CheckDims("f", 2, MaxDim+1, 1, 1<<40), "32 bits")
}
