package fileio

import (
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// createUnnamed creates a file without a name in dir, which is "" or ends in a separator.
// It fails if the file system does not support that.
func createUnnamed(dir string, perm fs.FileMode) (*os.File, error) {
	if dir == "" {
		dir = "."
	}
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, uint32(perm.Perm()))
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), dir)
	lock(f)
	return f, nil
}

// link gives the unnamed file f the name name, which must not exist.
func link(f *os.File, name string) error {
	err := unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", f.Fd()), unix.AT_FDCWD, name, unix.AT_SYMLINK_FOLLOW)
	if err != nil {
		return &os.LinkError{Op: "link", Old: f.Name(), New: name, Err: err}
	}
	return nil
}
