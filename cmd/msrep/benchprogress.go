package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

// progress shows how far a long run is, on a terminal only.
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

// step shows a line over the last one: done of total steps, the time that is left
// if steps go on as they did, and what comes now. Counting begins anew with 0.
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
