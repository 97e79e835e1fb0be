package lines

import (
	"bytes"
	"io"
)

// chunkSize is the number of bytes that are read and parsed at a time. It is several
// times MaxLine.
const chunkSize = 1 << 20

// Chunk is a sequence of whole lines.
type Chunk struct {
	Data  []byte // every line ends with \n, even the last one of the file
	Line  int64  // number of the first line, from 1
	Count int    // number of lines
}

// splitter reads a text in chunks.
type splitter struct {
	name string
	in   io.Reader
	line int64  // number of the next line
	part []byte // start of the line after the last chunk
	err  error  // error that ended the text
}

// next reads a chunk into buf, which has chunkSize bytes. With the last chunk, which may
// be empty, it returns an error: io.EOF at the end of the text.
func (s *splitter) next(buf []byte) (Chunk, error) {
	n := copy(buf, s.part)
	s.part = s.part[:0]
	for stalls := 0; n < len(buf)-1 && s.err == nil; { // one byte is reserved for a missing line end
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
		// Return the lines before it: they may hold an earlier error.
		c.Data = buf[:at]
		c.Count = bytes.Count(c.Data, []byte{'\n'})
		s.err = tooLong(s.name, s.line+int64(c.Count))
		return c, s.err
	}
	s.part = append(s.part, buf[end:n]...)
	s.line += int64(c.Count)
	return c, s.err
}

// longLine returns the index of the first line of more than MaxLine bytes, or -1. It
// looks only at the end of each window of MaxLine bytes.
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
