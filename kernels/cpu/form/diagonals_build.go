package form

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// errVary says that values differ along a diagonal.
var errVary = errors.New("values differ along a diagonal")

// diagonalBuilder makes a diagonalForm: it finds the runs, makes room, and fills it.
type diagonalBuilder[V sparse.Value] struct {
	r     Rows[V]
	level simd.Level
	lanes int
	same  bool // values are the same along each diagonal of a pattern

	out      simd.Diagonals[V]
	coefs    []V            // of all patterns, with same
	patterns map[string]int // where the offsets of a pattern begin
	columns  int64
	masks    int64

	// Of the slice that is looked at, and scratch: its distances, with same the value
	// at each, and its entries.
	offsets, offsets2 []int64
	values, values2   []V
	entries           int64
	key               []byte
}

func newDiagonalBuilder[V sparse.Value](r Rows[V], l simd.Level, same bool) *diagonalBuilder[V] {
	return &diagonalBuilder[V]{r: r, level: l, lanes: simd.Lanes[V](l), same: same, patterns: map[string]int{}}
}

// checkedRows is how many rows are checked together, just before they are looked at.
const checkedRows = 1 << 10

// plan finds all runs.
func (b *diagonalBuilder[V]) plan() error {
	rows := len(b.r.Ptr) - 1
	for first := 0; first < rows; first += b.lanes {
		end := min(first+b.lanes, rows)
		if first%checkedRows == 0 {
			idx, _ := b.r.entries(first, min(first+checkedRows, rows))
			if err := checkColumns(idx, b.r.Cols); err != nil {
				return err
			}
		}
		if err := b.add(first, end); err != nil {
			return err
		}
		if first%checkedRows == 0 || end == rows {
			if err := b.worthIt(b.r.at(end)); err != nil {
				return err
			}
		}
	}
	return nil
}

// worthIt fails when so many entries take too much room.
func (b *diagonalBuilder[V]) worthIt(entries int64) error {
	if int64(len(b.out.Offsets)) > entries/16+4096 {
		if b.same {
			return errVary
		}
		return sparse.Inputf("matrix", "no diagonals: the %d entries looked at lie at %d distances from the main diagonal, pattern by pattern", entries, len(b.out.Offsets))
	}
	if places := b.columns * int64(b.lanes); places > entries+entries/2+4096 {
		return sparse.Inputf("matrix", "no diagonals: the %d entries looked at would take %d places", entries, places)
	}
	return nil
}

// add puts one slice of rows behind the runs.
func (b *diagonalBuilder[V]) add(first, end int) error {
	var last *diagonalRun
	if n := len(b.out.Runs); n > 0 {
		last = &b.out.Runs[n-1]
	}
	whole := end-first == b.lanes
	if whole && last != nil && b.fits(last, first, end) {
		b.extend(diagonalRun{Pattern: last.Pattern, Width: last.Width}, true)
		return nil
	}
	if err := b.unite(first, end); err != nil {
		return err
	}
	run := diagonalRun{Width: len(b.offsets)}
	if last != nil && b.isPattern(last) {
		run.Pattern = last.Pattern
	} else {
		run.Pattern = b.pattern()
	}
	run.Masked = b.entries != int64(run.Width*b.lanes)
	run.Ends = run.Width > 0 && (b.offsets[0] < int64(-first) || b.offsets[run.Width-1] > int64(b.r.Cols-first-b.lanes))
	b.extend(run, whole)
	return nil
}

type diagonalRun = simd.DiagonalRun

// extend counts one more slice, which is as run says. Only whole slices share a run.
func (b *diagonalBuilder[V]) extend(run diagonalRun, whole bool) {
	b.columns += int64(run.Width)
	if run.Masked {
		b.masks += int64(run.Width)
	}
	if n := len(b.out.Runs); whole && n > 0 {
		last := &b.out.Runs[n-1]
		if run.Slices = last.Slices; run == *last {
			last.Slices++
			return
		}
	}
	run.Slices = 1
	b.out.Runs = append(b.out.Runs, run)
}

// fits reports whether every row has an entry at each distance of a run, and no
// other, and the values of its pattern.
func (b *diagonalBuilder[V]) fits(run *diagonalRun, first, end int) bool {
	offsets := b.out.Offsets[run.Pattern : run.Pattern+run.Width]
	for i := first; i < end; i++ {
		idx, val := b.r.entries(i, i+1)
		if len(idx) != len(offsets) {
			return false
		}
		differ := int64(0) // one branch for all
		for j, c := range idx {
			differ |= int64(c) - int64(i) - offsets[j]
		}
		if differ != 0 {
			return false
		}
		if b.same && !sameBits(val, b.coefs[run.Pattern:run.Pattern+run.Width]) {
			return false
		}
	}
	return true
}

// unite sets the distances of all entries of some rows.
func (b *diagonalBuilder[V]) unite(first, end int) error {
	b.offsets, b.values, b.entries = b.offsets[:0], b.values[:0], 0
	for i := first; i < end; i++ {
		idx, val := b.r.entries(i, i+1)
		for k := 1; k < len(idx); k++ {
			if idx[k] <= idx[k-1] {
				return sparse.Inputf("matrix", "columns do not ascend in a row: diagonals need sorted rows without duplicates")
			}
		}
		b.entries += int64(len(idx))
		if err := b.merge(i, idx, val); err != nil {
			return err
		}
	}
	return nil
}

// merge adds a row to the distances.
func (b *diagonalBuilder[V]) merge(row int, idx []int32, val []V) error {
	offsets, values := b.offsets2[:0], b.values2[:0]
	j := 0
	for k, c := range idx {
		o := int64(c) - int64(row)
		for ; j < len(b.offsets) && b.offsets[j] < o; j++ {
			offsets, values = append(offsets, b.offsets[j]), append(values, b.values[j])
		}
		if j < len(b.offsets) && b.offsets[j] == o {
			if b.same && bitsOf(b.values[j]) != bitsOf(val[k]) {
				return errVary
			}
			j++
		}
		offsets, values = append(offsets, o), append(values, val[k])
	}
	offsets, values = append(offsets, b.offsets[j:]...), append(values, b.values[j:]...)
	b.offsets, b.offsets2 = offsets, b.offsets
	b.values, b.values2 = values, b.values
	return nil
}

// isPattern reports whether the slice has the pattern of a run.
func (b *diagonalBuilder[V]) isPattern(run *diagonalRun) bool {
	from, to := run.Pattern, run.Pattern+run.Width
	return slices.Equal(b.offsets, b.out.Offsets[from:to]) && (!b.same || sameBits(b.values, b.coefs[from:to]))
}

// pattern is where the pattern of the slice begins, a new one if need be.
func (b *diagonalBuilder[V]) pattern() int {
	b.key = b.key[:0]
	for j, o := range b.offsets {
		b.key = binary.LittleEndian.AppendUint64(b.key, uint64(o))
		if b.same {
			b.key = binary.LittleEndian.AppendUint64(b.key, bitsOf(b.values[j]))
		}
	}
	at, ok := b.patterns[string(b.key)]
	if !ok {
		at = len(b.out.Offsets)
		b.patterns[string(b.key)] = at
		b.out.Offsets = append(b.out.Offsets, b.offsets...)
		if b.same {
			b.coefs = append(b.coefs, b.values...)
		}
	}
	return at
}
