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
