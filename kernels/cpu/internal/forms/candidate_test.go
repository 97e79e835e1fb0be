package forms

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

// halves returns a generated matrix as two pieces.
func halves(t *testing.T, spec string) []form.Rows[float64] {
	a, _, err := gen.Generate(spec)
	require.NoError(t, err)
	mid := a.RowPtr[a.Rows/2]
	return []form.Rows[float64]{
		{Ptr: a.RowPtr[:a.Rows/2+1], Idx: a.ColIdx[:mid], Val: a.Val[:mid], Cols: a.Cols},
		{Ptr: a.RowPtr[a.Rows/2:], Idx: a.ColIdx[mid:], Val: a.Val[mid:], Cols: a.Cols},
	}
}

// candidates returns the candidates for pieces.
func candidates(pieces ...form.Rows[float64]) []Candidate[float64] {
	looks := make([]Look, len(pieces))
	for i, r := range pieces {
		looks[i] = At(r)
	}
	return Candidates[float64](looks)
}

func names[V sparse.Value](c []Candidate[V]) (out []kernels.Form) {
	for _, c := range c {
		out = append(out, c.Form)
	}
	return out
}

func TestTheLookOfAMatrixDecidesTheCandidates(t *testing.T) {
	for spec, want := range map[string][]kernels.Form{
		"stencil:dims=2,points=5,n=100":    {FormDiagonals, FormSlices},
		"random:rows=200k,nnz=1M":          {FormTiles, FormSlices},
		"random:rows=50k,nnz=500k":         {FormSlices, FormTiles},
		"random:rows=2k,cols=200,nnz=40k":  {FormSlices},
		"random:rows=2k,cols=10k,nnz=400k": {FormSlices, FormTiles},
	} {
		all := candidates(append(halves(t, spec), form.Rows[float64]{Ptr: []int64{0}})...)
		require.Equal(t, want, names(all), spec)
		for _, c := range all {
			require.NotEmpty(t, c.Why)
			for _, r := range halves(t, spec) {
				f, err := c.Build(r)
				require.NoError(t, err, spec)
				require.NotEmpty(t, f.Name())
			}
		}
	}
}

func TestAFormSuitsAMatrixWhereItSuitsAllPieces(t *testing.T) {
	stencil, random := halves(t, "stencil:dims=2,points=5,n=100"), halves(t, "random:rows=200k,nnz=1M")
	require.Contains(t, names(candidates(stencil...)), FormDiagonals)
	require.NotContains(t, names(candidates(stencil[0], random[0])), FormDiagonals)
	require.NotContains(t, names(candidates(random[0], stencil[0])), FormDiagonals)
}

func TestBlocksAreFound(t *testing.T) {
	r := form.Rows[float64]{Ptr: []int64{0}, Cols: 600}
	for row := range 600 {
		for b := range 4 {
			first := (row/3*3 + b*90) % 600 / 3 * 3
			if b > 0 && first <= int(r.Idx[len(r.Idx)-1]) {
				break
			}
			for c := range 3 {
				r.Idx, r.Val = append(r.Idx, int32(first+c)), append(r.Val, float64(row+c))
			}
		}
		r.Ptr = append(r.Ptr, int64(len(r.Idx)))
	}
	require.Contains(t, names(candidates(r)), FormBlocks)
}

func TestValuesIn57BitsAreTriedBeforePlainOnes(t *testing.T) {
	piece := Look{entries: true, plain: true, blocks: &form.Estimate{EntryBytes: 8.2}, diagonals: &form.Estimate{EntryBytes: 8.1}, value: 7.25}
	all := Candidates[float64]([]Look{piece, piece})
	require.Equal(t, []kernels.Form{FormBlocks, FormBlocks, FormDiagonals, FormSlices}, names(all))
	require.InDelta(t, 7.45, all[0].Bytes, 1e-9)
	require.Contains(t, all[0].Why, "57 bits")
	other := piece
	other.value = 0
	require.Equal(t, []kernels.Form{FormBlocks, FormDiagonals, FormSlices}, names(Candidates[float64]([]Look{piece, other})))
}

