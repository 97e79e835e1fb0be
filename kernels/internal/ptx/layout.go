package ptx

import "slices"

// layout puts the basic blocks of a kernel into a weak topological order: F.
// Bourdoncle, Efficient chaotic iteration strategies with widenings, 1993. All edges go
// forward, except those back to the head of a loop, and every loop is contiguous.
// Unreachable blocks are left out.
func layout(list []instr) program {
	g := newGraph(list)
	g.visit(0)
	return g.emit(list)
}

// program is code in its final order, and the new index of each instruction (-1 for
// none).
type program struct {
	code  []instr
	where []int32
}

// graph is the control flow of a kernel.
type graph struct {
	starts []int32 // first instruction of each block; the last element is the number of instructions
	next   [][]int32
	block  []int32 // block that an instruction begins

	number []int32 // depth-first numbers of Bourdoncle's algorithm
	count  int32
	stack  []int32
	order  []int32 // blocks, last one first
}

// done is the number of a block that is already placed.
const done = int32(1<<31 - 1)

func newGraph(list []instr) *graph {
	leader := make([]bool, len(list)+1)
	leader[0] = true
	for i, in := range list {
		switch in.op {
		case opBranch:
			leader[in.target], leader[i+1] = true, true
		case opExit, opTrap:
			leader[i+1] = true
		}
	}
	g := &graph{block: make([]int32, len(list))}
	for i := range list {
		if leader[i] {
			g.starts = append(g.starts, int32(i))
		}
		g.block[i] = int32(len(g.starts) - 1)
	}
	n := len(g.starts)
	g.starts = append(g.starts, int32(len(list)))
	g.next = make([][]int32, n)
	for b := range n {
		last := list[g.starts[b+1]-1]
		if !last.ends() && b+1 < n {
			g.next[b] = append(g.next[b], int32(b+1))
		}
		if last.op == opBranch {
			g.next[b] = append(g.next[b], g.block[last.target])
		}
	}
	g.number = make([]int32, n)
	return g
}

// ends reports whether control never falls through this instruction.
func (in *instr) ends() bool {
	return in.guard < 0 && (in.op == opBranch || in.op == opExit || in.op == opTrap)
}

// visit and component are the two procedures of Bourdoncle's algorithm. visit returns
// the least number that v reaches.
func (g *graph) visit(v int32) int32 {
	g.stack = append(g.stack, v)
	g.count++
	g.number[v] = g.count
	head, loop := g.count, false
	for _, w := range g.next[v] {
		least := g.number[w]
		if least == 0 {
			least = g.visit(w)
		}
		if least <= head {
			head, loop = least, true
		}
	}
	if head != g.number[v] {
		return head
	}
	g.number[v] = done
	for w := g.pop(); w != v; w = g.pop() {
		g.number[w] = 0
	}
	if loop {
		g.component(v)
	}
	g.order = append(g.order, v)
	return head
}

// component orders the body of the loop with head v.
func (g *graph) component(v int32) {
	for _, w := range g.next[v] {
		if g.number[w] == 0 {
			g.visit(w)
		}
	}
}

func (g *graph) pop() int32 {
	v := g.stack[len(g.stack)-1]
	g.stack = g.stack[:len(g.stack)-1]
	return v
}

// emit writes the blocks in their order. It adds a jump after a block if the block that
// it falls through to does not follow.
func (g *graph) emit(list []instr) program {
	slices.Reverse(g.order)
	p := program{where: make([]int32, len(list))}
	for i := range p.where {
		p.where[i] = -1
	}
	for i, b := range g.order {
		lo, hi := g.starts[b], g.starts[b+1]
		for k := lo; k < hi; k++ {
			p.where[k] = int32(len(p.code))
			p.code = append(p.code, list[k])
		}
		falls := !list[hi-1].ends()
		if falls && (i+1 == len(g.order) || g.order[i+1] != b+1) {
			p.code = append(p.code, instr{op: opJump, guard: -1, target: hi, line: list[hi-1].line})
		}
	}
	for i := range p.code {
		if in := &p.code[i]; in.op == opBranch || in.op == opJump {
			in.target = p.where[in.target]
		}
	}
	return p
}
