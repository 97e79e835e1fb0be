package model

import (
	"math"
	"math/bits"
	"slices"

	"github.com/msrep-go/msrep/partition"
)

// Structure is a square matrix that was split for several GPUs, as far as the products of vectors that stay on the GPUs
// depend on it. Vectors are divided like the rows. Elements have 8 bytes. It is counted from the pattern of a matrix.
type Structure struct {
	Rows, Entries int64
	Parts         []PartCount

	// By the GPU that needs elements of x, and the GPU that has them: the number of elements; the number of elements
	// from the first to the last; the bytes that reading each of them takes on a link; and the number that lies in the
	// range from the first to the last element that the part needs of any GPU.
	Need, Span, Range [][]int64
	Wire              [][]float64
}

// PartCount is the part of one GPU.
type PartCount struct {
	Entries, Rows int64
	Bytes         float64 // of the matrix, as its form stores it
	Streams       bool    // the form reads x in order
	Lookups       int64   // pieces of 64 bytes of x that warps ask of L2, if 32 entries are read at once
	Misses        []int64 // pieces of x that come from memory, by cache
	Boundary      int64   // entries in rows that need an element of another GPU
	Carriers      []int   // GPUs that have a sum for the last row of this part
}

// Cache is a cache for which misses are counted.
type Cache struct {
	Bytes int64
	Piece int64 // bytes that it reads from memory at a time
}

// Cache returns the cache of a GPU of the node, made smaller by the factor.
func (n *Node) Cache(factor float64) Cache {
	return Cache{Bytes: int64(n.L2.Value * min(1, factor)), Piece: int64(n.Piece.Value)}
}

// Count counts a matrix in CSR that was split into parts.
func Count(ptr []int64, idx []int32, parts []partition.Part, caches []Cache) Structure {
	s := newStructure(int64(len(ptr)-1), int64(len(idx)), len(parts))
	words := make([]uint64, (len(ptr)-1+63)/64)
	owned := func(i int) (lo, hi int64) { return int64(parts[i].OwnFirst), int64(parts[i].OwnEnd) }
	for i, part := range parts {
		c, own := &s.Parts[i], idx[part.StartIdx:part.EndIdx+1]
		c.Entries, c.Rows = part.NNZ(), int64(part.Majors())
		c.Bytes = 12*float64(c.Entries) + 8*float64(c.Rows)
		c.Lookups = lookups(own)
		for _, k := range caches {
			c.Misses = append(c.Misses, misses(own, k.Bytes, k.Piece))
		}
		clear(words)
		for _, col := range own {
			words[col/64] |= 1 << (col % 64)
		}
		s.needs(i, words, owned)
		lo, hi := owned(i)
		for r := part.First(); r < part.End(); r++ {
			row := idx[max(ptr[r], part.StartIdx):max(min(ptr[r+1], part.EndIdx+1), max(ptr[r], part.StartIdx))]
			if slices.ContainsFunc(row, func(col int32) bool { return int64(col) < lo || int64(col) >= hi }) {
				c.Boundary += int64(len(row))
			}
		}
		for k, q := range parts {
			if q.StartFlag && q.StartMajor >= part.OwnFirst && q.StartMajor < part.OwnEnd {
				c.Carriers = append(c.Carriers, k)
			}
		}
	}
	return s
}

func newStructure(rows, entries int64, gpus int) Structure {
	s := Structure{Rows: rows, Entries: entries, Parts: make([]PartCount, gpus)}
	for range gpus {
		s.Need, s.Span, s.Range = append(s.Need, make([]int64, gpus)), append(s.Span, make([]int64, gpus)), append(s.Range, make([]int64, gpus))
		s.Wire = append(s.Wire, make([]float64, gpus))
	}
	return s
}

