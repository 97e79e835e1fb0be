package ptx

import "strings"

// operandKind is the kind of an operand.
type operandKind uint8

const (
	registerOperand  operandKind = iota // index: register; size: its bytes
	predicateOperand                    // index: predicate; negated
	constantOperand                     // index: constant
	specialOperand                      // name: %tid.x and the like
	addressOperand                      // index: base; offset
	vectorOperand                       // list
	sinkOperand                         // _
)

// operand is one operand of an instruction. A register has an index of at least 0. A
// constant has the index ^i, where i is its index in Kernel.consts.
type operand struct {
	kind    operandKind
	index   int32
	size    int
	negated bool
	name    string
	offset  int64
	list    []operand
	second  *operand // what follows "|"
	tok     token
}

// symbol is a name of a register.
type symbol struct {
	typ   typ
	index int32 // -1 until it is used
}

// family is a set of registers declared together: .reg .b32 %r<26>.
type family struct {
	typ typ
	n   uint64
}

// scope holds the names that one pair of braces declares.
type scope struct {
	symbols  map[string]*symbol
	families map[string]family
}

func newScope() *scope {
	return &scope{map[string]*symbol{}, map[string]family{}}
}

// register finds a register by name in the innermost scope that declares it.
func (d *decoder) register(name string) *symbol {
	prefix := strings.TrimRight(name, "0123456789")
	for i := len(d.scopes) - 1; i >= 0; i-- {
		s := d.scopes[i]
		if r := s.symbols[name]; r != nil {
			return r
		}
		f, ok := s.families[prefix]
		if !ok || len(prefix) == len(name) {
			continue
		}
		digits := name[len(prefix):]
		n, ok := parseInteger("1" + digits) // leading zeros do not mean octal
		if !ok || digits != "0" && digits[0] == '0' {
			continue
		}
		for p, k := uint64(1), 0; k <= len(digits); k++ {
			if k == len(digits) {
				n -= p
			}
			p *= 10
		}
		if n < f.n {
			r := &symbol{typ: f.typ, index: -1}
			s.symbols[name] = r
			return r
		}
	}
	return nil
}

// number assigns an index to the register at its first use.
func (d *decoder) number(s *symbol) int32 {
	if s.index < 0 {
		if s.typ.kind == predKind {
			s.index = int32(d.k.preds)
			d.k.preds++
		} else {
			s.index = int32(d.k.regs)
			d.k.regs++
		}
	}
	return s.index
}

// constant returns the operand index of a value.
func (d *decoder) constant(v uint64) int32 {
	i, ok := d.known[v]
	if !ok {
		i = int32(len(d.k.consts))
		d.k.consts = append(d.k.consts, v)
		d.known[v] = i
	}
	return ^i
}

// operand reads one operand.
func (d *decoder) operand() (operand, error) {
	p := d.p
	t := p.peek()
	switch {
	case t.text == "[":
		return d.address()
	case t.text == "{":
		return d.vector()
	case t.text == "!":
		p.next()
		o, err := d.operand()
		if err == nil && (o.kind != predicateOperand || o.negated) {
			err = p.fail(t, "! before something that is not a predicate")
		}
		o.negated = true
		return o, err
	case t.text == "_":
		p.next()
		return operand{kind: sinkOperand, tok: t}, nil
	case t.text == "-", t.text != "" && isDigit(t.text[0]):
		v, err := p.immediate()
		if err != nil {
			return operand{}, err
		}
		return operand{kind: constantOperand, index: d.constant(v), tok: t}, nil
	}
	o, err := d.named()
	if err != nil || !p.accept("|") {
		return o, err
	}
	second, err := d.named()
	o.second = &second
	return o, err
}

