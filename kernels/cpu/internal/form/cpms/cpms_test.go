package cpms_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	cpmsform "github.com/msrep-go/msrep/kernels/cpu/internal/form/cpms"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/formtest"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/cpms"
	"github.com/msrep-go/msrep/sparse/matio"
)

var cpmsForms = []kernels.Form{cpmsform.FormCPMSRows, cpmsform.FormCPMSSlices, cpmsform.FormCPMSSorted}

// cut returns a with the values that reading p of them gives.
func cut(a *sparse.CSR[float64], p kernels.Segments) *sparse.CSR[float64] {
	b := *a
	b.Val = make([]float64, len(a.Val))
	for k, v := range a.Val {
		b.Val[k] = cpms.Keep(v, p.Read*64/p.Count, cpms.Truncate)
	}
	return &b
}

func checkCPMS(t require.TestingT, name kernels.Form, a *sparse.CSR[float64], p kernels.Segments, bank int, alpha, beta float64, x, y []float64) {
	f := formtest.Must(cpmsform.NewCPMS(name, formtest.RowsOf(a), p, bank))(t)
	want := reference.Multiply[float64](false, alpha, cut(a, p), x, beta, y)
	got := append([]float64(nil), y...)
	if beta == 0 {
		for i := range got {
			got[i] = math.NaN() // must not be read
		}
	}
	f.Multiply(alpha, beta, x, got)
	require.Equal(t, -1, reference.Check(got, want), "%s", f.Name())

	sums := append([]float64(nil), x...)
	f.MultiplyTransposed(alpha, y, func(lo, hi int) []float64 { return sums[lo:hi] })
	want = reference.Multiply[float64](true, alpha, cut(a, p), y, 1, x)
	require.Equal(t, -1, reference.Check(sums, want), "%s transposed", f.Name())
}

func TestValuesInSegmentsMultiplyAsTheirFirstBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		segments := rapid.SampledFrom([]int{2, 4}).Draw(t, "segments")
		p := kernels.Segments{Count: segments, Read: rapid.IntRange(1, segments).Draw(t, "read")}
		bank := rapid.SampledFrom([]int{cpms.Separated, 64, 128, 8192}).Draw(t, "bank")
		rows, cols := rapid.IntRange(0, 600).Draw(t, "rows"), rapid.IntRange(1, 100).Draw(t, "cols")
		long := rapid.IntRange(-1, max(rows-1, 0)).Draw(t, "long")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		a := &sparse.CSR[float64]{Rows: rows, Cols: cols, RowPtr: []int64{0}}
		for i := range rows {
			n := max(r.IntN(8)-2, 0)
			if i == long {
				n = 4000
			}
			for range n {
				a.ColIdx = append(a.ColIdx, int32(r.IntN(cols)))
				a.Val = append(a.Val, r.NormFloat64())
			}
			a.RowPtr = append(a.RowPtr, int64(len(a.Val)))
		}
		x, y := make([]float64, cols), make([]float64, rows)
		for i := range x {
			x[i] = r.NormFloat64()
		}
		for i := range y {
			y[i] = r.NormFloat64()
		}
		odd := rapid.SampledFrom([]float64{1, math.NaN(), math.Inf(1)}).Draw(t, "odd")
		x[r.IntN(cols)] = odd
		if len(a.Val) > 0 {
			a.Val[r.IntN(len(a.Val))] = odd
		}
		alpha, beta := rapid.SampledFrom([]float64{1, -1.5}).Draw(t, "alpha"), rapid.SampledFrom([]float64{0, 1, 0.25}).Draw(t, "beta")
		for _, name := range cpmsForms {
			checkCPMS(t, name, a, p, bank, alpha, beta, x, y)
		}
	})
}

func TestRealMatricesInSegmentsMultiplyAsTheirFirstBits(t *testing.T) {
	for _, file := range []string{"memplus", "gre_343", "plskz362"} {
		m, err := matio.Read(t.Context(), corpus.Testdata(file+".mtx.gz"))
		require.NoError(t, err)
		x, y := make([]float64, m.Cols), make([]float64, m.Rows)
		for i := range x {
			x[i] = math.Sin(float64(i + 1))
		}
		for segments := 2; segments <= 4; segments += 2 {
			for k := 1; k <= segments; k++ {
				for _, name := range cpmsForms {
					checkCPMS(t, name, m.CSR, kernels.Segments{Count: segments, Read: k}, 8192, 2, 0, x, y)
				}
			}
		}
		require.NoError(t, m.Close())
	}
}

