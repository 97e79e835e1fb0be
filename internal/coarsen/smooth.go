package coarsen

import (
	"math"
	"slices"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

// These limit the entries of P.
const (
	leastLumped = 0.1 // least D_F/D, because weak entries may cancel the diagonal
	mostStrong  = 4   // largest sum of the absolute strong entries of a row of D_F^-1 A_F
	leastPart   = 0.1 // entries with a smaller part of the largest contribution in their row are dropped; see truncated
)

// smoothed returns P = (I - omega/rho D_F^-1 A_F) T for A or A', with its couplings c.
//
// A_F has the entries with |a_ij| > theta_F |a_ii|; the others are added to its diagonal D_F (see factor). Unlike the strength
// of a coupling, this test depends on one row only: where a coefficient jumps, unknowns on the side of the small one are
// interpolated from neighbours on the side of the large one.
func (s *setup) smoothed(a *sparse.CSR[float64], c *couplings, rho float64) *sparse.CSR[float64] {
	if s.nodes.single() && len(s.near) == 1 {
		return s.smoothedUnknowns(a, rho)
	}
	return s.smoothedNodes(a, c, rho)
}

// rows is a prolongator while pieces of its rows are made.
type rows struct {
	p     *sparse.CSR[float64] // RowPtr[i+1] is the number of entries of row i
	parts []part
}

// part has the entries of consecutive rows.
type part struct {
	first int // row
	col   []int32
	val   []float64
}

func (s *setup) newRows(n int) *rows {
	return &rows{
		p:     &sparse.CSR[float64]{Rows: n, Cols: int(s.first[s.aggregates]), RowPtr: mem.Make[int64](n + 1)},
		parts: make([]part, s.run.most),
	}
}

// joined returns the whole prolongator.
func (r *rows) joined(run runner) *sparse.CSR[float64] {
	p := r.p
	prefix(p.RowPtr)
	p.ColIdx, p.Val = mem.Uncleared[int32](int(p.RowPtr[p.Rows])), mem.Uncleared[float64](int(p.RowPtr[p.Rows]))
	run.ranges(len(r.parts), 1, func(lo, hi int) {
		for _, part := range r.parts[lo:hi] {
			copy(p.ColIdx[p.RowPtr[part.first]:], part.col)
			copy(p.Val[p.RowPtr[part.first]:], part.val)
		}
	})
	return p
}

// smoothedUnknowns is smoothed for nodes of one unknown and one vector of the near null space.
func (s *setup) smoothedUnknowns(a *sparse.CSR[float64], rho float64) *sparse.CSR[float64] {
	out := s.newRows(a.Rows)
	damping := dampingFor(rho)
	coarse := make([]float64, s.aggregates) // the near null vector; 0 where an aggregate has no column
	for g := range coarse {
		if s.first[g] < s.first[g+1] {
			coarse[g] = s.coarseNear[0][s.first[g]]
		}
	}
	s.run.pieces(a.Rows, 1<<12, func(piece, lo, hi int) {
		found := part{first: lo}
		found.grow(min(4*(hi-lo), int(a.RowPtr[hi]-a.RowPtr[lo])+hi-lo))
		var (
			row  sums
			used int // elements of found
		)
		for i := lo; i < hi; i++ {
			d, own := s.diagonal[i], s.of[i]
			limit := s.filter * math.Abs(d)
			weak, size := 0.0, 0.0
			from := a.RowPtr[i]
			to := a.ColIdx[from:a.RowPtr[i+1]]
			val := a.Val[from:a.RowPtr[i+1]]
			if len(found.col) < used+len(to)+1 {
				found.grow(2*len(found.col) + len(to) + 1)
			}
			row.reset(found.col[used:], found.val[used:])
			mine := 0.0 // the sum for own
			for k, j := range to {
				v := val[k]
				if int(j) == i {
					continue
				}
				if math.Abs(v) <= limit {
					weak += v
					continue
				}
				size += math.Abs(v)
				switch g := s.of[j]; {
				case g < 0:
				case g == own:
					mine += v * s.tentativeValue(int(j), g)
				default:
					row.add(g, v*s.tentativeValue(int(j), g))
				}
			}
			if own >= 0 {
				row.add(own, mine)
			}
			factor, rest := s.factor(i, weak, size, damping)
			count := row.sort()
			key, sum := found.col[used:used+count], found.val[used:used+count]
			for k := range sum {
				sum[k] *= -factor
				if key[k] == own {
					sum[k] += rest * s.tentativeValue(i, own)
				}
			}
			count = s.truncated(key, sum, coarse)
			used += count
			out.p.RowPtr[i+1] = int64(count)
		}
		found.col, found.val = found.col[:used], found.val[:used]
		out.parts[piece] = found
	})
	return out.joined(s.run)
}

// truncated drops small entries of a row of P, which has the values val for the aggregates key. The contribution of an entry
// is its product with the element of the coarse near null vector. Entries that contribute less than leastPart of the largest
// contribution are dropped, and the others are scaled so that the sum of contributions stays the same. Afterwards key has the
// columns of the entries left; their number is returned.
func (s *setup) truncated(key []int32, val, coarse []float64) int {
	largest, whole := 0.0, 0.0
	for k, g := range key {
		v := val[k] * coarse[g]
		largest = max(largest, math.Abs(v))
		whole += v
	}
	count, kept := 0, 0.0
	for k, g := range key {
		if v := val[k] * coarse[g]; coarse[g] != 0 && v != 0 && !(math.Abs(v) < leastPart*largest) {
			key[count], val[count] = s.first[g], val[k]
			kept += v
			count++
		}
	}
	if count == len(key) {
		return count
	}
	if scale := whole / kept; 0.5 < scale && scale < 2 {
		for k := range count {
			val[k] *= scale
		}
	}
	return count
}

// grow makes room for n elements.
func (p *part) grow(n int) {
	col, val := mem.Uncleared[int32](n), mem.Uncleared[float64](n)
	copy(col, p.col)
	copy(val, p.val)
	p.col, p.val = col, val
}

// dampingFor returns omega/rho, or 0 if rho is 0 or NaN.
func dampingFor(rho float64) float64 {
	if rho > 0 {
		return omega / rho
	}
	return 0
}

// factor returns f and 1 - f d for row i of P = T - f A_F T, where d is the diagonal entry of A_F and f is damping/d. weak is
// the sum of the weak entries of the row, which d includes; size is the sum of the absolute strong entries. f is smaller if d
// is much smaller than size or than the diagonal entry of A; see leastLumped and mostStrong.
func (s *setup) factor(i int, weak, size, damping float64) (f, rest float64) {
	d := s.diagonal[i]
	if d == 0 {
		return 0, 1
	}
	lumped, sign := d+weak, math.Copysign(1, d)
	f = damping / (sign * max(sign*lumped, size/mostStrong, sign*d*leastLumped))
	return f, 1 - f*lumped
}

// sums adds values by key in arrays of the caller. Up to longList keys are kept sorted; values for further keys are sorted at
// the end.
type sums struct {
	key   []int32
	val   []float64
	count int
	all   []keyed // values for further keys
}

type keyed struct {
	key int32
	val float64
}

// longList is the number of keys from which on values are not sorted as they are added.
const longList = 32

// reset empties the list. The arrays have room for all keys.
func (s *sums) reset(key []int32, val []float64) {
	s.key, s.val, s.count, s.all = key, val, 0, s.all[:0]
}

func (s *sums) add(key int32, val float64) {
	at := s.count
	if at == longList {
		s.all = append(s.all, keyed{key, val})
		return
	}
	for at > 0 && s.key[at-1] > key {
		at--
	}
	if at > 0 && s.key[at-1] == key {
		s.val[at-1] += val
		return
	}
	for k := s.count; k > at; k-- {
		s.key[k], s.val[k] = s.key[k-1], s.val[k-1]
	}
	s.key[at], s.val[at] = key, val
	s.count++
}

// sort completes the list, so that keys ascend and each has the sum of its values, and returns its length.
func (s *sums) sort() int {
	if len(s.all) == 0 {
		return s.count
	}
	for k := range s.count {
		s.all = append(s.all, keyed{s.key[k], s.val[k]})
	}
	slices.SortStableFunc(s.all, func(x, y keyed) int { return int(x.key) - int(y.key) })
	s.count = 0
	for k, e := range s.all {
		if k > 0 && s.all[k-1].key == e.key {
			s.val[s.count-1] += e.val
			continue
		}
		s.key[s.count], s.val[s.count] = e.key, e.val
		s.count++
	}
	return s.count
}

// smoothedNodes is smoothed for any nodes and any number of vectors. A weak entry is one in a block whose norm is at most
// theta_F times that of the diagonal block. It is added to the block of the diagonal, in the column of the same unknown of
// the node, so that A_F x = A x where x is constant in each unknown.
func (s *setup) smoothedNodes(a *sparse.CSR[float64], c *couplings, rho float64) *sparse.CSR[float64] {
	k := len(s.near)
	out := s.newRows(a.Rows)
	damping := dampingFor(rho)
	node := s.node
	if node == nil {
		node = s.nodes.byUnknown(a.Rows, s.run)
	}
	s.run.pieces(s.nodes.count, 1<<10, func(piece, lo, hi int) {
		start, _ := s.nodes.span(lo)
		_, end := s.nodes.span(hi - 1)
		var (
			room  = 2 * k * (end - start)
			found = part{first: start, col: make([]int32, 0, room), val: make([]float64, 0, room)}
			place = make([]int32, s.nodes.count) // of a node: 1 + the place of its aggregate in seen; -1 without one; 0 if it is weak
			slot  = make([]int32, s.aggregates)  // 1 + the place of an aggregate in seen; 0 if it is not there
			seen  []int32                        // the aggregates of the columns of these rows
			sum   []float64                      // A_F T without the diagonal of A_F, k values for each of seen
		)
		for own := lo; own < hi; own++ {
			from, to := s.nodes.span(own)
			home := s.of[own]
			strong := func(f func(j int32)) {
				f(int32(own))
				limit := s.filter * c.root[own] * c.root[own]
				for e := c.ptr[own]; e < c.ptr[own+1]; e++ {
					if math.Abs(c.size[e]) > limit {
						f(c.to[e])
					}
				}
			}
			seen = seen[:0]
			strong(func(j int32) {
				if g := s.of[j]; g >= 0 && slot[g] == 0 {
					slot[g] = 1
					seen = append(seen, g)
				}
			})
			slices.Sort(seen)
			for p, g := range seen {
				slot[g] = int32(p + 1)
			}
			strong(func(j int32) {
				place[j] = -1
				if g := s.of[j]; g >= 0 {
					place[j] = slot[g]
				}
			})
			for i := from; i < to; i++ {
				sum = append(sum[:0], make([]float64, len(seen)*k)...)
				weak, size := 0.0, 0.0
				start := a.RowPtr[i]
				val := a.Val[start:a.RowPtr[i+1]]
				for e, col := range a.ColIdx[start:a.RowPtr[i+1]] {
					j, v := int(col), val[e]
					if j == i {
						continue
					}
					at := place[node[j]]
					if at == 0 {
						j = s.sameUnknown(j, int(node[j]), own)
						if j == i {
							weak += v
							continue
						}
						at = place[own]
					}
					size += math.Abs(v)
					switch {
					case at <= 0:
					case k == 3: // without a loop
						y, t := (*[3]float64)(sum[3*int(at-1):]), (*[3]float64)(s.t[3*j:])
						y[0] += v * t[0]
						y[1] += v * t[1]
						y[2] += v * t[2]
					default:
						addTo(sum[int(at-1)*k:], v, s.t[j*k:j*k+k])
					}
				}
				factor, rest := s.factor(i, weak, size, damping)
				before := len(found.col)
				for p, g := range seen {
					first := s.first[g]
					for q := range s.first[g+1] - first {
						v := -factor * sum[p*k+int(q)]
						if g == home {
							v += rest * s.t[i*k+int(q)]
						}
						if v != 0 {
							found.col, found.val = append(found.col, first+q), append(found.val, v)
						}
					}
				}
				out.p.RowPtr[i+1] = int64(len(found.col) - before)
			}
			for _, g := range seen {
				slot[g] = 0
			}
			strong(func(j int32) { place[j] = 0 })
		}
		out.parts[piece] = found
	})
	return out.joined(s.run)
}

// sameUnknown returns the unknown of a node that has the place of unknown j in the node other, or the last one.
func (s *setup) sameUnknown(j, other, node int) int {
	from, _ := s.nodes.span(other)
	first, end := s.nodes.span(node)
	return min(first+j-from, end-1)
}

// addTo adds factor*x to y.
func addTo(y []float64, factor float64, x []float64) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] += factor * v
	}
}
