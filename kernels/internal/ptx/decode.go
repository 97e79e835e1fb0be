package ptx

import "strings"

// decoder turns the body of a kernel into instructions.
type decoder struct {
	p       *parser
	k       *Kernel
	scopes  []*scope
	offsets map[string]int64 // of shared and local variables
	known   map[uint64]int32 // index of each constant, by value
	dynamic []fixup          // operands that are addresses of dynamic shared memory
	list    []instr
	labels  map[string]int32 // number of a label
	places  []int32          // instruction of each label, -1 until it is defined
	uses    []token          // where each label occurs first
	loc     source
}

// maxDepth bounds nested braces.
const maxDepth = 64

func newDecoder(p *parser, k *Kernel) *decoder {
	return &decoder{p: p, k: k, offsets: map[string]int64{}, known: map[uint64]int32{}, labels: map[string]int32{}}
}

// body reads { ... }.
func (d *decoder) body() error {
	p := d.p
	open := p.peek()
	if err := p.expect("{"); err != nil {
		return err
	}
	d.scopes = append(d.scopes, newScope())
	if len(d.scopes) > maxDepth {
		return p.fail(open, "braces are nested more than %d deep", maxDepth)
	}
	for {
		t := p.peek()
		var err error
		switch {
		case t.text == "":
			return p.fail(open, "a body without end")
		case t.text == "}":
			p.next()
			d.scopes = d.scopes[:len(d.scopes)-1]
			return nil
		case t.text == "{":
			err = d.body()
		case t.text == "@":
			err = d.statement()
		case t.text[0] == '.':
			err = d.directive()
		case !isName(t.text[0]):
			err = p.fail(t, "%s where an instruction belongs", describe(t))
		case p.toks[p.pos+1].text == ":":
			p.next()
			p.next()
			err = d.label(t)
		default:
			err = d.statement()
		}
		if err != nil {
			return err
		}
	}
}

// label marks the next instruction.
func (d *decoder) label(t token) error {
	n := d.labelNumber(t)
	if d.places[n] >= 0 {
		return d.p.fail(t, "label %s is defined twice", t.text)
	}
	d.places[n] = int32(len(d.list))
	return nil
}

func (d *decoder) labelNumber(t token) int32 {
	n, ok := d.labels[t.text]
	if !ok {
		n = int32(len(d.places))
		d.labels[t.text] = n
		d.places = append(d.places, -1)
		d.uses = append(d.uses, t)
	}
	return n
}

// directive reads a declaration or a debugging directive of a body.
func (d *decoder) directive() error {
	p := d.p
	t := p.next()
	switch t.text {
	case ".reg":
		return d.registers()
	case ".shared", ".local":
		return d.variable(t)
	case ".pragma":
		if s := p.next(); s.text != `"nounroll"` {
			return p.fail(s, "unknown pragma %s", describe(s))
		}
		return p.expect(";")
	case ".loc":
		return d.location(t)
	}
	return p.fail(t, "unknown directive %s in a kernel", describe(t))
}

// location reads .loc file line column [, ...] up to the end of its line.
func (d *decoder) location(at token) error {
	file, err := d.p.integer(1 << 31)
	if err != nil {
		return err
	}
	line, err := d.p.integer(1<<31 - 1)
	if err != nil {
		return err
	}
	d.loc = source{uint32(file), int32(line)}
	for t := d.p.peek(); t.text != "" && t.line == at.line; t = d.p.peek() {
		d.p.next()
	}
	return nil
}

// registers reads .type name, name<count>, ... ;
func (d *decoder) registers() error {
	p := d.p
	tok := p.next()
	t, ok := parseType(tok.text)
	if !ok || tok.text[0] != '.' {
		return p.fail(tok, "%s where the type of a register belongs", describe(tok))
	}
	s := d.scopes[len(d.scopes)-1]
	for {
		at := p.peek()
		name, err := p.name()
		if err != nil {
			return err
		}
		if p.accept("<") {
			n, err := p.integer(1 << 31)
			if err != nil {
				return err
			}
			if _, twice := s.families[name]; twice {
				return p.fail(at, "registers %s are declared twice", name)
			}
			s.families[name] = family{t, n}
			if err := p.expect(">"); err != nil {
				return err
			}
		} else {
			if s.symbols[name] != nil {
				return p.fail(at, "register %s is declared twice", name)
			}
			s.symbols[name] = &symbol{typ: t, index: -1}
		}
		if !p.accept(",") {
			return p.expect(";")
		}
	}
}

