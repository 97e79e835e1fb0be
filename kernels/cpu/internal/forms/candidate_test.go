package forms

import (
	"testing"

	"github.com/stretchr/testify/require"

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

// bytes returns estimates of the given names and bytes for each entry.
func bytes(of ...any) map[string]*form.Estimate {
	out := map[string]*form.Estimate{}
	for i := 0; i < len(of); i += 2 {
		out[of[i].(string)] = &form.Estimate{EntryBytes: of[i+1].(float64)}
	}
	return out
}

// candidates returns the candidates for pieces.
func candidates(pieces ...form.Rows[float64]) []Candidate[float64] {
	looks := make([]Look, len(pieces))
	for i, r := range pieces {
		looks[i] = At(r)
	}
	return Candidates[float64](looks)
}

func formsOf[V sparse.Value](c []Candidate[V]) (out []kernels.Form) {
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
		require.Equal(t, want, formsOf(all), spec)
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
	require.Contains(t, formsOf(candidates(stencil...)), FormDiagonals)
	require.NotContains(t, formsOf(candidates(stencil[0], random[0])), FormDiagonals)
	require.NotContains(t, formsOf(candidates(random[0], stencil[0])), FormDiagonals)
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
	require.Contains(t, formsOf(candidates(r)), FormBlocks)
}

func TestValuesIn57BitsAreTriedBeforePlainOnes(t *testing.T) {
	piece := Look{NNZ: 1, Plain: true, Estimates: bytes("blocks", 8.2, "diagonals", 8.1, "values in 57 bits", 7.25)}
	all := Candidates[float64]([]Look{piece, piece})
	require.Equal(t, []kernels.Form{FormBlocks, FormBlocks, FormDiagonals, FormSlices}, formsOf(all))
	require.InDelta(t, 7.45, all[0].Bytes, 1e-9)
	require.Contains(t, all[0].Why, "57 bits")
	other := piece
	other.Estimates = bytes("blocks", 8.2, "diagonals", 8.1)
	require.Equal(t, []kernels.Form{FormBlocks, FormDiagonals, FormSlices}, formsOf(Candidates[float64]([]Look{piece, other})))
}

func TestTilesAreTriedFirstWhereMostEntriesMissALongX(t *testing.T) {
	piece := Look{NNZ: 1, Plain: true, Misses: .9, Wide: true}
	require.Equal(t, []kernels.Form{FormTiles, FormSlices}, formsOf(Candidates[float64]([]Look{piece, piece})))
	local, narrow := piece, piece
	local.Misses, narrow.Wide = .3, false
	require.Equal(t, []kernels.Form{FormSlices, FormTiles}, formsOf(Candidates[float64]([]Look{local})))
	require.Equal(t, FormTiles, Candidates[float64]([]Look{local})[0].SteadierThan, "slices are taken unless tiles are clearly faster")
	require.False(t, Candidates[float64]([]Look{local})[0].Large)
	near := Candidates[float64]([]Look{narrow, narrow})
	require.Equal(t, []kernels.Form{FormSlices, FormTiles}, formsOf(near))
	require.True(t, near[0].Large)
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
