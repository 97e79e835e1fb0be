package tiled

import (
	"fmt"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/internal/cuda/sliced"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
)

const (
	// Round is the number of places of a round: the threads of a block.
	Round = 512
	// MaxSums is the largest number of sums of a tile. Codes use one number of 16 bits for places without an entry.
	MaxSums = 1<<16 - 1
	// maxEntries bounds the entries of a tile, whose rounds kernels number in 22 bits.
	maxEntries = 1 << 30
)

// Plan describes the tiles of rows before they are built.
type Plan[V sparse.Value] struct {
	rows  ellpack.Rows[V]
	tiles []tile
	sum   []int32 // of all tiles; see Matrix
	short bool    // values are stored as float32
	sums  int32   // the largest number of sums of a tile
	cut   bool    // a row lies in several tiles
}

// tile is the entries [first, end) of the rows that begin at row.
type tile struct {
	row        int32
	begun      bool // an earlier tile has the first entries of row
	first, end int64
	sum        []int32 // part of Plan.sum: row+i has the sums [sum[i], sum[i+1])
}

// NewPlan cuts rows into at least blocks tiles, if they have that many entries, with at most sums sums each. Tiles of one
// matrix differ by at most 1/32 in their numbers of entries, unless they are limited by their sums. Errors are
// *sparse.InputError.
func NewPlan[V sparse.Value](r ellpack.Rows[V], blocks, sums int) (*Plan[V], error) {
	n := int64(len(r.Ptr) - 1)
	if n > sparse.MaxDim {
		return nil, sparse.Inputf("matrix", "%d rows: tiles number at most %d", n, sparse.MaxDim)
	}
	p := &Plan[V]{rows: r, short: sliced.Short(r.Val)}
	c := cutter[V]{Plan: p, sums: int32(min(sums, MaxSums))}
	c.divide(int64(blocks))
	c.divide(max(int64(blocks), (c.needed()+int64(c.sums)-1)/int64(c.sums)))
	if c.target > maxEntries {
		return nil, sparse.Inputf("matrix", "%d entries: tiles have at most %d each", r.End-r.First, maxEntries)
	}
	c.cut()
	return p, nil
}

// cutter cuts rows into tiles, one row after the other.
type cutter[V sparse.Value] struct {
	*Plan[V]
	sums          int32 // of a tile, at most
	target, share int64 // entries of a tile, and of one sum
	open          tile
}

// divide sets the sizes for a number of tiles.
func (c *cutter[V]) divide(tiles int64) {
	c.target = max((c.rows.End-c.rows.First+tiles-1)/tiles, 1)
	c.share = max(c.target/Round/8, 1)
}

// needed returns the number of sums of all rows.
func (c *cutter[V]) needed() (n int64) {
	at := int64(0)
	for i := range int32(len(c.rows.Ptr) - 1) {
		end := c.start(i + 1)
		switch length := end - at; {
		case length > c.share: // a division takes long
			n += (length + c.share - 1) / c.share
		case length > 0:
			n++
		}
		at = end
	}
	return n
}

func (c *cutter[V]) cut() {
	c.Plan.sum = make([]int32, 0, int64(len(c.rows.Ptr))+(c.rows.End-c.rows.First)/c.target+1)
	c.begin(0, false, 0)
	for i := range int32(len(c.rows.Ptr) - 1) {
		at, end := c.open.end, c.start(i+1)
		if c.isShort(end - at) {
			c.add(end-at, int32(min(end-at, 1)))
			continue
		}
		for begun := false; ; begun = true {
			take, ok := c.fits(end - at)
			if !ok {
				c.close()
				c.begin(i, begun, at)
				take, _ = c.fits(end - at)
			}
			c.add(take, int32((take+c.share-1)/c.share))
			if at += take; at == end {
				break
			}
			c.Plan.cut = true
			c.close()
			c.begin(i, true, at)
		}
	}
	c.close()
}

// isShort reports whether fits takes all n entries of a row with at most one sum.
func (c *cutter[V]) isShort(n int64) bool {
	t := &c.open
	return n <= c.share && t.sum[len(t.sum)-1] < c.sums && t.end-t.first+n <= c.target && !c.isTall()
}

// isTall reports whether the open tile has so many rows, some of them without entries, that storing y takes long.
func (c *cutter[V]) isTall() bool { return int64(len(c.open.sum)) > 4*int64(c.sums) }

// fits returns how many of the next n entries, which are of one row, the open tile takes; ok is false if the row is to
// begin in a new tile.
func (c *cutter[V]) fits(n int64) (take int64, ok bool) {
	t := &c.open
	room := c.target*33/32 - (t.end - t.first)
	free := int64(c.sums - t.sum[len(t.sum)-1])
	take = min(n, max(room, 0), free*c.share)
	empty := len(t.sum) == 1
	switch {
	case empty:
		return max(take, min(n, 1)), true
	case c.isTall() || n > 0 && (free == 0 || t.end-t.first >= c.target):
		return 0, false
	case take == n:
		return n, true
	}
	// A row is cut only if it is long.
	return min(take, c.target-(t.end-t.first)), n > c.target/32 && min(take, c.target-(t.end-t.first)) > 0
}

// add adds the next n entries of one row, with this number of sums, to the open tile.
func (c *cutter[V]) add(n int64, sums int32) {
	t := &c.open
	t.end += n
	t.sum = append(t.sum, t.sum[len(t.sum)-1]+sums)
}

// begin opens a tile. Its sums follow those of the tile before.
func (c *cutter[V]) begin(row int32, begun bool, first int64) {
	c.open = tile{row: row, begun: begun, first: first, end: first, sum: append(c.Plan.sum[len(c.Plan.sum):], 0)}
}

// close ends the open tile, unless it has no rows.
func (c *cutter[V]) close() {
	if t := c.open; len(t.sum) > 1 {
		c.Plan.sum = append(c.Plan.sum, t.sum...) // copies nothing unless there is no room
		c.tiles, c.Plan.sums = append(c.tiles, t), max(c.Plan.sums, t.sum[len(t.sum)-1])
	}
}

// start returns the index of the first entry of row i in Idx and Val.
func (p *Plan[V]) start(i int32) int64 {
	return min(max(p.rows.Ptr[i], p.rows.First), p.rows.End) - p.rows.First
}

// Tiles returns the number of tiles.
func (p *Plan[V]) Tiles() int64 { return int64(len(p.tiles)) }

// From returns the first entry of each tile, an index into Idx and Val, then the number of entries.
func (p *Plan[V]) From() []int64 {
	from := make([]int64, 0, len(p.tiles)+1)
	for i := range p.tiles {
		from = append(from, p.tiles[i].first)
	}
	return append(from, p.rows.End-p.rows.First)
}

// Short reports whether values are stored as float32: then float32 represents all float64 values.
func (p *Plan[V]) Short() bool { return p.short }

// Sums returns the largest number of sums of a tile.
func (p *Plan[V]) Sums() int64 { return int64(p.sums) }

// Shared returns the bytes of shared memory that a block needs.
func (p *Plan[V]) Shared() int64 { return int64(p.sums) * mem.Size[V]() }

// String describes the plan in a few words.
func (p *Plan[V]) String() string {
	text := fmt.Sprintf("%d tiles of rows, with at most %d sums each", len(p.tiles), p.sums)
	if p.cut {
		text += "; long rows are cut"
	}
	if p.short {
		text += "; values of 4 bytes"
	}
	return text
}