// needs counts what part i needs, from one bit for each element of x.
func (s *Structure) needs(i int, words []uint64, owned func(int) (lo, hi int64)) {
	first, last := int64(math.MaxInt64), int64(-1)
	for j := range s.Parts {
		lo, hi := owned(j)
		jFirst, jLast := int64(-1), int64(-1)
		for w := lo / 64; w*64 < hi; w++ {
			word := within(words[w], lo-64*w, hi-64*w)
			if word == 0 {
				continue
			}
			s.Need[i][j] += int64(bits.OnesCount64(word))
			s.Wire[i][j] += wire(word)
			if jFirst < 0 {
				jFirst = 64*w + int64(bits.TrailingZeros64(word))
			}
			jLast = 64*w + 63 - int64(bits.LeadingZeros64(word))
		}
		if jFirst >= 0 {
			s.Span[i][j] = jLast - jFirst + 1
			first, last = min(first, jFirst), max(last, jLast)
		}
	}
	for j := range s.Parts {
		lo, hi := owned(j)
		s.Range[i][j] = max(min(hi, last+1)-max(lo, first), 0)
	}
}

// within keeps the bits lo to hi-1 of a word.
func within(word uint64, lo, hi int64) uint64 {
	if lo > 0 {
		word &= math.MaxUint64 << lo
	}
	if hi < 64 {
		word &= 1<<hi - 1
	}
	return word
}

// wire returns the bytes on a link for the elements of 4 lines of 128 bytes, one bit for each. A GPU reads sectors of
// 32 bytes; the sectors of a line share the header of a packet, which has 16 bytes. The speeds of links are those of
// whole lines, so a packet counts as its part of one.
func wire(word uint64) (bytes float64) {
	for ; word != 0; word >>= 16 {
		sectors := 0
		for line := word & 0xffff; line != 0; line >>= 4 {
			if line&0xf != 0 {
				sectors++
			}
		}
		if sectors > 0 {
			bytes += 128 * float64(16+sector*sectors) / (16 + 4*sector)
		}
	}
	return bytes
}

// lookups returns the number of pieces of 64 bytes that warps ask of the cache if each reads 32 entries in order.
func lookups(colIdx []int32) (n int64) {
	var pieces [32]int32
	for len(colIdx) > 0 {
		k := min(32, len(colIdx))
		seen := pieces[:0]
		for _, c := range colIdx[:k] {
			if p := c / 8; !slices.Contains(seen, p) {
				seen = append(seen, p)
			}
		}
		n += int64(len(seen))
		colIdx = colIdx[k:]
	}
	return n
}

// Local is a matrix in which row i has entries in the columns i+s for some steps s of both signs, such as a stencil.
// The pattern is symmetric.
type Local struct {
	Rows, Reach int64                                  // the largest step
	Length      func(row int64) int64                  // number of entries
	Neighbours  func(row int64, visit func(col int64)) // in ascending order
	RowBytes    float64                                // bytes of a row in its form
}

// Count counts the matrix for each number of GPUs, split at the whole rows that are nearest to equal numbers of entries.
func (l Local) Count(gpus ...int) (out []Structure) {
	ptr := make([]int64, l.Rows+1)
	for r := range l.Rows {
		ptr[r+1] = ptr[r] + l.Length(r)
	}
	for _, n := range gpus {
		parts, _, err := partition.Split(ptr, n, partition.RuleWhole)
		if err != nil {
			panic(err) // the pointers are in order
		}
		out = append(out, l.count(ptr, parts))
	}
	return out
}

func (l Local) count(ptr []int64, parts []partition.Part) Structure {
	s := newStructure(l.Rows, ptr[l.Rows], len(parts))
	words := make([]uint64, (l.Rows+63)/64)
	owned := func(i int) (lo, hi int64) { return int64(parts[i].OwnFirst), int64(parts[i].OwnEnd) }
	for i := range parts {
		lo, hi := owned(i)
		c := &s.Parts[i]
		c.Entries, c.Rows, c.Bytes, c.Streams = ptr[hi]-ptr[lo], hi-lo, l.RowBytes*float64(hi-lo), true
		clear(words)
		for r := lo; r < hi; r++ {
			words[r/64] |= 1 << (r % 64)
			if r >= lo+l.Reach && r < hi-l.Reach {
				continue
			}
			outside := false
			l.Neighbours(r, func(col int64) {
				words[col/64] |= 1 << (col % 64)
				outside = outside || col < lo || col >= hi
			})
			if outside {
				c.Boundary += ptr[r+1] - ptr[r]
			}
		}
		s.needs(i, words, owned)
	}
	return s
}

