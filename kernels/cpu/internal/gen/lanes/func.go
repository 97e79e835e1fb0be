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

// FuncOf begins a function with one parameter a, a struct of type typ that is passed by value. fields lists its fields
// as a list of parameters: they lie in memory as such parameters do. It suits kernels that several goroutines call at
// once, or for which the struct of Args takes a register too many.
func FuncOf(name, typ, fields string, doc ...string) {
	byValue[name] = typ
	Func(name, "func("+fields+")", doc...)
}

// FuncOf is the function FuncOf with the type of an element for V in the types.
func (l Lanes) FuncOf(name, typ, fields string, doc ...string) {
	FuncOf(name, typeV.ReplaceAllString(typ, l.Type()), typeV.ReplaceAllString(fields, l.Type()), doc...)
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
