package diagonals

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// errVary reports that values differ along a diagonal.
var errVary = errors.New("values differ along a diagonal")

// diagonalBuilder builds a diagonalForm: it finds the runs, allocates, and fills.
type diagonalBuilder[V sparse.Value] struct {
	r     form.Rows[V]
	level simd.Level
	lanes int
	same  bool // values are equal along each diagonal of a pattern

	out      Diagonals[V]
	coefs    []V            // if same: the values of all patterns
	patterns map[string]int // index of the first offset of each pattern
	columns  int64
	masks    int64

	// offsets has the offsets of the current slice, values the value at each offset if same is
	// true, and entries the number of its entries. offsets2 and values2 are scratch.
	offsets, offsets2 []int64
	values, values2   []V
	entries           int64
	key               []byte
}

func newDiagonalBuilder[V sparse.Value](r form.Rows[V], l simd.Level, same bool) *diagonalBuilder[V] {
	return &diagonalBuilder[V]{r: r, level: l, lanes: simd.Lanes[V](l), same: same, patterns: map[string]int{}}
}

// checkedRows is the number of rows that are checked by one call of checkColumns, just before they
// are added.
const checkedRows = 1 << 10

// plan finds all runs.
func (b *diagonalBuilder[V]) plan() error {
	rows := len(b.r.Ptr) - 1
	for first := 0; first < rows; first += b.lanes {
		end := min(first+b.lanes, rows)
		if first%checkedRows == 0 {
			idx, _ := b.r.Entries(first, min(first+checkedRows, rows))
			if err := form.CheckColumns(idx, b.r.Cols); err != nil {
				return err
			}
		}
		if err := b.add(first, end); err != nil {
			return err
		}
		if first%checkedRows == 0 || end == rows {
			if err := b.checkSize(b.r.At(end)); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkSize fails if the rows so far, which have that many entries, need too much memory.
func (b *diagonalBuilder[V]) checkSize(entries int64) error {
	if int64(len(b.out.Offsets)) > entries/16+4096 {
		if b.same {
			return errVary
		}
		return sparse.Inputf("matrix", "no diagonals: the %d entries inspected have patterns with %d offsets from the main diagonal", entries, len(b.out.Offsets))
	}
	if places := b.columns * int64(b.lanes); places > entries+entries/2+4096 {
		return sparse.Inputf("matrix", "no diagonals: the %d entries inspected would need %d slots", entries, places)
	}
	return nil
}

// add appends one slice of rows to the runs.
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

type diagonalRun = DiagonalRun

// extend counts one more slice like run. Only whole slices share a run.
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

// fits reports whether every row has exactly the offsets of run, and the values of its pattern.
func (b *diagonalBuilder[V]) fits(run *diagonalRun, first, end int) bool {
	offsets := b.out.Offsets[run.Pattern : run.Pattern+run.Width]
	for i := first; i < end; i++ {
		idx, val := b.r.Entries(i, i+1)
		if len(idx) != len(offsets) {
			return false
		}
		differ := int64(0) // one branch for all entries
		for j, c := range idx {
			differ |= int64(c) - int64(i) - offsets[j]
		}
		if differ != 0 {
			return false
		}
		if b.same && !form.SameBits(val, b.coefs[run.Pattern:run.Pattern+run.Width]) {
			return false
		}
	}
	return true
}

// unite sets offsets to all offsets of the rows first <= i < end.
func (b *diagonalBuilder[V]) unite(first, end int) error {
	b.offsets, b.values, b.entries = b.offsets[:0], b.values[:0], 0
	for i := first; i < end; i++ {
		idx, val := b.r.Entries(i, i+1)
		for k := 1; k < len(idx); k++ {
			if idx[k] <= idx[k-1] {
				return sparse.Inputf("matrix", "the columns of a row do not ascend: diagonals need sorted rows without duplicates")
			}
		}
		b.entries += int64(len(idx))
		if err := b.merge(i, idx, val); err != nil {
			return err
		}
	}
	return nil
}

// merge adds the offsets of a row.
func (b *diagonalBuilder[V]) merge(row int, idx []int32, val []V) error {
	offsets, values := b.offsets2[:0], b.values2[:0]
	j := 0
	for k, c := range idx {
		o := int64(c) - int64(row)
		for ; j < len(b.offsets) && b.offsets[j] < o; j++ {
			offsets, values = append(offsets, b.offsets[j]), append(values, b.values[j])
		}
		if j < len(b.offsets) && b.offsets[j] == o {
			if b.same && form.BitsOf(b.values[j]) != form.BitsOf(val[k]) {
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

// isPattern reports whether the current slice has the pattern of run.
func (b *diagonalBuilder[V]) isPattern(run *diagonalRun) bool {
	from, to := run.Pattern, run.Pattern+run.Width
	return slices.Equal(b.offsets, b.out.Offsets[from:to]) && (!b.same || form.SameBits(b.values, b.coefs[from:to]))
}

// pattern returns the index of the pattern of the current slice, which it adds if it is new.
func (b *diagonalBuilder[V]) pattern() int {
	b.key = b.key[:0]
	for j, o := range b.offsets {
		b.key = binary.LittleEndian.AppendUint64(b.key, uint64(o))
		if b.same {
			b.key = binary.LittleEndian.AppendUint64(b.key, form.BitsOf(b.values[j]))
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
