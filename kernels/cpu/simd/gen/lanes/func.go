package lanes

import (
	"regexp"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
)

// described is what Func has said.
var described = map[string]bool{}

// Func begins a function. It documents it by its name and doc, unless the same was said of another
// one: those that follow that one differ from it by what their names say.
func Func(name, signature string, doc ...string) {
	TEXT(name, NOSPLIT, signature)
	Pragma("noescape")
	text := strings.Join(doc, "\n")
	if !described[text] {
		described[text] = true
		Doc(strings.Split(name+" "+text, "\n")...)
	}
}

var typeV = regexp.MustCompile(`\bV\b`)

// Func is Func with the type of an element for V in the signature.
func (l Lanes) Func(name, signature string, doc ...string) {
	Func(name, typeV.ReplaceAllString(signature, l.Type()), doc...)
}

// Arg is where an argument of the function lies.
func Arg(name string) Mem { return Place(Param(name)) }

// Place is where an argument or a result lies, or a part of one.
func Place(c gotypes.Component) Mem {
	p, err := c.Resolve()
	if err != nil {
		panic(err)
	}
	return p.Addr
}
