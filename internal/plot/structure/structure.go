// Package structure draws the structure of a matrix: where its entries are, how long its rows and columns are, how far
// the entries are from the diagonal, and what parts of a split matrix need of x from each other.
package structure

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/msrep-go/msrep/internal/plot"
	"github.com/msrep-go/msrep/internal/stats"
	"github.com/msrep-go/msrep/sparse"
)

const (
	mostBins      = 512 // of the density, in each direction
	mostDiagonals = 16  // of the strongest that are drawn
	mostLengths   = 20  // bars of single lengths; more lengths are drawn in bins
)

// Section returns the figures and tables of the structure of m, whose statistics are s.
func Section(m *sparse.CSR[float64], s stats.Stats) plot.Section {
	density, diagonals := stats.DensityOf(m, mostBins), stats.DiagonalsOf(m, mostDiagonals)
	out := plot.Section{Name: "structure", Title: "Structure", Pictures: true, Figures: []plot.Figure{entries(density, s)}}
	for _, f := range []plot.Figure{
		lengths("rows", "row", s.RowCounts), lengths("columns", "column", s.ColCounts), distances(diagonals, s), strongest(diagonals, s),
	} {
		if len(f.Series) > 0 {
			out.Figures = append(out.Figures, f)
		}
	}
	blocks := stats.BlocksOf(m)
	out.Remarks = remarks(s, diagonals, blocks)
	for _, t := range []plot.Table{blockTable(blocks, s), diagonalTable(diagonals, s), lengthTable(s)} {
		if len(t.Rows) > 0 {
			out.Tables = append(out.Tables, t)
		}
	}
	return out
}

// entries draws where the entries are.
func entries(d *stats.Density, s stats.Stats) plot.Figure {
	g := &plot.Grid{Rows: d.Rows, Cols: d.Cols, OfRows: s.Rows, OfCols: s.Cols, Share: d.Share()}
	occupied := 0
	for _, share := range g.Share {
		if share > 0 {
			occupied++
		}
	}
	desc := fmt.Sprintf("%d rows by %d columns in %d by %d bins; %d bins have entries.", s.Rows, s.Cols, d.Rows, d.Cols, occupied)
	title := "Entries"
	if d.Rows < s.Rows || d.Cols < s.Cols {
		title = fmt.Sprintf("Entries, in %d x %d bins: share of positions", d.Rows, d.Cols)
	}
	return plot.Figure{Name: "entries", Title: title, Desc: desc, Kind: plot.Density, XLabel: "column", YLabel: "row", Grid: g}
}

// bar is a bar of a histogram.
type bar struct {
	name  string
	count int64
}

// bars returns the counts of single lengths if there are few, else of 0, 1 and the ranges from 2^k to 2^(k+1) - 1.
func bars(counts []stats.LengthCount) (out []bar) {
	if len(counts) <= mostLengths {
		for _, c := range counts {
			out = append(out, bar{fmt.Sprint(c.Length), c.Count})
		}
		return out
	}
	sums := make([]int64, bits.Len64(uint64(counts[len(counts)-1].Length))+1)
	for _, c := range counts {
		sums[bits.Len64(uint64(c.Length))] += c.Count
	}
	for k, n := range sums {
		if k > 0 || n > 0 {
			out = append(out, bar{powerRange(k), n})
		}
	}
	return out
}

// powerRange names the numbers of k bits.
func powerRange(k int) string {
	if k <= 1 {
		return fmt.Sprint(k)
	}
	return brief(1<<(k-1)) + "–" + brief(1<<k-1)
}

// brief formats a count in few characters.
func brief(n int64) string {
	for _, u := range []struct {
		size int64
		name string
	}{{1 << 30, "Gi"}, {1 << 20, "Mi"}, {1 << 10, "Ki"}} {
		if n+1 >= u.size {
			return fmt.Sprintf("%d%s", (n+1)/u.size, u.name)
		}
	}
	return fmt.Sprint(n)
}

// lengths draws how many rows or columns have which length.
func lengths(name, one string, counts []stats.LengthCount) plot.Figure {
	f := plot.Figure{
		Name: name, Title: fmt.Sprintf("Lengths of %s", name), Kind: plot.Bars, Log: true,
		XLabel: "entries in a " + one, YLabel: "number of " + name,
	}
	if len(counts) == 0 {
		return f
	}
	series := plot.Series{Name: name}
	var names []string
	for i, b := range bars(counts) {
		names = append(names, b.name)
		series.Add(float64(i+1), float64(b.count))
	}
	f.Names, f.Series = plot.Ranked(names), []plot.Series{series}
	f.Desc = fmt.Sprintf("The %s have from %d to %d entries. The scale of the counts is logarithmic.", name, counts[0].Length, counts[len(counts)-1].Length)
	return f
}