// Values that are not in the sample may not fit 57 bits. Blocks then store plain values, and hold no memory of the
// first attempt.
func TestBlocksStorePlainValuesWhere57BitsDoNotSuffice(t *testing.T) {
	if !form.Fast57(simd.Default()) {
		t.Skip("this processor has no kernels for 57 bits")
	}
	const n = 600
	r := form.Rows[float64]{Ptr: []int64{0}, Cols: n}
	rng := rand.New(rand.NewPCG(1, 2))
	for row := range n {
		for c := range 12 {
			r.Idx, r.Val = append(r.Idx, int32(min(row/3*3, n-12)+c)), append(r.Val, 1+rng.Float64())
		}
		r.Ptr = append(r.Ptr, int64(len(r.Idx)))
	}
	seen, ok := form.Find57(r.Val)
	require.True(t, ok)
	far := 0
	for k := range 2000 { // values whose change is not noticed are not in the sample
		near := r.Val[k]
		r.Val[k] = 1e300
		if s, _ := form.Find57(r.Val); s.Bytes() == seen.Bytes() {
			far++
		} else {
			r.Val[k] = near
		}
	}
	require.Greater(t, far, 500)
	_, ok = bits57(r.Val)
	require.True(t, ok)

	build := func(build func(form.Rows[float64]) (form.Form[float64], error)) (form.Form[float64], int64) {
		r.Mem = &form.Memory{
			Alloc: func(n int64) ([]byte, error) { return mem.Aligned(n), nil },
			Mark:  func() func() error { return func() error { return nil } },
		}
		f, err := build(r)
		require.NoError(t, err)
		return f, r.Mem.Used()
	}
	got, used := build(newBlocks57[float64])
	want, plain := build(newBlocks[float64])
	require.Equal(t, plain, used)
	require.Equal(t, want.Bytes(), got.Bytes())
	x, y, z := slices.Repeat([]float64{1}, n), make([]float64, n), make([]float64, n)
	got.Multiply(1, 0, x, y)
	want.Multiply(1, 0, x, z)
	require.Equal(t, z, y)
}

func TestTilesAreTriedFirstWhereMostEntriesMissALongX(t *testing.T) {
	piece := Look{entries: true, plain: true, misses: .9, wide: true}
	require.Equal(t, []kernels.Form{FormTiles, FormSlices}, names(Candidates[float64]([]Look{piece, piece})))
	local, narrow := piece, piece
	local.misses, narrow.wide = .3, false
	require.Equal(t, []kernels.Form{FormSlices, FormTiles}, names(Candidates[float64]([]Look{local})))
	require.Equal(t, FormTiles, Candidates[float64]([]Look{local})[0].SteadierThan, "slices are taken unless tiles are clearly faster")
	require.False(t, Candidates[float64]([]Look{local})[0].Large)
	near := Candidates[float64]([]Look{narrow, narrow})
	require.Equal(t, []kernels.Form{FormSlices, FormTiles}, names(near))
	require.True(t, near[0].Large)
}

// graph returns n rows of 2 entries, except that every eighth row has most.
func graph(n, most int) form.Rows[float64] {
	r := form.Rows[float64]{Ptr: []int64{0}, Cols: n}
	for i := range n {
		entries := 2
		if i%8 == 0 {
			entries = most
		}
		for k := range entries {
			r.Idx = append(r.Idx, int32((i*37+k*(n/most))%n))
		}
		r.Ptr = append(r.Ptr, int64(len(r.Idx)))
	}
	r.Val = make([]float64, len(r.Idx))
	return r
}

func TestPowerLawGraphsHaveUnevenRowsAndXInTheSecondCache(t *testing.T) {
	r := graph(20_000, 60)
	require.True(t, powerLaw(r))
	require.True(t, At(r).powerLaw)
	require.False(t, powerLaw(graph(20_000, 4)), "rows of similar length")
	require.False(t, powerLaw(graph(1000, 60)), "the entries fit the second cache")
	require.False(t, powerLaw(graph(200_000, 60)), "x does not fit the second cache")
	require.False(t, powerLaw(form.Rows[float64]{Ptr: []int64{0}}))
	one := form.Rows[float64]{Ptr: []int64{0}, Cols: 100_000}
	for i := range 20_000 { // each row has five entries, and one row has all
		for c := range 5 {
			one.Idx = append(one.Idx, int32(c))
		}
		if i == 7 {
			for c := range 99_000 {
				one.Idx = append(one.Idx, int32(5+c))
			}
		}
		one.Ptr = append(one.Ptr, int64(len(one.Idx)))
	}
	require.False(t, powerLaw(one), "one row is no power law")
	f, err := newSlices(r)
	require.NoError(t, err)
	require.Contains(t, f.Name(), "sorted in 8192")
	even, err := newSlices(graph(20_000, 4))
	require.NoError(t, err)
	require.Contains(t, even.Name(), "sorted in 1024")
}

func TestBudgetsGrowWithTheProductsThatAreExpected(t *testing.T) {
	c := Candidate[float64]{}
	require.InDelta(t, 15, c.Budget(100), 1e-9)
	require.InDelta(t, 1.5, c.Budget(10), 1e-9)
	c.Large = true
	require.InDelta(t, 30, c.Budget(100), 1e-9)
}

func TestUnknownFormNamesAreRefused(t *testing.T) {
	_, err := Named[float64]("origami", kernels.Segments{}, true)
	require.ErrorIs(t, err, kernels.ErrNotSupported)
	_, err = Named[float32]("", kernels.Segments{Count: 2, Read: 1}, true)
	require.True(t, sparse.IsInput(err))
	require.ErrorContains(t, err, "only float64 values have segments")
	for _, f := range Forms() {
		_, err := Named[float64](f, kernels.Segments{}, false)
		require.NoError(t, err, f)
	}
}
