package bench

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
	"github.com/msrep-go/msrep/sparse/matio"
	"github.com/msrep-go/msrep/sparse/stats"
)

// BenchmarkFormats times products of all real matrices of at least 5000 entries in
// every format on one CPU device, and how far two choices are from the best: the one
// that msrep info recommends, and that of --format auto, which measures. It runs
// once: go test -bench Formats -benchtime 1x ./bench. It prints, for each choice,
//
//	within5%  share of matrices on which it is at most 5 % slower than the best format
//	worst     largest ratio of its time to that of the best format
//	mean      geometric mean of these ratios
//
// and for each format the mean cost of making it, in products of csr in place. The
// times are the least of several rounds, in which formats take turns: products of a
// matrix that is multiplied again and again.
// auto is told to expect 1000 products, so that its budget for trying is no limit.
// MSREP_BENCH_CSV names a file for all figures, MSREP_THREADS the threads.
func BenchmarkFormats(b *testing.B) {
	formats := append([]sparse.Format{sparse.FormatCSR, sparse.FormatCOO}, ellpack.Formats()...)
	sys, err := msrep.Open(msrep.Config{Devices: "cpu:1", Threads: envInt(b, "MSREP_THREADS", 1)})
	if err != nil {
		b.Fatal(err)
	}
	defer sys.Close()
	for b.Loop() {
		r := newFormatReport(formats)
		for _, row := range corpus.Table(b, corpus.Shared(b, "expected", "products.tsv")) {
			if n, err := strconv.Atoi(row["nnz"]); err != nil || n < 5000 {
				continue
			}
			m, err := matio.Read(context.Background(), corpus.Shared(b, "matrices", row["name"]+".mtx.gz"))
			if sparse.IsInput(err) {
				continue // complex values
			}
			if err != nil {
				b.Fatal(err)
			}
			if err := r.measure(sys, row["name"], m.CSR); err != nil {
				b.Fatal(err)
			}
			if err := m.Close(); err != nil {
				b.Fatal(err)
			}
		}
		r.report(b)
	}
}

// formatReport is the figures of BenchmarkFormats.
type formatReport struct {
	formats []sparse.Format // auto comes last
	lines   [][]string
	ratios  map[string][]float64 // of a choice to the best, by its name
	costs   map[sparse.Format][]float64
}

func newFormatReport(formats []sparse.Format) *formatReport {
	r := &formatReport{formats: append(formats, msrep.FormatAuto), ratios: map[string][]float64{}, costs: map[sparse.Format][]float64{}}
	head := []string{"name", "rows", "nnz", "mean", "stddev", "max-min", "recommended"}
	for _, f := range r.formats {
		head = append(head, string(f)+"_ns")
	}
	for _, f := range r.formats {
		head = append(head, string(f)+"_pack_ns")
	}
	r.lines = [][]string{head}
	return r
}

// timed is a plan and the least time of its product.
type timed struct {
	plan  *msrep.Plan[float64]
	least float64
	pack  time.Duration
}

func (r *formatReport) measure(sys *msrep.System, name string, a *sparse.CSR[float64]) error {
	ctx := context.Background()
	s := stats.Of(a)
	all := make([]timed, len(r.formats))
	for i, f := range r.formats {
		p, err := msrep.NewPlan(ctx, sys, a, msrep.PlanOptions{Format: f, SkipValidation: true, ExpectedProducts: 1000})
		switch {
		case sparse.IsInput(err):
			all[i].least = math.Inf(1) // padding takes too much
		case err != nil:
			return fmt.Errorf("%s as %s: %w", name, f, err)
		default:
			all[i] = timed{p, math.Inf(1), p.Timing().Pack + p.Timing().Convert}
			defer p.Close()
		}
	}
	x, y := make([]float64, a.Cols), make([]float64, a.Rows)
	for i := range x {
		x[i] = math.Sin(float64(i))
	}
	turns := max(2, int(200_000/(1+a.NNZ())))
	best := math.Inf(1)
	for round := range 15 {
		for i := range all {
			// A format that is far behind has no chance.
			if all[i].plan == nil || round > 0 && all[i].least > 8*best || round > 2 && all[i].least > 1.5*best {
				continue
			}
			// One product brings the format back into the caches.
			if _, err := all[i].plan.SpMV(ctx, msrep.NoTrans, 1, x, 0, y); err != nil {
				return err
			}
			begin := time.Now()
			for range turns {
				if _, err := all[i].plan.SpMV(ctx, msrep.NoTrans, 1, x, 0, y); err != nil {
					return err
				}
			}
			all[i].least = min(all[i].least, float64(time.Since(begin))/float64(turns))
			best = min(best, all[i].least)
		}
	}
	r.add(name, s, all)
	return nil
}

// add keeps the figures of one matrix.
func (r *formatReport) add(name string, s stats.Stats, all []timed) {
	best, csr, recommended := math.Inf(1), 0.0, math.NaN()
	choice := s.Recommend().Format
	for i, f := range r.formats {
		switch f {
		case msrep.FormatAuto:
			continue
		case sparse.FormatCSR:
			csr = all[i].least
		}
		if f == choice {
			recommended = all[i].least
		}
		best = min(best, all[i].least)
	}
	r.ratios["recommended"] = append(r.ratios["recommended"], recommended/best)
	r.ratios["auto"] = append(r.ratios["auto"], all[len(all)-1].least/best)
	r.ratios["csr"] = append(r.ratios["csr"], csr/best)

	line := []string{name, fmt.Sprint(s.Rows), fmt.Sprint(s.NNZ), fmt.Sprintf("%.4g", s.Row.Mean), fmt.Sprintf("%.4g", s.Row.StdDev),
		fmt.Sprint(s.Row.Max - s.Row.Min), string(choice)}
	for _, t := range all {
		line = append(line, fmt.Sprintf("%.0f", t.least))
	}
	for i, t := range all {
		line = append(line, fmt.Sprint(t.pack.Nanoseconds()))
		if t.plan != nil {
			r.costs[r.formats[i]] = append(r.costs[r.formats[i]], float64(t.pack)/csr)
		}
	}
	r.lines = append(r.lines, line)
}

func (r *formatReport) report(b *testing.B) {
	for choice, ratios := range r.ratios {
		near, logs := 0, 0.0
		for _, q := range ratios {
			if q <= 1.05 {
				near++
			}
			logs += math.Log(q)
		}
		b.ReportMetric(100*float64(near)/float64(len(ratios)), choice+"-within5%")
		b.ReportMetric(slices.Max(ratios), choice+"-worst")
		b.ReportMetric(math.Exp(logs/float64(len(ratios))), choice+"-mean")
	}
	for f, c := range r.costs {
		slices.Sort(c)
		b.ReportMetric(c[len(c)/2], string(f)+"-pack/product")
	}
	b.ReportMetric(float64(len(r.lines)-1), "matrices")
	path := os.Getenv("MSREP_BENCH_CSV")
	if path == "" {
		return
	}
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	if err := errors.Join(csv.NewWriter(f).WriteAll(r.lines), f.Close()); err != nil {
		b.Fatal(err)
	}
}
