package partition

import (
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

// MaxParts is the largest number of parts that a matrix can be split into.
const MaxParts = 1 << 20

// cut is a border between two parts: the first entry and the first owned major
// behind it.
type cut struct {
	idx int64
	own int
}

// partsPerGoroutine is how many parts make a goroutine worth its start: a part
// takes 0.3 microseconds, 3 when the pointers are in no cache, and waking another
// core 5 or more.
const partsPerGoroutine = 16

// build makes the parts between the cuts: at(i) for 0 < i < parts, end for the
// last one. locate fills in StartMajor, EndMajor and StartFlag, and says whether
// they can be right. Each part is made on its own, in parallel where there are
// enough of them. broken is the error for cuts that fall, as they do when the
// matrix is not in order.
func build(end cut, parts int, at func(i int) cut, locate func(p *Part) bool, broken error) ([]Part, error) {
	if parts < 1 || parts > MaxParts {
		return nil, sparse.Inputf("parts", "%d: a matrix is split into 1 to %d parts", parts, MaxParts)
	}
	border := func(i int) cut {
		switch i {
		case 0:
			return cut{}
		case parts:
			return end
		}
		return at(i)
	}
	out := make([]Part, parts)
	var falls atomic.Bool
	par.Range(int64(parts), partsPerGoroutine, func(lo, hi int64) {
		from := border(int(lo))
		for i := int(lo); i < int(hi); i++ {
			to := border(i + 1)
			out[i] = Part{StartIdx: from.idx, EndIdx: to.idx - 1, OwnFirst: from.own, OwnEnd: to.own}
			if from.idx > to.idx || from.own > to.own || !locate(&out[i]) {
				falls.Store(true)
				return
			}
			from = to
		}
	})
	if falls.Load() {
		return nil, broken
	}
	return out, nil
}
