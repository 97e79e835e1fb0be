//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package fileio

import (
	"os"

	"golang.org/x/sys/unix"
)

func terminalWidth(f *os.File) (columns int, ok bool) {
	c, err := f.SyscallConn() // f.Fd would make the file blocking
	if err != nil {
		return 0, false
	}
	if e := c.Control(func(fd uintptr) {
		var size *unix.Winsize
		if size, err = unix.IoctlGetWinsize(int(fd), unix.TIOCGWINSZ); err == nil { // fails on anything but a terminal
			columns = int(size.Col)
		}
	}); e != nil {
		return 0, false
	}
	return columns, err == nil
}
