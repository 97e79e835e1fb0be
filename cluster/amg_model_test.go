package cluster

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/solver/amg"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

// The model of a multigrid cycle on 64 nodes. It enlarges what a cycle over 8 ranks sends: parts of a matrix that is 8 times
// as large in each direction have the same thickness on 64 ranks, and the same neighbours. A rank thus sends as many
// messages, 8 times as large in 2 dimensions and 64 times in 3. On the large levels, 4 ranks send the same as 8.
const (
	modelRanks   = 8
	modelFactor  = 8
	modelNodes   = modelRanks * modelFactor
	modelLatency = 5e-6  // s for each message
	modelNetwork = 10e9  // bytes per second of a node
	modelMemory  = 100e9 // bytes per second of a node
	modelEntry   = 4 + 4 // bytes: a column and a float32
)

var update = flag.Bool("update", false, "write the model of multigrid to docs/cluster.md")

func TestTheModelOfMultigridOn64NodesIsThatOfTheManual(t *testing.T) {
	if testing.Short() || runtime.GOARCH != "amd64" { // another rounding may change aggregates
		t.Skip()
	}
	table := "| level | entries | messages | products, ms | messages, ms | whole, ms |\n|---|---:|---:|---:|---:|---:|\n"
	for _, m := range []struct {
		name string
		spec string
		dims int
	}{{"grid", "stencil:dims=3,n=64", 3}, {"triangles", "planar:n=500", 2}} {
		a, _, err := gen.Generate(m.spec)
		require.NoError(t, err)
		if m.dims == 2 {
			a = laplacian(a)
		}
		border := int64(1) // factor of the elements that a rank sends
		for range m.dims - 1 {
			border *= modelFactor
		}
		for k, l := range mostSent(t, a) {
			if l.Whole {
				break
			}
			rows, entries, bytes := int64(l.Rows)*border*modelFactor, l.NNZ*border*modelFactor, float64(l.Bytes*border)
			products := 4 * modelEntry * float64(entries) / modelMemory // 4 products with A
			messages := float64(l.Messages)*modelLatency + bytes/modelNetwork
			whole := products + (modelNodes-1)*modelLatency + float64(4*rows)/modelNetwork
			if m.dims == 2 { // the manual has one sentence on it
				require.Equal(t, k >= 2, messages > products/modelNodes, "%s: level %d", m.name, k)
				continue
			}
			table += fmt.Sprintf("| %s %d | %s | %d | %.2f | %.2f | %.2f |\n", m.name, k, thousand(entries), l.Messages,
				1e3*products/modelNodes, 1e3*messages, 1e3*whole)
		}
	}
	path := filepath.Join(corpus.Root(), "docs", "cluster.md")
	manual, err := os.ReadFile(path)
	require.NoError(t, err)
	if *update {
		old := regexp.MustCompile(`(?m)^\| level \|.*\n\|---.*\n(\| grid .*\n)+`)
		manual = old.ReplaceAllLiteral(manual, []byte(table))
		require.NoError(t, os.WriteFile(path, manual, 0o666))
	}
	require.Contains(t, string(manual), table, "go test ./cluster -run ModelOfMultigrid -update writes the table")
}

// mostSent returns the levels of a over modelRanks ranks, with the most that a rank sends.
func mostSent(t *testing.T, a *sparse.CSR[float64]) []AMGLevel {
	levels := make([][]AMGLevel, modelRanks)
	each(t, modelRanks, func(sys *System) error {
		m, err := Slice(sys.Comm(), a, 1)
		if err != nil {
			return err
		}
		p, err := newAMG(ctx, sys, m, amg.Options{CoarseSize: 100}, 0)
		if err != nil {
			return err
		}
		levels[m.rank] = p.Levels()
		return p.Close()
	})
	most := levels[0]
	for _, of := range levels {
		for k, l := range of {
			most[k].Bytes, most[k].Messages = max(most[k].Bytes, l.Bytes), max(most[k].Messages, l.Messages)
		}
	}
	return most
}

// laplacian returns D - A for the graph a, with a little more on the diagonal: D has the number of neighbours.
func laplacian(a *sparse.CSR[float64]) *sparse.CSR[float64] {
	b := &sparse.CSR[float64]{Rows: a.Rows, Cols: a.Cols, RowPtr: []int64{0}}
	for i := range a.Rows {
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			b.ColIdx, b.Val = append(b.ColIdx, a.ColIdx[k]), append(b.Val, -1)
		}
		b.ColIdx, b.Val = append(b.ColIdx, int32(i)), append(b.Val, float64(a.RowPtr[i+1]-a.RowPtr[i])+1e-3)
		b.RowPtr = append(b.RowPtr, int64(len(b.Val)))
	}
	return b
}

// thousand returns n with commas.
func thousand(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = strings.Join([]string{s[:i], s[i:]}, ",")
	}
	return s
}
