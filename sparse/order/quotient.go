package order

// none is the index of no node.
const none = -1

// node is a variable or an element of a quotient graph.
//
// A variable is a column that is not eliminated yet, together with the columns that it has
// absorbed because they had the same neighbours. Its list has the elements that it belongs
// to, then the variables that are its neighbours without being in a common element.
//
// An element is an eliminated column, or a row in ColumnAMD. Its list has the variables
// that are its neighbours, which are pairwise adjacent.
type node struct {
	start    int64 // first entry of the list in quotient.lists
	mark     int64 // 0 if the element was absorbed; else see quotient.mark
	length   int32 // entries of the list
	elements int32 // entries of a variable's list that are elements; none for elements and absorbed variables
	// weight is the number of columns of a variable, 0 if it was absorbed or is not
	// ordered here. While the variable is in the element that is being built, weight is
	// negative. The weight of an element is the number of columns eliminated with it.
	weight int32
	// degree is an upper bound of the number of columns adjacent to a variable. For an
	// element it is the number of columns in its list, perhaps with some that have been
	// eliminated since.
	degree int32
	// next and prev are the variables beside this one in the queue of its degree. From
	// updateLists to absorbEqual, next is the next variable in a chain of quotient.buckets,
	// and prev is the number of that chain.
	next, prev int32
	parent     int32 // the node that absorbed this one, or none
}

// queue is a list of variables of the same degree, linked by node.next and node.prev.
type queue struct{ first, last int32 }

// quotient is a quotient graph and the state of a minimum-degree ordering on it: Amestoy,
// Davis and Duff, An approximate minimum degree ordering algorithm, SIAM J. Matrix Anal.
// Appl. 17 (1996), and Algorithm 837: AMD, ACM Trans. Math. Softw. 30 (2004).
//
// The nodes 0 to variables-1 begin as variables; nodes beyond begin as elements.
type quotient struct {
	variables int
	nodes     []node
	lists     []int32
	free      int64 // lists[free:] is unused
	// mark is larger than all marks that earlier steps gave to nodes. A step gives marks
	// from this one on.
	mark    int64
	queues  []queue // by degree: the variables
	least   int     // no variable has a smaller degree
	buckets []int32 // by hash: the first variable of a chain; none outside findEqual
	left    int     // columns that are not eliminated yet
	largest int32   // largest degree of an element so far
}

// newQuotient returns a quotient graph without edges. Its lists have room for entries
// entries, and for the lists that the ordering makes.
func newQuotient(variables, elements int, entries int64) *quotient {
	q := &quotient{
		variables: variables,
		nodes:     make([]node, variables+elements),
		lists:     make([]int32, quotientRoom(variables, entries)),
		mark:      2,
		queues:    make([]queue, variables),
		buckets:   make([]int32, variables),
		left:      variables,
	}
	for i := range variables {
		q.queues[i], q.buckets[i] = queue{none, none}, none
	}
	for i := range q.nodes {
		n := &q.nodes[i]
		n.mark, n.weight, n.parent, n.next, n.prev = 1, 1, none, none, none
		if i >= variables {
			n.elements = none
		}
	}
	return q
}

// quotientRoom returns the length of the lists of a quotient graph with so many entries.
// All lists together never grow: an element has at most the variables of the lists that it
// absorbs. The list of a new element is built beside those, so there must be room for one
// more. Further room makes compact rarer.
func quotientRoom(variables int, entries int64) int64 {
	return entries + entries/5 + int64(variables)
}

// quotientBytes returns the memory that an ordering takes.
func quotientBytes(variables, elements int, entries int64) int64 {
	return 48*int64(variables+elements) + 4*quotientRoom(variables, entries) + 24*int64(variables)
}

// leaveOut takes a variable out of the graph before the ordering begins.
func (q *quotient) leaveOut(i int32) {
	q.nodes[i].weight, q.nodes[i].elements = 0, none
	q.left--
}

// insert appends a variable to the queue of its degree. Taking the variable that waits
// longest spreads eliminations over the graph, which makes less fill than taking the last.
func (q *quotient) insert(i int32) {
	n := &q.nodes[i]
	line := &q.queues[n.degree]
	n.next, n.prev = none, line.last
	if line.last != none {
		q.nodes[line.last].next = i
	} else {
		line.first = i
	}
	line.last = i
	q.least = min(q.least, int(n.degree))
}

// remove takes a variable out of the queue of its degree.
func (q *quotient) remove(n *node) {
	line := &q.queues[n.degree]
	if n.next != none {
		q.nodes[n.next].prev = n.prev
	} else {
		line.last = n.prev
	}
	if n.prev != none {
		q.nodes[n.prev].next = n.next
	} else {
		line.first = n.next
	}
}

