package order

// nets are the sets of rows that need the same element of x: net j has the rows with an
// entry in column j, and row j. It sends one element to each part that it reaches but the
// part of row j.
type nets struct {
	of    *graph // the nets of each row, without the net of its own number
	start []int64
	used  []int32 // by net: the number of parts that it reaches
	parts []count // by net from start: the parts that it reaches
}

// count is a number of nodes of a net in a part.
type count struct{ part, nodes int32 }

// newNets returns the nets for a number of parts.
func newNets(of *graph, parts int) *nets {
	n := of.nodes()
	s := &nets{of: of, start: make([]int64, n+1), used: make([]int32, n)}
	for _, j := range of.adj {
		s.used[j]++
	}
	for j, rows := range s.used {
		s.start[j+1] = s.start[j] + int64(min(int(rows)+1, parts))
	}
	s.parts = make([]count, s.start[n])
	return s
}

// count counts the nodes of each net by part.
func (s *nets) count(part []int32) {
	clear(s.used)
	for i, q := range part {
		s.add(int32(i), q)
		for _, j := range s.of.neighbours(int32(i)) {
			s.add(j, q)
		}
	}
}

// reach returns the parts that net j reaches.
func (s *nets) reach(j int32) []count { return s.parts[s.start[j]:][:s.used[j]] }

func (s *nets) add(j, q int32) {
	r := s.reach(j)
	for k := range r {
		if r[k].part == q {
			r[k].nodes++
			return
		}
	}
	s.used[j]++
	s.reach(j)[len(r)] = count{q, 1}
}

func (s *nets) remove(j, q int32) {
	r := s.reach(j)
	for k := range r {
		if r[k].part != q {
			continue
		}
		if r[k].nodes--; r[k].nodes == 0 {
			r[k] = r[len(r)-1]
			s.used[j]--
		}
		return
	}
}

// move moves node i from part a to part b.
func (s *nets) move(i, a, b int32) {
	s.remove(i, a)
	s.add(i, b)
	for _, j := range s.of.neighbours(i) {
		s.remove(j, a)
		s.add(j, b)
	}
}
