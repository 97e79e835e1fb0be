package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/sparse"
)

// BenchmarkSymmetric times products and solves of plans in diagonals or blocks and of plans in symmetric diagonals or
// blocks, alternately, for stencils and finite elements with random symmetric values, with one and two workers:
//
//	whole-ms, half-ms  a product in diagonals or blocks, and in symmetric ones
//	whole/half         whole-ms over half-ms
//	CG-whole/half      the same ratio of CG solves with about 15 products
//	plan/csr           time of a plan with default options over a product of csr; median of three
//
// All are medians.
func BenchmarkSymmetric(b *testing.B) {
	for _, in := range inputs("stencil:dims=3,points=27,n=110,value=random", "stencil:dims=3,points=27,n=36,value=random", "stencil:dims=3,points=7,n=130,value=random", "stencil:n=3000,value=random",
		"cfd:points=27,unknowns=3,n=50", "cfd:points=27,unknowns=3,n=16", "cfd:points=7,unknowns=3,n=85", "cfd:points=27,unknowns=2,n=66", "cfd:points=27,unknowns=6,n=30") {
		for threads := 1; threads <= 2; threads++ {
			b.Run(fmt.Sprintf("%s/%d", in.name, threads), func(b *testing.B) {
				a, err := in.read()
				if err != nil {
					b.Fatal(err)
				}
				whole := sparse.Format("diagonals")
				if strings.HasPrefix(in.name, "cfd") { // the structure is symmetric, the values are not
					whole = "blocks"
					mirror(a)
				}
				dominate(a)
				symmetricAndWhole(b, a, whole, threads)
			})
		}
	}
}

// mirror gives the entries on both sides of the diagonal the same random value.
func mirror(a *sparse.CSR[float64]) {
	for i := range a.Rows {
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			j := int(a.ColIdx[k])
			a.Val[k] = rand.New(rand.NewPCG(uint64(min(i, j)), uint64(max(i, j)))).Float64() - 0.5
		}
	}
}

// dominate makes a symmetric matrix with entries of magnitude at most 1 positive definite.
func dominate(a *sparse.CSR[float64]) {
	longest := int64(30)
	for i := range a.Rows {
		longest = max(longest, a.RowPtr[i+1]-a.RowPtr[i])
	}
	for i := range a.Rows {
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			if int(a.ColIdx[k]) == i {
				a.Val[k] = float64(longest)
			}
		}
	}
}

func symmetricAndWhole(b *testing.B, a *sparse.CSR[float64], whole sparse.Format, threads int) {
	ctx := context.Background()
	sys := open(b, "cpu", threads)
	forms := []sparse.Format{whole, "symmetric-" + whole}
	var plans []*msrep.Plan[float64]
	for _, f := range forms {
		plan := planOf(b, sys, a, msrep.PlanOptions{Storage: msrep.NamedStorage(string(f))})
		if got := plan.Packed(msrep.NoTrans)[0].Form; string(got) != string(f) {
			b.Fatalf("packed as %s, not %s", got, f)
		}
		plans = append(plans, plan)
	}
	x, y := vector(b, a.Cols), vector(b, a.Rows+vectorOffset)[vectorOffset:]
	const repeat = 10 // products for each solve
	products, solves := make([][]time.Duration, 2), make([][]time.Duration, 2)
	for round := -1; b.Loop(); round++ {
		for range repeat {
			for i, p := range plans {
				if err := p.SpMV(ctx, msrep.NoTrans, 1, x, 0, y); err != nil {
					b.Fatal(err)
				}
				if round >= 0 { // the first rounds allocate memory
					products[i] = append(products[i], p.LastTiming().Total)
				}
			}
		}
		for i, p := range plans {
			clear(y)
			res, err := solver.CG(ctx, p, x, y, solver.Options{})
			if err != nil {
				b.Fatal(err)
			}
			if round >= 0 {
				solves[i] = append(solves[i], res.Timing.Total)
			}
		}
	}
	if len(products[0]) == 0 {
		return
	}
	b.ReportMetric(median(products[0])*1e3, "whole-ms")
	b.ReportMetric(median(products[1])*1e3, "half-ms")
	b.ReportMetric(median(products[0])/median(products[1]), "whole/half")
	b.ReportMetric(median(solves[0])/median(solves[1]), "CG-whole/half")
	b.ReportMetric(planOverCSR(b, sys, a), "plan/csr")
	b.ReportMetric(0, "ns/op")
}

// planOverCSR returns the time of a plan with default options over that of a product of csr.
func planOverCSR(b *testing.B, sys *msrep.System, a *sparse.CSR[float64]) float64 {
	ctx := context.Background()
	csr := planOf(b, sys, a, msrep.PlanOptions{Storage: msrep.Storage{Format: "csr"}})
	x, y := vector(b, a.Cols), vector(b, a.Rows+vectorOffset)[vectorOffset:]
	var plans, products []time.Duration
	for range 3 {
		plan := planOf(b, sys, a, msrep.PlanOptions{SkipValidation: true})
		plans = append(plans, plan.Timing().Pack)
		b.Logf("%s: %s", plan.Packed(msrep.NoTrans)[0].Form, plan.Timing().Pack)
		if err := plan.Close(); err != nil {
			b.Fatal(err)
		}
		for range 4 {
			if err := csr.SpMV(ctx, msrep.NoTrans, 1, x, 0, y); err != nil {
				b.Fatal(err)
			}
			products = append(products, csr.LastTiming().Total)
		}
	}
	return median(plans) / median(products)
}
