//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package fileio

import (
	"os"

	"golang.org/x/sys/unix"
)

// lock marks f as in use until it is closed. It does nothing if the file system has no
// locks; removeUnlocked then removes nothing either.
func lock(f *os.File) { _ = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }

// removeUnlocked removes a file unless it is locked.
func removeUnlocked(name string) {
	f, err := os.OpenFile(name, os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil { // for example, a file of mode 0400
		f, err = os.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	}
	if err != nil {
		return
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() || unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return
	}
	if isNamed(f, name) {
		os.Remove(name)
	}
}

// syncFolder syncs the names in dir, which is "" or ends in a separator. It ignores
// folders that cannot be opened and file systems that cannot sync them.
func syncFolder(dir string) error {
	if dir == "" {
		dir = "."
	}
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	return unlessUnsupported(d.Sync())
}
