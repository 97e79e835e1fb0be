package lines

import "bytes"

// SkipBlanks is the place of the first byte of b, from p on, that is neither a
// blank nor other white space. Line ends are not skipped, and one must follow.
func SkipBlanks(b []byte, p int) int {
	for b[p] == ' ' || b[p]-'\t' < 5 && b[p] != '\n' {
		p++
	}
	return p
}

// First is the first line of b without its end and surrounding white space.
func First(b []byte) []byte {
	if end := bytes.IndexByte(b, '\n'); end >= 0 {
		b = b[:end]
	}
	return bytes.TrimSpace(b)
}
