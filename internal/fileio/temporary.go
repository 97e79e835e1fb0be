package fileio

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// temporary is a file being written. On Linux it has no name where the file system can do that, so
// that nothing is left of it when the program is killed. Elsewhere it has a temporary name in the
// folder of the output; a later run removes what a killed one left there (removeAbandoned).
// The file is locked, which tells later runs that it is in use.
type temporary struct {
	*os.File
	name string // the temporary one, "" for none
}

// The temporary names are namePrefix, 8 hexadecimal digits, nameSuffix.
const namePrefix, nameSuffix = ".msrep-", ".tmp"

// createIn makes a temporary file in dir, which is "" or ends in a separator. Its permissions are
// perm, less what the process denies to new files.
func createIn(dir string, perm fs.FileMode) (*temporary, error) {
	removeAbandoned(dir)
	if f, err := createUnnamed(dir, perm); err == nil {
		return &temporary{File: f}, nil
	}
	return createNamed(dir, perm)
}

// createNamed makes a temporary file that has a name from the start.
func createNamed(dir string, perm fs.FileMode) (*temporary, error) {
	var failed error
	for range 100 {
		name := randomName(dir)
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
		if errors.Is(err, fs.ErrExist) {
			failed = err
			continue
		}
		if err != nil {
			return nil, err
		}
		lock(f)
		if isNamed(f, name) {
			return &temporary{f, name}, nil
		}
		f.Close() // another run took it for an abandoned one before it was locked
		failed = fs.ErrNotExist
	}
	return nil, failed
}

func randomName(dir string) string {
	return fmt.Sprintf("%s%s%08x%s", dir, namePrefix, rand.Uint32(), nameSuffix)
}

// isNamed reports whether name is the file f.
func isNamed(f *os.File, name string) bool {
	at, err := os.Lstat(name)
	if err != nil {
		return false
	}
	st, err := f.Stat()
	return err == nil && os.SameFile(st, at)
}

// rename replaces path, or makes it, and closes the file. After an error the file can be dropped.
// The file is complete, and locked where the system can rename open files, while it has a
// temporary name.
func (t *temporary) rename(path string) error {
	if t.name == "" {
		if err := t.setName(path); err != nil {
			return err
		}
	}
	if runtime.GOOS == "windows" { // it renames no open file
		if err := t.Close(); err != nil {
			return err
		}
	}
	if t.name != path {
		if err := os.Rename(t.name, path); err != nil {
			return err
		}
	}
	t.name = "" // drop must not remove it any more
	if runtime.GOOS == "windows" {
		return nil
	}
	return t.Close()
}

// setName gives an unnamed file the name path if nothing has it, else a temporary name beside it.
func (t *temporary) setName(path string) error {
	name := path
	for range 100 {
		err := link(t.File, name)
		if err == nil {
			t.name = name
			return nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return t.copyToNamed(folder(path))
		}
		name = randomName(folder(path))
	}
	return fs.ErrExist
}

// copyToNamed moves the content to a file that has a temporary name from the start, for systems
// where files without a name can be made but not named, as without /proc.
func (t *temporary) copyToNamed(dir string) error {
	st, err := t.Stat()
	if err != nil {
		return err
	}
	to, err := createNamed(dir, st.Mode().Perm())
	if err != nil {
		return err
	}
	if err = to.Chmod(st.Mode().Perm()); err == nil {
		_, err = io.Copy(to, io.NewSectionReader(t, 0, st.Size()))
	}
	if err == nil {
		err = unlessUnsupported(to.Sync())
	}
	if err != nil {
		to.drop()
		return err
	}
	t.Close()
	*t = *to
	return nil
}

// drop closes and removes the file.
func (t *temporary) drop() error {
	t.Close()
	if t.name == "" {
		return nil
	}
	return os.Remove(t.name)
}

// swept is the folders that removeAbandoned has looked through.
var swept sync.Map

// removeAbandoned removes the temporary files in dir that killed programs left: those that nobody
// has locked. It looks through a folder once in a run.
func removeAbandoned(dir string) {
	if dir == "" {
		dir = "." + string(filepath.Separator)
	}
	if _, done := swept.LoadOrStore(dir, true); done {
		return
	}
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	defer d.Close()
	for {
		names, err := d.Readdirnames(1024)
		for _, name := range names {
			if isTemporary(name) {
				removeUnlocked(dir + name)
			}
		}
		if err != nil || len(names) == 0 {
			return
		}
	}
}

// isTemporary reports whether name is one of randomName.
func isTemporary(name string) bool {
	digits, ok := strings.CutPrefix(name, namePrefix)
	if !ok {
		return false
	}
	digits, ok = strings.CutSuffix(digits, nameSuffix)
	return ok && len(digits) == 8 && strings.Trim(digits, "0123456789abcdef") == ""
}