// order eliminates all variables and returns their order: variables that were eliminated
// together are consecutive, and the elements are in a postorder of the assembly tree.
// Variables that were left out are not in it.
func (q *quotient) order() []int32 {
	left := q.left
	for q.left > 0 {
		for q.queues[q.least].first == none {
			q.least++
		}
		q.eliminate(q.queues[q.least].first)
	}
	return q.postorder(left)
}

// eliminate makes the variable me an element.
func (q *quotient) eliminate(me int32) {
	pivot := &q.nodes[me]
	q.remove(pivot)
	weight := pivot.weight
	q.left -= int(weight)
	pivot.weight = -weight // keeps it out of its own list
	added := pivot.elements > 0
	q.build(me)
	pivot.elements = none
	q.subtractFromElements(pivot)
	weight += q.updateLists(me)
	q.largest = max(q.largest, pivot.degree)
	q.mark += int64(q.largest)
	q.absorbEqual(pivot)

	// Keep the variables that remain, and compute their degrees.
	list := q.lists[pivot.start:][:pivot.length]
	kept := 0
	for _, i := range list {
		n := &q.nodes[i]
		if n.weight == 0 {
			continue
		}
		n.weight = -n.weight
		bound := int64(n.degree) + int64(pivot.degree-n.weight)
		n.degree = int32(min(bound, int64(q.left)-int64(n.weight)))
		q.insert(i)
		list[kept] = i
		kept++
	}
	pivot.weight, pivot.length = weight, int32(kept)
	if kept == 0 {
		pivot.mark = 0
	} else {
		pivot.mark = 1
	}
	if added {
		q.free = pivot.start + int64(kept)
	}
}

// build makes the list of element me: the variables in its own list and in the lists of
// its elements, which it absorbs. It takes them out of their queues and negates their
// weights.
func (q *quotient) build(me int32) {
	pivot := &q.nodes[me]
	if pivot.elements == 0 { // in place
		list := q.lists[pivot.start:][:pivot.length]
		pivot.length, pivot.degree = q.collect(list, list)
		return
	}
	q.reserve(pivot)
	start, count, degree := q.free, int32(0), int32(0)
	add := func(from []int32) {
		n, columns := q.collect(q.lists[start+int64(count):], from)
		count, degree = count+n, degree+columns
	}
	list := q.lists[pivot.start:][:pivot.length]
	for _, e := range list[:pivot.elements] {
		element := &q.nodes[e]
		add(q.lists[element.start:][:element.length])
		element.parent, element.mark = me, 0
	}
	add(list[pivot.elements:])
	pivot.start, pivot.length, pivot.degree = start, count, degree
	q.free = start + int64(count)
}

// collect copies to to the variables of from that are neither absorbed nor in the element
// that is being built, and puts them into that element. It returns their number and that
// of their columns.
func (q *quotient) collect(to, from []int32) (count, columns int32) {
	for _, i := range from {
		n := &q.nodes[i]
		if n.weight > 0 {
			columns += n.weight
			n.weight = -n.weight
			q.remove(n)
			to[count] = i
			count++
		}
	}
	return count, columns
}

// reserve makes room for the list of the element that pivot becomes.
func (q *quotient) reserve(pivot *node) {
	need := int64(pivot.length - pivot.elements)
	for _, e := range q.lists[pivot.start:][:pivot.elements] {
		need += int64(q.nodes[e].length)
	}
	if q.free+min(need, int64(q.left)) > int64(len(q.lists)) {
		q.compact()
	}
}

// compact moves all lists that are in use to the front of lists.
func (q *quotient) compact() {
	// The first entry of each list moves into its node, and the complement of the number
	// of the node takes its place: lists are then found in the order of their positions.
	for i := range q.nodes {
		n := &q.nodes[i]
		if q.listed(n) {
			first := q.lists[n.start]
			q.lists[n.start] = ^int32(i)
			n.start = int64(first)
		}
	}
	to := int64(0)
	for from := int64(0); from < q.free; {
		i := q.lists[from]
		if i >= 0 {
			from++
			continue
		}
		n := &q.nodes[^i]
		q.lists[to] = int32(n.start)
		copy(q.lists[to+1:], q.lists[from+1:from+int64(n.length)])
		n.start = to
		to += int64(n.length)
		from += int64(n.length)
	}
	q.free = to
}

// listed reports whether a node has a list: an element that was not absorbed, or a
// variable.
func (q *quotient) listed(n *node) bool {
	if n.length == 0 || n.mark == 0 {
		return false
	}
	return n.elements == none && n.parent == none && n.weight != 0 || n.elements >= 0
}

// subtractFromElements sets, for the elements e of the variables in the list of pivot,
// mark to q.mark plus the number of columns in e that are not in pivot.
func (q *quotient) subtractFromElements(pivot *node) {
	for _, i := range q.lists[pivot.start:][:pivot.length] {
		n := &q.nodes[i]
		weight := int64(-n.weight)
		for _, k := range q.lists[n.start:][:n.elements] {
			e := &q.nodes[k]
			switch {
			case e.mark >= q.mark:
				e.mark -= weight
			case e.mark != 0:
				e.mark = q.mark + int64(e.degree) - weight
			}
		}
	}
}

