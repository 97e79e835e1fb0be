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

// MaxLine is the largest number of bytes in a line, without its end.
const MaxLine = 1 << 16

// Reader reads a text line by line.
type Reader struct {
	name string
	in   *bufio.Reader
	back []byte // line that Next returns again, or nil
	last []byte // last line that Next returned, with its end
	line int64  // number of that line
}

// NewReader returns a Reader of r. name stands for the file in errors.
func NewReader(r io.Reader, name string) *Reader {
	return &Reader{name: name, in: bufio.NewReaderSize(r, MaxLine+2)}
}

// Next returns the next line without its end. The line is valid until the next call. At
// the end of the text the error is io.EOF. Next skips a UTF-8 byte order mark at the
// start. A line longer than MaxLine, and any error of reading, gives an
// *sparse.InputError.
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

// Skip skips lines that begin with one of marks, such as comments. It is faster than
// Next, but may leave some of these lines to Next.
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
		_, _ = r.in.Discard(n) // cannot fail: the bytes are buffered
	}
}

// Line returns the number of the last line that Next returned, from 1.
func (r *Reader) Line() int64 { return r.line }

// Unread makes Next return its last line again.
func (r *Reader) Unread() {
	r.back = slices.Clone(r.last)
	r.line--
}

// Peek returns the next n bytes without reading them, or fewer if the text ends. It must
// be called before the first call of Next.
func (r *Reader) Peek(n int) []byte {
	b, _ := r.in.Peek(n)
	return b
}

// rest returns the text after the lines that were read.
func (r *Reader) rest() io.Reader {
	if r.back == nil {
		return r.in
	}
	return io.MultiReader(bytes.NewReader(r.back), r.in)
}

// ByteOrderMark is the UTF-8 byte order mark, which some programs put at the start of a
// text. Reader skips it.
const ByteOrderMark = "\xef\xbb\xbf"

// utf16 reports whether line begins with the byte order mark of UTF-16.
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

// readError returns err, the error of a Read, as an *sparse.InputError, but io.EOF
// unchanged.
func readError(name string, err error) error {
	var in *sparse.InputError
	if err == nil || err == io.EOF || errors.As(err, &in) {
		return err
	}
	return &sparse.InputError{Subject: name, Msg: "cannot be read", Err: err}
}
