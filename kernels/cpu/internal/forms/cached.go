package forms

// Cached is the expected cost of a form while the rows stay in the caches: the time of a product and of building the
// form of all rows, in products of plain CSR.
type Cached struct{ Product, Build float64 }

// These costs are from a Zen 5, with 145 real matrices of 20 thousand to 4 million entries. Those of slices and
// diagonals depend on the entries in a row, and those of diagonals on the bytes that they store beside values.
var (
	cachedBlocks = Cached{.45, 12}
	cachedTiles  = Cached{.75, 16}
)

// longRowSlices is the time of a product of slices of long rows. fastSlices is the same in power-law graphs, where csr
// pays for unpredictable row lengths.
const (
	longRowSlices = .67
	fastSlices    = .57
)

// cachedSlices returns the cost of slices with values of the given bytes, for rows with the given mean number of
// entries. The product takes at most the time most.
func cachedSlices(value, entries, most float64) Cached {
	c := Cached{min(.5+.008*entries, most), 10}
	if value == 4 {
		c.Product -= .08
	}
	return c
}

// cachedDiagonals returns the cost of diagonals that take the given bytes for each entry beside its value, for rows
// with the given mean number of entries. The shorter the rows, the longer csr takes for an entry.
func cachedDiagonals(bytes, entries float64) Cached {
	empty := max(bytes, 0) // for padding, masks, and patterns with few rows
	return Cached{.15 + .06*empty + min(.006*entries, .3), 7 + 6*empty}
}

// Trying a form takes tryProducts products beside building it. A form is tried on two conditions. Its products, if
// they are faster than expected by mayBeFaster, save mustRepay times that cost. And all costs of the search together
// are at most the fraction mayBeLost of the products.
const (
	tryProducts = 3
	mayBeFaster = .1
	mustRepay   = 1.25
	mayBeLost   = .3
)

// FewestCached is the number of products below which no form is worth trying while the rows stay in the caches:
// looking at the rows and timing CSR take some six products.
const FewestCached = 60

// Repays reports whether the form is worth trying for the given number of products. best is the time of a product of
// the best form so far, and spent the cost of the search so far, both in products of plain CSR.
func (c Cached) Repays(products int, best, spent float64) bool {
	all, cost := float64(products), c.Build+tryProducts
	return all*(best-c.Product+mayBeFaster) >= mustRepay*cost && spent+cost <= mayBeLost*all
}
