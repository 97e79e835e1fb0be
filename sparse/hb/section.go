package hb

import (
	"bytes"
	"errors"
	"io"

	"github.com/msrep-go/msrep/internal/number"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

// section is the part of a file that holds n numbers of one format: pointers,
// indices or values.
type section[T any] struct {
	*text
	what   string // one of the numbers: "column pointer"
	n      int64
	format *layout
	parse  func(b []byte, f *field, line int64) (T, error) // b is trimmed and not empty
}

// piece is a block of whole lines for one worker.
type piece struct {
	lines []byte
	line  int64 // number of the line before the first one
	first int64 // position of its first number in the section
	n     int64 // how many numbers must stand in it
	fault error
}

// read takes the lines of the section. Pieces of them are parsed by all
// processors while the next ones are being read. place gives room for the next n
// numbers, for which there is at least one byte of text each.
func (s *section[T]) read(place func(n int64) ([]T, error)) error {
	for done := int64(0); done < s.n; {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		line := s.line
		block, _, err := s.take(s.format.lines(s.n - done))
		if err == io.EOF {
			return sparse.InputLinef(s.name, s.line, "the file ends after %d of %d numbers (%s): it is truncated, or its header is wrong", done, s.n, s.what)
		}
		if err != nil {
			return err
		}
		pieces := s.cut(block, line, done)
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

// cut makes pieces of about equal size of a block. Where a piece has too few
// bytes for its numbers it is the last one: parsing it finds the fault.
func (s *section[T]) cut(block []byte, line, first int64) []piece {
	const smallest = 16 << 10
	size := max(len(block)/workers(), smallest)
	var pieces []piece
	for len(block) > 0 {
		end := len(block)
		if size < end {
			if i := bytes.IndexByte(block[size:], '\n'); i >= 0 {
				end = size + i + 1
			}
		}
		p := piece{lines: block[:end], line: line, first: first}
		lines := countLines(p.lines)
		p.n = min(lines*int64(len(s.format.fields)), s.n-first)
		pieces = append(pieces, p)
		if !p.possible() {
			break
		}
		block, line, first = block[end:], line+lines, first+p.n
	}
	return pieces
}

// possible reports whether the lines have a byte for each number.
func (p *piece) possible() bool { return p.n <= int64(len(p.lines)) }

// fill parses the numbers of p into to. With a nil to it only looks for the
// fault.
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
				return sparse.InputLinef(s.name, line, "columns %d to %d are blank where a %s must stand (number %d of %d, format %s)",
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
			return sparse.InputLinef(s.name, line, "%q stands after column %d, where the numbers of this line end (%s, format %s)",
				clip(string(bytes.TrimSpace(row[end:]))), end, s.what, s.format.text)
		}
	}
	return nil
}

// explain makes the error for a field that cannot be parsed.
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
