package record

import (
	"fmt"
	"slices"
	"strings"

	"github.com/msrep-go/msrep/internal/bench/measure"
)

// Change compares one row with the same row of an earlier run.
type Change struct {
	Row    string          `json:"row"`
	Before measure.Summary `json:"before"`
	After  measure.Summary `json:"after"`
	measure.Comparison
}

// Comparison compares two runs.
type Comparison struct {
	// Unlike lists the differences between the runs other than the program: the machine, the command. The ratios
	// include their effect.
	Unlike  []string `json:"unlike"`
	Changes []Change `json:"changes"`
	// Skipped counts the rows that are too short to compare: below Floor seconds, the clock and the wake-up of
	// threads take most of the time.
	Skipped int      `json:"skipped"`
	OnlyOld []string `json:"only_before"`
	OnlyNew []string `json:"only_after"`
	Same    int      `json:"no_difference"`
	Slower  int      `json:"slower"`
	Faster  int      `json:"faster"`
	// Overall compares all rows at once if both sides merge several runs. For each run it takes the median over the
	// rows of the row's time divided by the row's usual time. It finds a small change of all rows that no single row
	// shows. With the same number of runs on both sides, run alternately, it compares the runs in pairs
	// (measure.Judge.ComparePaired), which removes changes of the machine between the pairs.
	Overall *measure.Comparison `json:"overall,omitempty"`
}

// Floor is the least median, in seconds, of a row that is compared.
const Floor = 20e-6

// leastPairs is the least number of runs that are compared in pairs: with fewer the interval would be unbounded at 99
// %.
const leastPairs = 8

// Merge combines several runs of the same program into one record. Each measured row gets one sample from each run:
// the lower quartile, which other load on the machine, which only adds time, affects little. The comparison then
// includes the differences between starts, which the samples of one run cannot show. A single run is returned
// unchanged.
func Merge(runs []*Record) *Record {
	if len(runs) == 1 {
		return runs[0]
	}
	out := *runs[0]
	out.Rows, out.Runs, out.at = nil, len(runs), nil
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

// Compare compares the measured rows of two runs by name.
func Compare(before, after *Record, judge measure.Judge) Comparison {
	c := Comparison{Unlike: unlike(before, after), Changes: []Change{}, OnlyOld: []string{}, OnlyNew: []string{}} // empty lists, not null, in JSON
	old := map[string]Row{}
	var rows [][2][]float64
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
			rows = append(rows, [2][]float64{b.Samples, r.Samples})
			c.add(Change{Row: r.Key(), Before: b.Summary, After: r.Summary, Comparison: judge.Compare(b.Samples, r.Samples)})
		}
	}
	for _, r := range before.Rows {
		if _, ok := old[r.Key()]; ok {
			c.OnlyOld = append(c.OnlyOld, r.Key())
		}
	}
	if before.Runs > 0 && after.Runs > 0 {
		c.Overall = overall(rows, before.Runs, after.Runs, judge)
	}
	return c
}

// unlike lists the differences between two runs other than the program.
func unlike(before, after *Record) []string {
	m, n := before.Machine, after.Machine
	out := []string{}
	for _, v := range []struct{ what, before, after string }{
		{"processor", m.CPU, n.CPU},
		{"cores", fmt.Sprint(m.Cores), fmt.Sprint(n.Cores)},
		{"threads", fmt.Sprint(m.Threads), fmt.Sprint(n.Threads)},
		{"kernels", m.Kernels, n.Kernels},
		{"governor", m.Governor, n.Governor},
		{"GPUs", strings.Join(m.GPUs, ", "), strings.Join(n.GPUs, ", ")},
		{"driver", m.Driver, n.Driver},
		{"CUDA", m.CUDA.Driver, n.CUDA.Driver},
		{"system", m.OS + " " + m.Kernel, n.OS + " " + n.Kernel},
		{"command", strings.Join(before.Command, " "), strings.Join(after.Command, " ")},
	} {
		if v.before != "" && v.after != "" && v.before != v.after { // "" is unknown
			out = append(out, fmt.Sprintf("%s: %s before, %s after", v.what, v.before, v.after))
		}
	}
	return out
}

// overall compares runs by the medians of their rows. It returns nil if no row has a sample of every run.
func overall(rows [][2][]float64, before, after int, judge measure.Judge) *measure.Comparison {
	of := [2][][]float64{make([][]float64, before), make([][]float64, after)} // by run
	for _, row := range rows {
		if len(row[0]) != before || len(row[1]) != after {
			continue
		}
		usual := measure.Summarize(slices.Concat(row[0], row[1])).Median
		for side := range row {
			for run, v := range row[side] {
				of[side][run] = append(of[side][run], v/usual)
			}
		}
	}
	if len(of[0][0]) == 0 {
		return nil
	}
	var medians [2][]float64
	for side := range of {
		for _, v := range of[side] {
			medians[side] = append(medians[side], measure.Summarize(v).Median)
		}
	}
	c := judge.Compare(medians[0], medians[1])
	if before == after && before >= leastPairs {
		c = judge.ComparePaired(medians[0], medians[1])
	}
	return &c
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