func TestColumnsTakeTwoBytesWhereTheyAreNear(t *testing.T) {
	for _, c := range []struct {
		last int32
		wide bool
		want int
	}{{100 + math.MaxUint16, false, 2}, {101 + math.MaxUint16, false, 4}, {300, true, 4}} {
		r := form.Rows[float64]{Ptr: []int64{0, 1, 3, 3}, Idx: []int32{100, c.last, 200}, Val: []float64{2, 3, 5}, Cols: 1 << 17}
		x := make([]float64, r.Cols)
		x[100], x[200], x[c.last] = 1, 10, 100
		m := formtest.Must(cpmsform.NewSegmented("ell", r, cpms.Layout{Segments: 2}, c.wide))(t)
		require.Equal(t, c.want, m.IndexBytes())
		y := make([]float64, 3)
		m.Sums(y, 0, 2, cpms.HeadsOf(x), cpmsform.NewSegmentScratch())
		require.Equal(t, []float64{2, 350, 0}, y)
	}
}

func TestJoinedSegmentsMultiplyAsPlainValues(t *testing.T) {
	ptr, idx, val := []int64{0, 2, 2, 3}, []int32{0, 1, 1}, []float64{0.1, 0.2, 0.3}
	for _, name := range cpmsForms[:2] {
		for _, bank := range []int{cpms.Separated, 64} {
			m := formtest.Must(cpmsform.NewSegmented(name, form.Rows[float64]{Ptr: ptr, Idx: idx, Val: val, Cols: 2}, cpms.Layout{Segments: 4, Bank: bank}, false))(t)
			require.Equal(t, 4, m.Segments())
			m.Join()
			require.Equal(t, 1, m.Segments())
			y := make([]float64, 3)
			m.Sums(y, 0, 1, cpms.HeadsOf([]float64{1, 10}), cpmsform.NewSegmentScratch())
			require.Equal(t, []float64{0.1 + 0.2*10, 0, 3}, y)
		}
	}
}

func TestInvalidSegmentsAreInputErrors(t *testing.T) {
	r := form.Rows[float64]{Ptr: []int64{0, 1}, Idx: []int32{0}, Val: []float64{1}, Cols: 1}
	for _, c := range []struct {
		name kernels.Form
		p    kernels.Segments
		bank int
	}{
		{"csr", kernels.Segments{}, 0}, {"csr", kernels.Segments{Count: 2, Read: 3}, 0}, {"csr", kernels.Segments{Count: 3, Read: 1}, 0},
		{"jad", kernels.Segments{Count: 2, Read: 1}, 0}, {"csr", kernels.Segments{Count: 2, Read: 1}, 63},
	} {
		_, err := cpmsform.NewCPMS(c.name, r, c.p, c.bank)
		require.True(t, sparse.IsInput(err), "%+v: %v", c, err)
	}
	for _, j := range []int32{-1, 1} {
		_, err := cpmsform.NewCPMS("csr", form.Rows[float64]{Ptr: r.Ptr, Idx: []int32{j}, Val: r.Val, Cols: 1}, kernels.Segments{Count: 2, Read: 1}, 0)
		require.True(t, sparse.IsInput(err), "column %d", j)
	}
	for _, name := range cpmsForms {
		small := r
		small.Mem = &form.Memory{Alloc: func(n int64) ([]byte, error) { return make([]byte, n), nil }, Limit: 20}
		_, err := cpmsform.NewCPMS(name, small, kernels.Segments{Count: 2, Read: 1}, 0)
		require.True(t, errors.Is(err, kernels.ErrOutOfMemory), "%v", err)
	}
}

func TestSegmentedBytesPredictsTheMemory(t *testing.T) {
	m, err := matio.Read(t.Context(), corpus.Testdata("memplus.mtx.gz"))
	require.NoError(t, err)
	defer func() { require.NoError(t, m.Close()) }()
	far := slices.Clone(m.ColIdx)
	far[0] = 1 << 20
	for _, idx := range [][]int32{m.ColIdx, far} {
		for _, name := range cpmsForms[:2] {
			for _, values := range []bool{true, false} {
				for _, wide := range []bool{true, false} {
					r := form.Rows[float64]{Ptr: m.RowPtr, Idx: idx, Val: m.Val, Cols: 1<<20 + 1}
					if !values {
						r.Val = nil
					}
					s := formtest.Must(cpmsform.NewSegmented(name, r, cpms.Layout{Segments: 2}, wide))(t)
					kept, passing := cpmsform.SegmentedBytes(name, r, cpms.Layout{Segments: 2}, values, wide)
					require.Equal(t, s.Bytes(), kept, "%s, values %v, wide %v", name, values, wide)
					require.Equal(t, values, passing > 0)
				}
			}
		}
	}
}
