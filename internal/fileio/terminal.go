package fileio

import "os"

// TerminalWidth returns the number of columns of the terminal that f writes to, and whether it is one.
func TerminalWidth(f *os.File) (columns int, ok bool) {
	columns, ok = terminalWidth(f)
	if ok && columns <= 0 { // some terminals do not say
		columns = 80
	}
	return columns, ok && os.Getenv("TERM") != "dumb"
}
