package fileio

import (
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/msrep-go/msrep/sparse"
)

// The first bytes of content that zstd compressed: those of a frame, and the last three of
// the four of a skippable frame, with which parallel compressors begin.
const (
	zstdMagic     = "\x28\xb5\x2f\xfd"
	zstdSkippable = "\x2a\x4d\x18"
)

// isZstd reports whether head is the start of content that zstd compressed.
func isZstd(head []byte) bool {
	return bytes.HasPrefix(head, []byte(zstdMagic)) || len(head) >= 4 && head[0]>>4 == 5 && string(head[1:4]) == zstdSkippable
}

// A frame states how much of its content a reader must keep, the window. zstd -19 uses 8
// MiB, zstd --ultra -22 up to 128 MiB. Windows above windowFree bytes are read only in
// files of at least 1/windowRatio of the window, because the reader allocates the window
// before the content arrives.
const (
	windowFree  = 16 << 20
	windowRatio = 32
	windowMost  = 512 << 20
)

// newZstd returns a reader of the content of in, a file of size bytes.
func newZstd(in io.Reader, size int64) (*zstd.Decoder, error) {
	window := min(max(windowFree, min(size, windowMost)*windowRatio), windowMost)
	return zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(uint64(window)))
}

// zstdError returns err, the error of a read, as an *sparse.InputError.
func zstdError(name string, err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return sparse.Inputf(name, "zstd content ends early: the file is truncated")
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return sparse.Inputf(name, "zstd needs a window of more than %d MiB to unpack it: unpack it with zstd -d --long=31 first", windowFree>>20)
	case errors.Is(err, zstd.ErrMagicMismatch):
		return sparse.Inputf(name, "other bytes follow the end of the zstd content")
	}
	return sparse.Inputf(name, "damaged zstd content: %v", err)
}