// distances draws how far entries are from the diagonal.
func distances(d stats.Diagonals, s stats.Stats) plot.Figure {
	f := plot.Figure{
		Name: "bandwidth", Title: "Distance of entries from the diagonal", Kind: plot.Bars, XLabel: "|column - row|", YLabel: "share of entries, %",
		Desc: fmt.Sprintf("Entries reach %d diagonals below the main diagonal and %d above it.", s.Lower, s.Upper),
	}
	if s.NNZ == 0 {
		return f
	}
	var names []string
	on, below, above := plot.Series{Name: "diagonal"}, plot.Series{Name: "below"}, plot.Series{Name: "above"}
	for k := range max(len(d.Below), len(d.Above)) {
		names = append(names, powerRange(k))
		share := func(counts []int64) float64 {
			if k >= len(counts) {
				return 0
			}
			return 100 * float64(counts[k]) / float64(s.NNZ)
		}
		x := float64(k + 1)
		if k == 0 {
			on.Add(x, share(d.Above))
			continue
		}
		below.Add(x, share(d.Below))
		above.Add(x, share(d.Above))
	}
	f.Names, f.Series = plot.Ranked(names), []plot.Series{on, below, above}
	return f
}

// strongest draws how full the diagonals with the most entries are.
func strongest(d stats.Diagonals, s stats.Stats) plot.Figure {
	f := plot.Figure{Name: "diagonals", Title: "Strongest diagonals", Kind: plot.Bars, XLabel: "column - row", YLabel: "occupied positions, %"}
	if len(d.Strongest) == 0 {
		return f
	}
	series := plot.Series{Name: "occupied"}
	var names []string
	var sum int64
	for i, g := range d.Strongest {
		names = append(names, signed(g.Offset))
		series.Add(float64(i+1), occupancy(g))
		sum += g.Count
	}
	f.Names, f.Series = plot.Ranked(names), []plot.Series{series}
	f.Desc = fmt.Sprintf("These %d of %d diagonals with entries hold %.3g %% of all entries.", len(names), d.Occupied, 100*float64(sum)/float64(s.NNZ))
	return f
}

// occupancy returns the occupied positions of a diagonal in percent; entries of one position count once at most.
func occupancy(g stats.Diagonal) float64 { return min(100*float64(g.Count)/float64(g.Length), 100) }

func signed(n int64) string {
	if n == 0 {
		return "0"
	}
	return fmt.Sprintf("%+d", n)
}

func diagonalTable(d stats.Diagonals, s stats.Stats) plot.Table {
	t := plot.Table{Name: "diagonal-table", Title: fmt.Sprintf("Strongest of %d diagonals with entries", d.Occupied), Header: []string{"column - row", "entries", "positions", "occupied", "share of all entries"}, Fold: true}
	for _, g := range d.Strongest {
		t.Rows = append(t.Rows, []string{signed(g.Offset), fmt.Sprint(g.Count), fmt.Sprint(g.Length),
			fmt.Sprintf("%.1f %%", occupancy(g)), fmt.Sprintf("%.2f %%", 100*float64(g.Count)/float64(s.NNZ))})
	}
	return t
}

// denseBlocks is the fill from which blocks save memory: an entry needs an index of 4 bytes beside its 8 bytes alone,
// and nearly none in a block.
const denseBlocks = 2.0 / 3

func blockTable(blocks []stats.Blocks, s stats.Stats) plot.Table {
	t := plot.Table{Name: "blocks", Title: "Blocks at multiples of their size", Header: []string{"size", "blocks", "entries in a block", "filled"}}
	for _, b := range blocks {
		if b.Blocks == 0 {
			return t
		}
		if b.Entries < s.NNZ {
			t.Title = fmt.Sprintf("Blocks at multiples of their size, in a sample of %d entries", b.Entries)
		}
		t.Rows = append(t.Rows, []string{fmt.Sprintf("%d x %d", b.Size, b.Size), fmt.Sprint(b.Blocks),
			fmt.Sprintf("%.2f", float64(b.Entries)/float64(b.Blocks)), fmt.Sprintf("%.1f %%", 100*b.Fill())})
	}
	return t
}

