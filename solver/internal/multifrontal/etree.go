package multifrontal

// none is no parent, child or column.
const none = -1

// invert returns the inverse of a permutation.
func invert(p []int32) []int32 {
	q := make([]int32, len(p))
	for i, k := range p {
		q[k] = int32(i)
	}
	return q
}

func filled(n int, v int32) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = v
	}
	return s
}

// eliminationTree returns the parent of each column of the factor in the order perm: the row of the first entry below
// the diagonal, or none. Liu, ACM Trans. Math. Softw. 12 (1986) 127-148, with compressed paths.
func eliminationTree(g *graph, perm, inverse []int32) []int32 {
	n := len(perm)
	parent, above := filled(n, none), filled(n, none)
	for i := range int32(n) {
		for _, old := range g.neighbours(perm[i]) {
			for k := inverse[old]; k < i; {
				next := above[k]
				above[k] = i
				if next == none {
					parent[k] = i
					break
				}
				k = next
			}
		}
	}
	return parent
}

// postorder returns the nodes of a forest such that each subtree is consecutive and ends with its root. Children keep
// their order.
func postorder(parent []int32) []int32 {
	n := len(parent)
	child, next := filled(n, none), make([]int32, n)
	roots := int32(none)
	for j := int32(n) - 1; j >= 0; j-- {
		list := &roots
		if p := parent[j]; p != none {
			list = &child[p]
		}
		next[j], *list = *list, j
	}
	post := make([]int32, 0, n)
	for root := roots; root != none; root = next[root] {
		for j := root; ; {
			for child[j] != none {
				j, child[j] = child[j], none
			}
			// All children of j are done.
			post = append(post, j)
			if j == root {
				break
			}
			if next[j] != none {
				j = next[j]
			} else {
				j = parent[j]
			}
		}
	}
	return post
}

// columnCounts returns the number of entries of each column of the factor, its diagonal included. Columns are in
// postorder. Gilbert, Ng and Peyton, SIAM J. Matrix Anal. Appl. 15 (1994) 1075-1091: a column is a leaf of the row
// subtree of i if its first descendant is later than those of all columns before it, and each pair of leaves that
// follow each other counts the columns above their least common ancestor twice.
func columnCounts(g *graph, perm, inverse, parent []int32) []int32 {
	n := len(perm)
	count := make([]int32, n)
	first := filled(n, none) // first descendant
	for j := range int32(n) {
		if first[j] == none {
			count[j] = 1
		}
		for k := j; k != none && first[k] == none; k = parent[k] {
			first[k] = j
		}
	}
	latest, leaf := filled(n, none), filled(n, none) // largest first descendant and last leaf of each row subtree
	set := make([]int32, n)
	for i := range set {
		set[i] = int32(i)
	}
	for j := range int32(n) {
		up := parent[j]
		if up != none {
			count[up]--
		}
		for _, old := range g.neighbours(perm[j]) {
			i := inverse[old]
			if i <= j || first[j] <= latest[i] {
				continue
			}
			latest[i] = first[j]
			count[j]++
			before := leaf[i]
			leaf[i] = j
			if before == none {
				continue
			}
			root := before
			for set[root] != root {
				root = set[root]
			}
			for k := before; k != root; {
				k, set[k] = set[k], root
			}
			count[root]--
		}
		if up != none {
			set[j] = up
		}
	}
	for j, up := range parent {
		if up != none {
			count[up] += count[j]
		}
	}
	return count
}
