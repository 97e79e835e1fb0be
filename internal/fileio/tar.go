package fileio

import (
	"archive/tar"
	"bufio"
	"errors"
	"io"
	"path"
	"strings"

	"github.com/msrep-go/msrep/sparse"
)

// tarHead is the number of bytes that identify a tar archive.
const tarHead = 263

// isTar reports whether head is the start of a POSIX or GNU tar archive.
func isTar(head []byte) bool {
	return len(head) >= tarHead && (string(head[257:263]) == "ustar\x00" || string(head[257:263]) == "ustar ")
}

// enterTar continues with the matrix in the archive, if the content is a tar archive: the
// file that has the name of its folder, such as bcsstk14/bcsstk14.mtx in the archives of
// the SuiteSparse collection, or else the only file.
func (f *File) enterTar() error {
	content := bufio.NewReaderSize(f.r, 1<<16)
	f.r = content
	if head, _ := content.Peek(tarHead); !isTar(head) { // Read returns an error again
		return nil
	}
	var names []string
	err := f.findEntry(content, func(name string) bool {
		names = append(names, name)
		return path.Base(path.Dir(name)) == strings.TrimSuffix(path.Base(name), path.Ext(name))
	})
	if err != io.EOF {
		return err
	}
	if len(names) != 1 {
		return sparse.Inputf(f.Name, "is a tar archive of %d files, none of which has the name of its folder: unpack it first", len(names))
	}
	if _, err := f.f.Seek(0, io.SeekStart); err != nil {
		return sparse.Inputf(f.Name, "is a tar archive that can't be read twice: unpack it first")
	}
	if err := f.start(); err != nil {
		return err
	}
	return f.findEntry(f.r, func(string) bool { return true })
}

// findEntry continues with the first file of the archive whose name is wanted. It returns
// io.EOF if there is none.
func (f *File) findEntry(content io.Reader, wanted func(name string) bool) error {
	archive := tar.NewReader(content)
	for {
		h, err := archive.Next()
		if err == io.EOF {
			return io.EOF
		}
		if err != nil {
			return f.readError(err)
		}
		if hidden := strings.HasPrefix(path.Base(h.Name), "."); h.Typeflag == tar.TypeReg && !hidden && wanted(path.Clean(h.Name)) {
			f.Entry, f.r = path.Clean(h.Name), &entry{archive, content}
			return nil
		}
	}
}

// entry is a file of an archive. At its end it reads the rest of the archive, to detect
// damage.
type entry struct {
	*tar.Reader
	content io.Reader
}

func (e *entry) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	if err == io.EOF {
		if _, rest := io.Copy(io.Discard, e.content); rest != nil {
			err = rest
		}
	}
	return n, err
}

// isTarError reports whether err means a damaged archive.
func isTarError(err error) bool {
	return errors.Is(err, tar.ErrHeader) || errors.Is(err, io.ErrUnexpectedEOF)
}
