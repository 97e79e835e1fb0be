package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

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
	fmt.Fprintf(p.w, "\r\x1b[K[%d/%d] %s left  %.90s", done, total, left, what)
}

// end clears the line.
func (p *progress) end() {
	if p.w != nil {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
