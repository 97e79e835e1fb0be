package numa

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/msrep-go/msrep/sparse"
)

// maxFile is the largest number of bytes that are read of a sysfs file.
const maxFile = 1 << 16

// tree reads small files below a root folder.
type tree struct {
	fsys fs.FS
	root string // for messages
	note func(format string, args ...any)
}

// text returns the content of a file without white space around it. ok is false if the
// file is missing, since sysfs of a container may hide any file, or cannot be read, for
// which text adds a note.
func (t *tree) text(name string) (s string, ok bool, err error) {
	f, err := t.openRegular(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		t.note("%s cannot be read: %v", t.path(name), withoutPath(err))
		return "", false, nil
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		t.note("%s cannot be read: %v", t.path(name), withoutPath(err))
		return "", false, nil
	}
	if len(b) > maxFile {
		return "", false, t.fault(name, "holds more than %d bytes, which no file of this kind does", maxFile)
	}
	return strings.TrimSpace(string(b)), true, nil
}

// openRegular opens a regular file. It refuses a pipe, which would block until there is a
// writer.
func (t *tree) openRegular(name string) (fs.File, error) {
	st, err := fs.Stat(t.fsys, name)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, errors.New("it is not a plain file")
	}
	return t.fsys.Open(name)
}

// cpus reads a file that holds a CPU list. ok is false if the file is missing.
func (t *tree) cpus(name string) (list []int, ok bool, err error) {
	s, ok, err := t.text(name)
	if !ok || err != nil {
		return nil, false, err
	}
	list, err = ParseCPUList(s)
	if err != nil {
		return nil, false, t.fault(name, "%v", err)
	}
	return list, true, nil
}

// memTotal reads the total of a meminfo file in bytes, or 0 if it is missing. Lines are
// "MemTotal: 123 kB", with the prefix "Node 0 " in the files of nodes.
func (t *tree) memTotal(name string) (int64, error) {
	s, ok, err := t.text(name)
	if !ok || err != nil {
		return 0, err
	}
	for line := range strings.Lines(s) {
		_, rest, found := strings.Cut(line, "MemTotal:")
		if !found {
			continue
		}
		word := strings.Fields(rest)
		if len(word) != 2 || word[1] != "kB" {
			return 0, t.fault(name, "MemTotal is %s; a number of kB is needed", clip(strings.TrimSpace(rest)))
		}
		kb, err := strconv.ParseInt(word[0], 10, 64)
		if err != nil || kb < 0 || kb > (1<<63-1)/1024 {
			return 0, t.fault(name, "MemTotal is %s kB; a number from 0 to 2^53-1 is needed", clip(word[0]))
		}
		return kb * 1024, nil
	}
	return 0, nil
}

func (t *tree) path(name string) string { return filepath.Join(t.root, filepath.FromSlash(name)) }

func (t *tree) fault(name, format string, args ...any) error {
	return sparse.Inputf(t.path(name), format, args...)
}

// withoutPath strips the path from a file error, because the message already names it.
func withoutPath(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
