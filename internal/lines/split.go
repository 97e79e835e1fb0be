package lines

import (
	"bytes"
	"io"
)

// chunkSize is how many bytes are read and parsed at a time. It holds several
// lines of any length that is allowed.
const chunkSize = 1 << 20

// Chunk is a run of whole lines.
type Chunk struct {
	Data  []byte // every line ends with \n, the last one of the file too
	Line  int64  // number of the first line, from 1 on
	Count int    // lines
}

// splitter reads a text in chunks.
type splitter struct {
	name string
	in   io.Reader
	line int64  // number of the next line
	part []byte // the line that the last chunk ended within
	err  error  // that ended the text
}

// next reads a chunk into buf, which has chunkSize bytes. Its error, io.EOF at
// the end, comes with the last chunk, which may be empty.
func (s *splitter) next(buf []byte) (Chunk, error) {
	n := copy(buf, s.part)
	s.part = s.part[:0]
	for stalls := 0; n < len(buf)-1 && s.err == nil; { // one byte stays for a missing line end
		k, err := s.in.Read(buf[n : len(buf)-1])
		n += k
		if stalls++; k > 0 {
			stalls = 0
		}
		if err == nil && stalls == 100 {
			err = io.ErrNoProgress
		}
		s.err = readError(s.name, err)
	}
	if s.err == io.EOF && n > 0 && buf[n-1] != '\n' {
		buf[n] = '\n'
		n++
	}
	end := bytes.LastIndexByte(buf[:n], '\n') + 1
	c := Chunk{Data: buf[:end], Line: s.line, Count: bytes.Count(buf[:end], []byte{'\n'})}
	if at := longLine(buf[:n]); at >= 0 {
		// The lines before it are still to be parsed: they may hold an earlier fault.
		c.Data = buf[:at]
		c.Count = bytes.Count(c.Data, []byte{'\n'})
		s.err = tooLong(s.name, s.line+int64(c.Count))
		return c, s.err
	}
	s.part = append(s.part, buf[end:n]...)
	s.line += int64(c.Count)
	return c, s.err
}

// longLine is where the first line of more than MaxLine bytes begins, -1 if
// there is none. It looks at the last bytes of each stretch only.
func longLine(b []byte) int {
	const window = MaxLine + 2 // with \r\n
	start := 0
	for len(b)-start >= window {
		w := b[start : start+window]
		end := bytes.LastIndexByte(w, '\n')
		if end < 0 || end == window-1 && bytes.IndexByte(w, '\n') == end && w[end-1] != '\r' {
			return start
		}
		start += end + 1
	}
	return -1
}