// named reads a register, a special register, or a name that is an address.
func (d *decoder) named() (operand, error) {
	t := d.p.next()
	if t.text == "_" {
		return operand{kind: sinkOperand, tok: t}, nil
	}
	if t.text == "" || !isName(t.text[0]) || t.text[0] == '.' {
		return operand{}, d.p.fail(t, "%s where an operand belongs", describe(t))
	}
	if r := d.register(t.text); r != nil {
		kind := registerOperand
		if r.typ.kind == predKind {
			kind = predicateOperand
		}
		return operand{kind: kind, index: d.number(r), size: r.typ.size, tok: t}, nil
	}
	if _, ok := specials[t.text]; ok {
		return operand{kind: specialOperand, name: t.text, tok: t}, nil
	}
	var off int64
	if d.p.accept("+") {
		n, err := d.p.integer(1 << 40)
		if err != nil {
			return operand{}, err
		}
		off = int64(n)
	}
	i, ok := d.symbolAddress(t.text, uint64(off))
	if !ok {
		return operand{}, d.p.fail(t, "%s is not declared", describe(t))
	}
	return operand{kind: constantOperand, index: i, tok: t}, nil
}

// symbolAddress returns the constant that holds the address of a parameter or a
// variable, plus off.
func (d *decoder) symbolAddress(name string, off uint64) (int32, bool) {
	for _, q := range d.k.params {
		if q.name == name {
			return d.constant(uint64(q.off) + off), true
		}
	}
	if a, ok := d.offsets[name]; ok {
		return d.constant(uint64(a) + off), true
	}
	v := d.p.mod.vars[name]
	switch {
	case v == nil:
		return 0, false
	case v.shared && v.size > 0:
		// Each kernel that uses the variable has a copy in its shared memory.
		a := align(d.k.shared, v.align)
		if v.size > maxStatic-a {
			return 0, false
		}
		d.offsets[name], d.k.shared = a, a+v.size
		return d.constant(uint64(a) + off), true
	}
	i := len(d.k.consts)
	d.k.consts = append(d.k.consts, 0)
	if v.shared {
		d.dynamic = append(d.dynamic, fixup{index: i, variable: v, addend: off})
	} else {
		d.k.fixups = append(d.k.fixups, fixup{index: i, variable: v, addend: off})
	}
	return ^int32(i), true
}

// address reads [base], [base+offset] or [number].
func (d *decoder) address() (operand, error) {
	p := d.p
	tok := p.next()
	o := operand{kind: addressOperand, tok: tok}
	if t := p.peek(); t.text == "-" || t.text != "" && isDigit(t.text[0]) {
		v, err := p.immediate()
		if err != nil {
			return o, err
		}
		o.index = d.constant(v)
		return o, p.expect("]")
	}
	t := p.next()
	if t.text == "" || !isName(t.text[0]) || t.text[0] == '.' {
		return o, p.fail(t, "%s where an address belongs", describe(t))
	}
	if r := d.register(t.text); r != nil {
		if r.typ.kind == predKind || r.typ.kind == floatKind {
			return o, p.fail(t, "%s is not an address", describe(t))
		}
		o.index, o.size = d.number(r), r.typ.size
	} else {
		i, ok := d.symbolAddress(t.text, 0)
		if !ok {
			return o, p.fail(t, "%s is not declared", describe(t))
		}
		o.index = i
	}
	if p.accept("+") || p.peek().text == "-" {
		v, err := p.immediate()
		if err != nil {
			return o, err
		}
		o.offset = int64(v)
	}
	return o, p.expect("]")
}

// vector reads {a, b, ...}.
func (d *decoder) vector() (operand, error) {
	o := operand{kind: vectorOperand, tok: d.p.next()}
	for {
		if t := d.p.peek(); t.text == "{" || t.text == "[" {
			return o, d.p.fail(t, "%s inside a vector", describe(t))
		}
		e, err := d.operand()
		if err != nil {
			return o, err
		}
		o.list = append(o.list, e)
		if !d.p.accept(",") {
			return o, d.p.expect("}")
		}
	}
}