// variable reads a shared or local variable and assigns its offset.
func (d *decoder) variable(space token) error {
	v, err := d.p.variable()
	if err != nil {
		return err
	}
	used, limit := &d.k.shared, int64(maxStatic)
	if space.text == ".local" {
		used, limit = &d.k.local, maxLocal
	}
	off := align(*used, v.align)
	if _, twice := d.offsets[v.name]; twice {
		return d.p.fail(space, "%s is declared twice", v.name)
	}
	if v.size > limit-off {
		return d.p.fail(space, "%s of %d bytes: a kernel may declare %d of %s", v.name, v.size, limit, space.text)
	}
	if v.init != nil {
		return d.p.fail(space, "%s has initial values, which memory in %s cannot have", v.name, space.text)
	}
	d.offsets[v.name] = off
	*used = off + v.size
	return nil
}

// statement reads [@[!]p] opcode operands ;
func (d *decoder) statement() error {
	p := d.p
	in := instr{guard: -1, pred: -1, dst: -1, source: d.loc}
	if p.accept("@") {
		o, err := d.operand()
		if err != nil {
			return err
		}
		if o.kind != predicateOperand {
			return p.fail(o.tok, "%s is not a predicate", describe(o.tok))
		}
		in.guard, in.unless = o.index, o.negated
	}
	t := p.next()
	in.line = t.line
	if t.text == "bra" || t.text == "bra.uni" {
		return d.branch(in)
	}
	var ops []operand
	for p.peek().text != ";" {
		o, err := d.operand()
		if err != nil {
			return err
		}
		ops = append(ops, o)
		if !p.accept(",") {
			break
		}
	}
	if err := p.expect(";"); err != nil {
		return err
	}
	return d.instruction(in, t, ops)
}

func (d *decoder) branch(in instr) error {
	t := d.p.peek()
	if _, err := d.p.name(); err != nil {
		return err
	}
	in.op, in.target = opBranch, d.labelNumber(t)
	d.list = append(d.list, in)
	return d.p.expect(";")
}

// instruction decodes one instruction by the first part of its name.
func (d *decoder) instruction(in instr, t token, ops []operand) error {
	first, mods, _ := strings.Cut(t.text, ".")
	b := builder{d: d, in: &in, tok: t, ops: ops}
	if o, ok := arithmetic[t.text]; ok {
		b.arithmetic(o, mods)
	} else if decode := families[first]; decode != nil {
		decode(&b, mods)
	} else {
		b.unknown()
	}
	if b.err != nil {
		return b.err
	}
	d.list = append(d.list, in)
	return nil
}

// families decode the instructions that the table named arithmetic lacks. They are set
// in init, because the functions refer back to families.
var families map[string]func(b *builder, mods string)

func init() {
	families = map[string]func(b *builder, mods string){
		"setp": (*builder).setPredicate, "selp": (*builder).selectValue, "cvt": (*builder).convert, "cvta": (*builder).convertAddress,
		"mov": (*builder).move, "and": (*builder).predicateLogic, "or": (*builder).predicateLogic, "xor": (*builder).predicateLogic,
		"not": (*builder).predicateLogic,
		"ld":  (*builder).load, "ldu": (*builder).load, "st": (*builder).store, "atom": (*builder).atomic, "red": (*builder).atomic,
		"shfl": (*builder).shuffle, "vote": (*builder).vote, "match": (*builder).match, "activemask": (*builder).activeMask,
		"bar": (*builder).barrier, "barrier": (*builder).barrier, "membar": (*builder).fence, "fence": (*builder).fence,
		"ret": (*builder).exit, "exit": (*builder).exit, "trap": (*builder).trap,
	}
}

// finish resolves labels, orders the basic blocks, and places dynamic shared memory
// after the static one.
func (d *decoder) finish() error {
	for i, place := range d.places {
		if place < 0 {
			return d.p.fail(d.uses[i], "label %s is not defined", d.uses[i].text)
		}
	}
	for i := range d.list {
		if d.list[i].op == opBranch {
			d.list[i].target = d.places[d.list[i].target]
		}
	}
	// A kernel whose last instruction falls through exits.
	d.list = append(d.list, instr{op: opExit, guard: -1, line: d.p.toks[max(d.p.pos-1, 0)].line})
	for _, f := range d.dynamic {
		start := align(d.k.shared, f.variable.align)
		d.k.consts[f.index] = uint64(start) + f.addend
	}
	place := layout(d.list)
	d.k.code = place.code
	for name, n := range d.labels {
		if pc := place.where[d.places[n]]; pc >= 0 {
			d.k.labels[name] = pc
		}
	}
	return nil
}
