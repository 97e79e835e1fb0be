package sim_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/kernels/cuda/launch"
	"github.com/msrep-go/msrep/kernels/reference"
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
			q := &problem[float64]{a: m.CSR, alpha: 1.5, beta: -0.5, parts: parts}
			for _, way := range []string{"vector", "merge", "coo", "transposed", "transposed coo"} {
				transpose, coo := strings.HasPrefix(way, "transposed"), strings.HasSuffix(way, "coo")
				in, out := m.Cols, m.Rows
				if transpose {
					in, out = out, in
				}
				q.x, q.y = vector[float64](in, 1), vector[float64](out, 3)
				want := reference.Multiply(transpose, q.alpha, q.a, q.x, q.beta, q.y)
				c := sim.Config{Blocks: 3}
				if way == "merge" {
					c.Gather = launch.Merge
				}
				var got []float64
				if transpose {
					got = q.scatter(t, c, coo)
				} else {
					got = q.gather(t, c, coo)
				}
				require.Equal(t, -1, reference.Check(got, want), way)
			}
		})
	}
}
