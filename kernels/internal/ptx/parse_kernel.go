package ptx

import "strings"

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
