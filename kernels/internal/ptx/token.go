package ptx

import (
	"strings"

	"github.com/msrep-go/msrep/sparse"
)

// token is a token of PTX: a name with its dots and sigil, a number, a quoted string,
// or one punctuation character.
type token struct {
	text string
	line int32
}

// lexer splits PTX text into tokens. Comments count as white space.
type lexer struct {
	name string // of the source, for errors
	src  string
	pos  int
	line int32
}

func (l *lexer) fail(line int32, format string, args ...any) error {
	return sparse.InputLinef(l.name, int64(line), format, args...)
}

// next returns the next token. At the end of the source, the text of the token is
// empty.
func (l *lexer) next() (token, error) {
	if err := l.skip(); err != nil {
		return token{}, err
	}
	if l.pos == len(l.src) {
		return token{line: l.line}, nil
	}
	start, line := l.pos, l.line
	switch c := l.src[l.pos]; {
	case isDigit(c) || isName(c):
		for l.pos < len(l.src) && isInName(l.src[l.pos]) {
			l.pos++
			if strings.HasPrefix(l.src[l.pos:], "::") { // as in .L1::no_allocate
				l.pos += 2
			}
		}
	case c == '"':
		end := strings.IndexAny(l.src[l.pos+1:], "\"\n")
		if end < 0 || l.src[l.pos+1+end] != '"' {
			return token{}, l.fail(line, "a string without closing quote")
		}
		l.pos += end + 2
	case strings.IndexByte("{}()[],;:|+-@!<>=&*/", c) >= 0:
		l.pos++
	default:
		return token{}, l.fail(line, "unexpected character %q", c)
	}
	return token{l.src[start:l.pos], line}, nil
}

// skip skips white space and comments.
func (l *lexer) skip() error {
	for l.pos < len(l.src) {
		rest := l.src[l.pos:]
		switch c := rest[0]; {
		case c == '\n':
			l.line++
			l.pos++
		case c == ' ' || c == '\t' || c == '\r':
			l.pos++
		case strings.HasPrefix(rest, "//"):
			n := strings.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			l.pos += n
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest[2:], "*/")
			if n < 0 {
				return l.fail(l.line, "a comment without end")
			}
			l.line += int32(strings.Count(rest[:n+2], "\n"))
			l.pos += n + 4
		default:
			return nil
		}
	}
	return nil
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isName reports whether a name may begin with c.
func isName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' || c == '%' || c == '.'
}

func isInName(c byte) bool { return isName(c) || isDigit(c) }

// tokenize splits the whole text into tokens.
func tokenize(name, src string) ([]token, error) {
	l := lexer{name: name, src: src, line: 1}
	toks := make([]token, 0, len(src)/4+1)
	for {
		t, err := l.next()
		if err != nil {
			return nil, err
		}
		toks = append(toks, t)
		if t.text == "" {
			return toks, nil
		}
	}
}
