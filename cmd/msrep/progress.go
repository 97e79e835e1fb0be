package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/msrep-go/msrep/internal/fileio"
)

// Times of the progress line.
const (
	showAfter = 2 * time.Second        // a command that ends earlier has no line
	showEvery = 200 * time.Millisecond // between two changes of the line
)

// progress is a line on a terminal that says what a command does and how long it will take. It is rewritten in place
// and erased at the end. The methods may be called from several goroutines, and on nil.
type progress struct {
	w     io.Writer // nil shows nothing
	width int       // columns of the terminal

	mu      sync.Mutex
	created time.Time
	begin   time.Time // of the work that step counts
	text    func(took time.Duration) string
	since   time.Time // when text was set
	drawn   bool
	ticker  chan struct{} // closed by end; nil before the first text
}

// newProgress returns a line on w if w is a terminal and quiet is not set. It ends the line that was made before.
func newProgress(w io.Writer, quiet bool) *progress {
	if quiet || !isTerminal(w) {
		return &progress{}
	}
	width, _ := fileio.TerminalWidth(w.(*os.File))
	p := &progress{w: w, width: width, created: time.Now()}
	lastLine.Swap(p).end()
	return p
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if ok {
		_, ok = fileio.TerminalWidth(f)
	}
	return ok
}

// step shows done of total steps, the remaining time at the average pace, and the next step. A call with done = 0
// restarts the clock.
func (p *progress) step(done, total int, what string) {
	if p == nil || p.w == nil {
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

// show sets the text of the line. After two seconds without another text, the time since then stands behind it.
func (p *progress) show(format string, args ...any) {
	if p == nil || p.w == nil {
		return
	}
	text := fmt.Sprintf(format, args...)
	p.set(func(took time.Duration) string {
		if took < showAfter {
			return text
		}
		return text + ", " + rounded(took)
	})
}

// doing shows what the command does from now on, and how far it is: part returns a number from 0 to 1, or less than 0
// where that is not known. part may be nil.
func (p *progress) doing(what string, part func() float64) {
	if p == nil || p.w == nil {
		return
	}
	p.set(func(took time.Duration) string {
		if part == nil {
			return fmt.Sprintf("%s, %s", what, rounded(took))
		}
		return fmt.Sprintf("%s, %s", what, share(took, part()))
	})
}

// share says how far work is that took some time for a part, and the time left at this pace.
func share(took time.Duration, part float64) string {
	if !(part > 0 && part < 1) {
		return rounded(took)
	}
	return fmt.Sprintf("%.0f %%, %s left", 100*part, rounded(time.Duration(took.Seconds()*(1-part)/part*1e9)))
}

// due reports whether the line is shown and its text is so old that another may replace it. It is cheap where no line
// is shown, so a method may ask after each iteration.
func (p *progress) due() bool {
	if p == nil || p.w == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Since(p.since) >= showEvery
}

// converging shows an iteration, counted from 1, with its residual, and the time left if the residual goes on falling to
// tol at the mean rate since begin.
func (p *progress) converging(what string, begin time.Time, iteration int, residual, tol float64) {
	rate, left := math.Pow(residual, 1/float64(iteration)), "?"
	if rate < 1 && residual > tol {
		each := time.Since(begin).Seconds() / float64(iteration)
		left = rounded(time.Duration(min(each*math.Log(tol/residual)/math.Log(rate), 1e9) * 1e9))
	}
	p.show("%s, %s left, iteration %d, residual %.2e, rate %.3f", what, left, iteration, residual, rate)
}

// rounded formats a time in whole seconds.
func rounded(d time.Duration) string { return d.Round(time.Second).String() }

// set replaces the text.
func (p *progress) set(text func(took time.Duration) string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text, p.since = text, time.Now()
	if p.ticker == nil {
		p.ticker = make(chan struct{})
		go p.redraw(p.ticker)
	}
}

// redraw draws the line again and again until stop is closed.
func (p *progress) redraw(stop chan struct{}) {
	t := time.NewTicker(showEvery)
	defer t.Stop()
	for {
		select {
		case <-stop:
			return
		case <-t.C:
			p.mu.Lock()
			if p.ticker == stop {
				p.draw(time.Now())
			}
			p.mu.Unlock()
		}
	}
}

// draw writes the line if it is time for it.
func (p *progress) draw(now time.Time) {
	if now.Sub(p.created) < showAfter || p.text == nil {
		return
	}
	line := []rune(p.text(now.Sub(p.since)))
	if most := p.width - 1; most > 0 && len(line) > most { // a longer line would wrap and stay
		line = line[:most]
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s", string(line))
	p.drawn = true
}

// erase removes the line until it is drawn again, so that a message can be printed.
func (p *progress) erase() {
	if p == nil || p.w == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}

func (p *progress) clear() {
	if p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.drawn = false
	}
}

// end erases the line and stops drawing it.
func (p *progress) end() {
	if p == nil || p.w == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = nil
	p.clear()
	if p.ticker != nil {
		close(p.ticker)
		p.ticker = nil
	}
}

// lastLine is the line that was made last. A terminal shows one line.
var lastLine atomic.Pointer[progress]

// eraseLastLine erases the line on the terminal at the end of the process by a signal, unless it is being drawn.
func eraseLastLine() {
	if p := lastLine.Load(); p != nil && p.mu.TryLock() {
		p.clear()
		p.text = nil
		p.mu.Unlock()
	}
}

// count is the part of repeated work that is done, for progress.doing. The work adds to it while the line reads it.
type count struct {
	done  atomic.Int64
	total int64
}

func (c *count) part() float64 { return float64(c.done.Load()) / float64(max(c.total, 1)) }
