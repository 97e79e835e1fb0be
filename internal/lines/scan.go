package lines

import "bytes"

// SkipBlanks returns the index of the first byte of b, from p on, that is not white
// space. It stops at a line end, and b must have one at or after p.
func SkipBlanks(b []byte, p int) int {
	for b[p] == ' ' || b[p]-'\t' < 5 && b[p] != '\n' {
		p++
	}
	return p
}

// First returns the first line of b without its end and without surrounding white space.
func First(b []byte) []byte {
	if end := bytes.IndexByte(b, '\n'); end >= 0 {
		b = b[:end]
	}
	return bytes.TrimSpace(b)
}
