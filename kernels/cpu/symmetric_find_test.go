package cpu_test

import (
	"fmt"
	"math"
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/sparse"
)

// withoutRow is a matrix without the entries of one row and of that column.
func withoutRow(a *sparse.CSR[float64], gone int) *sparse.CSR[float64] {
	out := &sparse.CSR[float64]{Rows: a.Rows, Cols: a.Cols, RowPtr: []int64{0}}
	for r := range a.Rows {
		for k := a.RowPtr[r]; k < a.RowPtr[r+1]; k++ {
			if r != gone && int(a.ColIdx[k]) != gone {
				out.ColIdx, out.Val = append(out.ColIdx, a.ColIdx[k]), append(out.Val, a.Val[k])
			}
		}
		out.RowPtr = append(out.RowPtr, int64(len(out.Val)))
	}
	return out
}

// TestAnyEntryThatDiffersMakesAMatrixUnsymmetric changes every entry off the diagonal of matrices, one at a time. In
// one matrix some rows are single and others follow rows with the same distances; in the others rows follow rows with
// the same columns.
func TestAnyEntryThatDiffersMakesAMatrixUnsymmetric(t *testing.T) {
	rng, step := rand.New(rand.NewSource(1)), 1
	if testing.Short() {
		step = 7
	}
	matrices := map[string]*sparse.CSR[float64]{
		"diagonals":   withoutRow(symmetricCSR(rng, 200, -90, -6, -5, 0, 5, 6, 90), 64), // where a worker begins
		"blocks":      symmetricCSRBlocks(rng, 66, 3, -21, -1, 0, 1, 21),
		"blocks of 8": symmetricCSRBlocks(rng, 20, 8, -7, 0, 7),
	}
	for name, spoil := range map[string]func(m *sparse.CSR[float64], r, k int) (ok bool){
		"nothing": func(m *sparse.CSR[float64], r, k int) bool { return r == 0 },
		"a bit": func(m *sparse.CSR[float64], r, k int) bool {
			m.Val[k] = math.Float64frombits(math.Float64bits(m.Val[k]) ^ 1)
			return true
		},
		"another column": func(m *sparse.CSR[float64], r, k int) bool {
			m.ColIdx[k]++
			return int(m.ColIdx[k]) < m.Cols && int(m.ColIdx[k]) != r && (k+1 == int(m.RowPtr[r+1]) || m.ColIdx[k+1] > m.ColIdx[k])
		},
		"no entry": func(m *sparse.CSR[float64], r, k int) bool {
			m.ColIdx, m.Val = slices.Delete(m.ColIdx, k, k+1), slices.Delete(m.Val, k, k+1)
			for i := r + 1; i <= m.Rows; i++ {
				m.RowPtr[i]--
			}
			return true
		},
	} {
		for kind, whole := range matrices {
			for _, border := range [][]int{{0, whole.Rows}, {0, 64, 128, whole.Rows}} {
				t.Run(fmt.Sprintf("%s, %s, %d workers", kind, name, len(border)-1), func(t *testing.T) {
					d, _ := open(t, cpu.Config{Threads: len(border) - 1})
					defer d.Close()
					for r := range whole.Rows {
						for k := int(whole.RowPtr[r]) + r%step; k < int(whole.RowPtr[r+1]); k += step {
							m := &sparse.CSR[float64]{Rows: whole.Rows, Cols: whole.Cols, RowPtr: slices.Clone(whole.RowPtr), ColIdx: slices.Clone(whole.ColIdx), Val: slices.Clone(whole.Val)}
							if int(m.ColIdx[k]) == r || !spoil(m, r, k) {
								continue
							}
							yes, err := cpu.IsSymmetric(d, wholeOf(t, m, symmetricForm), border)
							require.NoError(t, err)
							require.Equal(t, name == "nothing", yes, "row %d, column %d", r, whole.ColIdx[k])
						}
					}
					require.Zero(t, d.InUse())
				})
			}
		}
	}
}

// TestAsManyEntriesOnBothSidesMakeNoMatrixSymmetric has rows with the same columns, equal values, and as many entries
// before the diagonal as after it.
func TestAsManyEntriesOnBothSidesMakeNoMatrixSymmetric(t *testing.T) {
	d, _ := open(t, cpu.Config{Threads: 1})
	defer d.Close()
	for name, rows := range map[string][][]int32{
		"a column between is missing": {{0, 2}, {0, 2}, {0, 2}},
		"a row before is empty":       {{4, 5}, {4, 5}, {}, {}, {0, 2}, {0, 2}},
		"another row has the partner": {{4, 5}, {4, 5}, {}, {}, {0, 1}, {0, 2}},
	} {
		m := &sparse.CSR[float64]{Rows: len(rows), Cols: len(rows), RowPtr: []int64{0}}
		for _, idx := range rows {
			m.ColIdx = append(m.ColIdx, idx...)
			m.RowPtr = append(m.RowPtr, int64(len(m.ColIdx)))
		}
		m.Val = slices.Repeat([]float64{1}, len(m.ColIdx))
		yes, err := cpu.IsSymmetric(d, wholeOf(t, m, symmetricForm), []int{0, m.Rows})
		require.NoError(t, err)
		require.False(t, yes, name)
	}
}

func TestNaNsAndZerosAreSymmetricWhereTheirBitsAre(t *testing.T) {
	nan := func(payload uint64) float64 { return math.Float64frombits(0x7FF8<<48 | payload) }
	for name, c := range map[string]struct {
		before, behind float64
		form           kernels.Form
	}{
		"NaNs":              {nan(1), nan(1), symmetricForm},
		"NaNs of two kinds": {nan(1), nan(2), "diagonals"},
		"infinities":        {math.Inf(1), math.Inf(1), symmetricForm},
		"zeros":             {0, 0, symmetricForm},
		"zeros of two":      {0, math.Copysign(0, -1), "diagonals"},
	} {
		a := &sparse.CSR[float64]{Rows: 200, Cols: 200, RowPtr: []int64{0}}
		for r := range a.Rows {
			if r > 0 {
				a.ColIdx, a.Val = append(a.ColIdx, int32(r-1)), append(a.Val, c.before)
			}
			if r+1 < a.Rows {
				a.ColIdx, a.Val = append(a.ColIdx, int32(r+1)), append(a.Val, c.behind)
			}
			a.RowPtr = append(a.RowPtr, int64(len(a.Val)))
		}
		d, _ := open(t, cpu.Config{Threads: 2, Grain: 1})
		p := mustPack(t, d, wholeOf(t, a, symmetricForm))
		require.Equal(t, c.form, p.Info().Form, name)
		require.NoError(t, p.Free())
		require.NoError(t, d.Close())
	}
}
