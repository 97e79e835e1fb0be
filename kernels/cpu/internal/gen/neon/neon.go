// Package neon writes assembly for arm64 with NEON, in the syntax of Go's assembler, and its stubs. It is
// what avo is for amd64, as far as the kernels of this module need it: registers have names, arguments are
// found by name, and a declaration has the loop in plain Go as its comment.
//
// A generator calls Func, then methods of the function, function after function, and WriteFiles at the end.
package neon

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Function is the function that is being generated.
type Function struct {
	name     string
	frame    frame
	general  registers
	vector   registers
	labels   int
	out      strings.Builder
	fields   []string // of the struct of arguments, if it has one
	argument G        // its address
}

// G is a general register.
type G string

// V is a vector register. Its String is the name of its lowest element, as instructions for one element and for
// whole registers name it.
type V int

func (v V) String() string { return fmt.Sprintf("F%d", int(v)) }

// Asm is String: vector registers are operands, as those of avo are.
func (v V) Asm() string { return v.String() }

// Of returns the register with an arrangement, as D2 or B16, or with an element, as D[1].
func (v V) Of(arrangement string) string { return fmt.Sprintf("V%d.%s", int(v), arrangement) }

// functions are the functions done so far, in order.
var functions []*function

// function is a generated function and its declaration.
type function struct {
	name, signature string
	doc             []string
	text            *Function
}

// Func begins a function. Each register that it names is free again in the next one. doc is as for lanes.Func:
// a function has no comment if an earlier one has the same.
func Func(name, signature string, doc ...string) *Function {
	f := &Function{name: name, frame: parse(signature)}
	// R18 belongs to the platform, R27 to the assembler, R28 to R30 to Go and to returns.
	for i := range 27 {
		if i != 18 {
			f.general.free = append(f.general.free, i)
		}
	}
	for i := range 32 {
		f.vector.free = append(f.vector.free, i)
	}
	functions = append(functions, &function{name, signature, doc, f})
	return f
}

// registers assigns registers to names.
type registers struct {
	free  []int
	names map[string]int
}

// named returns the register with the name, and takes a free one at the first use of the name.
func (r *registers) named(function, name string) int {
	if at, ok := r.names[name]; ok {
		return at
	}
	if len(r.free) == 0 {
		panic(fmt.Sprintf("%s: no register is left for %s", function, name))
	}
	if r.names == nil {
		r.names = map[string]int{}
	}
	at := r.free[0]
	r.free = r.free[1:]
	r.names[name] = at
	return at
}

// release makes the register of a name free.
func (r *registers) release(name string) {
	at, ok := r.names[name]
	if !ok {
		panic("no register has the name " + name)
	}
	delete(r.names, name)
	r.free = append([]int{at}, r.free...)
}

// G returns the general register with the name.
func (f *Function) G(name string) G {
	return G(fmt.Sprintf("R%d", f.general.named(f.name, name)))
}

// V returns the vector register with the name.
func (f *Function) V(name string) V { return V(f.vector.named(f.name, name)) }

// HasV reports whether a vector register has the name.
func (f *Function) HasV(name string) bool {
	_, ok := f.vector.names[name]
	return ok
}

// RenameV gives a vector register another name.
func (f *Function) RenameV(from, to string) {
	at := f.vector.named(f.name, from)
	delete(f.vector.names, from)
	f.vector.names[to] = at
}

// FreeG makes general registers free; their names may be used again.
func (f *Function) FreeG(names ...string) {
	for _, n := range names {
		f.general.release(n)
	}
}

// FreeV makes vector registers free.
func (f *Function) FreeV(names ...string) {
	for _, n := range names {
		f.vector.release(n)
	}
}

// I writes an instruction with its operands, the destination last.
func (f *Function) I(instruction string, operands ...any) {
	text := make([]string, len(operands))
	for i, o := range operands {
		text[i] = fmt.Sprint(o)
	}
	fmt.Fprintf(&f.out, "\t%s %s\n", instruction, strings.Join(text, ", "))
}

// word writes an instruction that Go's assembler does not know.
func (f *Function) word(code uint32, comment string) {
	fmt.Fprintf(&f.out, "\tWORD $0x%08X // %s\n", code, comment)
}

// Label writes a label.
func (f *Function) Label(name string) { fmt.Fprintf(&f.out, "%s:\n", name) }

// Unique returns a label that the function does not have yet.
func (f *Function) Unique(name string) string {
	f.labels++
	return fmt.Sprintf("%s%d", name, f.labels)
}

