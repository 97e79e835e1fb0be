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

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/internal/stats"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
	"github.com/msrep-go/msrep/sparse/matio"
	"github.com/stretchr/testify/require"
)

// BenchmarkFormats times products of all real matrices with at least MSREP_ENTRIES entries (default 5000) in every
// format on one CPU device. It compares two choices with the best format: the recommendation of msrep info, which
// measures nothing, and --format auto, which measures and is not told the number of products. Run it once: go test
// -bench Formats -benchtime 1x ./bench. For each choice it prints
//
//	within5%  fraction of matrices on which the choice is at most 5 % slower than the best format
//	within10% the same for 10 %
//	worst     largest ratio of its time to that of the best format
//	mean      geometric mean of these ratios
//
// and for each format the mean cost of making it, in products of csr in place. A time is the least of several rounds
// that alternate between the formats, with the matrix multiplied repeatedly. MSREP_BENCH_CSV names a file for all
// results, MSREP_THREADS the number of threads.
func BenchmarkFormats(b *testing.B) {
	formats := append([]sparse.Format{sparse.FormatCSR, sparse.FormatCOO}, ellpack.Formats()...)
	sys, err := msrep.Open(msrep.Config{Devices: "cpu:1", Threads: corpus.EnvInt(b, "MSREP_THREADS", 1)})
	require.NoError(b, err)
	defer func() { require.NoError(b, sys.Close()) }()
	least := corpus.EnvInt(b, "MSREP_ENTRIES", 5000)
	for b.Loop() {
		r := newFormatReport(formats)
		for _, row := range corpus.Table(b, corpus.Shared(b, "expected", "products.tsv")) {
			if n, err := strconv.Atoi(row["nnz"]); err != nil || n < least {
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

// formatReport holds the results of BenchmarkFormats.
type formatReport struct {
	formats []sparse.Format // auto comes last
	lines   [][]string
	ratios  map[string][]float64 // time of a choice over the best time, by name of the choice
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

func (r *formatReport) measure(sys *msrep.System, name string, a *sparse.CSR[float64]) error {
	all, err := formatTimer{sys: sys}.time(context.Background(), a, r.formats)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	r.add(name, stats.Of(a), all)
	return nil
}

// add records the results of one matrix.
func (r *formatReport) add(name string, s stats.Stats, all []formatTime) {
	best, csr, recommended := math.Inf(1), 0.0, math.NaN()
	choice := s.Recommend().Format
	for i, f := range r.formats {
		switch f {
		case msrep.FormatAuto:
			continue
		case sparse.FormatCSR:
			csr = all[i].Product
		}
		if f == choice {
			recommended = all[i].Product
		}
		best = min(best, all[i].Product)
	}
	r.ratios["recommended"] = append(r.ratios["recommended"], recommended/best)
	r.ratios["auto"] = append(r.ratios["auto"], all[len(all)-1].Product/best)
	r.ratios["csr"] = append(r.ratios["csr"], csr/best)

	line := []string{name, fmt.Sprint(s.Rows), fmt.Sprint(s.NNZ), fmt.Sprintf("%.4g", s.Row.Mean), fmt.Sprintf("%.4g", s.Row.StdDev),
		fmt.Sprint(s.Row.Max - s.Row.Min), string(choice)}
	for _, t := range all {
		line = append(line, fmt.Sprintf("%.0f", t.Product))
	}
	for i, t := range all {
		line = append(line, fmt.Sprint(t.Pack.Nanoseconds()))
		if !math.IsInf(t.Product, 1) {
			r.costs[r.formats[i]] = append(r.costs[r.formats[i]], float64(t.Pack)/csr)
		}
	}
	r.lines = append(r.lines, line)
}

func (r *formatReport) report(b *testing.B) {
	for choice, ratios := range r.ratios {
		near, within, logs := 0, 0, 0.0
		for _, q := range ratios {
			if q <= 1.05 {
				near++
			}
			if q <= 1.1 {
				within++
			}
			logs += math.Log(q)
		}
		b.ReportMetric(100*float64(near)/float64(len(ratios)), choice+"-within5%")
		b.ReportMetric(100*float64(within)/float64(len(ratios)), choice+"-within10%")
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
