package gen

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
)

func generateAll(t testing.TB, spec string) (*sparse.CSR[float64], sparse.Source) {
	t.Helper()
	m, src, err := Generate(spec)
	require.NoError(t, err)
	requireProper(t, m, src)
	return m, src
}

// requireProper checks the properties that every generator guarantees.
func requireProper(t require.TestingT, m *sparse.CSR[float64], src sparse.Source) {
	require.NoError(t, m.Validate())
	for i := range m.Rows {
		row := m.ColIdx[m.RowPtr[i]:m.RowPtr[i+1]]
		for k := 1; k < len(row); k++ {
			if row[k-1] >= row[k] {
				require.Failf(t, "columns do not rise", "row %d: %v", i, row)
			}
		}
	}
	for _, v := range m.Val {
		switch src.Field {
		case sparse.Pattern:
			require.Equal(t, 1.0, v)
		case sparse.Integer:
			require.Equal(t, math.Trunc(v), v)
		default:
			if !(v >= -1 && v < 1) {
				require.Failf(t, "value outside [-1, 1)", "%g", v)
			}
		}
	}
	if src.Symmetry == sparse.General {
		require.Equal(t, m.NNZ(), src.Stored)
		return
	}
	requireSymmetric(t, m)
	diagonal := int64(0)
	for i := range m.Rows {
		if at(m, i, i) != nil {
			diagonal++
		}
	}
	require.Equal(t, (m.NNZ()+diagonal)/2, src.Stored)
}

// at returns entry (i, j), or nil if there is none.
func at(m *sparse.CSR[float64], i, j int) *float64 {
	k, ok := slices.BinarySearch(m.ColIdx[m.RowPtr[i]:m.RowPtr[i+1]], int32(j))
	if !ok {
		return nil
	}
	return &m.Val[m.RowPtr[i]+int64(k)]
}

func requireSymmetric(t require.TestingT, m *sparse.CSR[float64]) {
	require.Equal(t, m.Rows, m.Cols)
	for i := range m.Rows {
		for k := m.RowPtr[i]; k < m.RowPtr[i+1]; k++ {
			twin := at(m, int(m.ColIdx[k]), i)
			if twin == nil || *twin != m.Val[k] {
				require.Failf(t, "not symmetric", "entry (%d, %d)", i, m.ColIdx[k])
			}
		}
	}
}

func lengths(m *sparse.CSR[float64]) []int64 {
	n := make([]int64, m.Rows)
	for i := range n {
		n[i] = m.RowPtr[i+1] - m.RowPtr[i]
	}
	return n
}

func TestEveryGeneratorWorksWithItsDefaultsAndItsExample(t *testing.T) {
	for _, info := range Names() {
		t.Run(info.Name, func(t *testing.T) {
			m, _ := generateAll(t, info.Name)
			require.Positive(t, m.Rows)
			g, p, err := parse(info.Example)
			require.NoError(t, err)
			require.Equal(t, info.Name, g.Name)
			require.Positive(t, g.plan(p).rows)
			require.NoError(t, p.err)
			require.NotEmpty(t, info.Summary)
			require.NotContains(t, info.Summary, "\n")
			for _, d := range info.Params {
				require.NotEmpty(t, d.Doc, d.Name)
			}
		})
	}
}

// specs are large enough to be made by several goroutines.
var specs = []string{
	"stencil:n=200", "stencil:n=30,points=27,value=random", "banded:n=20k,band=4,density=0.4",
	"random:rows=30k,nnz=300k", "random:rows=200k,nnz=300k,cols=50", "random:rows=500,cols=300,nnz=100k",
	"rmat:scale=13,edges=20", "powerlaw:rows=30k,nnz=200k", "lowhigh:rows=20k,nnz=200k",
	"arrow:n=30k", "diag:n=40k", "dense:rows=300", "empty:rows=50k",
	"chunglu:n=30k,nnz=200k,local=0.3", "chunglu:n=30k,nnz=200k,dangling=0.1,closed=0.1", "cfd:n=20", "mycielskian:k=13", "like=wb-edu,scale=0.005",
}

