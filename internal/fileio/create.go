package fileio

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
)

// Out is a file being written. It stands under a temporary name beside its own
// until Commit; Close without Commit removes it. What is not a regular file, such
// as a pipe or a terminal, is written in place.
type Out struct {
	path    string
	tmp     *os.File
	inPlace bool
	gz      *gzip.Writer
	w       *bufio.Writer
	done    bool
}

var (
	pendingMu sync.Mutex
	pending   = map[string]bool{}
	stopped   atomic.Bool
)

var errStopped = errors.New("the program is about to end")

// Create starts the output file path; a name that ends in .gz is compressed.
func Create(path string) (*Out, error) {
	o := &Out{path: path}
	var err error
	st, statErr := os.Stat(path)
	switch {
	case statErr == nil && st.IsDir():
		return nil, fmt.Errorf("%s: is a directory; a file name is needed", path)
	case statErr == nil && !st.Mode().IsRegular():
		o.inPlace = true
		o.tmp, err = os.OpenFile(path, os.O_WRONLY, 0)
	case statErr != nil && !errors.Is(statErr, fs.ErrNotExist): // such as a name that is too long
		err = statErr
	default:
		o.path = target(path)
		o.tmp, err = createBeside(o.path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be created: %w", path, unnamed(err))
	}
	var w io.Writer = o.tmp
	if strings.HasSuffix(path, ".gz") {
		o.gz = gzip.NewWriter(o.tmp)
		w = o.gz
	}
	o.w = bufio.NewWriterSize(w, 1<<20)
	return o, nil
}

// target is the regular file that path stands for: symbolic links are followed, so that
// what they point to is replaced and not they. (/dev/fd/3 of a pipe is a link to nowhere.)
func target(path string) string {
	for range 40 {
		link, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(filepath.Dir(path), link)
		}
		path = link
	}
	return path
}

// createBeside makes a new file with a temporary name in the folder of path and
// notes it. Its mode is what the process gives to new files.
func createBeside(path string) (f *os.File, err error) {
	pendingMu.Lock()
	defer pendingMu.Unlock()
	if stopped.Load() {
		return nil, errStopped
	}
	for range 100 {
		name := fmt.Sprintf(".msrep-%08x.part", rand.Uint32())
		f, err = os.OpenFile(filepath.Join(filepath.Dir(path), name), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil {
			pending[f.Name()] = true
		}
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return f, err
}

// unnamed is err without the temporary name.
func unnamed(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// Write appends p. It fails soon after RemovePending.
func (o *Out) Write(p []byte) (n int, err error) {
	const most = 4 << 20 // at a time
	for n < len(p) && err == nil {
		if stopped.Load() {
			return n, o.failed(errStopped)
		}
		var k int
		k, err = o.w.Write(p[n:min(n+most, len(p))])
		n += k
	}
	if err != nil {
		err = o.failed(err)
	}
	return n, err
}

// failed says which file could not be written, and why.
func (o *Out) failed(err error) error {
	return fmt.Errorf("%s: cannot be written: %w", o.path, unnamed(err))
}

// Commit completes the file and gives it its name.
func (o *Out) Commit() error {
	err := o.w.Flush()
	if err == nil && o.gz != nil {
		err = o.gz.Close()
	}
	if st, statErr := os.Stat(o.path); statErr == nil && err == nil && !o.inPlace {
		err = o.tmp.Chmod(st.Mode().Perm()) // a file that is replaced keeps its mode
	}
	if err == nil {
		err = o.tmp.Close()
	}
	if err == nil && !o.inPlace {
		err = os.Rename(o.tmp.Name(), o.path)
	}
	if err != nil {
		o.Close()
		return o.failed(err)
	}
	o.finish()
	return nil
}

// Close drops the file unless it was committed.
func (o *Out) Close() error {
	if o.done {
		return nil
	}
	o.tmp.Close()
	var err error
	if !o.inPlace {
		err = os.Remove(o.tmp.Name())
	}
	o.finish()
	return err
}

func (o *Out) finish() {
	o.done = true
	pendingMu.Lock()
	delete(pending, o.tmp.Name())
	pendingMu.Unlock()
}

// RemovePending removes every file that was started and not committed, and lets
// none be started or written to any more: for a program that ends.
func RemovePending() {
	pendingMu.Lock()
	defer pendingMu.Unlock()
	stopped.Store(true)
	for name := range pending {
		os.Remove(name)
	}
}
