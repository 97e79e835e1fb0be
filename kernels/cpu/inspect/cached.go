package inspect

// Cached is what is expected of a form where the rows stay in the caches: the time of a product,
// and of making the form of all rows, in products of plain CSR.
type Cached struct{ Product, Build float64 }

// The forms on a Zen 5, on 145 real matrices of 20 thousand to 4 million entries. Those of
// slices follow the entries of a row, those of diagonals and runs what these take beside values.
var (
	cachedBlocks = Cached{.45, 12}
	cachedPanels = Cached{.95, 11}
	cachedTiles  = Cached{.75, 16}
	cachedSorted = Cached{.75, 20} // bins, and near and far entries
)

// cachedSlices is that of slices of values of so many bytes whose rows have so many entries on average.
func cachedSlices(value, entries float64) Cached {
	c := Cached{min(.5+.008*entries, .67), 10}
	if value == 4 {
		c.Product -= .08
	}
	return c
}

// cachedDiagonals is that of diagonals that take so many bytes for each entry beside its value.
func cachedDiagonals(bytes float64) Cached {
	empty := max(bytes, 0) // places, masks, and patterns of few rows
	return Cached{.2 + .08*empty, 7 + 6*empty}
}

// cachedRuns is that of runs of values of so many bytes that take so many more for each entry beside its value.
// One load of a register brings twice as many elements of x of 4 bytes.
func cachedRuns(value, bytes float64) Cached {
	short := max(bytes-.2, 0)
	c := Cached{min(.5+.5*short, .95), 9 + 20*short}
	if value == 4 {
		c.Product = min(.3+.45*short, .95)
	}
	return c
}

// Trying a form takes some products beside making it. It is tried where what it may spare is
// something more than all that, though it spares a little more than expected, and where that is
// not too much even if it spares nothing.
const (
	tryProducts = 3
	mayBeFaster = .1
	mustRepay   = 1.25
	mayBeLost   = .3
)

// FewestCached is the number of products below which no form is worth trying where the rows stay
// in the caches: to look at them and to time CSR takes some six.
const FewestCached = 60

// Repays reports whether the form is worth trying for so many products, where a product of
// the best form so far takes best products of plain CSR, and what was done so far spent.
func (c Cached) Repays(products int, best, spent float64) bool {
	all, cost := float64(products), c.Build+tryProducts
	return all*(best-c.Product+mayBeFaster) >= mustRepay*cost && spent+cost <= mayBeLost*all
}
