// Clusters groups football teams by spectral clustering, from the graph of who played whom, and draws the games by group.
package main

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"math"
	"os"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver/eigen"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
)

const groups = 12

func main() {
	ctx := context.Background()
	file, err := matio.Read(ctx, "testdata/football.mtx.gz")
	check(err)
	a, scale, order := file.CSR, make([]float64, file.CSR.Rows), make([]int, file.CSR.Rows)
	for i := range scale {
		order[i], scale[i] = i, 1/math.Sqrt(float64(a.RowPtr[i+1]-a.RowPtr[i])) // 1/sqrt(number of games)
	}
	normalized, err := sparse.Scale(a, scale, scale)
	check(err)
	sys, err := msrep.Open(msrep.Config{})
	check(err)
	defer sys.Close()
	found, err := eigen.Solve(ctx, sys, normalized, eigen.Options{Count: groups, Which: eigen.Largest})
	check(err)

	points := make([][]float64, a.Rows) // node i is element i of each eigenvector, as a point on a sphere
	for i := range points {
		for _, v := range found.Vectors {
			points[i] = append(points[i], v[i])
		}
		floats.Scale(1/floats.Norm(points[i], 2), points[i])
	}
	group := cluster(points)
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(group[i], group[j]) })
	place, games, color := make([]int, a.Rows), map[bool]int{}, map[bool]string{true: "black", false: "orange"}
	for k, i := range order {
		place[i] = k
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d"><title>games within a group black, others orange</title>`, a.Rows, a.Rows)
	for i := range a.Rows {
		for _, j := range a.ColIdx[a.RowPtr[i]:a.RowPtr[i+1]] {
			same := group[i] == group[j]
			games[same]++
			fmt.Fprintf(&b, `<rect x="%d" y="%d" width="1" height="1" fill="%s"/>`, place[j], place[i], color[same])
		}
	}
	check(os.WriteFile("clusters.svg", []byte(b.String()+"</svg>\n"), 0o644))
	fmt.Printf("%d teams in %d groups: %d games within a group, %d others; see clusters.svg\n", a.Rows, groups, games[true]/2, games[false]/2)
}

// cluster returns the group of each point, by spherical k-means. It begins with points that are far apart.
func cluster(points [][]float64) []int {
	group, centers := make([]int, len(points)), [][]float64{slices.Clone(points[0])}
	nearest := func(p []float64) int { // the center in the direction of p
		cos := make([]float64, len(centers))
		for g, c := range centers {
			cos[g] = floats.Dot(p, c)
		}
		return floats.MaxIdx(cos)
	}
	for len(centers) < groups {
		centers = append(centers, slices.Clone(slices.MinFunc(points, func(p, q []float64) int {
			return cmp.Compare(floats.Dot(p, centers[nearest(p)]), floats.Dot(q, centers[nearest(q)]))
		})))
	}
	for range 20 {
		for i, p := range points {
			group[i] = nearest(p)
		}
		for i, p := range points {
			floats.Add(centers[group[i]], p)
		}
		for _, c := range centers {
			floats.Scale(1/floats.Norm(c, 2), c)
		}
	}
	return group
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
