package main

import (
	"fmt"
	"io"
	"os"
	"time"
	"unicode/utf8"

	pages "github.com/msrep-go/msrep/internal/bench/report"
)

// printTables prints the texts and tables of the report, without figures.
func printTables(w io.Writer, p *pages.Page) error {
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
func printTable(w io.Writer, t pages.Table) {
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

// progress shows the progress of a long run on a terminal.
type progress struct {
	w     io.Writer // nil shows nothing
	begin time.Time
}

func newProgress(w io.Writer, quiet bool) *progress {
	f, ok := w.(*os.File)
	if !ok || quiet {
		return &progress{}
	}
	if st, err := f.Stat(); err != nil || st.Mode()&os.ModeCharDevice == 0 {
		return &progress{}
	}
	return &progress{w: w}
}

// step replaces the line: done of total steps, the remaining time at the average pace, and the next step. A call with
// done = 0 restarts the clock.
func (p *progress) step(done, total int, what string) {
	if p.w == nil {
		return
	}
	if done == 0 {
		p.begin = time.Now()
	}
	left := "?"
	if done > 0 {
		left = (time.Since(p.begin) / time.Duration(done) * time.Duration(max(total-done, 0))).Round(time.Second).String()
	}
	p.show("[%d/%d] %s left  %.90s", done, total, left, what)
}

// show replaces the line.
func (p *progress) show(format string, args ...any) {
	if p.w != nil {
		fmt.Fprintf(p.w, "\r\x1b[K"+format, args...)
	}
}

// end clears the line.
func (p *progress) end() {
	if p.w != nil {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
