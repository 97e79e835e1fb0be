package cuda_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels/internal/cuda"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

// banded returns a whole banded matrix as one part.
func banded[V sparse.Value](t testing.TB, n, band int) *part[V] {
	t.Helper()
	a, _, err := gen.Generate(fmt.Sprintf("banded:n=%d,band=%d", n, band))
	require.NoError(t, err)
	p := &part[V]{ptr: a.RowPtr, idx: a.ColIdx, cols: n, end: a.NNZ(), alpha: 1, val: make([]V, a.NNZ()), x: make([]V, n), y: make([]V, n)}
	for k, v := range a.Val {
		p.val[k] = V(v)
	}
	for j := range p.x {
		p.x[j] = V(1 + j%7)
	}
	return p
}

func sectors[T any](s []T, size int64) float64 { return float64((int64(len(s))*size + 31) / 32) }

// moved returns the sectors that the last launch accessed, divided by the least number
// that holds val, idx and ptr, and the warp instructions for each entry.
func moved[V sparse.Value](g *gpu, p *part[V]) (ratio, perEntry float64) {
	least := sectors(p.val, mem.Size[V]()) + sectors(p.idx, 4) + sectors(p.ptr, 8)
	asked := 0.0
	for _, name := range []string{"val", "idx", "ptr"} {
		asked += float64(g.last.Buffer(name).LoadSectors)
	}
	return asked / least, float64(g.last.WarpInstructions) / float64(p.nnz())
}

func TestProductsOfABandedMatrixAskForFewSectorsMoreThanTheLeast(t *testing.T) {
	t.Run("float64", func(t *testing.T) { fewSectors[float64](t) })
	t.Run("float32", func(t *testing.T) { fewSectors[float32](t) })
}

func fewSectors[V sparse.Value](t *testing.T) {
	const most = 1.15
	for _, band := range []int{0, 1, 2, 3, 5, 10, 20, 40, 80, 300} {
		p := banded[V](t, max(100, 20000/(2*band+1)), band)
		lanes := cuda.Lanes(int64(p.rows()), int64(p.nnz()))
		for name, run := range map[string]func(g *gpu) []V{
			fmt.Sprintf("vector, %d lanes", lanes): func(g *gpu) []V { return gatherVector(g, p, lanes) },
			"merge path":                           func(g *gpu) []V { return gatherMerge(g, p) },
		} {
			g := newGPU(t)
			got := run(g)
			g.ok()
			require.Equal(t, -1, reference.Check(got, p.gathered()))
			ratio, perEntry := moved(g, p)
			t.Logf("band %d, %s: %.3f of the least sectors, %.2f warp instructions an entry", band, name, ratio, perEntry)
			require.GreaterOrEqual(t, ratio, 1.0, "every entry is read")
			require.LessOrEqual(t, ratio, most, "band %d, %s", band, name)
		}
	}
}

// The coordinate kernel stays within the limit for CSR too.
func TestAMajorProductOfCoordinatesReadsItsArraysOnce(t *testing.T) {
	p := banded[float64](t, 4000, 2)
	g := newGPU(t)
	p.beta = 0
	majors := p.majors()
	y := array[float64](g, "y", len(p.y))
	n := int64(p.nnz())
	g.launch("msrep_fill_f64", int64(len(p.y)), y, int64(len(p.y)), 0.0)
	k, err := cuda.Lookup("msrep_major_coo_f64")
	require.NoError(t, err)
	carries := k.Carries(n)
	g.launch("msrep_major_coo_f64", n, upload(g, "major", majors), upload(g, "minor", p.idx), upload(g, "val", p.val),
		upload(g, "x", p.x), y, y, array[int32](g, "carryRow", int(carries)), array[float64](g, "carryVal", int(carries)),
		n, int64(0), 1.0)
	g.ok()
	least := sectors(majors, 4) + sectors(p.idx, 4) + sectors(p.val, 8)
	asked := 0.0
	for _, name := range []string{"major", "minor", "val"} {
		asked += float64(g.last.Buffer(name).LoadSectors)
	}
	t.Logf("%.3f of the least sectors, %.2f warp instructions an entry", asked/least, float64(g.last.WarpInstructions)/float64(n))
	require.LessOrEqual(t, asked/least, 1.15)
}

func TestAnOffsetWindowCostsFewSectorsMore(t *testing.T) {
	p := banded[float64](t, 2000, 5)
	// Rows from row 3 on of the whole matrix, with the pointers of the whole matrix.
	p.first = p.ptr[3]
	p.idx, p.val, p.ptr, p.y = p.idx[p.first:], p.val[p.first:], p.ptr[3:], p.y[3:]
	g := newGPU(t)
	got := gatherVector(g, p, 2)
	g.ok()
	require.Equal(t, -1, reference.Check(got, p.gathered()))
	ratio, _ := moved(g, p)
	require.LessOrEqual(t, ratio, 1.15)
}
