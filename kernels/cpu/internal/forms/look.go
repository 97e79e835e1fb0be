package forms

import (
	"fmt"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// Look is what a sample shows of a piece of a matrix. The zero value is a piece without entries.
type Look struct {
	entries           bool
	blocks, diagonals *form.Estimate // nil if the rows do not fall into them
	plain             bool           // no storage suits the values but plain values, or 57 bits
	value             float64        // mean bytes of a value if 57 bits suffice for most; otherwise 0
	misses            float64        // form.FirstCacheMisses
	powerLaw          bool           // see powerLaw
	wide              bool           // x has more than wideX bytes
	rows, nnz         int
}

// At samples a piece: at most an eighth of its entries for the cost of x, and some thousand rows for each form.
// Pieces can be sampled concurrently.
func At[V sparse.Value](r form.Rows[V]) Look {
	if len(r.Idx) == 0 {
		return Look{}
	}
	l := Look{
		powerLaw:  powerLaw(r),
		entries:   true,
		blocks:    suits(r, estimateBlocks[V]),
		diagonals: suits(r, estimateDiagonals[V]),
		plain:     plainValues(r.Val),
		misses:    form.FirstCacheMisses(r),
		wide:      mem.Size[V]()*int64(r.Cols) > wideX,
		rows:      len(r.Ptr) - 1,
		nnz:       len(r.Idx),
	}
	if l.blocks != nil && l.plain && large(r) {
		if s, ok := bits57(r.Val); ok {
			l.value = s.Bytes()
		}
	}
	return l
}

// suits returns the estimate of a form, nil for rows that do not suit it.
func suits[V sparse.Value](r form.Rows[V], estimate func(form.Rows[V]) (form.Estimate, error)) *form.Estimate {
	e, err := estimate(r)
	if err != nil {
		return nil
	}
	return &e
}

// plainValues reports whether the first values have to be stored as they are.
func plainValues[V sparse.Value](val []V) bool {
	v := form.FindValues(val[:min(len(val), 1<<10)])
	return v.Storage() == form.Full
}

// Tiles are tried if at least the fraction oftenMissed of the entries misses x in the first cache. They are tried
// first if at least mostlyMissed does and x is wide.
const (
	oftenMissed  = 0.2
	mostlyMissed = 0.5
)

// wideX is the size of x in bytes up to which slices are tried before tiles. They are then as fast or faster, and
// built sooner if the budget does not suffice for both. It is the second cache of Zen 4 and Zen 5, on which that was
// measured.
const wideX = 1 << 20

// powerLaw reports whether row lengths vary as in power-law graphs, x fits the second cache, and the entries do not
// fit it. Lengths vary so if their variance is larger than the square of their mean. Longer rows count as 8 times the
// mean, so that a few dense rows are no power law.
func powerLaw[V sparse.Value](r form.Rows[V]) bool {
	size, rows, nnz := mem.Size[V](), len(r.Ptr)-1, int64(len(r.Idx))
	if size*int64(r.Cols) > wideX || (4+size)*nnz <= wideX {
		return false
	}
	mean, squares := float64(nnz)/float64(rows), 0.
	for i := range rows {
		n := min(float64(r.Ptr[i+1]-r.Ptr[i]), 8*mean)
		squares += n * n
	}
	return squares/float64(rows) > 2*mean*mean
}

// Candidates returns the forms that are likely to be faster than CSR for pieces with these looks, the most likely
// first.
func Candidates[V sparse.Value](pieces []Look) []Candidate[V] {
	var out []Candidate[V]
	all := sum(pieces)
	value := float64(mem.Size[V]())
	entries := float64(all.nnz) / float64(max(all.rows, 1)) // mean number of entries in a row
	if e := all.blocks; e != nil {
		if all.value > 0 {
			bytes := e.EntryBytes - (1+e.Padding)*(value-all.value)
			out = append(out, Candidate[V]{Form: FormBlocks, Bytes: bytes, Cached: cachedBlocks, Build: newBlocks57[V],
				Why: fmt.Sprintf("%.1f bytes for each entry with values in 57 bits", bytes)})
		}
		out = append(out, Candidate[V]{Form: FormBlocks, Bytes: e.EntryBytes, Cached: cachedBlocks, Build: newBlocks[V], Why: sampled(e)})
	}
	if e := all.diagonals; e != nil {
		out = append(out, Candidate[V]{Form: FormDiagonals, Bytes: e.EntryBytes, Cached: cachedDiagonals(e.EntryBytes-value, entries), Build: newDiagonals[V], Why: sampled(e)})
	}
	longRows := longRowSlices
	if all.powerLaw {
		longRows = fastSlices
	}
	slices := Candidate[V]{Form: FormSlices, Bytes: value + 2, SteadierThan: FormTiles, Build: newSlices[V],
		Cached: cachedSlices(value, entries, longRows), Why: "rows of similar length are multiplied side by side"}
	slices.Large = all.powerLaw || all.misses >= oftenMissed && !all.wide // they then save more than tiles
	tiles := Candidate[V]{Form: FormTiles, Bytes: value + 4, Large: true, Cached: cachedTiles, Build: newTiles[V],
		Why: fmt.Sprintf("%.0f %% of the entries would miss x in the first cache", 100*all.misses)}
	switch {
	case all.misses >= mostlyMissed && all.wide:
		out = append(out, tiles, slices)
	case all.misses >= oftenMissed:
		out = append(out, slices, tiles)
	default:
		out = append(out, slices)
	}
	if all.misses >= oftenMissed || !all.plain {
		for i := range out {
			out[i].Bytes = 0
		}
	}
	return out
}

// sampled returns the reason for a form that an estimate suggests.
func sampled(e *form.Estimate) string {
	return fmt.Sprintf("at most %.1f bytes for each entry, by a sample", e.EntryBytes)
}

// sum combines the looks of all pieces: the worst estimate of each form that suits all of them, and the means of the
// fractions.
func sum(pieces []Look) (all Look) {
	n := 0
	for _, p := range pieces {
		if !p.entries {
			continue
		}
		if n == 0 {
			all = p
		} else {
			all.blocks, all.diagonals = worse(all.blocks, p.blocks), worse(all.diagonals, p.diagonals)
			all.plain = all.plain || p.plain
			if all.value > 0 && p.value > 0 {
				all.value = max(all.value, p.value)
			} else {
				all.value = 0
			}
			all.misses += p.misses
			all.wide = all.wide || p.wide
			all.powerLaw = all.powerLaw && p.powerLaw
			all.rows, all.nnz = all.rows+p.rows, all.nnz+p.nnz
		}
		n++
	}
	all.misses /= float64(max(n, 1))
	return all
}

// worse returns the estimate with more bytes, nil if one is missing.
func worse(a, b *form.Estimate) *form.Estimate {
	if a == nil || b == nil {
		return nil
	}
	if a.EntryBytes < b.EntryBytes {
		return b
	}
	return a
}
