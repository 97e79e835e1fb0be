package experiment

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/msrep-go/msrep/internal/bench"
	"github.com/msrep-go/msrep/internal/plot"
)

// CPUPeers returns an experiment that compares products on CPU devices with those of other libraries. ours comes from
// bench.CPUPeers, theirs from bench.ReadPeerTimes; theirs is empty without a table.
func CPUPeers(ours, theirs []bench.PeerTime) Experiment {
	return Experiment{Name: "cpu-peers", run: func(ctx context.Context, s *Session) error {
		for _, t := range ours {
			s.Record.Add("cpu-peers", fmt.Sprintf("%s (%s) %d threads", t.Matrix, t.Values, t.Threads), "product", t.Samples)
			s.Record.Moves(t.Bytes)
		}
		s.method = "after 3 untimed products, --reps products during which the system took no CPU from the process; disturbed products are repeated; " +
			"with fewer than 5 undisturbed products, all count, and their lower quartile replaces the median"
		s.Page.Sections = append(s.Page.Sections, peersSection(ours, theirs))
		return ctx.Err()
	}}
}

func peersSection(ours, theirs []bench.PeerTime) plot.Section {
	sec := plot.Section{
		Name: "cpu-peers", Title: "Products on CPU devices, compared with other libraries",
		Intro: []string{"Median times of repeated products with each matrix. Ratios are the time of the fastest other library over ours: above 1 ours is faster."},
	}
	if len(ours) > 0 {
		sec.Intro = append(sec.Intro, fmt.Sprintf("Our values: %s. The table of the other libraries does not state theirs.", ours[0].Values))
	}
	if len(theirs) == 0 {
		sec.Intro = append(sec.Intro, "No table of other libraries was given (--peers FILE).")
	} else {
		sec.Remarks = []string{"The other libraries ran before this run. On a shared machine, a ratio near 1 needs runs that alternate (scripts/race-cpu)."}
	}
	t := plot.Table{Name: "cpu-peers", Title: "Fastest other library and ours", Header: []string{"matrix", "threads", "other library", "its ms", "ours, ms", "ratio", "ours, GFLOP/s"}}
	f := plot.Figure{Name: "cpu-peers", Title: "Time of the fastest other library over ours", XLabel: "matrices, as in the table", YLabel: "ratio, above 1 ours is faster", Level: 1}
	place := map[string]int{}
	ratios := map[int][]float64{} // by number of threads
	for _, o := range ours {
		if _, ok := place[o.Matrix]; !ok {
			place[o.Matrix] = len(place) + 1
		}
		row := []string{o.Matrix, fmt.Sprint(o.Threads), "-", "-", short(1e3 * o.Seconds), "-", short(o.GFLOPs)}
		if best, ok := fastest(theirs, o); ok {
			ratio := best.Seconds / o.Seconds
			row[2], row[3], row[5] = best.Library, short(1e3*best.Seconds), fmt.Sprintf("%.2f", ratio)
			ratios[o.Threads] = append(ratios[o.Threads], ratio)
			i := slices.IndexFunc(f.Series, func(s plot.Series) bool { return s.Name == fmt.Sprintf("%d threads", o.Threads) })
			if i < 0 {
				i = len(f.Series)
				f.Series = append(f.Series, plot.Series{Name: fmt.Sprintf("%d threads", o.Threads), Origin: plot.Measured, Points: true})
			}
			f.Series[i].Add(float64(place[o.Matrix]), ratio)
		}
		t.Rows = append(t.Rows, row)
	}
	for _, threads := range slices.Sorted(maps.Keys(ratios)) {
		of := ratios[threads]
		sec.Remarks = append(sec.Remarks, fmt.Sprintf("Threads: %d. Geometric mean of the ratios %.2f, least %.2f, of %d matrices.", threads, geometricMean(of), slices.Min(of), len(of)))
	}
	sec.Tables = []plot.Table{t}
	if len(f.Series) > 0 {
		sec.Figures = []plot.Figure{f}
	}
	return sec
}

// fastest returns the fastest other library on the same matrix with the same number of threads.
func fastest(theirs []bench.PeerTime, own bench.PeerTime) (best bench.PeerTime, ok bool) {
	same := slices.DeleteFunc(slices.Clone(theirs), func(t bench.PeerTime) bool {
		return t.Matrix != own.Matrix || t.Threads != own.Threads
	})
	if len(same) == 0 {
		return best, false
	}
	return slices.MinFunc(same, func(a, b bench.PeerTime) int { return cmp.Compare(a.Seconds, b.Seconds) }), true
}
