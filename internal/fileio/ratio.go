package fileio

import (
	"io"

	"github.com/msrep-go/msrep/sparse"
)

// Compressed content may unpack to UnpackFree bytes and UnpackRatio times its bytes on disk. Files
// of matrices stay below; one that is made to fill memory or to keep the program busy does not.
// (Deflate goes up to 1032 times, which only repetitions reach.)
const (
	UnpackRatio = 200
	UnpackFree  = 64 << 20
)

// UnpacksTooFar reports whether so many bytes are more than packed ones may unpack to.
func UnpacksTooFar(unpacked, packed int64) bool {
	return (unpacked-UnpackFree)/UnpackRatio > packed
}

// counter counts the bytes that are read.
type counter struct {
	io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// unpacked reads decompressed content, whoever asks for it, and stops where that is too much for the
// bytes that were read of the file.
type unpacked struct {
	io.Reader
	name   string
	packed *counter
	n      int64 // bytes so far
}

func (u *unpacked) Read(p []byte) (int, error) {
	if UnpacksTooFar(u.n, u.packed.n) {
		return 0, sparse.Inputf(u.name, "unpacks to more than %d times its size and %d MiB: unpack it with gunzip first if it is right", UnpackRatio, UnpackFree>>20)
	}
	n, err := u.Reader.Read(p)
	u.n += int64(n)
	return n, err
}
