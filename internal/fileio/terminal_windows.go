package fileio

import (
	"os"

	"golang.org/x/sys/windows"
)

func terminalWidth(f *os.File) (columns int, ok bool) {
	var mode uint32
	if windows.GetConsoleMode(windows.Handle(f.Fd()), &mode) != nil || mode&windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING == 0 {
		return 0, false // no console, or one that would print the codes that erase a line
	}
	var info windows.ConsoleScreenBufferInfo
	if windows.GetConsoleScreenBufferInfo(windows.Handle(f.Fd()), &info) != nil {
		return 0, false
	}
	return int(info.Size.X), true
}
