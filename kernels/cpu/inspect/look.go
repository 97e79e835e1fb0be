package inspect

import (
	"fmt"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/form"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// Look is what a piece of a matrix looks like. The zero value is a piece without entries.
type Look struct {
	entries           bool
	blocks, diagonals *form.Estimate // nil where it does not fall into them
	runs              *form.Estimate // nil where it has none that are long enough
	panels            *form.Estimate // nil where rows have few entries in each, or x is seldom missed
	plain             bool           // values have to be stored as they are, or in 57 bits
	value             float64        // bytes that a value takes where 57 bits do for most; otherwise 0
	misses            float64        // form.FirstCacheMisses
	again             float64        // form.TilesReadAgain
	lone              float64        // form.LoneShare
	wide              bool           // x has more than wideX bytes
	rows, nnz         int
}

// At looks at samples of a piece: at most an eighth of its entries for what x costs, and
// some thousand rows for each form. Pieces can be looked at side by side.
func At[V sparse.Value](r form.Rows[V]) Look {
	if len(r.Idx) == 0 {
		return Look{}
	}
	l := Look{
		entries:   true,
		blocks:    suits(r, estimateBlocks[V]),
		diagonals: suits(r, estimateDiagonals[V]),
		plain:     plainValues(r.Val),
		misses:    form.FirstCacheMisses(r),
		again:     form.TilesReadAgain(r),
		wide:      mem.Size[V]()*int64(r.Cols) > wideX,
		rows:      len(r.Ptr) - 1,
		nnz:       len(r.Idx),
	}
	if simd.FastRuns(simd.Default()) {
		l.runs = suits(r, estimateRuns[V])
	}
	if l.misses < mostlyMissed {
		l.lone = form.LoneShare(r)
	}
	if l.misses >= oftenMissed {
		l.panels = suits(r, estimatePanels[V])
	}
	if l.blocks != nil && l.plain && large(r) {
		if s, ok := bits57(r.Val); ok {
			l.value = s.Bytes()
		}
	}
	return l
}

// suits is the estimate of a form, nil for rows that do not suit it.
func suits[V sparse.Value](r form.Rows[V], estimate func(form.Rows[V]) (form.Estimate, error)) *form.Estimate {
	e, err := estimate(r)
	if err != nil {
		return nil
	}
	return &e
}

// plainValues reports whether values have to be stored as they are, as far as the first
// ones show.
func plainValues[V sparse.Value](val []V) bool {
	v := form.FindValues(val[:min(len(val), 1<<10)])
	return v.Storage() == simd.Full
}

// The shares of entries that miss x from which tiles are tried, and tried first where x is wide.
const (
	oftenMissed  = 0.2
	mostlyMissed = 0.5
)

// wideX is the bytes of x up to which slices are tried before tiles: they are then as fast or
// faster, and made sooner where the budget does not last for both. It is the second cache of
// Zen 4 and Zen 5, on which that was measured.
const wideX = 1 << 20

// someLone is the share of entries whose lines of x are loaded for them alone, from which they
// are tried apart from the others.
const someLone = 0.03

// readsAgain is how many bytes of x tiles read for each that bins write and read more, from
// which bins are tried.
const readsAgain = 0.25

// fewIndices is what runs add to the bytes of a value of 8 bytes where they are longer than what
// diagonals take at once, and tried beside these. Beside blocks of such values they are not: these are as
// fast where both are in the caches. Of values of 4 bytes they are always tried.
const fewIndices = 0.35

// Candidates is the forms that are likely to be faster than CSR for pieces that look
// so, the most likely first.
func Candidates[V sparse.Value](pieces []Look) []Candidate[V] {
	var out []Candidate[V]
	all := sum(pieces)
	value := float64(mem.Size[V]())
	if e := all.blocks; e != nil {
		if all.value > 0 {
			bytes := e.EntryBytes - (1+e.Padding)*(value-all.value)
			out = append(out, Candidate[V]{Form: FormBlocks, Bytes: bytes, Cached: cachedBlocks, Build: newBlocks57[V],
				Why: fmt.Sprintf("%.1f bytes for each entry with values in 57 bits", bytes)})
		}
		out = append(out, Candidate[V]{Form: FormBlocks, Bytes: e.EntryBytes, Cached: cachedBlocks, Build: newBlocks[V], Why: sampled(e)})
	}
	if e := all.diagonals; e != nil {
		out = append(out, Candidate[V]{Form: FormDiagonals, Bytes: e.EntryBytes, Cached: cachedDiagonals(e.EntryBytes - value), Build: newDiagonals[V], Why: sampled(e)})
	}
	if e := all.runs; e != nil && (value == 4 || all.blocks == nil && (all.diagonals == nil || e.EntryBytes < value+fewIndices)) {
		out = append(out, Candidate[V]{Form: FormRuns, Bytes: e.EntryBytes, Cached: cachedRuns(value, e.EntryBytes-value), Build: newRuns[V], Why: sampled(e)})
	}
	slices := Candidate[V]{Form: FormSlices, Bytes: value + 2, Cached: cachedSlices(value, float64(all.nnz)/float64(max(all.rows, 1))), SteadierThan: FormTiles, Build: newSlices[V],
		Why: "rows of like length side by side"}
	slices.Large = all.misses >= oftenMissed && !all.wide // it saves more than tiles then
	tiles := Candidate[V]{Form: FormTiles, Bytes: value + 4, Large: true, Cached: cachedTiles, Build: newTiles[V],
		Why: fmt.Sprintf("%.0f %% of the entries would miss x in the first cache", 100*all.misses)}
	bins := Candidate[V]{Form: FormBins, Bytes: value + 4, Large: true, AllOfX: true, Cached: cachedSorted, SteadierThan: FormTiles, Build: newBins[V],
		Why: fmt.Sprintf("tiles would read x %.1f times as long as bins take to write and read its copies", all.again)}
	nearFar := Candidate[V]{Form: FormNearFar, Large: true, AllOfX: true, Whole: true, Cached: cachedSorted, Build: newNearFar[V],
		Why: fmt.Sprintf("%.0f %% of the entries would load lines of x for themselves", 100*all.lone)}
	switch {
	case all.panels != nil && all.misses >= oftenMissed:
		out = append(out, Candidate[V]{Form: FormPanels, Bytes: all.panels.EntryBytes, Cached: cachedPanels, Build: newPanels[V],
			Why: tiles.Why + ", and rows have many in each panel"}, slices)
	case all.lone >= someLone:
		out = append(out, slices, nearFar)
		if all.misses >= oftenMissed {
			tiles.Unless = FormNearFar // which keeps apart what misses x
			out = append(out, tiles)
		}
	case all.misses >= mostlyMissed && all.again >= readsAgain:
		out = append(out, tiles, bins, slices)
	case all.misses >= mostlyMissed && all.wide:
		out = append(out, tiles, slices)
	case all.misses >= oftenMissed:
		out = append(out, slices, tiles)
	default:
		out = append(out, slices)
	}
	if all.misses >= oftenMissed || all.lone >= someLone || !all.plain {
		for i := range out {
			out[i].Bytes = 0
		}
	}
	return out
}

// sampled is why a form that takes so much is tried.
func sampled(e *form.Estimate) string {
	return fmt.Sprintf("at most %.1f bytes for each entry, by a sample", e.EntryBytes)
}

// sum puts the looks of all pieces together: the worst estimate of a form that suits all
// of them, and the means of what tiles gain and lose by.
func sum(pieces []Look) (all Look) {
	n := 0
	for _, p := range pieces {
		if !p.entries {
			continue
		}
		if n == 0 {
			all = p
		} else {
			all.blocks, all.diagonals, all.runs = worse(all.blocks, p.blocks), worse(all.diagonals, p.diagonals), worse(all.runs, p.runs)
			all.panels = worse(all.panels, p.panels)
			all.plain = all.plain || p.plain
			if all.value > 0 && p.value > 0 {
				all.value = max(all.value, p.value)
			} else {
				all.value = 0
			}
			all.misses += p.misses
			all.again += p.again
			all.lone += p.lone
			all.wide = all.wide || p.wide
			all.rows, all.nnz = all.rows+p.rows, all.nnz+p.nnz
		}
		n++
	}
	all.misses /= float64(max(n, 1))
	all.again /= float64(max(n, 1))
	all.lone /= float64(max(n, 1))
	return all
}

// worse is the estimate of more bytes, nil where one is missing.
func worse(a, b *form.Estimate) *form.Estimate {
	if a == nil || b == nil {
		return nil
	}
	if a.EntryBytes < b.EntryBytes {
		return b
	}
	return a
}
