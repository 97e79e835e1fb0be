package lanes

import (
	"regexp"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
)

// described has the docs that Func has written.
var described = map[string]bool{}

// Func begins a function. Its signature may have any type of arguments: see Args. Its doc comment is name and doc, unless an earlier function has the same
// doc: the functions after that one differ from it only in what their names say.
func Func(name, signature string, doc ...string) {
	arguments = nil
	if of := argumentType.FindStringSubmatch(signature); of != nil {
		current, structs[name] = of[1], of[1]
		signature = "func(a *byte)"
	}
	TEXT(name, NOSPLIT, signature)
	kernels = append(kernels, kernel{name, strings.TrimSuffix(strings.TrimPrefix(signature, "func("), ")")})
	Pragma("noescape")
	text := strings.Join(doc, "\n")
	if !described[text] {
		described[text] = true
		Doc(strings.Split(name+" "+text, "\n")...)
	}
}

var typeV = regexp.MustCompile(`\bV\b`)

// Func is the function Func with the type of an element for V in the signature.
func (l Lanes) Func(name, signature string, doc ...string) {
	Func(name, typeV.ReplaceAllString(signature, l.Type()), doc...)
}

// Arg returns the memory of an argument of the function: of a field of its struct of arguments, or of
// a parameter.
func Arg(name string) Mem {
	if arguments != nil {
		return arguments.Mem(name)
	}
	return Place(Param(name))
}

// Place returns the memory of an argument or a result, or of a part of one.
func Place(c gotypes.Component) Mem {
	p, err := c.Resolve()
	if err != nil {
		panic(err)
	}
	return p.Addr
}
