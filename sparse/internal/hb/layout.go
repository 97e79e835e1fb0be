package hb

import (
	"fmt"
	"strings"
)

// layout is a Fortran format: the fields of one line, from left to right.
type layout struct {
	text   string // as in the file, for messages
	fields []field
}

// field is one number of a line, in the bytes [start, end).
type field struct {
	start, end int
	kind       byte // 'I' for an integer, 'E' for any real format
	decimals   int  // the d of Ew.d
	scale      int  // the k of kP
}

// Limits on a format, far above those of real files with their 80 columns.
const (
	maxFields = 1 << 12
	maxWidth  = 1 << 16
	maxDepth  = 8
)

// lines returns the number of lines that n numbers take.
func (f *layout) lines(n int64) int64 {
	per := int64(len(f.fields))
	return n/per + (n%per+per-1)/per
}

// parseLayout parses a Fortran format such as (16I5), (1P,4D20.12) or (4(1X,E19.12)). It
// accepts the edit descriptors I, F, E, D, G, ES, EN, nX, kP and groups.
func parseLayout(text string) (*layout, error) {
	p := layoutParser{in: strings.ToUpper(strings.ReplaceAll(text, " ", ""))}
	if !p.take('(') {
		return nil, fmt.Errorf("format %q: must begin with (", clip(text))
	}
	err := p.group(1)
	if err == nil && p.at < len(p.in) {
		err = fmt.Errorf("%q follows the last )", clip(p.in[p.at:]))
	}
	if err == nil && len(p.fields) == 0 {
		err = fmt.Errorf("no number in it")
	}
	if err != nil {
		return nil, fmt.Errorf("format %q: %w", clip(text), err)
	}
	return &layout{text: text, fields: p.fields}, nil
}

type layoutParser struct {
	in     string
	at     int
	col    int // start of the next field
	scale  int // the k of the last kP
	fields []field
}

// group parses items up to the closing parenthesis.
func (p *layoutParser) group(depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("more than %d levels of parentheses", maxDepth)
	}
	for {
		if p.take(')') {
			return nil
		}
		if p.take(',') {
			continue
		}
		if p.at == len(p.in) {
			return fmt.Errorf("a ) is missing")
		}
		if err := p.item(depth); err != nil {
			return err
		}
	}
}

// item parses one edit descriptor or group with its repeat count or scale factor.
func (p *layoutParser) item(depth int) error {
	start := p.at
	negative := p.take('-')
	if !negative {
		p.take('+')
	}
	signed := p.at > start
	n, given, err := p.number()
	if err != nil {
		return err
	}
	if !given {
		n = 1
	}
	if p.take('P') {
		if !given || n > 99 {
			return fmt.Errorf("scale factor %q: must be a number from -99 to 99", clip(p.in[start:p.at]))
		}
		if negative {
			n = -n
		}
		p.scale = n
		return nil
	}
	if signed || n == 0 {
		return fmt.Errorf("%q: a repeat count must be 1 or more, without a sign", clip(p.in[start:]))
	}
	if p.take('X') {
		return p.skip(n)
	}
	if p.take('(') {
		return p.repeat(n, depth)
	}
	f, width, err := p.edit()
	if err != nil {
		return err
	}
	for range n {
		f.start = p.col
		if err := p.skip(width); err != nil {
			return err
		}
		f.end = p.col
		if p.fields = append(p.fields, f); len(p.fields) > maxFields {
			return fmt.Errorf("more than %d numbers in a line", maxFields)
		}
	}
	return nil
}

// repeat parses a group once and adds its fields n times.
func (p *layoutParser) repeat(n, depth int) error {
	if depth == 1 && p.col > 0 {
		// Fortran continues the second line with the last group, not with the start of
		// the format, so the lines would differ.
		return fmt.Errorf("a number or space before a group is not supported")
	}
	first, col := len(p.fields), p.col
	if err := p.group(depth + 1); err != nil {
		return err
	}
	last, width := len(p.fields), p.col-col
	if width == 0 {
		return nil
	}
	for range n - 1 {
		shift := p.col - col
		if err := p.skip(width); err != nil {
			return err
		}
		if len(p.fields)+last-first > maxFields {
			return fmt.Errorf("more than %d numbers in a line", maxFields)
		}
		for _, f := range p.fields[first:last] {
			f.start, f.end = f.start+shift, f.end+shift
			p.fields = append(p.fields, f)
		}
	}
	return nil
}

// edit parses Iw, Iw.m, or one of F, E, D, G, ES, EN with w.d or w.dEe.
func (p *layoutParser) edit() (f field, width int, err error) {
	start := p.at
	for p.at < len(p.in) && 'A' <= p.in[p.at] && p.in[p.at] <= 'Z' {
		p.at++
	}
	switch name := p.in[start:p.at]; name {
	case "I":
		f.kind = 'I'
	case "F", "E", "D", "G", "ES", "EN":
		f.kind, f.scale = 'E', p.scale
	default:
		return f, 0, fmt.Errorf("%q is not supported: only I, F, E, D, G, X and P are", clip(p.in[start:]))
	}
	width, given, err := p.number()
	if err == nil && (!given || width == 0) {
		err = fmt.Errorf("%q: a width of 1 or more must follow the letter", clip(p.in[start:]))
	}
	if err == nil && p.take('.') {
		if f.decimals, given, err = p.number(); err == nil && !given {
			err = fmt.Errorf("%q: digits must follow the point", clip(p.in[start:p.at]))
		}
	}
	if err == nil && f.kind == 'E' && p.take('E') {
		_, _, err = p.number()
	}
	return f, width, err
}

// number parses digits, if there are any.
func (p *layoutParser) number() (n int, given bool, err error) {
	start := p.at
	for p.at < len(p.in) && '0' <= p.in[p.at] && p.in[p.at] <= '9' {
		if n = n*10 + int(p.in[p.at]-'0'); n > maxWidth {
			return 0, true, fmt.Errorf("%q: numbers above %d are not supported", clip(p.in[start:]), maxWidth)
		}
		p.at++
	}
	return n, p.at > start, nil
}

func (p *layoutParser) skip(n int) error {
	if p.col += n; p.col > maxWidth {
		return fmt.Errorf("a line of more than %d columns", maxWidth)
	}
	return nil
}

func (p *layoutParser) take(c byte) bool {
	if p.at < len(p.in) && p.in[p.at] == c {
		p.at++
		return true
	}
	return false
}

// clip shortens text from a file for a message.
func clip(s string) string {
	const longest = 40
	if len(s) > longest {
		return s[:longest] + "..."
	}
	return s
}
