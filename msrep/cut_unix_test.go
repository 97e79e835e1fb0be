//go:build unix

package msrep

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
)

func TestAMappedFileThatIsCutIsAnError(t *testing.T) {
	spec := "gen:random:rows=20k,nnz=200k"
	a, err := matio.Read(t.Context(), spec)
	require.NoError(t, err)
	for _, format := range []sparse.Format{sparse.FormatCSR, sparse.FormatCOO, sparse.FormatCSC, FormatAuto} {
		for devices := range 3 {
			for _, op := range []Transpose{NoTrans, Trans} {
				name := fmt.Sprintf("%s, %d devices, transposed %v", format, devices+1, op)
				path := filepath.Join(t.TempDir(), "a.msr")
				require.NoError(t, matio.Write(path, a.CSR, a.Source))
				m, err := matio.Read(t.Context(), path)
				require.NoError(t, err)
				sys := testSystem(t, devices+1, false)
				plan, err := NewPlan(t.Context(), sys, m.CSR, PlanOptions{Storage: Storage{Format: format}, Expected: Expected{Products: 1}})
				require.NoError(t, err, name)
				require.NoError(t, os.Truncate(path, 4096))
				x, y := make([]float64, 2*a.Rows), make([]float64, 2*a.Rows)
				if devices == 1 {
					err = plan.SpMM(t.Context(), op, 1, MultiVector[float64]{Val: x, Count: 2, Stride: 2}, 0, MultiVector[float64]{Val: y, Count: 2, Stride: 2})
				} else {
					err = plan.SpMV(t.Context(), op, 1, x[:a.Rows], 0, y[:a.Rows])
				}
				if format != sparse.FormatCSC { // the plan in CSC has copies
					require.True(t, sparse.IsInput(err), "%s: %v", name, err)
					require.ErrorContains(t, err, path+": cannot be read any more")
				}
				require.True(t, sparse.IsInput(plan.UpdateValues(t.Context(), a.CSR.Val)), name)
				require.NoError(t, plan.Close())
				_, err = NewPlan(t.Context(), sys, m.CSR, PlanOptions{Storage: Storage{Format: format}})
				require.True(t, sparse.IsInput(err), "%s: %v", name, err)
				require.ErrorContains(t, err, path+": cannot be read any more")
				require.NoError(t, sys.Close())
				require.NoError(t, m.Close())
			}
		}
	}
}
