package multifrontal

// stack holds the contributions of a subtree that runs in postorder. A front needs memory for its contribution while
// those of its children exist, and then frees these. So contributions of fronts at even levels of the tree are at one end
// of the stack and those at odd levels at the other: the children of a front are always the last at their end.
type stack struct {
	mem []float64
	end [2]int // elements used at the front, and at the back
}

// push returns n elements of an unknown value for a front at a level.
func (s *stack) push(level, n int) []float64 {
	e := level & 1
	s.end[e] += n
	if e == 0 {
		return s.mem[s.end[0]-n : s.end[0]]
	}
	at := len(s.mem) - s.end[1]
	return s.mem[at : at+n]
}

// pop frees the last n elements of the fronts at a level.
func (s *stack) pop(level, n int) { s.end[level&1] -= n }
