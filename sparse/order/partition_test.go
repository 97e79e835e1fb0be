package order

import (
	"context"
	"encoding/binary"
	"hash/fnv"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// scrambled returns a in a random order.
func scrambled(t testing.TB, a *sparse.CSR[float64]) *sparse.CSR[float64] {
	p := sequence(a.Rows)
	rand.New(rand.NewPCG(3, 4)).Shuffle(len(p), func(i, j int) { p[i], p[j] = p[j], p[i] })
	b, err := sparse.Permute(a, p, p)
	require.NoError(t, err)
	return b
}

// wholeCuts returns the cuts of a into whole rows in its order.
func wholeCuts(t require.TestingT, a *sparse.CSR[float64], parts int) []int {
	split, _, err := partition.Split(a.RowPtr, parts, partition.RuleWhole)
	require.NoError(t, err)
	cuts := []int{0}
	for _, q := range split {
		cuts = append(cuts, q.OwnEnd)
	}
	return cuts
}

// entriesOf returns the number of entries of each part.
func entriesOf(a *sparse.CSR[float64], p []int32, cuts []int) []int64 {
	out := make([]int64, len(cuts)-1)
	for k := range out {
		for _, i := range p[cuts[k]:cuts[k+1]] {
			out[k] += a.RowPtr[i+1] - a.RowPtr[i]
		}
	}
	return out
}

// partitioned returns the result of Partition after checks that hold for all matrices.
func partitioned(t require.TestingT, a *sparse.CSR[float64], parts int) (p []int32, cuts []int, size HaloSize) {
	p, cuts, err := Partition(context.Background(), a, parts)
	require.NoError(t, err)
	requirePermutation(t, p, a.Rows)
	require.Len(t, cuts, parts+1)
	size, err = Halo(a, p, cuts)
	require.NoError(t, err)
	before, err := Halo(a, nil, wholeCuts(t, a, parts))
	require.NoError(t, err)
	require.LessOrEqual(t, size.Total, before.Total)
	return p, cuts, size
}

// requireBalance requires parts of at most 1.03 times the mean.
func requireBalance(t require.TestingT, a *sparse.CSR[float64], p []int32, cuts []int) {
	for k, n := range entriesOf(a, p, cuts) {
		require.LessOrEqual(t, float64(n)*float64(len(cuts)-1), 1.03*float64(a.NNZ()), "part %d of %d", k, len(cuts)-1)
	}
}

func TestPartsOfAnyMatrixAreAPermutation(t *testing.T) {
	for name, spec := range shapes {
		a := generate(t, spec)
		for _, parts := range []int{1, 2, 3, 8, 100} {
			p, cuts, _ := partitioned(t, a, parts)
			require.Equal(t, a.Rows, cuts[parts], name)
			require.Len(t, p, a.Rows, name)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		a := drawMatrix(t, 60, true)
		partitioned(t, a, rapid.IntRange(1, 70).Draw(t, "parts"))
	})
}

func TestPartsOfGridsReceiveTheirBorders(t *testing.T) {
	for _, c := range []struct {
		spec  string
		parts int
		ideal int64 // of squares and cubes of equal size
	}{
		{"stencil:dims=2,n=120", 4, 4 * 120}, {"stencil:dims=2,n=120", 9, 8 * 120}, {"stencil:dims=3,n=24", 8, 6 * 24 * 24},
	} {
		grid := generate(t, c.spec)
		for _, a := range []*sparse.CSR[float64]{grid, scrambled(t, grid)} {
			p, cuts, size := partitioned(t, a, c.parts)
			requireBalance(t, a, p, cuts)
			require.LessOrEqual(t, size.Total, c.ideal*5/4, "%s in %d", c.spec, c.parts)
			require.LessOrEqual(t, size.Largest*int64(c.parts), size.Total*2)
		}
		before, err := Halo(scrambled(t, grid), nil, wholeCuts(t, scrambled(t, grid), c.parts))
		require.NoError(t, err)
		require.Greater(t, before.Total, 10*c.ideal, "the scrambled grid sends nearly all of x to each part")
	}
}

func TestRowsOfAScrambledGridAreOrderedWithinParts(t *testing.T) {
	a := scrambled(t, generate(t, "stencil:dims=2,n=100"))
	p, cuts, _ := partitioned(t, a, 4)
	unordered := make([]int32, 0, len(p))
	for k := range 4 {
		at := len(unordered)
		unordered = append(unordered, p[cuts[k]:cuts[k+1]]...)
		sortByKey(unordered[at:], func(i int32) int { return int(i) })
	}
	require.Less(t, 2*placesRead(a, p), placesRead(a, unordered))
	// In the natural order of the grid, rows keep their order.
	a = generate(t, "stencil:dims=2,n=100")
	p, cuts, _ = partitioned(t, a, 4)
	for k := range 4 {
		require.IsIncreasing(t, p[cuts[k]:cuts[k+1]])
	}
}

func TestSeparateGraphsExchangeNothing(t *testing.T) {
	// Eight grids whose rows alternate.
	grid := generate(t, "stencil:dims=2,n=25")
	coo := &sparse.COO[float64]{Rows: 8 * grid.Rows, Cols: 8 * grid.Cols}
	for i := range grid.Rows {
		for _, j := range grid.ColIdx[grid.RowPtr[i]:grid.RowPtr[i+1]] {
			for g := range int32(8) {
				coo.RowIdx, coo.ColIdx, coo.Val = append(coo.RowIdx, 8*int32(i)+g), append(coo.ColIdx, 8*j+g), append(coo.Val, 1)
			}
		}
	}
	a := sparse.ToCSR(coo)
	p, cuts, size := partitioned(t, a, 8)
	requireBalance(t, a, p, cuts)
	require.LessOrEqual(t, size.Total, int64(100))
	_, _, size = partitioned(t, a, 2)
	require.LessOrEqual(t, size.Total, int64(25))
}

func TestEmptyRowsFillThePartsUp(t *testing.T) {
	// A grid in the first rows, then three times as many empty rows.
	grid := generate(t, "stencil:dims=2,n=40")
	a := scrambled(t, grid)
	a.Rows, a.Cols = 4*grid.Rows, 4*grid.Cols
	for range 3 * grid.Rows {
		a.RowPtr = append(a.RowPtr, a.NNZ())
	}
	p, cuts, _ := partitioned(t, a, 4)
	requireBalance(t, a, p, cuts)
	for k := range 4 {
		require.InDelta(t, grid.Rows, cuts[k+1]-cuts[k], 2)
	}
}

func TestFillUpLevelsTheParts(t *testing.T) {
	require.Equal(t, []int{5, 5, 5}, fillUp([]int{1, 2, 3}, []int{1, 1, 1}, 9))
	require.Equal(t, []int{10, 4, 4}, fillUp([]int{10, 1, 2}, []int{1, 1, 1}, 5))
	require.Equal(t, []int{4, 8}, fillUp([]int{0, 0}, []int{1, 2}, 12))
	require.Equal(t, []int{3, 9}, fillUp([]int{3, 0}, []int{0, 2}, 9))
}

func TestOneLongRowHasAPartForItself(t *testing.T) {
	// A scrambled grid and a row with an entry in each column: half of all entries.
	grid := scrambled(t, generate(t, "stencil:dims=2,n=60"))
	coo := sparse.ToCOO(grid)
	n := int32(grid.Rows)
	long := &sparse.COO[float64]{Rows: grid.Rows + 1, Cols: grid.Cols + 1}
	long.RowIdx, long.ColIdx = append(long.RowIdx, coo.RowIdx...), append(long.ColIdx, coo.ColIdx...)
	for k := range 5 * n {
		long.RowIdx, long.ColIdx = append(long.RowIdx, n), append(long.ColIdx, k%n)
	}
	long.Val = make([]float64, len(long.RowIdx))
	a := sparse.ToCSR(long)
	p, cuts, size := partitioned(t, a, 4)
	entries := entriesOf(a, p, cuts)
	longest := a.RowPtr[n+1] - a.RowPtr[n]
	for k := range entries {
		require.LessOrEqual(t, entries[k], longest)
	}
	require.Less(t, size.Total, int64(n)+800)
}

func TestRowsOfSimilarLengthAreBalanced(t *testing.T) {
	for _, spec := range []string{"random:rows=3000,nnz=20000", "rmat:scale=12,edges=8", "stencil:dims=3,n=15,points=27"} {
		a := generate(t, spec)
		for _, parts := range []int{2, 3, 5, 8} {
			p, cuts, _ := partitioned(t, a, parts)
			requireBalance(t, a, p, cuts)
		}
	}
}

func TestPartsHaveTheirWeights(t *testing.T) {
	a := scrambled(t, generate(t, "stencil:dims=2,n=80"))
	weights := []int{3, 1, 0, 2}
	p, cuts, err := PartitionWeighted(t.Context(), a, weights)
	require.NoError(t, err)
	requirePermutation(t, p, a.Rows)
	for k, n := range entriesOf(a, p, cuts) {
		require.LessOrEqual(t, float64(n)*6, 1.03*float64(a.NNZ()*int64(weights[k])))
	}
	size, err := Halo(a, p, cuts)
	require.NoError(t, err)
	require.Less(t, size.Total, int64(600))
	_, _, err = PartitionWeighted(t.Context(), a, []int{1, -1})
	require.True(t, sparse.IsInput(err))
}

// Elements that only rows, and not columns, need count: the pattern is not symmetric.
func TestTheResultIsRefinedForThePatternItself(t *testing.T) {
	a := generate(t, "rmat:scale=12,edges=4")
	g, err := symmetricGraph(a)
	require.NoError(t, err)
	require.NotSame(t, g, neededBy(a, g))
	share := []int64{1, 1, 1, 1}
	halo := func(nets *nets) int64 {
		part, err := rowMesh(a, g).partition(t.Context(), share, nets)
		require.NoError(t, err)
		p, cuts := byPart(part, 4)
		size, err := Halo(a, p, cuts)
		require.NoError(t, err)
		return size.Total
	}
	require.Less(t, halo(newNets(neededBy(a, g), 4)), halo(newNets(g, 4)))
}

// The gains that refinement counts are the changes of the halo and of the cut edges.
func TestGainsAreWhatMovesSave(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawMatrix(t, 40, true)
		if a.Rows == 0 {
			return
		}
		parts := rapid.IntRange(2, 5).Draw(t, "parts")
		g, err := symmetricGraph(a)
		require.NoError(t, err)
		part := make([]int32, a.Rows)
		for i := range part {
			part[i] = int32(rapid.IntRange(0, parts-1).Draw(t, "part"))
		}
		limit := make([]int64, parts)
		for q := range limit {
			limit[q] = a.NNZ()
		}
		m := rowMesh(a, g)
		m.edge = m.dividedEdges()
		for _, nets := range []*nets{nil, newNets(neededBy(a, g), parts)} {
			r := newKway(context.Background(), m, append([]int32(nil), part...), limit, nets)
			objective := func() int64 {
				if nets == nil {
					return r.cut() / 2
				}
				p, cuts := byPart(r.part, parts)
				size, err := Halo(a, p, cuts)
				require.NoError(t, err)
				return size.Total
			}
			for range 10 {
				i := int32(rapid.IntRange(0, a.Rows-1).Draw(t, "node"))
				before := objective()
				if gain, to := r.best(i); to != none {
					r.move(i, to)
					require.Equal(t, before-gain, objective())
				}
			}
			before := objective()
			gain, err := r.pass()
			require.NoError(t, err)
			require.Equal(t, before-gain, objective())
			require.GreaterOrEqual(t, gain, int64(0))
			fresh := newKway(context.Background(), m, r.part, limit, nil)
			require.Equal(t, fresh.total, r.total)
		}
	})
}

