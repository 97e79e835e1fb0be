package fileio

import (
	"bufio"
	"compress/gzip"
	"io"
)

// members reads the members of gzipped content one after the other. It skips zero bytes
// after a member, with which some programs pad a file.
type members struct {
	in *bufio.Reader
	z  *gzip.Reader
}

// isGzip reports whether head is the start of gzipped content.
func isGzip(head []byte) bool { return len(head) >= 2 && head[0] == 0x1f && head[1] == 0x8b }

func newMembers(in *bufio.Reader) (*members, error) {
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	return &members{in, z}, nil
}

func (m *members) Read(p []byte) (int, error) {
	for {
		n, err := m.z.Read(p)
		if err == io.EOF {
			err = m.next()
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// next starts the next member. The error is io.EOF after the last member, and
// gzip.ErrHeader if other bytes follow.
func (m *members) next() error {
	for {
		head, err := m.in.Peek(1)
		if len(head) == 0 {
			return err
		}
		if head[0] != 0 {
			break
		}
		m.in.Discard(1)
	}
	if head, _ := m.in.Peek(2); !isGzip(head) {
		return gzip.ErrHeader
	}
	if err := m.z.Reset(m.in); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	m.z.Multistream(false)
	return nil
}
