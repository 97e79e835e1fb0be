package triangular

import (
	"math"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// filler fills the store of a triangle.
type filler[V sparse.Value] struct {
	*Triangle[V]
	op     *kernels.TrianglePacking[V]
	part   part[V]
	at     segment // where the next elements go
	starts runStarts
	idx    []int32
	mask   []uint8
	val    []V
	since  int64 // entries since the last call of Stop
	bad    bool  // a quotient overflows or loses digits
}

// all fills all segments. scaled is false if a quotient overflows or loses digits.
func (f *filler[V]) all() (scaled bool, err error) {
	f.part = part[V]{op: f.op, n: f.n}
	for k := range f.phases {
		p := &f.phases[k]
		f.part.far = true
		if f.order == nil {
			f.part.first = f.phases[max(k-1, 0)].first
		}
		for _, piece := range p.far {
			if err := f.segments(piece, true); err != nil {
				return false, err
			}
		}
		f.part.far = false
		if err := f.segments(p.near, p.far == nil); err != nil {
			return false, err
		}
	}
	return !f.bad, nil
}

// segments fills segments. scale says whether they scale b; otherwise their factors are 1.
func (f *filler[V]) segments(all []segment, scale bool) error {
	for _, s := range all {
		f.at = s
		step := 1
		if s.kind == blocks {
			step = group
		}
		for place := s.first; place < s.first+s.rows && !f.bad; place += step {
			switch s.kind {
			case bare:
				f.bare(f.row(place), s)
			case single:
				f.single(f.row(place))
			case runs:
				f.runs(f.row(place))
			case listed:
				f.store.idx[f.at.idx] = f.order[place]
				f.at.idx++
				f.single(int(f.order[place]))
			case blocks:
				f.block(place)
			}
			if f.since += int64(step); f.since >= stopEvery/64 && f.op.Stop != nil {
				f.since = 0
				if err := f.op.Stop(); err != nil {
					return err
				}
			}
		}
		if !scale {
			for i := range s.rows {
				f.store.scale[s.scale+int64(i)] = 1
			}
		}
	}
	return nil
}

// bare stores a row without entries.
func (f *filler[V]) bare(row int, s segment) {
	lowest := min(f.row(s.first), f.row(s.first+s.rows-1))
	f.store.scale[s.scale+int64(row-lowest)] = f.scaleOf(row)
}

// scaleOf returns 1/diag of a row.
func (f *filler[V]) scaleOf(row int) V {
	if f.op.Diag == nil {
		return 1
	}
	d := f.op.Diag[row]
	s := 1 / d
	f.bad = f.bad || !kept(s, d, mem.Size[V]() == 4)
	return s
}

// scaled returns -val/diag for an entry of a row whose scale is s.
func (f *filler[V]) scaled(k int64, s V) V {
	v := f.op.Val[k]
	q := -v * s
	f.bad = f.bad || !kept(q, v, mem.Size[V]() == 4)
	return q
}

// kept reports whether a quotient is not too large and has all digits: it is neither infinite nor subnormal, unless
// the number that was divided or inverted is 0, infinite or NaN.
func kept[V sparse.Value](quotient, of V, single bool) bool {
	q, least := math.Abs(float64(quotient)), 0x1p-1022
	if single {
		least = 0x1p-126
	}
	return q >= least && q <= math.MaxFloat64 || of == 0 && quotient == 0 || of != of || math.IsInf(float64(of), 0)
}

// single stores a row as single entries.
func (f *filler[V]) single(row int) {
	lo, hi := f.part.entries(row)
	s := f.scaleOf(row)
	f.put(s, uint32(hi-lo))
	for i := range hi - lo {
		k := lo + i
		if f.upper {
			k = hi - 1 - i
		}
		f.entry(k, s)
	}
}

// put stores the scale and the counts of a row.
func (f *filler[V]) put(scale V, counts ...uint32) {
	f.store.scale[f.at.scale] = scale
	f.at.scale++
	f.at.count += int64(copy(f.store.count[f.at.count:], counts))
}

// entry stores an entry of a row with the scale s.
func (f *filler[V]) entry(k int64, s V) {
	f.store.idx[f.at.idx] = f.op.Idx[k]
	f.store.val[f.at.val] = f.scaled(k, s)
	f.at.idx++
	f.at.val++
}

// runs stores a row as runs and single entries.
func (f *filler[V]) runs(row int) {
	lo, hi := f.part.entries(row)
	s := f.scaleOf(row)
	f.starts.find(f.op.Idx[lo:hi], row, f.upper)
	f.put(s, uint32(len(f.starts.long)), uint32(len(f.starts.short)), uint32(len(f.starts.alone)))
	run := func(start int32, length int64) {
		k := lo + int64(start)
		f.store.idx[f.at.idx] = f.op.Idx[k]
		f.at.idx++
		for i := range length {
			f.store.val[f.at.val+i] = f.scaled(k+i, s)
		}
		f.at.val += length
	}
	for _, k := range f.starts.long {
		run(k, group)
	}
	for _, k := range f.starts.short {
		run(k, group/2)
	}
	for _, k := range f.starts.alone {
		f.entry(lo+int64(k), s)
	}
}

// cursor is the next entry of a row of a group. Its entries come in the order in which their columns are solved.
type cursor struct {
	place    int   // of the column; none if there is no entry left
	k, left  int64 // the entry, and the number of entries from it on
	scale    int64 // index of the scale of the row
	backward bool  // the next entry is k-1
}

const none = math.MaxInt

// block stores the 8 rows from a place on.
func (f *filler[V]) block(place int) {
	first := min(f.row(place), f.row(place+group-1))
	var next [group]cursor
	for lane := range next {
		lo, hi := f.part.entries(first + lane)
		c := &next[lane]
		*c = cursor{k: lo, left: hi - lo, scale: f.at.scale + int64(lane), backward: f.upper}
		if f.upper {
			c.k = hi - 1
		}
		f.store.scale[c.scale] = f.scaleOf(first + lane)
		f.locate(c)
	}
	own := f.at.mask
	f.at.scale += group
	f.at.mask += group
	idx, mask, val := f.idx[:0], f.mask[:0], f.val[:0] // columns that not all rows have
	full := uint32(0)
	for {
		at := none
		for lane := range next {
			at = min(at, next[lane].place)
		}
		if at >= place { // a column of the group itself, or none
			break
		}
		var column [group]V
		m, n := uint8(0), 0
		for lane := range next {
			if c := &next[lane]; c.place == at {
				column[n] = f.advance(c)
				m |= 1 << lane
				n++
			}
		}
		if n == group {
			f.store.idx[f.at.idx] = int32(f.row(at))
			f.at.idx++
			f.at.val += int64(copy(f.store.val[f.at.val:], column[:]))
			full++
			continue
		}
		idx, mask, val = append(idx, int32(f.row(at))), append(mask, m), append(val, column[:n]...)
	}
	f.own(first, &next, f.store.mask[own:own+group], f.store.val[f.at.val:f.at.val+group*group])
	f.at.val += group * group
	f.at.idx += int64(copy(f.store.idx[f.at.idx:], idx))
	f.at.mask += int64(copy(f.store.mask[f.at.mask:], mask))
	f.at.val += int64(copy(f.store.val[f.at.val:], val))
	f.at.val = (f.at.val + group - 1) / group * group
	f.at.count += int64(copy(f.store.count[f.at.count:], []uint32{full, uint32(len(idx))}))
	f.idx, f.mask, f.val = idx, mask, val
}

// locate sets the place of the next entry of a cursor.
func (f *filler[V]) locate(c *cursor) {
	if c.place = none; c.left > 0 {
		c.place = f.row(int(f.op.Idx[c.k]))
	}
}

// advance returns the scaled value of the next entry, and goes to the one after it.
func (f *filler[V]) advance(c *cursor) V {
	v := f.scaled(c.k, f.store.scale[c.scale])
	c.left--
	if c.backward {
		c.k--
	} else {
		c.k++
	}
	f.locate(c)
	return v
}

// own stores the entries of a group in its own columns, which are left.
func (f *filler[V]) own(first int, next *[group]cursor, mask []uint8, val []V) {
	clear(mask)
	clear(val)
	for lane := range next {
		for c := &next[lane]; c.left > 0; {
			col := int(f.op.Idx[c.k]) - first
			mask[col] |= 1 << lane
			val[col*group+lane] = f.advance(c)
		}
	}
}

// divided is a triangle whose rows are not scaled, because a quotient of two of its elements would overflow or lose
// digits. It is solved by one worker:
//
//	x[r] = (b[r] - sum of val[k]*x[idx[k]]) / diag[r]
type divided[V sparse.Value] struct {
	ptr       []int64
	idx       []int32
	val, diag []V
}

// divide stores op as it is.
func (t *Triangle[V]) divide(op *kernels.TrianglePacking[V]) error {
	if err := t.drop(); err != nil {
		return err
	}
	d := &divided[V]{}
	var err error
	d.ptr, err = taken(&t.store, t.dev, op.Ptr, err)
	d.idx, err = taken(&t.store, t.dev, op.Idx, err)
	d.val, err = taken(&t.store, t.dev, op.Val, err)
	d.diag, err = taken(&t.store, t.dev, op.Diag, err)
	t.exact = d
	t.info = kernels.PackInfo{Form: kernels.FormCSR, Why: "its values divided by the diagonal overflow or lose digits", Bytes: t.store.bytes()}
	return err
}
