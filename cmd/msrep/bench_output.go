package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/msrep-go/msrep/internal/bench/measure"
	"github.com/msrep-go/msrep/internal/bench/record"
	"github.com/msrep-go/msrep/internal/fileio"
	"github.com/msrep-go/msrep/internal/plot"
	"github.com/msrep-go/msrep/sparse"
)

// printTables prints the texts and tables of the report, without figures.
func printTables(w io.Writer, p *plot.Page) error {
	for _, s := range p.Sections {
		fmt.Fprintf(w, "%s\n", s.Title)
		for _, text := range s.Intro {
			fmt.Fprintf(w, "  %s\n", text)
		}
		for _, t := range s.Tables {
			if t.Fold {
				continue // only in the report
			}
			printTable(w, t)
		}
		for _, r := range s.Remarks {
			fmt.Fprintf(w, "  - %s\n", r)
		}
		fmt.Fprintln(w)
	}
	_, err := fmt.Fprintln(w, "--out DIR writes figures and a report.")
	return err
}

// prose is the number of characters from which a cell counts as text. A column with text is not aligned.
const prose = 40

// printTable aligns the first column to the left and the others to the right.
func printTable(w io.Writer, t plot.Table) {
	fmt.Fprintf(w, "\n%s", t.Title)
	if t.Origin != "" {
		fmt.Fprintf(w, " (%s)", t.Origin)
	}
	fmt.Fprintln(w)
	rows := append([][]string{t.Header}, t.Rows...)
	var width []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(width) {
				width = append(width, 10) // 0 for a column with text
			}
			switch n := utf8.RuneCountInString(cell); {
			case n >= prose:
				width[i] = 0
			case width[i] > 0:
				width[i] = max(width[i], n)
			}
		}
	}
	for _, row := range rows {
		for i, cell := range row {
			if i == 0 {
				fmt.Fprintf(w, "  %-*s", max(28, width[0]), cell)
			} else {
				fmt.Fprintf(w, " %*s", width[i], cell)
			}
		}
		fmt.Fprintln(w)
	}
}

// compare prints the differences between two runs.
func (b *benchmark) compare() error {
	if len(b.args) != 3 {
		return usageError("compare takes two files: msrep bench compare BEFORE/results.json AFTER/results.json")
	}
	before, err := readRuns(b.args[1])
	if err != nil {
		return err
	}
	after, err := readRuns(b.args[2])
	if err != nil {
		return err
	}
	c := record.Compare(before, after, measure.DefaultJudge())
	if len(c.Changes)+c.Skipped == 0 {
		return sparse.Inputf(b.args[2], "has no measured time in common with %s", b.args[1])
	}
	if b.json {
		err = b.printJSON(c)
	} else {
		err = printComparison(b.stdout, c)
	}
	if slower := c.Overall != nil && c.Overall.Verdict == measure.Slower; err == nil && b.failSlower && (c.Slower > 0 || slower) {
		err = fmt.Errorf("slower: %d rows, all together %t", c.Slower, slower)
	}
	return err
}

// readRuns reads one run, or several of one program separated by commas.
func readRuns(paths string) (*record.Record, error) {
	var runs []*record.Record
	for path := range strings.SplitSeq(paths, ",") {
		if st, err := os.Stat(path); err == nil && st.IsDir() { // a folder that --out wrote
			path = fileio.Inside(path, "results.json")
		}
		r, err := record.Read(path)
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	return record.Merge(runs), nil
}

// interval formats a ratio with its confidence interval and verdict.
func interval(c measure.Comparison) string {
	if c.High == math.MaxFloat64 {
		return fmt.Sprintf("%8.3f  %-18s  %-13s", c.Ratio, "(too few samples)", c.Verdict)
	}
	return fmt.Sprintf("%8.3f  (%6.3f to %6.3f)  %-13s", c.Ratio, c.Low, c.High, c.Verdict)
}

func printComparison(w io.Writer, c record.Comparison) error {
	for _, what := range c.Unlike {
		fmt.Fprintf(w, "differs: %s\n", what)
	}
	fmt.Fprintln(w, "after/before  (interval)         verdict        before, s   after, s   row")
	for _, ch := range c.Changes {
		fmt.Fprintf(w, "%s  %.3e  %.3e  %s\n", interval(ch.Comparison), ch.Before.Median, ch.After.Median, ch.Row)
	}
	for _, name := range c.OnlyOld {
		fmt.Fprintf(w, "only before: %s\n", name)
	}
	for _, name := range c.OnlyNew {
		fmt.Fprintf(w, "only after: %s\n", name)
	}
	if o := c.Overall; o != nil {
		fmt.Fprintf(w, "%s  all rows together\n", interval(*o))
	}
	j := measure.DefaultJudge()
	_, err := fmt.Fprintf(w, "%d no difference, %d slower, %d faster; %d too short to compare (below %.0f us). A row is slower or faster if its %.0f %% interval lies wholly beyond %.0f %%.\n",
		c.Same, c.Slower, c.Faster, c.Skipped, 1e6*record.Floor, 100*j.Confidence, 100*j.Tolerance)
	return err
}
