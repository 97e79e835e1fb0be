package ptx

import (
	"strconv"
	"strings"

	"github.com/msrep-go/msrep/sparse"
)

// The bounds on what a text may declare are those of devices.
const (
	maxStatic = 48 << 10  // shared memory that a text declares
	maxShared = 227 << 10 // shared memory of a block, with that of the launch
	maxLocal  = 64 << 10
	maxConst  = 64 << 10
	maxParam  = 4 << 10
)

// parser reads the tokens of a module.
type parser struct {
	toks []token
	pos  int
	mod  *Module

	version float64 // version of PTX, for example 6.3
	arch    int     // number of the target, for example 70
}

func (p *parser) peek() token { return p.toks[p.pos] }

func (p *parser) next() token {
	t := p.toks[p.pos]
	if p.pos < len(p.toks)-1 {
		p.pos++
	}
	return t
}

// accept consumes the next token if it is text.
func (p *parser) accept(text string) bool {
	if p.peek().text != text {
		return false
	}
	p.next()
	return true
}

func (p *parser) expect(text string) error {
	if t := p.next(); t.text != text {
		return p.fail(t, "%s where %q belongs", describe(t), text)
	}
	return nil
}

func (p *parser) fail(t token, format string, args ...any) error {
	return sparse.InputLinef(p.mod.name, int64(t.line), format, args...)
}

func describe(t token) string {
	if t.text == "" {
		return "the end of the text"
	}
	if len(t.text) > 60 {
		return strconv.Quote(t.text[:60]) + "..."
	}
	return strconv.Quote(t.text)
}

// name reads an identifier.
func (p *parser) name() (string, error) {
	t := p.next()
	if t.text == "" || !isName(t.text[0]) || t.text[0] == '.' {
		return "", p.fail(t, "%s where a name belongs", describe(t))
	}
	return t.text, nil
}

// integer reads a number of at most limit.
func (p *parser) integer(limit uint64) (uint64, error) {
	t := p.next()
	v, ok := parseInteger(t.text)
	if !ok {
		return 0, p.fail(t, "%s where a whole number belongs", describe(t))
	}
	if v > limit {
		return 0, p.fail(t, "%s is more than %d", t.text, limit)
	}
	return v, nil
}

func parseInteger(s string) (uint64, bool) {
	if s == "" || !isDigit(s[0]) || strings.ContainsRune(s, '_') {
		return 0, false
	}
	v, err := strconv.ParseUint(strings.TrimSuffix(s, "U"), 0, 64)
	return v, err == nil
}

// module reads the whole text.
func (p *parser) module() error {
	for {
		t := p.peek()
		var err error
		switch t.text {
		case "":
			return nil
		case ".version":
			p.next()
			p.version, _ = strconv.ParseFloat(p.next().text, 64)
		case ".target":
			p.next()
			err = p.target()
		case ".address_size":
			p.next()
			var n uint64
			if n, err = p.integer(64); err == nil && n != 64 {
				err = p.fail(t, "addresses of %d bits: 64 are supported", n)
			}
		case ".file":
			err = p.file()
		case ".section":
			err = p.section()
		case ".visible", ".weak", ".extern", ".entry", ".const", ".global", ".shared":
			err = p.declaration()
		case ".func":
			err = p.fail(t, "a device function: these are not supported, compile them inline")
		default:
			err = p.fail(t, "unknown directive %s", describe(t))
		}
		if err != nil {
			return err
		}
	}
}

func (p *parser) target() error {
	for {
		name, err := p.name()
		if err != nil {
			return err
		}
		if n, err := strconv.Atoi(strings.TrimPrefix(name, "sm_")); err == nil {
			p.arch = n
		}
		if !p.accept(",") {
			return nil
		}
	}
}

// file reads .file number "path" [, time, size].
func (p *parser) file() error {
	p.next()
	n, err := p.integer(1 << 31)
	if err != nil {
		return err
	}
	t := p.next()
	if len(t.text) < 2 || t.text[0] != '"' {
		return p.fail(t, "%s where the path of a source file belongs", describe(t))
	}
	p.mod.files[n] = t.text[1 : len(t.text)-1]
	for p.accept(",") {
		p.next()
	}
	return nil
}

// section skips debugging information.
func (p *parser) section() error {
	start := p.next()
	for t := p.next(); t.text != "{"; t = p.next() {
		if t.text == "" {
			return p.fail(start, "a section without content")
		}
	}
	for t := p.next(); t.text != "}"; t = p.next() {
		if t.text == "" {
			return p.fail(start, "a section without end")
		}
	}
	return nil
}

// declaration reads a kernel or a variable.
func (p *parser) declaration() error {
	extern := false
	for {
		t := p.next()
		switch t.text {
		case ".visible", ".weak":
		case ".extern":
			extern = true
		case ".entry":
			return p.entry()
		case ".func":
			return p.fail(t, "a device function: these are not supported, compile them inline")
		case ".const", ".global", ".shared":
			return p.moduleVariable(t, extern)
		default:
			return p.fail(t, "%s where .entry, .const, .global or .shared belongs", describe(t))
		}
	}
}
