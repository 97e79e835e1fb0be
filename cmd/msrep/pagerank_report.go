package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// ranking is the result that msrep pagerank prints.
type ranking struct {
	Matrix     matrixName         `json:"matrix"`
	Damping    float64            `json:"damping"`
	Tol        float64            `json:"tol"`
	Precision  string             `json:"precision"`
	Layout     string             `json:"layout"`
	Weights    string             `json:"weights"`
	Format     string             `json:"format"`
	Dangling   int                `json:"dangling"` // nodes without links
	Iterations int                `json:"iterations"`
	BySegments map[string]int     `json:"iterations_by_segments"` // iterations by the number of segments that they read of each value
	Residual   number             `json:"residual"`
	Converged  bool               `json:"converged"`
	Failure    string             `json:"failure,omitempty"` // why the iterations did not converge
	Phases     rankingPhases      `json:"phases"`
	Seconds    map[string]float64 `json:"seconds_by_segments"`
	Top        []rankedNode       `json:"top"`
	Devices    []deviceName       `json:"devices"`
	Ranks      []rankReport       `json:"ranks,omitempty"` // MPI processes; only with several
}

type rankingPhases struct {
	Read    float64 `json:"read_s"`
	Build   float64 `json:"build_s"`   // transpose of the graph, weights, format
	Iterate float64 `json:"iterate_s"` // all iterations
	Convert float64 `json:"convert_s"` // changes of precision
	Total   float64 `json:"total_s"`
}

type rankedNode struct {
	Node  int64   `json:"node"` // node id
	Score float64 `json:"score"`
}

// byName returns m with its keys as text, which JSON requires.
func byName[V any](m map[int]V) map[string]V {
	out := map[string]V{}
	for k, v := range m {
		out[strconv.Itoa(k)] = v
	}
	return out
}

// topNodes returns the k nodes of highest rank, the lower node number first among equal ranks. Node i has id ids[i],
// or i if ids is nil. It keeps at most 2k candidates.
func topNodes(ranks []float64, ids []int64, k int) []rankedNode {
	k = min(k, len(ranks))
	best, least := []rankedNode{}, math.Inf(-1)
	choose := func() {
		slices.SortFunc(best, func(a, b rankedNode) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Node, b.Node))
		})
		best = best[:min(k, len(best))]
	}
	for i, s := range ranks {
		if k == 0 || s <= least {
			continue
		}
		if best = append(best, rankedNode{int64(i), s}); len(best) == 2*k {
			choose()
			least = best[k-1].Score
		}
	}
	choose()
	if ids != nil {
		for k := range best {
			best[k].Node = ids[best[k].Node]
		}
	}
	return best
}

func (p *pagerank) print(r ranking) error {
	var by []string
	for _, k := range slices.Sorted(maps.Keys(r.BySegments)) {
		by = append(by, fmt.Sprintf("%d with %s", r.BySegments[k], k))
	}
	state := "converged"
	if !r.Converged {
		state = "not converged"
	}
	fmt.Fprintf(p.stdout, "%s  %d nodes, %d links, %d nodes without links\n", r.Matrix.Name, r.Matrix.Rows, r.Matrix.NNZ, r.Dangling)
	fmt.Fprintf(p.stdout, "%s after %d iterations, difference %.3g (%s, %s, weights %s; segments read: %s)\n",
		state, r.Iterations, float64(r.Residual), r.Precision, r.Format, r.Weights, strings.Join(by, ", "))
	fmt.Fprintf(p.stdout, "read %.4g s, build %.4g s, iterate %.4g s, convert %.4g s\n", r.Phases.Read, r.Phases.Build, r.Phases.Iterate, r.Phases.Convert)
	printRanks(p.stdout, r.Ranks)
	for _, n := range r.Top {
		if _, err := fmt.Fprintf(p.stdout, "%10d  %.15g\n", n.Node, n.Score); err != nil {
			return err
		}
	}
	return nil
}
