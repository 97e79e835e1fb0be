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

// temporary is a file that is being written. On Linux it has no name if the file system
// supports that, so nothing remains of it when the program is killed. Otherwise it has a
// temporary name in the folder of the output, and a later run removes it if the program
// is killed (removeAbandoned). The file is locked to show other runs that it is in use.
type temporary struct {
	*os.File
	name string // temporary name, or ""
}

// A temporary name consists of namePrefix, 8 hexadecimal digits and nameSuffix.
const namePrefix, nameSuffix = ".msrep-", ".tmp"

// createIn creates a temporary file in dir, which is "" or ends in a separator. Its
// permissions are perm without those that the umask removes.
func createIn(dir string, perm fs.FileMode) (*temporary, error) {
	removeAbandoned(dir)
	if f, err := createUnnamed(dir, perm); err == nil {
		return &temporary{File: f}, nil
	}
	return createNamed(dir, perm)
}

// createNamed creates a temporary file with a name.
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
		f.Close() // another run removed it before it was locked
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

// rename gives the file the name path, replacing any file of that name, and closes it.
// After an error the file can be dropped. A file with a temporary name is complete at
// this point, and still locked if the system can rename open files.
func (t *temporary) rename(path string) error {
	if t.name == "" {
		if err := t.setName(path); err != nil {
			return err
		}
	}
	if runtime.GOOS == "windows" { // Windows cannot rename open files
		if err := t.Close(); err != nil {
			return err
		}
	}
	if t.name != path {
		if err := os.Rename(t.name, path); err != nil {
			return err
		}
	}
	t.name = "" // drop must not remove it
	if runtime.GOOS == "windows" {
		return nil
	}
	return t.Close()
}

// setName gives an unnamed file the name path if no file has it, else a temporary name
// beside it.
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

// copyToNamed moves the content to a new file with a temporary name, for systems that can
// create unnamed files but not name them, such as those without /proc.
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

// searchedFolders holds the folders that removeAbandoned has searched.
var searchedFolders sync.Map

// removeAbandoned removes the temporary files in dir that killed programs left, which are
// those without a lock. It searches each folder once per run.
func removeAbandoned(dir string) {
	if dir == "" {
		dir = "." + string(filepath.Separator)
	}
	if _, done := searchedFolders.LoadOrStore(dir, true); done {
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

// isTemporary reports whether name is a name from randomName.
func isTemporary(name string) bool {
	digits, ok := strings.CutPrefix(name, namePrefix)
	if !ok {
		return false
	}
	digits, ok = strings.CutSuffix(digits, nameSuffix)
	return ok && len(digits) == 8 && strings.Trim(digits, "0123456789abcdef") == ""
}
