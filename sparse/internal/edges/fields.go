package edges

import "bytes"

// blanks is the separator that stands for any number of spaces and tabs.
const blanks = ' '

// A scan is what field found.
type scan struct {
	text  []byte // the field, without quotes and the blanks around it
	next  int    // start of the next field, or of the next line
	last  bool   // the field is the last of its line
	fault string // what is wrong with a quoted field; the other results are then not set
}

// field scans the field at b[p:]. b ends with \n. It removes "" from a quoted field in place,
// so a line must not be scanned twice.
func field(b []byte, p int, sep byte) scan {
	p = skip(b, p, sep)
	if b[p] == '"' {
		return quoted(b, p+1, sep)
	}
	e := p
	if sep == blanks {
		for !isBlank(b[e]) && b[e] != '\n' {
			e++
		}
		return after(b, p, e, e, sep)
	}
	for b[e] != sep && b[e] != '\n' {
		e++
	}
	end := e
	for end > p && isBlank(b[end-1]) {
		end--
	}
	return after(b, p, end, e, sep)
}

// quoted scans the rest of a quoted field.
func quoted(b []byte, p int, sep byte) scan {
	to := p // end of the text so far, without the second quote of each pair
	for from := p; ; {
		n := bytes.IndexAny(b[from:], "\"\n")
		if b[from+n] == '\n' {
			return scan{fault: "the quoted field has no end on its line"}
		}
		to += copy(b[to:], b[from:from+n])
		if from += n + 1; b[from] != '"' {
			e := skip(b, from, sep)
			if b[e] != '\n' && b[e] != sep && !(sep == blanks && e > from) {
				return scan{fault: "other text follows a quoted field"}
			}
			return after(b, p, to, e, sep)
		}
		b[to] = '"'
		to++
		from++
	}
}

// after returns the field b[p:end], after which b[e] is the separator or the line end.
func after(b []byte, p, end, e int, sep byte) scan {
	if sep == blanks {
		if e = skip(b, e, sep); b[e] != '\n' {
			e-- // b[e] is the last blank before the next field
		}
	}
	return scan{text: b[p:end], next: e + 1, last: b[e] == '\n'}
}

// skip returns the index of the first byte of b, from p on, that is no blank, or that is sep
// unless sep is blanks.
func skip(b []byte, p int, sep byte) int {
	for isBlank(b[p]) && (b[p] != sep || sep == blanks) {
		p++
	}
	return p
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// empty reports whether the line at b[p:] is blank or a comment.
func empty(b []byte, p int) bool {
	p = skip(b, p, blanks)
	return b[p] == '\n' || b[p] == '#' || b[p] == '%'
}
