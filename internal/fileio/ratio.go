package fileio

import (
	"io"

	"github.com/msrep-go/msrep/sparse"
)

// Compressed content may unpack to UnpackFree bytes plus UnpackRatio times its size on
// disk. Real matrix files stay below that limit; files made to fill memory or to keep the
// program busy do not. (Deflate reaches a ratio of at most 1032, zstd more, and only for
// repetitions.)
const (
	UnpackRatio = 200
	UnpackFree  = 64 << 20
)

// UnpacksTooFar reports whether unpacked bytes are more than packed bytes may unpack to.
func UnpacksTooFar(unpacked, packed int64) bool {
	return (unpacked-UnpackFree)/UnpackRatio > packed
}

// counter counts the bytes that are read.
type counter struct {
	io.Reader
	n      int64
	report func(n int64) // called with n after each read; may be nil
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	if c.report != nil {
		c.report(c.n)
	}
	return n, err
}

// unpacked reads decompressed content and fails when it exceeds the limit for the bytes
// read from the file.
type unpacked struct {
	io.Reader
	name   string
	packed *counter
	n      int64 // bytes so far
}

func (u *unpacked) Read(p []byte) (int, error) {
	if UnpacksTooFar(u.n, u.packed.n) {
		return 0, sparse.Inputf(u.name, "unpacks to more than %d times its size and %d MiB: unpack it first if it is right", UnpackRatio, UnpackFree>>20)
	}
	n, err := u.Reader.Read(p)
	u.n += int64(n)
	return n, err
}
