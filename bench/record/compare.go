package record

import "github.com/msrep-go/msrep/bench/measure"

// Change is one row beside the same row of an earlier run.
type Change struct {
	Row    string          `json:"row"`
	Before measure.Summary `json:"before"`
	After  measure.Summary `json:"after"`
	measure.Comparison
}

// Comparison of two runs.
type Comparison struct {
	Changes []Change `json:"changes"`
	// Skipped counts rows that were too short to compare: less than Floor seconds,
	// where the clock and the wake-up of threads are most of the time.
	Skipped int      `json:"skipped"`
	OnlyOld []string `json:"only_before"`
	OnlyNew []string `json:"only_after"`
	Same    int      `json:"no_difference"`
	Slower  int      `json:"slower"`
	Faster  int      `json:"faster"`
}

// Floor is the least median, in seconds, of rows that are compared.
const Floor = 20e-6

// Merge makes one record of several runs of the same program: of each measured row,
// one sample for each run, its lower quartile. What differs from start to start and
// from minute to minute, which samples of a single run cannot show, then takes part
// in the comparison; and what else runs on the machine, which only adds time, does
// not count much. A single run is left as it is.
func Merge(runs []*Record) *Record {
	if len(runs) == 1 {
		return runs[0]
	}
	out := *runs[0]
	out.Rows = nil
	samples := map[string][]float64{}
	for _, r := range runs {
		for _, row := range r.Rows {
			if row.Source == Measured && row.N > 0 {
				samples[row.Key()] = append(samples[row.Key()], measure.LowerQuartile(row.Samples))
			}
		}
	}
	for _, row := range runs[0].Rows {
		if s := samples[row.Key()]; len(s) > 0 {
			out.Add(row.Experiment, row.Case, row.Quantity, s)
			delete(samples, row.Key())
		}
	}
	return &out
}

// Compare sets the measured rows of two runs beside each other by their names.
func Compare(before, after *Record, judge measure.Judge) Comparison {
	var c Comparison
	old := map[string]Row{}
	for _, r := range before.Rows {
		if r.Source == Measured {
			old[r.Key()] = r
		}
	}
	for _, r := range after.Rows {
		if r.Source != Measured {
			continue
		}
		b, ok := old[r.Key()]
		delete(old, r.Key())
		switch {
		case !ok:
			c.OnlyNew = append(c.OnlyNew, r.Key())
		case b.Median < Floor && r.Median < Floor || b.Min == 0 || r.Min == 0:
			c.Skipped++
		default:
			c.add(Change{Row: r.Key(), Before: b.Summary, After: r.Summary, Comparison: judge.Compare(b.Samples, r.Samples)})
		}
	}
	for _, r := range before.Rows {
		if _, ok := old[r.Key()]; ok {
			c.OnlyOld = append(c.OnlyOld, r.Key())
		}
	}
	return c
}

func (c *Comparison) add(ch Change) {
	c.Changes = append(c.Changes, ch)
	switch ch.Verdict {
	case measure.Slower:
		c.Slower++
	case measure.Faster:
		c.Faster++
	default:
		c.Same++
	}
}
