package fileio

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/klauspost/compress/zstd"
)

// Out is an output file that is being written. Commit gives it its name once its content
// is on the disk; Close without Commit removes it. Other files than regular ones, such as
// pipes and terminals, are written in place.
type Out struct {
	path string
	tmp  *temporary
	// inPlace is set if tmp is the output itself.
	inPlace bool
	packer  io.WriteCloser // compresses the content; nil if it is plain
	w       *bufio.Writer
	done    bool
}

var (
	pendingMu sync.Mutex
	pending   = map[*Out]bool{}
	stopped   atomic.Bool
)

var errStopped = errors.New("the program is about to end")

// Create starts writing the output file path. The content is compressed if the name ends
// in .gz or .zst. A replaced file keeps its permissions, and the temporary file never grants more
// than these.
func Create(path string) (*Out, error) {
	o := &Out{path: path}
	var err error
	st, statErr := os.Stat(path)
	switch {
	case statErr == nil && st.IsDir():
		return nil, fmt.Errorf("%s: is a directory; a file name is needed", path)
	case statErr != nil && !errors.Is(statErr, fs.ErrNotExist): // for example, the name is too long
		err = statErr
	case statErr == nil && !st.Mode().IsRegular():
		err = o.openInPlace(0)
	default:
		o.path = target(path)
		if statErr == nil && !isFile(o.path, st) { // for example, a deleted file in /proc/self/fd
			o.path = path
			err = o.openInPlace(os.O_TRUNC)
			break
		}
		err = o.createBeside(st)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be created: %w", path, unnamed(err))
	}
	var w io.Writer = o.tmp
	switch filepath.Ext(path) {
	case ".gz":
		o.packer = gzip.NewWriter(o.tmp)
		w = o.packer
	case ".zst":
		if o.packer, err = zstd.NewWriter(o.tmp, zstd.WithEncoderConcurrency(1)); err != nil {
			o.Close()
			return nil, o.failed(err)
		}
		w = o.packer
	}
	o.w = bufio.NewWriterSize(w, 1<<20)
	return o, nil
}

// isFile reports whether path, which is not a link, is the file of st.
func isFile(path string, st fs.FileInfo) bool {
	at, err := os.Lstat(path)
	return err == nil && os.SameFile(at, st)
}

func (o *Out) openInPlace(flags int) error {
	f, err := os.OpenFile(o.path, os.O_WRONLY|flags, 0)
	o.tmp, o.inPlace = &temporary{File: f}, true
	return err
}

// createBeside creates the temporary file in the folder of o.path and records it in
// pending. old is the file that will be replaced, or nil.
func (o *Out) createBeside(old fs.FileInfo) error {
	pendingMu.Lock()
	defer pendingMu.Unlock()
	if stopped.Load() {
		return errStopped
	}
	perm := fs.FileMode(0o666)
	if old != nil {
		perm = old.Mode().Perm()
	}
	var err error
	if o.tmp, err = createIn(folder(o.path), perm); err != nil {
		return err
	}
	if old != nil { // the umask may have removed some permissions
		if err := o.tmp.Chmod(perm); err != nil {
			o.tmp.drop()
			return err
		}
	}
	pending[o] = true
	return nil
}

// unnamed returns err without the temporary name.
func unnamed(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	var le *os.LinkError
	if errors.As(err, &le) {
		return le.Err
	}
	return err
}

// Write appends p. It fails soon after a call of RemovePending.
func (o *Out) Write(p []byte) (n int, err error) {
	const most = 4 << 20 // bytes per write
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

// failed returns an error that names the file and the cause.
func (o *Out) failed(err error) error {
	return fmt.Errorf("%s: cannot be written: %w", o.path, unnamed(err))
}

// Commit completes the file and gives it its name. The content is on the disk before
// that, and the name when Commit returns.
func (o *Out) Commit() error {
	err := o.w.Flush()
	if err == nil && o.packer != nil {
		err = o.packer.Close()
	}
	if err == nil && o.inPlace {
		err = o.tmp.Close()
	} else if err == nil {
		err = o.publish()
	}
	if err != nil {
		o.Close()
		return o.failed(err)
	}
	o.finish()
	return nil
}

// publish syncs the temporary file to the disk and gives it the name of the output.
func (o *Out) publish() error {
	if st, err := os.Stat(o.path); err == nil {
		if err := o.tmp.Chmod(st.Mode().Perm()); err != nil { // the permissions may have changed since Create
			return err
		}
	}
	if err := unlessUnsupported(o.tmp.Sync()); err != nil {
		return err
	}
	if err := o.rename(); err != nil {
		return err
	}
	return syncFolder(folder(o.path))
}

// rename replaces o.path by the temporary file and closes it, unless RemovePending was
// called before.
func (o *Out) rename() error {
	pendingMu.Lock()
	defer pendingMu.Unlock()
	if stopped.Load() {
		return errStopped
	}
	delete(pending, o)
	return o.tmp.rename(o.path)
}

// unlessUnsupported returns err, or nil if err says that the file system does not support
// the operation.
func unlessUnsupported(err error) error {
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
		return nil
	}
	return err
}

// Close removes the file unless it was committed.
func (o *Out) Close() error {
	if o.done {
		return nil
	}
	var err error
	if o.inPlace {
		o.tmp.Close()
	} else {
		err = o.tmp.drop()
	}
	o.finish()
	return err
}

func (o *Out) finish() {
	o.done = true
	pendingMu.Lock()
	delete(pending, o)
	pendingMu.Unlock()
}

// RemovePending removes every file that was started and not committed. Afterwards no file
// can be started, written or committed. It is for a program that is about to end.
func RemovePending() {
	pendingMu.Lock()
	defer pendingMu.Unlock()
	stopped.Store(true)
	for o := range pending {
		if o.tmp.name != "" {
			os.Remove(o.tmp.name)
		}
	}
}