// Ret writes a return.
func (f *Function) Ret() { f.out.WriteString("\tRET\n") }

// Loop repeats do n times; n counts down to 0. With n = 0 it does nothing.
func (f *Function) Loop(name string, n G, do func()) {
	f.I("CBZ", n, name+"End")
	f.Label(name)
	do()
	f.I("SUBS", "$1", n, n)
	f.I("BNE", name)
	f.Label(name + "End")
}

// Mem returns the memory at a register and a distance in bytes.
func Mem(base G, bytes int) string {
	if bytes == 0 {
		return fmt.Sprintf("(%s)", base)
	}
	return fmt.Sprintf("%d(%s)", bytes, base)
}

// At returns the memory of element index of the array at base, whose elements have 1<<shift bytes.
func At(base, index G, shift int) string {
	if shift == 0 {
		return fmt.Sprintf("(%s)(%s)", base, index)
	}
	return fmt.Sprintf("(%s)(%s<<%d)", base, index, shift)
}

// Pair returns two registers as an operand.
func Pair(a, b any) string { return fmt.Sprintf("(%v, %v)", a, b) }

// Imm returns a constant as an operand.
func Imm(n int) string { return fmt.Sprintf("$%d", n) }

// Args says that the parameter a of the function points to a struct with these fields of 8 bytes each, in this
// order, and loads its address. A register holds it to the end.
func (f *Function) Args(fields ...string) {
	f.argument = f.Load("a")
	f.fields = fields
}

// Field returns the memory of a field of the struct of arguments.
func (f *Function) Field(name string) string {
	i := slices.Index(f.fields, name)
	if i < 0 {
		panic(fmt.Sprintf("%s: no argument %s", f.name, name))
	}
	return Mem(f.argument, 8*i)
}

// Load loads a field of the struct of arguments, or a parameter if there is none, into the general register of
// this name.
func (f *Function) Load(name string) G {
	r := f.G(name)
	from := ""
	if f.fields == nil {
		from = f.frame.place(name)
	} else {
		from = f.Field(name)
	}
	f.I("MOVD", from, r)
	return r
}

// Place returns the memory of a parameter or result.
func (f *Function) Place(name string) string { return f.frame.place(name) }

// frame has the parameters and results of a function by name, with their offsets.
type frame struct {
	offsets map[string]int
	size    int // of parameters and results
}

var (
	parameter = regexp.MustCompile(`(\w+) (\*?[\w\[\]]+)`)
	signature = regexp.MustCompile(`^func\((.*?)\)(?: \(?(.*?)\)?)?$`)
)

// parse returns the frame of a function of this signature, in which every parameter has a type of its own.
func parse(text string) frame {
	m := signature.FindStringSubmatch(text)
	if m == nil {
		panic("signature " + text)
	}
	f := frame{offsets: map[string]int{}}
	f.add(m[1])
	f.size = (f.size + 7) &^ 7
	if m[2] != "" {
		if !strings.Contains(m[2], " ") {
			m[2] = "ret " + m[2]
		}
		f.add(m[2])
	}
	return f
}

func (f *frame) add(parameters string) {
	for _, p := range parameter.FindAllStringSubmatch(parameters, -1) {
		name, size, align := p[1], 8, 8
		switch {
		case strings.HasPrefix(p[2], "[]"):
			size = 24
		case p[2] == "float32" || p[2] == "uint32" || p[2] == "int32":
			size, align = 4, 4
		case p[2] == "bool":
			size, align = 1, 1
		}
		f.size = (f.size + align - 1) / align * align
		if size == 24 {
			f.offsets[name+"_base"], f.offsets[name+"_len"] = f.size, f.size+8
		} else {
			f.offsets[name] = f.size
		}
		f.size += size
	}
}

func (f *frame) place(name string) string {
	at, ok := f.offsets[name]
	if !ok {
		panic("no parameter " + name)
	}
	return fmt.Sprintf("%s+%d(FP)", name, at)
}

// Dry runs do without effect on the function. It is for generators that must know beforehand what do does.
func (f *Function) Dry(do func()) {
	text, general, vector := f.out.String(), f.general.clone(), f.vector.clone()
	do()
	f.out.Reset()
	f.out.WriteString(text)
	f.general, f.vector = general, vector
}

func (r *registers) clone() registers { return registers{slices.Clone(r.free), maps.Clone(r.names)} }