// hashOf returns a hash of an order and its cuts.
func hashOf(p []int32, cuts []int) uint64 {
	h := fnv.New64a()
	_ = binary.Write(h, binary.LittleEndian, p)
	for _, c := range cuts {
		_ = binary.Write(h, binary.LittleEndian, int64(c))
	}
	return h.Sum64()
}

func TestPartsAreTheSameOnEveryMachine(t *testing.T) {
	want := map[string]uint64{"stencil:dims=2,n=90": 0x3580132a45de6930, "rmat:scale=12,edges=6": 0x6744ce76f8d16ad7}
	for spec, hash := range want {
		a := scrambled(t, generate(t, spec))
		for _, threads := range []int{1, 2, 5} {
			before := runtime.GOMAXPROCS(threads)
			p, cuts, err := Partition(t.Context(), a, 8)
			runtime.GOMAXPROCS(before)
			require.NoError(t, err)
			require.Equal(t, hash, hashOf(p, cuts), spec)
		}
	}
}

func TestPartitionEndsWithItsContext(t *testing.T) {
	a := scrambled(t, generate(t, "stencil:dims=2,n=50"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := Partition(ctx, a, 4)
	require.ErrorIs(t, err, context.Canceled)
}

func TestBadPartsAreRefused(t *testing.T) {
	a := generate(t, "stencil:dims=2,n=5")
	for _, parts := range []int{-1, 0, partition.MaxParts + 1} {
		_, _, err := Partition(t.Context(), a, parts)
		require.ErrorContains(t, err, "parts: "+strconv.Itoa(parts))
		require.True(t, sparse.IsInput(err))
	}
}

// What a plan with PlanOptions.Reorder sends, over what parts in the order of the file send,
// for the square matrices of the collection with more than 20,000 rows.
func TestReorderedMatricesOfTheCollectionSendHalf(t *testing.T) {
	if testing.Short() {
		t.Skip("reads large matrices")
	}
	const parts = 8
	var ratios []float64
	for _, row := range corpus.Table(t, corpus.Shared(t, "matrices", "INDEX.tsv")) {
		rows, err := strconv.Atoi(row["rows"])
		require.NoError(t, err)
		if row["rows"] != row["cols"] || rows <= 20_000 || row["field"] == "complex" {
			continue
		}
		name := filepath.Base(row["file"])
		a := readMatrix(t, name)
		p, cuts, after := partitioned(t, a, parts)
		before, err := Halo(a, nil, wholeCuts(t, a, parts))
		require.NoError(t, err)
		most := int64(0)
		for _, n := range entriesOf(a, p, cuts) {
			most = max(most, n)
		}
		ratios = append(ratios, float64(after.Total)/float64(before.Total))
		t.Logf("| %s | %d | %d | %d | %d | %d | %d | %.3f | %.3f |", row["name"], a.Rows, a.NNZ(), before.Total, before.Largest, after.Total, after.Largest,
			float64(after.Total)/float64(before.Total), float64(most)*parts/float64(a.NNZ()))
	}
	require.GreaterOrEqual(t, len(ratios), 20)
	mean := geometricMean(ratios)
	t.Logf("geometric mean %.3f", mean)
	require.LessOrEqual(t, mean, 0.3)
}
