package lines

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/msrep-go/msrep/sparse"
)

// MaxLine is how many bytes a line may have, its end not counted.
const MaxLine = 1 << 16

// Reader reads a text line by line.
type Reader struct {
	name string
	in   *bufio.Reader
	back []byte // a line to be read once more, or nil
	last []byte // the line that Next gave last, with its end
	line int64  // its number
}

// NewReader makes a Reader of r. name is the file that errors name.
func NewReader(r io.Reader, name string) *Reader {
	return &Reader{name: name, in: bufio.NewReaderSize(r, MaxLine+2)}
}

// Next gives the next line without its end; it is valid until the next call. At
// the end of the text the error is io.EOF. A byte order mark of UTF-8 at the beginning is skipped. A line longer than MaxLine is an
// *sparse.InputError, like everything else that keeps the text from being read.
func (r *Reader) Next() ([]byte, error) {
	if r.back != nil {
		r.last, r.back = r.back, nil
		r.line++
		return trimEnd(r.last), nil
	}
	line, err := r.in.ReadSlice('\n')
	if r.line == 0 {
		if utf16(line) {
			return nil, sparse.InputLinef(r.name, 1, "begins with the byte order mark of UTF-16: save the text as ASCII or UTF-8")
		}
		if bytes.HasPrefix(line, []byte(ByteOrderMark)) {
			if line = line[len(ByteOrderMark):]; len(line) == 0 {
				return nil, readError(r.name, err)
			}
		}
	}
	if len(line) > 0 && (err == nil || err == io.EOF || err == bufio.ErrBufferFull) {
		r.line++
		if r.last = line; err == bufio.ErrBufferFull || len(trimEnd(line)) > MaxLine {
			return nil, tooLong(r.name, r.line)
		}
		return trimEnd(line), nil
	}
	return nil, readError(r.name, err)
}

// Skip passes over the lines that begin with one of marks, those of comments. It may leave some,
// and is there because Next takes longer.
func (r *Reader) Skip(marks string) {
	for r.back == nil {
		b, _ := r.in.Peek(max(r.in.Buffered(), 1))
		n := 0
		for n < len(b) && strings.IndexByte(marks, b[n]) >= 0 {
			end := bytes.IndexByte(b[n:], '\n')
			if end < 0 || end > MaxLine {
				break
			}
			n += end + 1
			r.line++
		}
		if n == 0 {
			return
		}
		_, _ = r.in.Discard(n) // they are buffered
	}
}

// Line is the number of the line that Next gave last, from 1 on.
func (r *Reader) Line() int64 { return r.line }

// Unread makes the line that Next gave last the next one again.
func (r *Reader) Unread() {
	r.back = slices.Clone(r.last)
	r.line--
}

// Peek gives the next n bytes without reading them, fewer where the text ends, before the first call of Next.
func (r *Reader) Peek(n int) []byte {
	b, _ := r.in.Peek(n)
	return b
}

// rest is the text after the lines that were read.
func (r *Reader) rest() io.Reader {
	if r.back == nil {
		return r.in
	}
	return io.MultiReader(bytes.NewReader(r.back), r.in)
}

// ByteOrderMark is what some programs put before a text in UTF-8. It is skipped.
const ByteOrderMark = "\xef\xbb\xbf"

// utf16 reports whether a text that begins with line has the byte order mark of UTF-16.
func utf16(line []byte) bool {
	return bytes.HasPrefix(line, []byte("\xff\xfe")) || bytes.HasPrefix(line, []byte("\xfe\xff"))
}

func trimEnd(line []byte) []byte {
	line = bytes.TrimSuffix(line, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r"))
}

func tooLong(name string, line int64) error {
	return sparse.InputLinef(name, line, "line is longer than %d bytes: this is not a text file of numbers", MaxLine)
}

// readError makes what a Read failed with an *sparse.InputError; io.EOF stays.
func readError(name string, err error) error {
	var in *sparse.InputError
	if err == nil || err == io.EOF || errors.As(err, &in) {
		return err
	}
	return &sparse.InputError{Subject: name, Msg: "cannot be read", Err: err}
}
