package sim_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/internal/devicetest"
	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/internal/cuda/launch"
	"github.com/msrep-go/msrep/kernels/sim"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse/matio"
)

func TestRealMatricesAgreeWithTheReference(t *testing.T) {
	for _, name := range []string{"west0067", "bcsstk01", "lp_afiro", "Harvard500", "Erdos991", "494_bus", "G51"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := matio.Read(t.Context(), corpus.Shared(t, "matrices", name+".mtx.gz"))
			require.NoError(t, err)
			defer m.Close()
			parts, _, err := partition.Split(m.RowPtr, 3, partition.RuleNNZ)
			require.NoError(t, err)
			q := &devicetest.Problem[float64]{A: m.CSR, Alpha: 1.5, Beta: -0.5, Parts: parts}
			for _, way := range []string{"plain", "csr-merge", "coo", "transposed", "transposed coo"} {
				transpose, coo := strings.HasPrefix(way, "transposed"), strings.HasSuffix(way, "coo")
				in, out := m.Cols, m.Rows
				if transpose {
					in, out = out, in
				}
				q.X, q.Y = devicetest.Vector[float64](in, 1), devicetest.Vector[float64](out, 3)
				want := reference.Multiply(transpose, q.Alpha, q.A, q.X, q.Beta, q.Y)
				open := fresh(sim.Config{Blocks: 3, CSRKernel: launch.Vector})
				var got []float64
				if transpose {
					got = q.MinorProduct(t, open, coo)
				} else {
					got = q.MajorProduct(t, open, kernels.Form(way))
				}
				require.Equal(t, -1, reference.Check(got, want), way)
			}
		})
	}
}
