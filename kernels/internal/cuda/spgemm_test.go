package cuda_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels/internal/ptx"
)

// sparseProduct is a product C = A B for the kernels of spgemm, with arrays in host memory.
type sparseProduct struct {
	rows, cols int
	ptrA, ptrB []int64
	idxA, idxB []int32
	valA, valB []float64
	ptr        []int64 // C
	idx        []int32
	val        []float64
}

// manyDuplicates returns a product with many products for each element of C. The columns span more words of bits than a block
// has threads.
func manyDuplicates() *sparseProduct {
	r := rand.New(rand.NewPCG(11, 12))
	p := &sparseProduct{rows: 8, cols: 9000, ptrA: []int64{0}, ptrB: []int64{0}, ptr: []int64{0}}
	const inner = 20
	for range inner {
		for range 5 + r.IntN(25) {
			p.idxB, p.valB = append(p.idxB, int32(r.IntN(150)*60)), append(p.valB, r.NormFloat64())
		}
		p.ptrB = append(p.ptrB, int64(len(p.idxB)))
	}
	for range p.rows {
		sums := map[int32]float64{}
		for range 3 + r.IntN(20) {
			row, v := r.IntN(inner), r.NormFloat64()
			p.idxA, p.valA = append(p.idxA, int32(row)), append(p.valA, v)
			for k := p.ptrB[row]; k < p.ptrB[row+1]; k++ {
				sums[p.idxB[k]] += float64(v * p.valB[k])
			}
		}
		p.ptrA = append(p.ptrA, int64(len(p.idxA)))
		first := len(p.idx)
		for c := range sums {
			p.idx = append(p.idx, c)
		}
		slices.Sort(p.idx[first:])
		for _, c := range p.idx[first:] {
			p.val = append(p.val, sums[c])
		}
		p.ptr = append(p.ptr, int64(len(p.idx)))
	}
	return p
}

// count runs a count kernel with one block, and reports whether the counts are right.
func (p *sparseProduct) count(g *gpu, kind string) bool {
	row := make([]int32, p.rows)
	for i := range row {
		row[i] = int32(p.rows - 1 - i)
	}
	count := array[int32](g, "count", p.rows)
	args := []any{upload(g, "ptrA", p.ptrA), upload(g, "idxA", p.idxA), upload(g, "ptrB", p.ptrB), upload(g, "idxB", p.idxB), upload(g, "row", row), count}
	if kind == "dense" {
		args = append(args, upload(g, "bits", make([]int32, (p.cols+31)/32)))
	}
	g.launchGrid("msrep_spgemm_count_"+kind, 1, append(args, int64(p.rows), int64(0), int64(0), int64(0), int64(p.cols))...)
	for r, n := range download[int32](g, count, p.rows) {
		if int64(n) != p.ptr[r+1]-p.ptr[r] {
			return false
		}
	}
	return true
}

// fill runs a fill kernel with one block, and reports whether columns and values are right.
func (p *sparseProduct) fill(g *gpu, kind string) bool {
	row := make([]int32, p.rows)
	for i := range row {
		row[i] = int32(p.rows - 1 - i)
	}
	idx, val := array[int32](g, "idx", len(p.idx)), array[float64](g, "val", len(p.val))
	args := []any{upload(g, "ptrA", p.ptrA), upload(g, "idxA", p.idxA), upload(g, "valA", p.valA), upload(g, "ptrB", p.ptrB), upload(g, "idxB", p.idxB),
		upload(g, "valB", p.valB), upload(g, "row", row), upload(g, "ptr", p.ptr), idx, val}
	if kind == "dense" {
		args = append(args, upload(g, "bits", make([]int32, (p.cols+31)/32)), array[float64](g, "sums", p.cols))
	}
	args = append(args, int64(p.rows), int64(0), int64(0), int64(0))
	if kind == "dense" {
		args = append(args, int64(p.cols))
	}
	g.launchGrid("msrep_spgemm_fill_"+kind+"_f64", 1, args...)
	return slices.Equal(p.idx, download[int32](g, idx, len(p.idx))) && slices.Equal(p.val, download[float64](g, val, len(p.val)))
}

// all runs all kernels for float64, and returns the first that fails.
func (p *sparseProduct) all(g *gpu) string {
	for _, kind := range []string{"warp", "block", "dense"} {
		if !p.count(g, kind) {
			return "count_" + kind
		}
		if !p.fill(g, kind) {
			return "fill_" + kind
		}
	}
	return ""
}

func TestSparseProductsNeedEachOfTheirBarriers(t *testing.T) {
	p := manyDuplicates()
	g := newGPU(t)
	require.Empty(t, p.all(g))
	g.ok()
	source := text(t, "spgemm")
	checked := source[:strings.Index(source, ".entry msrep_spgemm_fill_warp_f32")]
	n := strings.Count(checked, "bar.sync") + strings.Count(checked, "bar.warp.sync")
	require.Greater(t, n, 20)
	for nth := range n {
		caught := false
		for seed := uint64(0); seed < 20 && !caught; seed++ { // races of a block in global memory show only in some orders
			g := broken(t, "spgemm", `bar\.(warp\.)?sync\s+(0|-1);`, "", nth)
			g.schedule = ptx.Launch{Turn: 40 * int64(seed), Seed: seed}
			caught = p.all(g) != ""
			if g.err != nil {
				require.Regexp(t, "race|before they are written", g.err.Error())
			}
		}
		require.True(t, caught, "barrier %d may be left out", nth)
	}
}

func TestSparseProductsWithPlantedFaultsAreWrong(t *testing.T) {
	p := manyDuplicates()
	for _, c := range [][2]string{
		{`match\.any\.sync\.b32(\s+%r\d+), %r\d+, -1;`, "mov.u32$1, 1;"},
		{`mul\.rn\.f64`, "add.f64"},
		{`(shfl\.sync.*), -1;`, "$1, 65535;"},
	} {
		g := broken(t, "spgemm", c[0], c[1], -1)
		require.NotEmpty(t, p.all(g), c[0])
	}
}
