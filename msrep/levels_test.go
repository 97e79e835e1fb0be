package msrep

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
)

// bitsFile is an environment variable. It tells the child process of the test where to write the bits.
const bitsFile = "MSREP_TEST_BITS"

// A process chooses its instruction set once, so each set runs in its own process.
func TestDeterministicProductsHaveTheSameBitsWithAllInstructions(t *testing.T) {
	if path := os.Getenv(bitsFile); path != "" {
		require.NoError(t, os.WriteFile(path, productBits(t), 0o600))
		return
	}
	var want []byte
	for _, l := range simd.Levels() {
		path := filepath.Join(t.TempDir(), l.String())
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), "MSREP_CPU="+l.String(), bitsFile+"="+path)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NotEmpty(t, got)
		if l == simd.Generic {
			want = got
		}
		require.Equal(t, string(want), string(got), "%s", l)
	}
}

// productBits returns a line for each matrix of testdata, with hashes of its products.
func productBits(t *testing.T) (lines []byte) {
	s := systemsOf(t, []Config{{Devices: "cpu:1", Threads: 2}})[0]
	files, err := filepath.Glob(corpus.Testdata("*.mtx.gz"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	r := rand.New(rand.NewPCG(7, 8))
	for _, f := range files {
		m, err := matio.Read(t.Context(), f)
		require.NoError(t, err)
		lines = fmt.Appendf(lines, "%s %x %x\n", filepath.Base(f), hashProduct(t, s, m.CSR, r), hashProduct(t, s, sparse.Convert[float32](m.CSR), r))
		require.NoError(t, m.Close())
	}
	return lines
}

func hashProduct[V sparse.Value](t *testing.T, s *System, a *sparse.CSR[V], r *rand.Rand) uint64 {
	p := planOf(t, s, sparse.Matrix[V](a), PlanOptions{Deterministic: true})
	x, y := make([]V, a.Cols), make([]V, a.Rows)
	for i := range x {
		x[i] = V(r.Float64() - 0.5) // NormFloat64 depends on the processor
	}
	h := fnv.New64a()
	for _, beta := range []V{0, 0.3} {
		multiply(t, p, NoTrans, 1.7, x, beta, y)
		for _, v := range y {
			_, _ = fmt.Fprintf(h, "%x ", math.Float64bits(float64(v)))
		}
	}
	require.NoError(t, p.Close())
	return h.Sum64()
}
