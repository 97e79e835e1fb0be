package msr

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

// VerifyPart checks part i of n of the checksums of the file at path. n calls, by n
// processes, check the whole file as Open does, and each reads about 1/n of it.
// VerifyPart takes little memory and does not check indices. Errors are those of Open.
func VerifyPart(ctx context.Context, path string, i, n int) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	f, size, err := openRegular(path)
	if err != nil {
		return err
	}
	defer f.Close()
	h, tableSum, err := readHeader(io.NewSectionReader(f, 0, HeaderSize), path)
	if err != nil {
		return nameError(path, err)
	}
	if err := checkLength(h, size, path); err != nil {
		return err
	}
	l := layoutOf(h)
	table := make([]byte, l.payload-HeaderSize)
	if _, err := f.ReadAt(table, HeaderSize); err != nil {
		return nameError(path, err)
	}
	if err := verifyTable(table, tableSum, path); err != nil {
		return err
	}
	buf := make([]byte, 1<<18)
	bytes := l.length - l.payload
	for b := par.Cut(l.chunks, n, i); b < par.Cut(l.chunks, n, i+1); b++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		sum, err := checksum(io.NewSectionReader(f, l.payload+b*chunkSize, min(chunkSize, bytes-b*chunkSize)), buf)
		if err != nil {
			return nameError(path, err)
		}
		if sum != binary.LittleEndian.Uint32(table[4*b:]) {
			return chunkError(path, b, bytes)
		}
	}
	return nil
}

// checksum returns the CRC32C of all content of r.
func checksum(r io.Reader, buf []byte) (crc uint32, err error) {
	for {
		n, err := r.Read(buf)
		crc = crc32.Update(crc, castagnoli, buf[:n])
		if errors.Is(err, io.EOF) {
			return crc, nil
		}
		if err != nil {
			return crc, sparse.Inputf("", "cannot be read: %v", err)
		}
	}
}
