package diagonals

import (
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
)

// build allocates the form and fills it.
func (b *diagonalBuilder[V]) build(values form.ValueSet[V]) (form.Form[V], error) {
	rows := len(b.r.Ptr) - 1
	if b.same {
		values = form.ValueSet[V]{StoredAs: form.Same}
	}
	values = values.Not57()
	var err error
	if b.out.Values, err = values.Store(b.r.Mem, b.lanes, b.columns); err != nil {
		return nil, err
	}
	if b.same {
		b.out.Values.Table = b.coefs
	}
	if b.out.Masks, err = form.Make[uint16](b.r.Mem, b.masks); err != nil {
		return nil, err
	}
	b.out.Columns = int(b.columns)
	b.out.Last, b.out.Fused = make([]V, b.lanes), b.r.Fixed
	b.fill(&values)
	bytes := form.ValueBytes(&b.out.Values) + 2*b.masks + 8*int64(len(b.out.Offsets)) + 32*int64(len(b.out.Runs)) + mem.Size[V]()*int64(b.lanes)
	// With vectors of this size, the next product would find little of y in the caches.
	b.out.Near = form.NearDiagonals(bytes)
	b.out.Stream = form.Beyond(bytes + mem.Size[V]()*int64(rows+min(rows, b.r.Cols)))
	return &diagonalForm[V]{
		level: b.level, rows: rows, cols: b.r.Cols, slices: b.out, patterns: len(b.patterns),
		Footprint: form.Footprint{MemoryBytes: bytes, EmptySlots: b.columns*int64(b.lanes) - b.r.At(rows)},
	}, nil
}

// fill stores values and masks.
func (b *diagonalBuilder[V]) fill(values *form.ValueSet[V]) {
	rows := len(b.r.Ptr) - 1
	first, k, mask := 0, 0, 0
	for _, run := range b.out.Runs {
		for range run.Slices {
			lanes := min(b.lanes, rows-first)
			if run.Masked || lanes < b.lanes {
				b.fillMasked(values, run, first, lanes, k, mask)
			} else {
				for lane := 0; lane < lanes; lane += 4 {
					at := b.r.Starts4(&[4]int{first, first + 1, first + 2, first + 3}, lane)
					values.Put4(&b.out.Values, k+lane, b.lanes, b.r.Val, &at, run.Width)
				}
			}
			if run.Masked {
				mask += run.Width
			}
			k += run.Width * b.lanes
			first += b.lanes
		}
	}
}

// fillMasked stores a slice of lanes rows that do not all have an entry at each offset, or that are
// fewer than b.lanes. Its first value is in slot k, its first mask in b.out.Masks[mask].
func (b *diagonalBuilder[V]) fillMasked(values *form.ValueSet[V], run diagonalRun, first, lanes, k, mask int) {
	for lane := range lanes {
		idx, val := b.r.Entries(first+lane, first+lane+1)
		if !run.Masked {
			values.Put(&b.out.Values, k+lane, b.lanes, val)
			continue
		}
		j := 0
		for i, o := range b.out.Offsets[run.Pattern : run.Pattern+run.Width] {
			if j < len(idx) && int64(idx[j]) == o+int64(first+lane) {
				values.Put(&b.out.Values, k+i*b.lanes+lane, b.lanes, val[j:j+1])
				b.out.Masks[mask+i] |= 1 << lane
				j++
			}
		}
	}
}
