package npz

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// header is the header of an .npy array.
type header struct {
	dtype   dtype
	fortran bool // the first index varies fastest
	shape   []int64
	size    int64 // bytes of the header
}

// maxHeader is more than the header of any array of numbers needs.
const maxHeader = 1 << 14

// items returns the product of the shape, or 1 for an array without dimensions.
func (h *header) items() int64 {
	n := int64(1)
	for _, d := range h.shape {
		n *= d
	}
	return n
}

// bytes returns the number of bytes of content after the header.
func (h *header) bytes() int64 { return h.items() * int64(h.dtype.size) }

// readHeader reads the header of an array in version 1, 2 or 3 of the .npy format.
func readHeader(r io.Reader) (*header, error) {
	var head [12]byte
	if err := full(r, head[:8]); err != nil {
		return nil, err
	}
	if string(head[:6]) != "\x93NUMPY" {
		return nil, errors.New("does not begin as a NumPy array does (.npy)")
	}
	length := int64(0)
	switch major, minor := head[6], head[7]; {
	case major == 1 && minor == 0:
		if err := full(r, head[8:10]); err != nil {
			return nil, err
		}
		length = 10 + int64(binary.LittleEndian.Uint16(head[8:]))
	case (major == 2 || major == 3) && minor == 0:
		if err := full(r, head[8:12]); err != nil {
			return nil, err
		}
		length = 12 + int64(binary.LittleEndian.Uint32(head[8:]))
	default:
		return nil, fmt.Errorf("version %d.%d of the .npy format is not supported: only 1.0, 2.0 and 3.0 are", major, minor)
	}
	start := int64(10)
	if head[6] > 1 {
		start = 12
	}
	if length-start > maxHeader {
		return nil, fmt.Errorf("a header of %d bytes: more than %d are not supported", length-start, maxHeader)
	}
	text := make([]byte, length-start)
	if err := full(r, text); err != nil {
		return nil, err
	}
	h, err := parseHeader(string(text))
	if err != nil {
		return nil, err
	}
	h.size = length
	return h, nil
}

// full fills b, or returns an error if the array ends early.
func full(r io.Reader, b []byte) error {
	_, err := io.ReadFull(r, b)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New("ends early: the file is truncated or damaged")
	}
	return err
}

// parseHeader parses the Python dictionary of a header, which must have exactly the keys
// descr, fortran_order and shape.
func parseHeader(text string) (*header, error) {
	p := &dictParser{in: text}
	h := &header{}
	seen := map[string]bool{}
	if !p.take('{') {
		return nil, p.fail("{")
	}
	for !p.take('}') {
		key, err := p.quoted()
		if err != nil {
			return nil, err
		}
		if seen[key] {
			return nil, fmt.Errorf("its header has the key %q twice", clip(key))
		}
		seen[key] = true
		if !p.take(':') {
			return nil, p.fail(":")
		}
		switch key {
		case "descr":
			h.dtype, err = p.dtype()
		case "fortran_order":
			h.fortran, err = p.bool()
		case "shape":
			h.shape, err = p.shape()
		default:
			err = fmt.Errorf("its header has the unknown key %q", clip(key))
		}
		if err != nil {
			return nil, err
		}
		if !p.take(',') && !p.isNext('}') {
			return nil, p.fail(", or }")
		}
	}
	if rest := strings.TrimSpace(p.in[p.at:]); rest != "" {
		return nil, fmt.Errorf("%q follows its header", clip(rest))
	}
	if len(seen) != 3 {
		return nil, errors.New("its header must have the keys descr, fortran_order and shape")
	}
	// The number of bytes must fit into an int64.
	n := uint64(max(h.dtype.size, 1))
	for _, d := range h.shape {
		hi, lo := bits.Mul64(n, uint64(d))
		if hi != 0 || lo > math.MaxInt64/2 {
			return nil, fmt.Errorf("its header claims the shape %v: too large", h.shape)
		}
		n = lo
	}
	return h, nil
}

// dictParser parses the few Python literals that headers consist of.
type dictParser struct {
	in string
	at int
}

func (p *dictParser) blanks() {
	for p.at < len(p.in) && strings.IndexByte(" \t\n", p.in[p.at]) >= 0 {
		p.at++
	}
}

func (p *dictParser) isNext(c byte) bool {
	p.blanks()
	return p.at < len(p.in) && p.in[p.at] == c
}

func (p *dictParser) take(c byte) bool {
	if !p.isNext(c) {
		return false
	}
	p.at++
	return true
}

func (p *dictParser) fail(want string) error {
	p.blanks()
	return fmt.Errorf("its header is damaged: %s is expected where it says %q", want, clip(p.in[p.at:]))
}

func (p *dictParser) quoted() (string, error) {
	p.blanks()
	if p.at < len(p.in) {
		if q := p.in[p.at]; q == '\'' || q == '"' {
			if n := strings.IndexByte(p.in[p.at+1:], q); n >= 0 {
				s := p.in[p.at+1 : p.at+1+n]
				p.at += n + 2
				return s, nil
			}
		}
	}
	return "", p.fail("a string")
}

func (p *dictParser) dtype() (dtype, error) {
	if p.isNext('[') {
		return dtype{}, errors.New("is an array of records: only plain numbers are supported")
	}
	s, err := p.quoted()
	if err != nil {
		return dtype{}, err
	}
	return parseDtype(s)
}

func (p *dictParser) bool() (bool, error) {
	p.blanks()
	for word, v := range map[string]bool{"True": true, "False": false} {
		if strings.HasPrefix(p.in[p.at:], word) {
			p.at += len(word)
			return v, nil
		}
	}
	return false, p.fail("True or False")
}

// shape parses a tuple of sizes. Python 2 wrote an L after some of them.
func (p *dictParser) shape() ([]int64, error) {
	const maxDims = 32
	if !p.take('(') {
		return nil, p.fail("(")
	}
	shape := []int64{}
	for !p.take(')') {
		p.blanks()
		start := p.at
		for p.at < len(p.in) && '0' <= p.in[p.at] && p.in[p.at] <= '9' {
			p.at++
		}
		d, err := strconv.ParseInt(p.in[start:p.at], 10, 64)
		if err != nil || len(shape) == maxDims {
			p.at = start
			return nil, p.fail("a size")
		}
		shape = append(shape, d)
		p.take('L')
		if !p.take(',') && !p.isNext(')') {
			return nil, p.fail(", or )")
		}
	}
	return shape, nil
}

// clip shortens text from a file for a message.
func clip(s string) string {
	const longest = 40
	if len(s) > longest {
		return s[:longest] + "..."
	}
	return s
}
