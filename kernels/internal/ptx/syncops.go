package ptx

import "strings"

// shuffle decodes shfl.sync.mode.b32 d[|p], a, b, c, mask.
func (b *builder) shuffle(mods string) {
	m := strings.Split(mods, ".")
	if len(m) != 3 || m[0] != "sync" || m[2] != "b32" || !strings.Contains(" up down bfly idx ", " "+m[1]+" ") {
		b.unknown()
		return
	}
	if !b.count(5) {
		return
	}
	in := b.in
	in.op, in.sync = opShuffle, &exchange{mode: m[1], result: -1}
	if p := b.ops[0].second; p != nil && p.kind != sinkOperand {
		in.sync.result = b.predicate(*p)
	}
	in.dst = b.sized(b.ops[0], 4)
	in.a, in.b, in.c = b.source(b.ops[1]), b.source(b.ops[2]), b.source(b.ops[3])
	in.sync.mask = b.source(b.ops[4])
}

// vote decodes vote.sync.mode d, [!]p, mask.
func (b *builder) vote(mods string) {
	x := &exchange{result: -1}
	switch mods {
	case "sync.all.pred", "sync.any.pred", "sync.uni.pred", "sync.ballot.b32":
		x.mode = strings.Split(mods, ".")[1]
	default:
		b.unknown()
		return
	}
	if !b.count(3) {
		return
	}
	in := b.in
	in.op, in.sync = opVote, x
	if x.mode == "ballot" {
		in.dst = b.sized(b.ops[0], 4)
	} else {
		in.dst = b.predicate(b.ops[0])
	}
	o := b.ops[1]
	x.negated, o.negated = o.negated, false
	in.pred = b.predicate(o)
	x.mask = b.source(b.ops[2])
}

// match decodes match.any.sync.type d, a, mask and match.all.sync.type d[|p], a, mask.
func (b *builder) match(mods string) {
	m := strings.Split(mods, ".")
	if len(m) != 3 || m[0] != "any" && m[0] != "all" || m[1] != "sync" || m[2] != "b32" && m[2] != "b64" {
		b.unknown()
		return
	}
	if !b.count(3) {
		return
	}
	t, _ := parseType(m[2])
	in := b.in
	in.op, in.sync = opMatch, &exchange{mode: m[0], result: -1, size: t.size}
	if p := b.ops[0].second; p != nil && p.kind != sinkOperand {
		in.sync.result = b.predicate(*p)
	}
	in.dst, in.a = b.sized(b.ops[0], 4), b.source(b.ops[1])
	in.sync.mask = b.source(b.ops[2])
}

func (b *builder) activeMask(mods string) {
	if mods != "b32" {
		b.unknown()
		return
	}
	if b.count(1) {
		b.in.op, b.in.dst = opActiveMask, b.sized(b.ops[0], 4)
	}
}

// barrier decodes bar.sync a[, b], bar.warp.sync mask and bar.red. The names may begin
// with bar or barrier, and may have .cta and .aligned.
func (b *builder) barrier(mods string) {
	mods = strings.TrimPrefix(mods, "cta.")
	in := b.in
	switch mods {
	case "warp.sync":
		if b.count(1) {
			in.op, in.sync = opWarpBarrier, &exchange{mask: b.source(b.ops[0]), result: -1}
		}
		return
	case "sync", "sync.aligned":
		in.op, in.sync = opBarrier, &exchange{mode: "sync", result: -1, mask: -1}
		if len(b.ops) != 2 && !b.count(1) {
			return
		}
		in.a, in.b = b.source(b.ops[0]), b.d.constant(0)
		if len(b.ops) == 2 {
			in.b = b.source(b.ops[1])
		}
		return
	}
	m := strings.Split(strings.Replace(mods, "aligned.", "", 1), ".")
	if len(m) != 3 || m[0] != "red" {
		b.unknown()
		return
	}
	x := &exchange{mode: m[1], result: -1, mask: -1}
	switch m[1] + "." + m[2] {
	case "popc.u32", "and.pred", "or.pred":
	default:
		b.unknown()
		return
	}
	if len(b.ops) != 4 && !b.count(3) {
		return
	}
	last := b.ops[len(b.ops)-1]
	in.op, in.sync = opBarrier, x
	if m[1] == "popc" {
		in.dst = b.sized(b.ops[0], 4)
	} else {
		in.dst = b.predicate(b.ops[0])
	}
	in.a, in.b = b.source(b.ops[1]), b.d.constant(0)
	if len(b.ops) == 4 {
		in.b = b.source(b.ops[2])
	}
	x.negated, last.negated = last.negated, false
	in.pred = b.predicate(last)
}

// fence decodes membar.scope and fence.order.scope. Accesses take effect immediately here,
// so a fence matters only to the race detector.
func (b *builder) fence(mods string) {
	switch mods {
	case "gl", "sys", "sc.gpu", "sc.sys", "acq_rel.gpu", "acq_rel.sys":
		b.in.size = 1
		b.d.k.fences = true
	case "cta", "sc.cta", "acq_rel.cta":
	default:
		b.unknown()
		return
	}
	b.count(0)
	b.in.op = opFence
}
