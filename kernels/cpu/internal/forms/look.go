package forms

import (
	"cmp"
	"maps"
	"slices"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// At samples a piece: at most an eighth of its entries for the cost of x, and some thousand rows for each form.
// Pieces can be sampled concurrently.
func At[V sparse.Value](r form.Rows[V]) Look {
	if len(r.Idx) == 0 {
		return Look{}
	}
	l := Look{
		Rows:   len(r.Ptr) - 1,
		NNZ:    len(r.Idx),
		Plain:  plainValues(r.Val),
		Wide:   mem.Size[V]()*int64(r.Cols) > form.WideX,
		Misses: form.FirstCacheMisses(r),
	}
	for _, k := range Kinds[V]() {
		if k.Look != nil {
			k.Look(r, &l)
		}
	}
	return l
}

// plainValues reports whether the first values have to be stored as they are.
func plainValues[V sparse.Value](val []V) bool {
	v := form.FindValues(val[:min(len(val), 1<<10)])
	return v.Storage() == form.Full
}

// Candidates returns the forms that are likely to be faster than CSR for pieces with these looks, the most likely
// first.
func Candidates[V sparse.Value](pieces []Look) (out []Candidate[V]) {
	all := sum(pieces)
	for _, k := range Kinds[V]() {
		if k.Suit == nil {
			continue
		}
		for _, c := range k.Suit(&all) {
			c.Form = k.Name
			if c.Build == nil {
				c.Build = k.Make
			}
			out = append(out, c)
		}
	}
	bytesDecide := all.Plain && all.Misses < form.OftenMissed
	for i := range out {
		if !bytesDecide {
			out[i].Bytes = 0
		}
	}
	slices.SortStableFunc(out, func(a, b Candidate[V]) int { return cmp.Compare(a.Turn, b.Turn) })
	return out
}

// sum combines the looks of all pieces: the worst estimate of each form that suits all of them, and the means of the
// fractions.
func sum(pieces []Look) (all Look) {
	n, shares := 0, map[string]float64{}
	for _, p := range pieces {
		if p.NNZ == 0 {
			continue
		}
		if n++; n == 1 {
			all, all.Estimates = p, maps.Clone(p.Estimates)
		} else {
			all.Rows, all.NNZ = all.Rows+p.Rows, all.NNZ+p.NNZ
			all.Plain, all.Wide = all.Plain || p.Plain, all.Wide || p.Wide
			all.Misses += p.Misses
			for name, e := range all.Estimates {
				if o := p.Estimates[name]; o == nil {
					delete(all.Estimates, name)
				} else if e.EntryBytes < o.EntryBytes {
					all.Estimates[name] = o
				}
			}
		}
		for name, s := range p.Shares {
			shares[name] += s
		}
	}
	all.Misses /= float64(max(n, 1))
	for name := range shares {
		shares[name] /= float64(n)
	}
	all.Shares = shares
	return all
}
