// Service answers requests for personalised PageRank: what does a Python package of Debian stand on most of all?
//
//	go run ./examples/service &
//	curl 'localhost:8080/?package=python3-scipy'
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"slices"
	"strings"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver/graph"
	"github.com/msrep-go/msrep/sparse/matio"
)

func main() {
	s, err := open(context.Background(), "examples/data/debian-python.csv.gz")
	if err != nil {
		log.Fatal(err)
	}
	log.Println("http://localhost:8080/?package=python3-scipy")
	log.Fatal(http.ListenAndServe("localhost:8080", s))
}

// service is a graph, open for many requests.
type service struct {
	ids   []string
	node  map[string]int32
	out   []float64            // links from each node
	links *msrep.Plan[float64] // links to each node
}

func open(ctx context.Context, path string) (*service, error) {
	edges, err := matio.ReadEdges(ctx, path, matio.EdgeOptions{})
	if err != nil {
		return nil, err
	}
	in, out, err := graph.InLinks(ctx, edges.Matrix, false)
	if err != nil {
		return nil, err
	}
	sys, err := msrep.Open(msrep.Config{})
	if err != nil {
		return nil, err
	}
	plan, err := msrep.NewPlan(ctx, sys, in, msrep.PlanOptions{})
	if err != nil {
		return nil, err
	}
	s := &service{edges.IDs, map[string]int32{}, out, plan}
	for i, id := range s.ids {
		s.node[id] = int32(i)
	}
	return s, nil
}

// ServeHTTP writes the ten packages with the highest ranks for the package of the request.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	seed, ok := s.node[r.FormValue("package")]
	if !ok {
		http.Error(w, fmt.Sprintf("no package %q", r.FormValue("package")), http.StatusNotFound)
		return
	}
	var lines strings.Builder
	err := graph.PageRanks(r.Context(), s.links, s.out, []graph.Seeds{{Nodes: []int32{seed}}}, graph.Options{}, func(_ int, res *graph.Result) error {
		order := slices.Clone(s.ids)
		rank := func(id string) float64 { return res.Ranks[s.node[id]] }
		slices.SortFunc(order, func(a, b string) int { return cmp.Or(cmp.Compare(rank(b), rank(a)), cmp.Compare(a, b)) })
		for _, id := range order[:10] {
			fmt.Fprintf(&lines, "%.9f %s\n", rank(id), id)
		}
		return nil
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = io.WriteString(w, lines.String()) // an error means that the client has left
}
