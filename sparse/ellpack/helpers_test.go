package ellpack_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/cases"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
)

func TestMain(m *testing.M) { cases.Main(m, "200") }

// entry is one entry of a matrix.
type entry struct {
	row, col int32
	val      float64
}

func sorted(list []entry) []entry {
	slices.SortFunc(list, func(a, b entry) int {
		return cmpAll(int64(a.row)-int64(b.row), int64(a.col)-int64(b.col), a.val-b.val)
	})
	return list
}

func cmpAll(row, col int64, val float64) int {
	switch {
	case row != 0:
		return int(row)
	case col != 0:
		return int(col)
	case val < 0:
		return -1
	case val > 0:
		return 1
	}
	return 0
}

// built is a format in the form that the tests compare: its entries by the documented
// layout, the number of its slots, and the bytes of its arrays.
type built struct {
	shape   ellpack.Shape
	entries []entry
	slots   int
	bytes   int
}

// places collects the entries of a format.
type places struct {
	perm []int32
	idx  []int32
	val  []float64
	out  []entry
}

// take adds the content of a slot to the row at position i of the order.
func (p *places) take(i, at int64) {
	row := int32(i)
	if p.perm != nil && i < int64(len(p.perm)) {
		row = p.perm[i]
	}
	if p.idx[at] >= 0 {
		p.out = append(p.out, entry{row, p.idx[at], p.val[at]})
	}
}

func build(f sparse.Format, r ellpack.Rows[float64], o ellpack.Options) (built, error) {
	h := int64(o.Height)
	n := int64(len(r.Ptr)) - 1
	switch f {
	case ellpack.FormatELL:
		e, err := ellpack.NewELL(r, o)
		if err != nil {
			return built{}, err
		}
		p := &places{idx: e.Idx, val: e.Val}
		takeELL(p, e, n)
		return built{e.Shape, p.out, len(e.Val), 12 * len(e.Val)}, nil
	case ellpack.FormatELLR, ellpack.FormatPELLR, ellpack.FormatPELLRWarp:
		e, err := ellpack.NewELLR(f, r, o)
		if err != nil {
			return built{}, err
		}
		p := &places{perm: e.Perm, idx: e.Idx, val: e.Val}
		for i := range n {
			at, length := i, e.Length
			if e.Start != nil {
				at = e.Start[i/h] + i%h
			}
			steps := i
			if e.ByWarp {
				steps = i / h
			}
			for k := range int64(length[steps]) {
				p.take(i, at+k*e.Stride)
			}
		}
		return built{e.Shape, p.out, len(e.Val), 12*len(e.Val) + 4*len(e.Length) + 4*len(e.Perm) + 8*len(e.Start)}, nil
	case ellpack.FormatBiELL, ellpack.FormatBiJAD:
		e, err := ellpack.NewBisected(f, r, o)
		if err != nil {
			return built{}, err
		}
		p := &places{perm: e.Perm, idx: e.Idx, val: e.Val}
		for w := range (n + h - 1) / h {
			for g := range int64(e.Groups) {
				for at := e.Start[w*int64(e.Groups)+g]; at < e.Start[w*int64(e.Groups)+g+1]; at++ {
					p.take(w*h+at%h%(h>>g), at)
				}
			}
		}
		return built{e.Shape, p.out, len(e.Val), 12*len(e.Val) + 8*len(e.Start) + 4*len(e.Perm)}, nil
	case ellpack.FormatJAD:
		e, err := ellpack.NewJAD(r, o)
		if err != nil {
			return built{}, err
		}
		p := &places{perm: e.Perm, idx: e.Idx, val: e.Val}
		for k := range len(e.Start) - 1 {
			for i := range e.Start[k+1] - e.Start[k] {
				p.take(i, e.Start[k]+i)
			}
		}
		return built{e.Shape, p.out, len(e.Val), 12*len(e.Val) + 8*len(e.Start) + 4*len(e.Perm)}, nil
	case ellpack.FormatHYB, ellpack.FormatHYBMean:
		e, err := ellpack.NewHYB(f, r, o)
		if err != nil {
			return built{}, err
		}
		p := &places{idx: e.ELL.Idx, val: e.ELL.Val}
		takeELL(p, &e.ELL, n)
		for k := range e.Row {
			p.out = append(p.out, entry{e.Row[k], e.Col[k], e.RestVal[k]})
		}
		return built{e.Shape, p.out, len(e.ELL.Val) + len(e.Row), 12*len(e.ELL.Val) + 16*len(e.Row)}, nil
	default:
		e, err := ellpack.NewSELL(r, o)
		if err != nil {
			return built{}, err
		}
		p := &places{perm: e.Perm, idx: e.Idx, val: e.Val}
		for w := range int64(len(e.Start)) - 1 {
			for at := e.Start[w]; at < e.Start[w+1]; at++ {
				p.take(w*h+(at-e.Start[w])%h, at)
			}
		}
		return built{e.Shape, p.out, len(e.Val), 12*len(e.Val) + 8*len(e.Start) + 4*len(e.Perm)}, nil
	}
}

func takeELL(p *places, e *ellpack.ELL[float64], rows int64) {
	for i := range e.Stride {
		for k := range e.Width {
			if at := i + k*e.Stride; i < rows || e.Idx[at] >= 0 {
				p.take(i, at)
			}
		}
	}
}

// matrix makes rows of given lengths, and its entries.
func matrix(lengths []int, seed uint64) (ellpack.Rows[float64], []entry) {
	r := ellpack.Rows[float64]{Ptr: []int64{0}}
	rng := rand.New(rand.NewPCG(seed, 1))
	var list []entry
	for i, n := range lengths {
		for range n {
			e := entry{int32(i), int32(rng.IntN(50)), rng.NormFloat64()}
			list = append(list, e)
			r.Idx, r.Val = append(r.Idx, e.col), append(r.Val, e.val)
		}
		r.End += int64(n)
		r.Ptr = append(r.Ptr, r.End)
	}
	return r, sorted(list)
}

func lengthLists() *rapid.Generator[[]int] {
	return rapid.OneOf(
		rapid.SliceOfN(rapid.IntRange(0, 12), 0, 150),
		rapid.SliceOfN(rapid.SampledFrom([]int{0, 0, 0, 1, 40}), 0, 100),
		rapid.SliceOfN(rapid.Just(7), 0, 70),
		rapid.SliceOfN(rapid.SampledFrom([]int{0, 3000}), 1, 2),
	)
}