// Stencil returns a stencil on a grid of n points along each axis: 5 points in two dimensions, 7 or 27 in three.
func Stencil(points int, n int64) Local {
	dims, box := 3, points == 27
	if points == 5 {
		dims = 2
	}
	l := Local{Rows: n * n, Reach: n, RowBytes: sliceBytes(points)}
	if dims == 3 {
		l.Rows, l.Reach = n*n*n, n*n
	}
	if box {
		l.Reach = n*n + n + 1
	}
	onAxis := func(x int64) int64 { // neighbours along an axis, with the point itself
		k := int64(3)
		if x == 0 {
			k--
		}
		if x == n-1 {
			k--
		}
		return k
	}
	l.Length = func(row int64) int64 {
		x, y, z := onAxis(row%n), onAxis(row/n%n), onAxis(row/(n*n))
		switch {
		case box:
			return x * y * z
		case dims == 3:
			return x + y + z - 2
		}
		return x + y - 1
	}
	l.Neighbours = func(row int64, visit func(int64)) {
		x, y, z := row%n, row/n%n, row/(n*n)
		for dz := int64(-1); dz <= 1; dz++ {
			for dy := int64(-1); dy <= 1; dy++ {
				for dx := int64(-1); dx <= 1; dx++ {
					axes := dx*dx + dy*dy + dz*dz
					if !box && axes > 1 || dims == 2 && dz != 0 {
						continue
					}
					if x+dx < 0 || x+dx >= n || y+dy < 0 || y+dy >= n || dims == 3 && (z+dz < 0 || z+dz >= n) {
						continue
					}
					visit(row + dx + dy*n + dz*n*n)
				}
			}
		}
	}
	return l
}

// Band returns a matrix whose rows have all columns at most band away from the diagonal.
func Band(n, band int64) Local {
	ends := func(row int64) (first, last int64) { return max(row-band, 0), min(row+band, n-1) }
	return Local{Rows: n, Reach: band, RowBytes: sliceBytes(int(2*band + 1)),
		Length: func(row int64) int64 { first, last := ends(row); return last - first + 1 },
		Neighbours: func(row int64, visit func(int64)) {
			first, last := ends(row)
			for c := first; c <= last; c++ {
				visit(c)
			}
		},
	}
}

// sliceBytes returns the bytes of a row in slices of diagonals of random float64 values.
func sliceBytes(points int) float64 { return 8 * float64(points) * sliceOverhead }

// sliceOverhead is the bytes of slices over those of their values: 748150544 bytes of gen:stencil:dims=3,points=27,n=150,
// value=random over 27 values in each of 3375000 rows (bench/results/2026-11-26-h100).
const sliceOverhead = 748150544.0 / (8 * 27 * 3375000)

// Resized returns the structure scaled to the given numbers of rows and entries. Each part keeps its fraction of the
// entries and rows, and needs the same fraction of the elements of each other part.
func (s Structure) Resized(rows, entries int64) Structure {
	byRow, byEntry := float64(rows)/float64(s.Rows), float64(entries)/float64(s.Entries)
	scaled := func(v int64, by float64) int64 { return int64(math.Round(float64(v) * by)) }
	out := newStructure(rows, entries, len(s.Parts))
	for i, c := range s.Parts {
		c.Bytes = 12*byEntry*float64(c.Entries) + 8*byRow*float64(c.Rows)
		c.Entries, c.Rows, c.Lookups, c.Boundary = scaled(c.Entries, byEntry), scaled(c.Rows, byRow), scaled(c.Lookups, byEntry), scaled(c.Boundary, byEntry)
		c.Misses = slices.Clone(c.Misses)
		for k, v := range c.Misses {
			c.Misses[k] = scaled(v, byEntry)
		}
		out.Parts[i] = c
		for j := range s.Parts {
			out.Need[i][j], out.Span[i][j], out.Range[i][j] = scaled(s.Need[i][j], byRow), scaled(s.Span[i][j], byRow), scaled(s.Range[i][j], byRow)
			out.Wire[i][j] = s.Wire[i][j] * byRow
		}
	}
	return out
}

// Sent returns the elements that the GPUs receive of each other, and the most that one receives.
func (s Structure) Sent() (all, most int64) {
	for i, need := range s.Need {
		sum := int64(0)
		for j, v := range need {
			if j != i {
				sum += v
			}
		}
		all, most = all+sum, max(most, sum)
	}
	return all, most
}