func TestTheMatrixDoesNotDependOnTheNumberOfProcessors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	numbers := []int{2, 7}
	if testing.Short() {
		numbers = numbers[1:]
	}
	for _, spec := range specs {
		runtime.GOMAXPROCS(1)
		want, wantSrc := generateAll(t, spec)
		for _, procs := range numbers {
			runtime.GOMAXPROCS(procs)
			got, src, err := Generate(spec)
			require.NoError(t, err)
			require.Equal(t, wantSrc, src, spec)
			require.True(t, slices.Equal(want.RowPtr, got.RowPtr), "%s: row pointers, %d processors", spec, procs)
			require.True(t, slices.Equal(want.ColIdx, got.ColIdx), "%s: columns, %d processors", spec, procs)
			require.True(t, slices.Equal(want.Val, got.Val), "%s: values, %d processors", spec, procs)
		}
	}
}

func TestTheSeedChangesStructureAndValues(t *testing.T) {
	for _, spec := range []string{"random:", "rmat:", "powerlaw:", "lowhigh:", "banded:density=0.5,"} {
		a, _ := generateAll(t, spec+"seed=1")
		b, _ := generateAll(t, spec+"seed=2")
		c, _ := generateAll(t, strings.TrimRight(spec, ":,"))
		require.NotEqual(t, a.ColIdx, b.ColIdx, spec)
		require.NotEqual(t, a.Val[:10], b.Val[:10], spec)
		require.Equal(t, a, c, "%s: the default is 1", spec)
	}
}

func TestStencilsAreTheOnesOfTheTextbook(t *testing.T) {
	for _, c := range []struct {
		spec      string
		rows, nnz int
		diagonal  float64
	}{
		{"stencil:n=4", 16, 5*16 - 4*4, 4},
		{"stencil:nx=5,ny=3", 15, 15 + 2*(4*3+5*2), 4},
		{"stencil:nx=5,ny=3,points=9", 15, (3*5 - 2) * (3*3 - 2), 8},
		{"stencil:dims=3,n=3", 27, 7*27 - 6*9, 6},
		{"stencil:points=27,nx=4,ny=3,nz=2", 24, (3*4 - 2) * (3*3 - 2) * (3*2 - 2), 26},
		{"stencil:n=1", 1, 1, 4},
	} {
		m, src := generateAll(t, c.spec)
		require.Equal(t, c.rows, m.Rows, c.spec)
		require.EqualValues(t, c.nnz, m.NNZ(), c.spec)
		require.Equal(t, sparse.Symmetric, src.Symmetry)
		require.Equal(t, sparse.Integer, src.Field)
		for i := range m.Rows {
			require.Equal(t, c.diagonal, *at(m, i, i))
		}
	}
	m, _ := generateAll(t, "stencil:nx=3,ny=3")
	require.Equal(t, []int32{1, 3, 4, 5, 7}, m.ColIdx[m.RowPtr[4]:m.RowPtr[5]], "the middle of 3 x 3")
	require.Equal(t, []float64{-1, -1, 4, -1, -1}, m.Val[m.RowPtr[4]:m.RowPtr[5]])
}

func TestABandIsFullOrHasItsDensity(t *testing.T) {
	m, _ := generateAll(t, "banded:n=50,band=2")
	require.EqualValues(t, 5*50-6, m.NNZ())
	require.NotNil(t, at(m, 10, 12))
	require.Nil(t, at(m, 10, 13))
	m, _ = generateAll(t, "banded:n=10k,band=10,density=0.3")
	want := 10_000 + 0.3*(20*10_000-110)
	require.InEpsilon(t, want, float64(m.NNZ()), 0.01)
	m, _ = generateAll(t, "banded:n=100,density=0")
	require.EqualValues(t, 100, m.NNZ())
	m, _ = generateAll(t, "banded:n=3,band=2G,value=ones")
	require.EqualValues(t, 9, m.NNZ())
}

