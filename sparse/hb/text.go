package hb

import (
	"bytes"
	"context"
	"io"
	"runtime"

	"github.com/msrep-go/msrep/sparse"
)

// Sizes of the text buffers. They begin small, for small files, and grow while
// lines go on coming.
const (
	firstBuffer = 64 << 10
	maxBuffer   = 512 << 10 // for each worker
	maxLine     = 1 << 20
)

// workers is how many goroutines parse: more than 16 would wait for the reader.
func workers() int { return min(runtime.GOMAXPROCS(0), 16) }

// text hands out the lines of a file in order. It reads ahead into a second
// buffer, so that lines handed out stay valid until the next fetch but one.
type text struct {
	ctx  context.Context
	r    io.Reader
	name string

	buf         []byte // read and not handed out; lies in front
	front, back []byte
	err         error // why no more can be read: io.EOF or a fault
	line        int64 // lines handed out
	size        int   // of the next buffer
}

func newText(ctx context.Context, r io.Reader, name string) *text {
	return &text{ctx: ctx, r: r, name: name, size: firstBuffer}
}

// fetch moves what is left to the other buffer and fills that up.
func (t *text) fetch() {
	if t.err != nil {
		return
	}
	if t.err = t.ctx.Err(); t.err != nil {
		return
	}
	size := max(t.size, len(t.buf)+firstBuffer)
	next := t.back
	if cap(next) < size {
		next = make([]byte, 0, size)
	}
	next = append(next[:0], t.buf...)
	for len(next) < cap(next) && t.err == nil {
		var n int
		n, t.err = t.r.Read(next[len(next):cap(next)])
		next = next[:len(next)+n]
	}
	if t.err != nil && t.err != io.EOF && !sparse.IsInput(t.err) {
		t.err = &sparse.InputError{Subject: t.name, Msg: "cannot be read", Err: t.err}
	}
	t.front, t.back = next, t.front
	t.buf = next
	t.size = min(t.size*4, maxBuffer*workers())
}

// whole is how many bytes of buf are whole lines. At the end of the file the
// last line needs no line end.
func (t *text) whole() int {
	if t.err == io.EOF {
		return len(t.buf)
	}
	return bytes.LastIndexByte(t.buf, '\n') + 1
}

// more makes sure that a whole line is in buf. It gives io.EOF at the end.
func (t *text) more() error {
	for t.whole() == 0 {
		switch {
		case t.err != nil:
			return t.err
		case len(t.buf) > maxLine:
			return sparse.InputLinef(t.name, t.line+1, "a line of more than %d bytes: this is not a Harwell-Boeing or Rutherford-Boeing file", maxLine)
		}
		t.fetch()
	}
	return nil
}

// next hands out one line without its end. It gives io.EOF after the last.
func (t *text) next() ([]byte, error) {
	if err := t.more(); err != nil {
		return nil, err
	}
	line, n := cutLine(t.buf)
	t.buf = t.buf[n:]
	t.line++
	return line, nil
}

// take hands out up to n whole lines, as many as are in memory, and their
// number: at least one. It gives io.EOF after the last line.
func (t *text) take(n int64) (block []byte, lines int64, err error) {
	if err := t.more(); err != nil {
		return nil, 0, err
	}
	block = t.buf[:t.whole()]
	lines = countLines(block)
	if lines > n {
		end := 0
		for range n {
			_, k := cutLine(block[end:])
			end += k
		}
		block, lines = block[:end], n
	}
	t.buf = t.buf[len(block):]
	t.line += lines
	return block, lines, nil
}

// countLines counts lines, the last one with or without a line end.
func countLines(b []byte) int64 {
	n := int64(bytes.Count(b, []byte{'\n'}))
	if len(b) > 0 && b[len(b)-1] != '\n' {
		n++
	}
	return n
}

// cutLine is the first line of b without its end, and how many bytes it takes
// with it.
func cutLine(b []byte) (line []byte, n int) {
	line, n = b, len(b)
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		line, n = b[:i], i+1
	}
	if len(line) > 0 && line[len(line)-1] == '\r' {
		line = line[:len(line)-1]
	}
	return line, n
}

// isBlank reports whether a line holds nothing but white space or the end mark
// of old DOS editors.
func isBlank(line []byte) bool {
	return len(bytes.Trim(line, " \t\r\v\f\x1a")) == 0
}
