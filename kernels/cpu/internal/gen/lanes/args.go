package lanes

import (
	"fmt"
	"slices"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Arguments is the struct that the parameter a of a kernel points to. Each of its fields has 8
// bytes; a field of 4 bytes, such as a float32, is followed by padding. A kernel may change fields,
// but must not store a pointer past the end of an array, which stops the garbage collector with an
// error: such a field is a uintptr.
type Arguments struct {
	fields []string
	base   Register // nil: the address is loaded for each access
}

// arguments is the struct of the current function, or nil if it has other parameters.
var arguments *Arguments

// Args begins a function whose parameter a points to a struct with the given fields, in this order,
// and loads its address. A register holds the address up to the last access.
func Args(fields ...string) *Arguments {
	arguments = &Arguments{fields, Load(Param("a"), GP64())}
	checkLayout(fields)
	return arguments
}

// Release gives back the register of the address: each later access loads the address first. It is
// for kernels that need all registers.
func (a *Arguments) Release() { a.base = nil }

// Load loads a field of 8 bytes into a new register.
func (a *Arguments) Load(name string) Register {
	r := GP64()
	MOVQ(a.Mem(name), r)
	return r
}

// Mem returns the memory of a field.
func (a *Arguments) Mem(name string) Mem {
	i := slices.Index(a.fields, name)
	if i < 0 {
		panic(fmt.Sprintf("no argument %s", name))
	}
	base := a.base
	if base == nil {
		base = Load(Param("a"), GP64())
	}
	return Mem{Base: base, Disp: 8 * i}
}