func lengthTable(s stats.Stats) plot.Table {
	t := plot.Table{Name: "lengths", Title: "Lengths of rows and columns", Header: []string{"entries", "rows", "columns"}, Fold: true}
	rows, cols := map[string]int64{}, map[string]int64{}
	var names []string
	all := []stats.LengthCount{}
	for _, c := range slices.Concat(s.RowCounts, s.ColCounts) {
		all = append(all, stats.LengthCount{Length: c.Length})
	}
	slices.SortFunc(all, func(a, b stats.LengthCount) int { return int(min(max(a.Length-b.Length, -1), 1)) })
	all = slices.Compact(all)
	name := func(n int64) string { return fmt.Sprint(n) }
	if len(all) > mostLengths {
		name = func(n int64) string { return powerRange(bits.Len64(uint64(n))) }
	}
	for _, c := range all {
		if n := name(c.Length); len(names) == 0 || names[len(names)-1] != n {
			names = append(names, n)
		}
	}
	for _, c := range s.RowCounts {
		rows[name(c.Length)] += c.Count
	}
	for _, c := range s.ColCounts {
		cols[name(c.Length)] += c.Count
	}
	for _, n := range names {
		t.Rows = append(t.Rows, []string{n, fmt.Sprint(rows[n]), fmt.Sprint(cols[n])})
	}
	return t
}

// remarks says in words what the figures show.
func remarks(s stats.Stats, d stats.Diagonals, blocks []stats.Blocks) (out []string) {
	if s.NNZ == 0 {
		return []string{"The matrix has no entries."}
	}
	most := blocks[0] // the largest dense blocks, or the fullest
	for _, b := range blocks {
		if b.Fill() >= denseBlocks || b.Fill() > most.Fill() {
			most = b
		}
	}
	if most.Fill() >= denseBlocks {
		out = append(out, fmt.Sprintf("Blocks of %d x %d hold the entries and are %.0f %% full.", most.Size, most.Size, 100*most.Fill()))
	} else {
		out = append(out, fmt.Sprintf("There are no dense blocks: the fullest, of %d x %d, are %.0f %% full.", most.Size, most.Size, 100*most.Fill()))
	}
	if d.Occupied == int64(len(d.Strongest)) {
		out = append(out, fmt.Sprintf("All entries are on %d diagonals.", d.Occupied))
	} else {
		var sum int64
		for _, g := range d.Strongest {
			sum += g.Count
		}
		out = append(out, fmt.Sprintf("%d diagonals have entries; the %d strongest hold %.1f %% of all.", d.Occupied, len(d.Strongest), 100*float64(sum)/float64(s.NNZ)))
	}
	if mean := s.Row.Mean; s.Row.Max > 0 && float64(s.Row.Max) > 8*math.Max(mean, 1) {
		out = append(out, fmt.Sprintf("The longest row has %.0f times the mean of %.3g entries.", float64(s.Row.Max)/mean, mean))
	}
	return out
}

// Halo draws what each part of a matrix, split by rows into parts, needs of x from other parts. Element k of halos
// belongs to k + 2 parts and has the number of elements for each part; cols is the length of x.
func Halo(halos [][]int64, cols int) plot.Section {
	each, largest := plot.Series{Name: "each part", Points: true}, plot.Series{Name: "largest"}
	t := plot.Table{Name: "halo-table", Title: "Elements of x that each part needs from others", Header: []string{"parts"}}
	for k, halo := range halos {
		row, most := []string{fmt.Sprint(len(halo))}, int64(0)
		for _, n := range halo {
			each.Add(float64(k+2), float64(n))
			most = max(most, n)
			row = append(row, fmt.Sprint(n))
		}
		largest.Add(float64(k+2), float64(most))
		t.Header = append(t.Header[:1], partNames(len(halo))...)
		t.Rows = append(t.Rows, row)
	}
	for i, row := range t.Rows {
		for len(row) < len(t.Header) {
			row = append(row, "")
		}
		t.Rows[i] = row
	}
	return plot.Section{
		Name: "halo", Title: "Split over 2 to 8 parts", Pictures: true,
		Intro: []string{fmt.Sprintf("The rows are split so that all parts have nearly the same number of entries. x has %d elements; each part owns a piece of it and needs these elements from other parts.", cols)},
		Figures: []plot.Figure{{Name: "halo-figure", Title: "Elements of x from other parts", XLabel: "parts", YLabel: "elements",
			Desc: "A mark for each part, and a line through the largest number.", Series: []plot.Series{each, largest}}},
		Tables: []plot.Table{t},
	}
}

func partNames(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("part %d", i+1))
	}
	return out
}