// updateLists updates the lists of the variables in the list of element me. It removes
// absorbed elements, and variables that are in me, and puts me first. It stores in degree
// the number of columns adjacent to a variable outside me, and puts variables into a chain
// by the hash of their lists.
//
// An element without columns outside me is absorbed by me (aggressive absorption). A
// variable without columns outside me is eliminated with it (mass elimination).
// updateLists returns the number of columns that were.
func (q *quotient) updateLists(me int32) (eliminated int32) {
	pivot := &q.nodes[me]
	for _, i := range q.lists[pivot.start:][:pivot.length] {
		n := &q.nodes[i]
		list := q.lists[n.start:][:n.length]
		kept, degree, hash := 0, int64(0), uint32(0)
		for _, k := range list[:n.elements] {
			e := &q.nodes[k]
			outside := e.mark - q.mark
			switch {
			case e.mark == 0:
			case outside > 0:
				degree += outside
				hash += uint32(k)
				list[kept] = k
				kept++
			default:
				e.parent, e.mark = me, 0
			}
		}
		elements := kept
		for _, k := range list[n.elements:] {
			if weight := q.nodes[k].weight; weight > 0 {
				degree += int64(weight)
				hash += uint32(k)
				list[kept] = k
				kept++
			}
		}
		if degree == 0 {
			weight := -n.weight
			pivot.degree -= weight
			eliminated += weight
			q.left -= int(weight)
			n.weight, n.elements, n.parent = 0, none, me
			continue
		}
		n.degree = int32(min(int64(n.degree), degree))
		// Every list had me or an element that me absorbed, so there is room for me.
		list = list[:kept+1]
		list[kept] = list[elements]
		list[elements] = list[0]
		list[0] = me
		n.length, n.elements = int32(kept+1), int32(elements+1)
		bucket := hash % uint32(q.variables)
		n.prev, n.next = int32(bucket), q.buckets[bucket]
		q.buckets[bucket] = i
	}
	return eliminated
}

// absorbEqual finds variables in the list of pivot with equal lists and lets the first
// absorb the others.
func (q *quotient) absorbEqual(pivot *node) {
	for _, v := range q.lists[pivot.start:][:pivot.length] {
		if q.nodes[v].weight == 0 {
			continue
		}
		bucket := q.nodes[v].prev
		i := q.buckets[bucket]
		q.buckets[bucket] = none
		for ; i != none && q.nodes[i].next != none; i = q.nodes[i].next {
			q.absorbEqualTo(i)
		}
	}
}

// absorbEqualTo lets variable i absorb those behind it in its chain whose lists have the
// same nodes.
func (q *quotient) absorbEqualTo(i int32) {
	n := &q.nodes[i]
	for _, k := range q.lists[n.start+1:][:n.length-1] {
		q.nodes[k].mark = q.mark
	}
	last := n
	for j := n.next; j != none; j = last.next {
		other := &q.nodes[j]
		if !q.marked(other, n) {
			last = other
			continue
		}
		other.parent = i
		n.weight += other.weight
		other.weight, other.elements = 0, none
		last.next = other.next
	}
	q.mark++
}

// marked reports whether the list of a variable is as long as that of another and all its
// nodes are marked. The first is the new element in both lists.
func (q *quotient) marked(n, other *node) bool {
	if n.length != other.length || n.elements != other.elements {
		return false
	}
	for _, k := range q.lists[n.start+1:][:n.length-1] {
		if q.nodes[k].mark != q.mark {
			return false
		}
	}
	return true
}

// postorder returns the order of count eliminated variables.
func (q *quotient) postorder(count int) []int32 {
	// next links siblings; degree is the first child.
	first := func(i int32) *int32 { return &q.nodes[i].degree }
	for i := range q.variables {
		*first(int32(i)) = none
	}
	roots := int32(none)
	adopt := func(i int32) {
		to := &roots
		if p := q.nodes[i].parent; p != none {
			to = first(p)
		}
		q.nodes[i].next = *to
		*to = i
	}
	// Absorbed variables come after the subtrees of elements, so they are put in first.
	for i := int32(q.variables) - 1; i >= 0; i-- {
		if n := &q.nodes[i]; n.weight == 0 && n.parent != none {
			adopt(i)
		}
	}
	for i := int32(q.variables) - 1; i >= 0; i-- {
		if q.nodes[i].weight > 0 {
			adopt(i)
		}
	}
	order := make([]int32, 0, count)
	var stack []int32
	for roots != none {
		stack = append(stack, roots)
		roots = q.nodes[roots].next
		for len(stack) > 0 {
			i := stack[len(stack)-1]
			if child := *first(i); child != none {
				*first(i) = q.nodes[child].next
				stack = append(stack, child)
				continue
			}
			order = append(order, i)
			stack = stack[:len(stack)-1]
		}
	}
	return order
}
