package fileio

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Out is a file being written. It stands under a temporary name beside its own
// until Commit; Close without Commit removes it.
type Out struct {
	path string
	tmp  *os.File
	gz   *gzip.Writer
	w    *bufio.Writer
	done bool
}

var (
	pendingMu sync.Mutex
	pending   = map[string]bool{}
)

// Create starts the output file path; a name that ends in .gz is compressed.
func Create(path string) (*Out, error) {
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
		if st.IsDir() {
			return nil, fmt.Errorf("%s: is a directory; a file name is needed", path)
		}
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.part")
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be created: %w", path, err)
	}
	pendingMu.Lock()
	pending[tmp.Name()] = true
	pendingMu.Unlock()
	o := &Out{path: path, tmp: tmp}
	var w io.Writer = tmp
	if strings.HasSuffix(path, ".gz") {
		o.gz = gzip.NewWriter(tmp)
		w = o.gz
	}
	o.w = bufio.NewWriterSize(w, 1<<20)
	return o, nil
}

// Write appends p.
func (o *Out) Write(p []byte) (int, error) { return o.w.Write(p) }

// Commit completes the file and gives it its name.
func (o *Out) Commit() error {
	err := o.w.Flush()
	if err == nil && o.gz != nil {
		err = o.gz.Close()
	}
	if err == nil {
		err = o.tmp.Chmod(0o644)
	}
	if err == nil {
		err = o.tmp.Close()
	}
	if err == nil {
		err = os.Rename(o.tmp.Name(), o.path)
	}
	if err != nil {
		o.Close()
		return fmt.Errorf("%s: cannot be written: %w", o.path, err)
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
	err := os.Remove(o.tmp.Name())
	o.finish()
	return err
}

func (o *Out) finish() {
	o.done = true
	pendingMu.Lock()
	delete(pending, o.tmp.Name())
	pendingMu.Unlock()
}

// RemovePending removes every file that was started and not committed: for a
// program that is told to stop.
func RemovePending() {
	pendingMu.Lock()
	defer pendingMu.Unlock()
	for name := range pending {
		os.Remove(name)
	}
}
