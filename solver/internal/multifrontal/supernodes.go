package multifrontal

import (
	"cmp"
	"slices"
)

// tree has the supernodes of a factor in postorder. Supernode s has the columns first[s] to first[s+1]-1, and rows[s]
// rows below them.
type tree struct {
	first  []int32
	parent []int32
	below  []int32
}

// group is a supernode while supernodes are joined.
type group struct {
	parent  int32 // of the group at the start; find follows joins
	cols    int32
	rows    int32 // cols included
	entries int64 // of the factor, without the zeros that joins add
}

// joined returns the group of both children and parent.
func (p group) joined(c group) group {
	return group{p.parent, p.cols + c.cols, p.rows + c.cols, p.entries + c.entries}
}

// stored returns the number of entries of the lower trapezoid of the group.
func (p group) stored() int64 {
	return int64(p.cols) * (2*int64(p.rows) - int64(p.cols) + 1) / 2
}

// accepts reports whether a group may have the zeros that it has. A group of few columns may have more of them: a front
// costs some time in itself, and the loops over narrow fronts are slow.
func (p group) accepts() bool {
	zeros, stored := float64(p.stored()-p.entries), float64(p.stored())
	return p.cols <= 8 || p.cols <= 64 && zeros <= 0.3*stored || zeros <= 0.05*stored
}

// supernodes returns the supernodes of a factor and the order of its columns, order[new] = old. Columns are in
// postorder with the parents and counts given. Columns of the same structure are in one supernode, and a child joins
// its parent where that adds few zeros, and a column its parent j if bound(j).
func supernodes(parent, count []int32, bound func(j int32) bool) (tree, []int32) {
	n := int32(len(parent))
	var starts []int32
	of := make([]int32, n)
	for j := range n {
		if j == 0 || parent[j-1] != j || count[j-1] != count[j]+1 && !bound(j) {
			starts = append(starts, j)
		}
		of[j] = int32(len(starts)) - 1
	}
	s := len(starts)
	starts = append(starts, n)
	groups := make([]group, s)
	for i := range groups {
		cols, last := starts[i+1]-starts[i], starts[i+1]-1
		g := group{parent: none, cols: cols, rows: cols - 1 + count[last]}
		for j := starts[i]; j < starts[i+1]; j++ {
			g.entries += int64(count[j])
		}
		if up := parent[last]; up != none {
			g.parent = of[up]
		}
		groups[i] = g
	}
	into := joins(groups)
	return renumber(groups, into, starts)
}

// joins joins groups to their parents and returns the group that each belongs to. Children come before parents.
func joins(groups []group) (into []int32) {
	into = make([]int32, len(groups))
	head, next := filled(len(groups), none), filled(len(groups), none)
	for i := range groups { // the lists have the last child first
		into[i] = int32(i)
		if up := groups[i].parent; up != none {
			next[i], head[up] = head[up], int32(i)
		}
	}
	for p := range groups {
		for c := head[p]; c != none; c = next[c] {
			if both := groups[p].joined(groups[c]); both.accepts() {
				groups[p], into[c] = both, int32(p)
			}
		}
	}
	for i := len(into) - 1; i >= 0; i-- { // parents are final before their children
		into[i] = into[into[i]]
	}
	return into
}

// renumber returns the tree of the groups that remain, and the order of the columns. Children with the largest need of
// memory beyond their contribution come first (Liu, ACM Trans. Math. Softw. 12 (1986) 249-264).
func renumber(groups []group, into, starts []int32) (tree, []int32) {
	s := int32(len(groups))
	above := filled(int(s), none)
	child, next := filled(int(s), none), filled(int(s), none)
	member, nextMember := filled(int(s), none), filled(int(s), none)
	roots := int32(none)
	peak := make([]int64, s)
	size := func(i int32) int64 { below := int64(groups[i].rows - groups[i].cols); return below * below }
	var list []int32
	for i := range s {
		if into[i] != i {
			continue
		}
		list = list[:0]
		for c := child[i]; c != none; c = next[c] {
			list = append(list, c)
		}
		if len(list) > 1 {
			slices.SortFunc(list, func(x, y int32) int {
				return cmp.Or(cmp.Compare(peak[y]-size(y), peak[x]-size(x)), cmp.Compare(x, y))
			})
			child[i] = list[0]
			for k, c := range list {
				next[c] = none
				if k+1 < len(list) {
					next[c] = list[k+1]
				}
			}
		}
		kept := int64(0)
		for _, c := range list {
			peak[i] = max(peak[i], kept+peak[c])
			kept += size(c)
		}
		peak[i] = max(peak[i], kept+size(i))
		if up := groups[i].parent; up != none {
			above[i] = into[up]
			next[i], child[above[i]] = child[above[i]], i
		}
	}
	for i := s - 1; i >= 0; i-- {
		nextMember[i], member[into[i]] = member[into[i]], i
		if into[i] == i && above[i] == none {
			next[i], roots = roots, i
		}
	}
	var t tree
	var order []int32
	t.first = append(t.first, 0)
	number := make([]int32, s)
	for root := roots; root != none; root = next[root] {
		for i := root; ; {
			for child[i] != none {
				i, child[i] = child[i], none
			}
			number[i] = int32(len(t.below))
			t.below = append(t.below, groups[i].rows-groups[i].cols)
			t.parent = append(t.parent, above[i])
			for m := member[i]; m != none; m = nextMember[m] {
				for j := starts[m]; j < starts[m+1]; j++ {
					order = append(order, j)
				}
			}
			t.first = append(t.first, int32(len(order)))
			if i == root {
				break
			}
			if next[i] != none {
				i = next[i]
			} else {
				i = above[i]
			}
		}
	}
	for i, up := range t.parent {
		if up != none {
			t.parent[i] = number[up]
		}
	}
	return t, order
}
