package hb

import (
	"bytes"
	"errors"
	"io"

	"github.com/msrep-go/msrep/internal/number"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

// section is a part of a file that holds n numbers of one format: pointers, indices or
// values.
type section[T any] struct {
	*text
	what   string // name of one number, such as "column pointer"
	n      int64
	format *layout
	parse  func(b []byte, f *field, line int64) (T, error) // b is trimmed and not empty
}

// piece is a range of whole lines for one worker.
type piece struct {
	lines []byte
	line  int64 // number of the line before the first one
	first int64 // position of its first number in the section
	n     int64 // number of numbers that it must hold
	fault error
}

// read reads the lines of the section. All processors parse pieces of them while the next
// ones are read. place returns memory for the next n numbers, for which the text has at
// least n bytes.
func (s *section[T]) read(place func(n int64) ([]T, error)) error {
	for done := int64(0); done < s.n; {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		line := s.line
		chunk, _, err := s.take(s.format.lines(s.n - done))
		if err == io.EOF {
			return sparse.InputLinef(s.name, s.line, "the file ends after %d of %d numbers (%s): it is truncated, or its header is wrong", done, s.n, s.what)
		}
		if err != nil {
			return err
		}
		pieces := s.cut(chunk, line, done)
		last := pieces[len(pieces)-1]
		end := last.first
		if last.possible() {
			end += last.n
		}
		to, err := place(end - done)
		if err != nil {
			return &sparse.InputError{Subject: s.name, Line: line, Err: err}
		}
		par.Do(len(pieces)+1, func(i int) {
			if i == len(pieces) {
				if s.whole() == 0 {
					s.fetch()
				}
				return
			}
			p := &pieces[i]
			if p.possible() {
				p.fault = s.fill(p, to[p.first-done:p.first-done+p.n])
			} else {
				p.fault = s.fill(p, nil)
			}
		})
		for i := range pieces {
			if pieces[i].fault != nil {
				return pieces[i].fault
			}
		}
		done = end
	}
	return nil
}

// cut divides a chunk into pieces of about equal size. It stops at a piece with too few
// bytes for its numbers; parsing that piece finds the error.
func (s *section[T]) cut(chunk []byte, line, first int64) []piece {
	const smallest = 16 << 10
	size := max(len(chunk)/workers(), smallest)
	var pieces []piece
	for len(chunk) > 0 {
		end := len(chunk)
		if size < end {
			if i := bytes.IndexByte(chunk[size:], '\n'); i >= 0 {
				end = size + i + 1
			}
		}
		p := piece{lines: chunk[:end], line: line, first: first}
		lines := countLines(p.lines)
		p.n = min(lines*int64(len(s.format.fields)), s.n-first)
		pieces = append(pieces, p)
		if !p.possible() {
			break
		}
		chunk, line, first = chunk[end:], line+lines, first+p.n
	}
	return pieces
}

// possible reports whether the lines have at least one byte for each number.
func (p *piece) possible() bool { return p.n <= int64(len(p.lines)) }

// fill parses the numbers of p into to. If to is nil it only looks for the error.
func (s *section[T]) fill(p *piece, to []T) error {
	lines, line, k := p.lines, p.line, int64(0)
	for k < p.n {
		row, size := cutLine(lines)
		cutOff := size == len(lines) && lines[size-1] != '\n'
		lines, line = lines[size:], line+1
		fields := s.format.fields
		if rest := p.n - k; rest < int64(len(fields)) {
			fields = fields[:rest]
		}
		for i := range fields {
			f := &fields[i]
			b := trim(row[min(f.start, len(row)):min(f.end, len(row))])
			if len(b) == 0 {
				return sparse.InputLinef(s.name, line, "columns %d to %d are blank where a %s is expected (number %d of %d, format %s)",
					f.start+1, f.end, s.what, p.first+k+1, s.n, s.format.text)
			}
			if cutOff && f.end > len(row) {
				return sparse.InputLinef(s.name, line, "the file ends inside number %d of %d (%s, columns %d to %d): it is truncated",
					p.first+k+1, s.n, s.what, f.start+1, f.end)
			}
			v, err := s.parse(b, f, line)
			if err != nil {
				return s.explain(err, line, b, f)
			}
			if to != nil {
				to[k] = v
			}
			k++
		}
		if end := fields[len(fields)-1].end; end < len(row) && !isBlank(row[end:]) {
			return sparse.InputLinef(s.name, line, "%q follows column %d, where the numbers of this line end (%s, format %s)",
				clip(string(bytes.TrimSpace(row[end:]))), end, s.what, s.format.text)
		}
	}
	return nil
}

// explain returns the error for a field that cannot be parsed.
func (s *section[T]) explain(err error, line int64, b []byte, f *field) error {
	switch {
	case errors.Is(err, number.ErrSyntax):
		kind := "a number"
		if f.kind == 'I' {
			kind = "an integer"
		}
		return sparse.InputLinef(s.name, line, "%q in columns %d to %d is not %s (%s, format %s)",
			clip(string(b)), f.start+1, f.end, kind, s.what, s.format.text)
	case errors.Is(err, number.ErrRange):
		return sparse.InputLinef(s.name, line, "%q in columns %d to %d is too large (%s)", clip(string(b)), f.start+1, f.end, s.what)
	}
	return sparse.InputLinef(s.name, line, "columns %d to %d: %v", f.start+1, f.end, err)
}
