//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package fileio

import "os"

func terminalWidth(*os.File) (columns int, ok bool) { return 0, false }
