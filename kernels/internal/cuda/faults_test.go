package cuda_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/reference"
)

// planted is a bug in a test copy of a kernel: the nth match of a pattern in the PTX of
// a family (from 0, -1 for all) is replaced.
type planted struct {
	name, family, pattern, with string
	nth                         int
	run                         func(*gpu, *part[float64]) []float64
	// says matches the fault that the interpreter must report; if empty, the result
	// must be wrong.
	says string
}

func TestPlantedFaultsAreCaught(t *testing.T) {
	merged, coordinates := gatherMerge[float64], func(g *gpu, p *part[float64]) []float64 { return gatherCOO(g, p, 0) }
	vector := func(g *gpu, p *part[float64]) []float64 { return gatherVector(g, p, 4) }
	single := func(g *gpu, p *part[float64]) []float64 { return gatherVector(g, p, 1) }
	ones := func(g *gpu, p *part[float64]) []float64 { return gatherInSegments(g, p, 0, 2, true) }
	const barrier, mask = `bar\.sync\s+0;`, `(shfl\.sync.*), -1;`
	list := []planted{
		{"half a warp in the mask", "csr_vector", mask, "$1, 65535;", -1, vector, "mask"},
		{"half a warp in the mask", "csr_merge", mask, "$1, 65535;", -1, merged, "mask"},
		{"half a warp in the mask", "carries", mask, "$1, 65535;", -1, entriesAsCarries, "mask"},
		{"half a warp in the mask", "coo", mask, "$1, 65535;", -1, coordinates, "mask"},
		{"half a warp in the mask", "cpms", mask, "$1, 65535;", -1, ones, "mask"},
		{"a warp that asks itself alone", "cpms", `bar\.red\.or\.pred\s+(%p\d+), 0, (%p\d+);`, "vote.sync.any.pred $1, $2, -1;", -1, ones, "bar.sync"},
		{"indices one too far", "csr_vector", `(ld\.global\.cs\.nc\.u32\s+%r\d+, \[%rd\d+)\]`, "$1+4]", -1, vector, "which has"},
		{"indices one too far", "coo", `(ld\.global\.cs\.nc\.u32\s+%r\d+, \[%rd\d+)\]`, "$1+4]", -1, coordinates, "which has"},
		{"pointers one too far", "csr_vector", `(ld\.global\.nc\.u64\s+%rd\d+, \[%rd\d+)\]`, "$1+8]", -1, single, "which has"},
		{"y read with beta = 0", "csr_vector", `setp\.eq\.f64(\s+%p\d+, %fd\d+, 0d0000000000000000)`, "setp.ne.f64$1", -1, vector, "before they are written"},
		{"a sum in the wrong direction", "csr_vector", `shfl\.sync\.bfly`, "shfl.sync.up", -1, vector, ""},
		{"a scan in the wrong direction", "coo", `shfl\.sync\.up\.b32(.*), 0, -1;`, "shfl.sync.down.b32$1, 31, -1;", -1, coordinates, ""},
		{"a search that stops too late", "csr_merge", `setp\.lt\.s64`, "setp.le.s64", 0, merged, ""},
		{"a store in place of an atomic sum", "minor", `atom\.global\.add\.f64\s+%fd\d+,`, "st.global.f64 ", -1, scatter[float64], ""},
	}
	for nth := range 4 {
		list = append(list, planted{"a missing barrier", "csr_merge", barrier, "", nth, merged, "race|before they are written"})
	}
	for nth := range 5 {
		list = append(list, planted{"a missing barrier", "carries", barrier, "", nth, entriesAsCarries, "race|before they are written"})
	}
	for nth := range 3 { // those of msrep_cpms_rows_0of2
		list = append(list, planted{"a missing barrier", "cpms", barrier, "", nth, ones, "race|before they are written"})
	}
	for _, c := range list {
		t.Run(c.name+" in "+c.family, func(t *testing.T) {
			t.Parallel()
			caught := false
			for _, p := range revealing() {
				g := broken(t, c.family, c.pattern, c.with, c.nth)
				g.blocks = 1
				got := c.run(g, p)
				want := p.gathered()
				if len(got) != len(want.Y) || c.family == "minor" {
					want = p.scattered()
				}
				switch {
				case g.err == nil:
					caught = caught || c.says == "" && reference.Check(got, want) >= 0
				case c.says == "":
					caught = true
				default:
					require.Regexp(t, c.says, g.err.Error())
					caught = true
				}
			}
			require.True(t, caught)
		})
	}
}

// The same parts and runs without a bug.
func TestWithoutAPlantedFaultAllChecksPass(t *testing.T) {
	for _, way := range products[float64]() {
		for _, p := range revealing() {
			g := newGPU(t)
			g.blocks = 1
			got := way.run(g, p)
			g.ok()
			require.Equal(t, -1, reference.Check(got, way.want(p)), way.name)
		}
	}
}

// entriesAsCarries computes the product of a part with beta = 0: it multiplies the
// entries on the host and adds them as carries.
func entriesAsCarries(g *gpu, p *part[float64]) []float64 {
	products := make([]float64, p.nnz())
	for k := range products {
		products[k] = p.alpha * p.val[k] * p.x[p.idx[k]]
	}
	sum := make([]float64, p.rows())
	carry, y := upload(g, "carry", sum[:p.skip]), upload(g, "y", sum[p.skip:])
	addCarries[float64](g, upload(g, "row", p.majors()), upload(g, "val", products), int64(p.nnz()), y, carry,
		int64(p.rows()), int64(p.skip))
	return append(download[float64](g, carry, p.skip), download[float64](g, y, len(p.y))...)
}

// revealing returns parts on which bugs show: rows of equal length, one of which ends
// with a tile; a row over many tiles between short ones, of which the first begins in
// an earlier part; and adjacent long rows.
func revealing() []*part[float64] {
	return []*part[float64]{fixed(1, 0, 300, 13), fixed(3, 0, 1000, 2), fixed(2, 1, 50, 7, 6000, 3, 0, 0, 5), fixed(4, 0, 20, 2, 3000, 2500, 300)}
}

// fixed returns a part: n rows of a length, then rows of the given lengths.
func fixed(seed uint64, skip, n, length int, more ...int) *part[float64] {
	p := &part[float64]{ptr: []int64{0}, cols: 100, skip: skip, alpha: 1.5}
	for range n {
		p.end += int64(length)
		p.ptr = append(p.ptr, p.end)
	}
	for _, m := range more {
		p.end += int64(m)
		p.ptr = append(p.ptr, p.end)
	}
	r := rand.New(rand.NewPCG(seed, 0))
	p.idx = make([]int32, p.end)
	for k := range p.idx {
		p.idx[k] = int32(r.IntN(p.cols))
	}
	p.val = random[float64](r, int(p.end))
	p.x, p.xt = random[float64](r, p.cols), random[float64](r, p.rows())
	p.y, p.yt = random[float64](r, p.rows()-skip), random[float64](r, p.cols)
	return p
}