func TestLowhighHasTheRatioOfTheFigure(t *testing.T) {
	for _, c := range []struct {
		low   int
		ratio string
		want  float64
	}{{4, "0.1", 0.1}, {1, "0.9", 0.9}, {7, "0.5", 0.5}, {4, "0", 0}, {0, "0.1", 1}, {8, "0.3", 1}} {
		m, _ := generateAll(t, "lowhigh:rows=8k,nnz=100k,parts=8,ratio="+c.ratio+",low="+string(rune('0'+c.low)))
		require.EqualValues(t, 100_000, m.NNZ())
		block := func(b int) float64 { return float64(m.RowPtr[1000*(b+1)] - m.RowPtr[1000*b]) }
		for b := range 8 {
			want := block(7)
			if b < c.low {
				want *= c.want
			}
			require.InDelta(t, want, block(b), 2, "block %d of %+v", b, c)
		}
	}
	m, _ := generateAll(t, "lowhigh:rows=10,nnz=30,parts=3,low=1,ratio=0.5")
	require.EqualValues(t, 30, m.NNZ())
}

func TestTheSimpleShapes(t *testing.T) {
	m, _ := generateAll(t, "arrow:n=5")
	require.Equal(t, []int32{0, 1, 2, 3, 4, 0, 1, 0, 2, 0, 3, 0, 4}, m.ColIdx)
	m, src := generateAll(t, "diag:n=3,value=ones")
	require.Equal(t, []int32{0, 1, 2}, m.ColIdx)
	require.Equal(t, sparse.Source{Field: sparse.Pattern, Symmetry: sparse.Symmetric, Stored: 3}, src)
	m, _ = generateAll(t, "dense:rows=2,cols=3")
	require.Equal(t, []int32{0, 1, 2, 0, 1, 2}, m.ColIdx)
	m, _ = generateAll(t, "empty:rows=7,cols=2")
	require.Equal(t, [3]int{7, 2, 0}, [3]int{m.Rows, m.Cols, len(m.Val)})
	for _, spec := range []string{"arrow:n=0", "arrow:n=1", "diag:n=0", "dense:rows=0", "empty:rows=0", "banded:n=0"} {
		generateAll(t, spec)
	}
}

// The bits of a spec must not change between versions, because results of different
// versions are compared.
func TestTheBitsOfASpecStayTheSame(t *testing.T) {
	for i, want := range []uint32{
		0x16407839, 0x57a8f339, 0x1825bab0, 0xe13cbf9b, 0x45e6a128, 0xc982be2c, 0x53f32ca6,
		0x2c037f31, 0x7240cecc, 0x014f4e13, 0x77d59154, 0xead35963, 0x60cea260,
		0xa525cea9, 0xd5cf0382, 0x4adb5911, 0xb2c689e2, 0x74eee3ef,
	} {
		m, _ := generateAll(t, specs[i])
		sum := crc32.NewIEEE()
		require.NoError(t, binary.Write(sum, binary.LittleEndian, m.RowPtr))
		require.NoError(t, binary.Write(sum, binary.LittleEndian, m.ColIdx))
		require.NoError(t, binary.Write(sum, binary.LittleEndian, m.Val))
		require.Equal(t, want, sum.Sum32(), "%s: %#08x", specs[i], sum.Sum32())
	}
}

func TestGenerationStopsWhenTheContextIsDone(t *testing.T) {
	done, cancel := context.WithCancel(context.Background())
	cancel()
	for _, spec := range specs {
		m, _, err := GenerateContext(done, spec, math.MaxInt64)
		require.ErrorIs(t, err, context.Canceled)
		require.Nil(t, m)
	}
}

func TestRowsAreNotCountedWhenTheContextIsDone(t *testing.T) {
	done, cancel := context.WithCancel(context.Background())
	cancel()
	n := make([]int64, 1<<18)
	for _, spec := range []string{"random:rows=262144,nnz=262144", "powerlaw:rows=262144,nnz=262144", "chunglu:n=262144,nnz=262144", "lowhigh:rows=262144,nnz=262144"} {
		pl, err := planned(spec, math.MaxInt64)
		require.NoError(t, err)
		pl.lengths(done, n)
		require.Zero(t, slices.Max(n), spec)
	}
}
