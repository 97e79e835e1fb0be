package ptx

import (
	"strconv"
	"strings"
)

// entry reads a kernel after ".entry".
func (p *parser) entry() error {
	at := p.peek()
	name, err := p.name()
	if err != nil {
		return err
	}
	if p.mod.kernels[name] != nil {
		return p.fail(at, "kernel %s is defined twice", name)
	}
	k := &Kernel{name: name, mod: p.mod, labels: map[string]int32{}}
	if p.accept("(") && !p.accept(")") {
		if err := p.parameters(k); err != nil {
			return err
		}
	}
	if err := p.performance(k); err != nil {
		return err
	}
	d := newDecoder(p, k)
	if err := d.body(); err != nil {
		return err
	}
	if err := d.finish(); err != nil {
		return err
	}
	p.mod.kernels[name] = k
	return nil
}

// parameters reads .param declarations up to the closing parenthesis.
func (p *parser) parameters(k *Kernel) error {
	for {
		if err := p.expect(".param"); err != nil {
			return err
		}
		q := param{}
		alignment := int64(1)
		t, err := p.typeWithAlign(&alignment)
		if err != nil {
			return err
		}
		q.typ, q.size = t, int64(t.size)
		if p.accept(".ptr") {
			if err := p.pointer(); err != nil {
				return err
			}
		}
		at := p.peek()
		if q.name, err = p.name(); err != nil {
			return err
		}
		if p.accept("[") {
			n, err := p.integer(maxParam)
			if err != nil {
				return err
			}
			q.array, q.size = true, q.size*int64(n)
			if err := p.expect("]"); err != nil {
				return err
			}
		}
		alignment = max(alignment, int64(t.size))
		q.off = align(k.nparam, alignment)
		k.nparam = q.off + q.size
		if k.nparam > maxParam {
			return p.fail(at, "parameters of kernel %s take more than %d bytes", k.name, maxParam)
		}
		k.params = append(k.params, q)
		if !p.accept(",") {
			return p.expect(")")
		}
	}
}

// pointer reads the attributes after .ptr: the state space and the alignment that a
// parameter points to. The interpreter ignores them.
func (p *parser) pointer() error {
	for strings.HasPrefix(p.peek().text, ".") {
		switch at := p.next(); at.text {
		case ".global", ".shared", ".local", ".const":
		case ".align":
			if _, err := p.integer(1 << 20); err != nil {
				return err
			}
		default:
			return p.fail(at, "unknown attribute %s of a pointer", describe(at))
		}
	}
	return nil
}

// performance reads the directives between parameters and body.
func (p *parser) performance(k *Kernel) error {
	for {
		t := p.peek()
		var dims [3]int64
		switch t.text {
		case "{":
			return nil
		case ".maxntid", ".reqntid", ".minnctapersm", ".maxnreg", ".maxnctapersm":
			p.next()
			for i := range dims {
				n, err := p.integer(1 << 20)
				if err != nil {
					return err
				}
				dims[i] = int64(n)
				if !p.accept(",") {
					break
				}
			}
			for i := range dims {
				dims[i] = max(dims[i], 1)
			}
		case ".noreturn":
			p.next()
		default:
			return p.fail(t, "%s between the parameters and the body of kernel %s", describe(t), k.name)
		}
		switch t.text {
		case ".maxntid":
			k.maxDim = dims
		case ".reqntid":
			k.reqDim = dims
		}
	}
}

// moduleVariable reads a variable of a module after its state space.
func (p *parser) moduleVariable(space token, extern bool) error {
	v, err := p.variable()
	if err != nil {
		return err
	}
	v.readOnly = space.text == ".const"
	v.shared = space.text == ".shared"
	switch {
	case p.mod.vars[v.name] != nil:
		return p.fail(space, "%s is declared twice", v.name)
	case extern && (!v.shared || v.size != 0):
		return p.fail(space, "external variable %s: only .extern .shared without a size is supported", v.name)
	case v.size == 0 && !extern:
		return p.fail(space, "%s has no size", v.name)
	case v.shared && v.init != nil:
		return p.fail(space, "%s has initial values, which shared memory cannot have", v.name)
	case v.readOnly && v.size > maxConst:
		return p.fail(space, "%s of %d bytes: constant memory has %d", v.name, v.size, maxConst)
	}
	p.mod.vars[v.name] = v
	return nil
}

// variable reads [.align n] .type name[count] [= values];
func (p *parser) variable() (*variable, error) {
	v := &variable{align: 1}
	t, err := p.typeWithAlign(&v.align)
	if err != nil {
		return nil, err
	}
	at := p.peek()
	if v.name, err = p.name(); err != nil {
		return nil, err
	}
	v.align = max(v.align, int64(t.size))
	v.size = int64(t.size)
	for p.accept("[") {
		if p.accept("]") {
			v.size = 0
			continue
		}
		n, err := p.integer(1 << 40)
		if err != nil {
			return nil, err
		}
		if n != 0 && v.size > (1<<40)/int64(n) {
			return nil, p.fail(at, "%s is too large", v.name)
		}
		v.size *= int64(n)
		if err := p.expect("]"); err != nil {
			return nil, err
		}
	}
	if p.accept("=") {
		if err := p.initial(v, t); err != nil {
			return nil, err
		}
	}
	return v, p.expect(";")
}

// typeWithAlign reads [.align n] .type.
func (p *parser) typeWithAlign(align *int64) (typ, error) {
	if p.accept(".align") {
		at := p.peek()
		n, err := p.integer(512)
		if err != nil {
			return typ{}, err
		}
		if n == 0 || n&(n-1) != 0 {
			return typ{}, p.fail(at, "alignment %d is not a power of two", n)
		}
		*align = int64(n)
	}
	tok := p.next()
	t, ok := parseType(tok.text)
	if !ok || tok.text[0] != '.' || t.kind == predKind {
		return typ{}, p.fail(tok, "%s where a type belongs", describe(tok))
	}
	return t, nil
}

// initial reads the initial values of a variable. It rejects more values than the
// variable holds.
func (p *parser) initial(v *variable, t typ) error {
	list := p.accept("{")
	for {
		at := p.peek()
		if v.size != 0 && int64(len(v.init)) >= v.size {
			return p.fail(at, "%s has more initial values than its size allows", v.name)
		}
		val, err := p.immediate()
		if err != nil {
			return err
		}
		for i := range t.size {
			v.init = append(v.init, byte(val>>(8*i)))
		}
		if !list {
			break
		}
		if !p.accept(",") {
			if err := p.expect("}"); err != nil {
				return err
			}
			break
		}
	}
	v.size = max(v.size, int64(len(v.init)))
	return nil
}

// immediate reads a number: [-]integer, 0fXXXXXXXX or 0dXXXXXXXXXXXXXXXX.
func (p *parser) immediate() (uint64, error) {
	minus := p.accept("-")
	t := p.next()
	if len(t.text) > 2 && t.text[0] == '0' && !minus {
		width := map[byte]int{'f': 8, 'F': 8, 'd': 16, 'D': 16}[t.text[1]]
		if width > 0 {
			v, err := strconv.ParseUint(t.text[2:], 16, 64)
			if err != nil || len(t.text) != width+2 {
				return 0, p.fail(t, "%s is not a floating-point number of %d hexadecimal digits", describe(t), width)
			}
			return v, nil
		}
	}
	v, ok := parseInteger(t.text)
	if !ok {
		return 0, p.fail(t, "%s where a number belongs", describe(t))
	}
	if minus {
		v = -v
	}
	return v, nil
}
