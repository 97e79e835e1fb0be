// Package fileio opens input files, plain or gzipped, and writes output files
// that appear under their name only when they are complete.
package fileio

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/msrep-go/msrep/sparse"
)

// File is an open input file; reads give its decompressed content.
type File struct {
	Name string // as given
	Size int64  // bytes on disk
	Gzip bool   // the content is gzipped (told by its first bytes, not its name)

	r io.Reader
	f *os.File
}

// Open opens a regular file (or a pipe) for reading. Errors are
// *sparse.InputError.
func Open(path string) (*File, error) {
	if path == "" {
		return nil, sparse.Inputf("path", "is empty: name a file")
	}
	f, err := os.Open(path)
	if path == "-" && errors.Is(err, fs.ErrNotExist) {
		return nil, sparse.Inputf(path, "no such file or directory: standard input is /dev/stdin")
	}
	if err != nil {
		return nil, openError(path, err)
	}
	st, err := f.Stat()
	if err == nil && st.IsDir() {
		err = sparse.Inputf(path, "is a directory; a file is needed")
	}
	if err != nil {
		f.Close()
		if sparse.IsInput(err) {
			return nil, err
		}
		return nil, openError(path, err)
	}
	br := bufio.NewReaderSize(f, 1<<16)
	file := &File{Name: path, Size: st.Size(), r: br, f: f}
	magic, err := br.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		f.Close()
		return nil, openError(path, err)
	}
	if len(magic) == 2 && magic[0] == 0x1f && magic[1] == 0x8b {
		z, err := gzip.NewReader(br)
		if err != nil {
			f.Close()
			return nil, sparse.Inputf(path, "damaged gzip header: %v", err)
		}
		file.Gzip, file.r = true, z
	}
	return file, nil
}

// Read gives decompressed bytes. Damaged or truncated gzip content is an
// *sparse.InputError.
func (f *File) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil && err != io.EOF {
		switch {
		case f.Gzip && errors.Is(err, io.ErrUnexpectedEOF):
			err = sparse.Inputf(f.Name, "gzip content ends early: the file is truncated, or a few other bytes follow its end")
		case f.Gzip && errors.Is(err, gzip.ErrHeader):
			err = sparse.Inputf(f.Name, "other bytes follow the end of the gzip content: unpack the file with gzip, which ignores them")
		case f.Gzip:
			err = sparse.Inputf(f.Name, "damaged gzip content: %v", err)
		default:
			err = openError(f.Name, err)
		}
	}
	return n, err
}

// OS is the file underneath, for readers that map it; only for plain files.
func (f *File) OS() *os.File { return f.f }

// Close closes the file.
func (f *File) Close() error { return f.f.Close() }

func openError(path string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return &sparse.InputError{File: path, Err: err}
}
