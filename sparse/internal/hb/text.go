package hb

import (
	"bytes"
	"context"
	"io"
	"runtime"

	"github.com/msrep-go/msrep/sparse"
)

// Sizes of the text buffers. They start small for small files and grow while more lines
// follow.
const (
	firstBuffer = 64 << 10
	maxBuffer   = 512 << 10 // for each worker
	maxLine     = 1 << 20
)

// workers returns the number of goroutines that parse: more than 16 would wait for the
// reader.
func workers() int { return min(runtime.GOMAXPROCS(0), 16) }

// text returns the lines of a file in order. It reads ahead into a second buffer, so
// lines remain valid until the second fetch after they were returned.
type text struct {
	ctx  context.Context
	r    io.Reader
	name string

	buf         []byte // bytes that were read and not yet returned; a slice of front
	front, back []byte
	err         error // why no more can be read: io.EOF or an error
	line        int64 // lines returned so far
	size        int   // size of the next buffer
}

func newText(ctx context.Context, r io.Reader, name string) *text {
	return &text{ctx: ctx, r: r, name: name, size: firstBuffer}
}

// fetch moves the remaining bytes to the other buffer and fills that buffer.
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

// whole returns the number of bytes of buf in whole lines. At the end of the file the
// last line needs no line end.
func (t *text) whole() int {
	if t.err == io.EOF {
		return len(t.buf)
	}
	return bytes.LastIndexByte(t.buf, '\n') + 1
}

// more reads until buf holds a whole line. It returns io.EOF at the end.
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

// next returns one line without its end, or io.EOF after the last line.
func (t *text) next() ([]byte, error) {
	if err := t.more(); err != nil {
		return nil, err
	}
	line, n := cutLine(t.buf)
	t.buf = t.buf[n:]
	t.line++
	return line, nil
}

// take returns up to n whole lines that are in memory, at least one, and their number. It
// returns io.EOF after the last line.
func (t *text) take(n int64) (chunk []byte, lines int64, err error) {
	if err := t.more(); err != nil {
		return nil, 0, err
	}
	chunk = t.buf[:t.whole()]
	lines = countLines(chunk)
	if lines > n {
		end := 0
		for range n {
			_, k := cutLine(chunk[end:])
			end += k
		}
		chunk, lines = chunk[:end], n
	}
	t.buf = t.buf[len(chunk):]
	t.line += lines
	return chunk, lines, nil
}

// countLines counts lines; the last one may lack a line end.
func countLines(b []byte) int64 {
	n := int64(bytes.Count(b, []byte{'\n'}))
	if len(b) > 0 && b[len(b)-1] != '\n' {
		n++
	}
	return n
}

// cutLine returns the first line of b without its end, and the number of bytes of the
// line and its end.
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

// isBlank reports whether a line holds only white space or the end mark of old DOS editors.
func isBlank(line []byte) bool {
	return len(bytes.Trim(line, " \t\r\v\f\x1a")) == 0
}
