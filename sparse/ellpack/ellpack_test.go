package ellpack_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
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

// built is a format as the tests look at it: its entries as the package says where
// they lie, the places it has, and the bytes of its arrays.
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

// take adds what lies at a place, for the row at place i of the order.
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

func TestEveryFormatHoldsTheEntriesOfTheRowsAndWhatItsShapeSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, want := matrix(lengthLists().Draw(t, "lengths"), rapid.Uint64().Draw(t, "seed"))
		o := ellpack.Options{Height: rapid.SampledFrom([]int{2, 8, 16, 32}).Draw(t, "height"), Serial: rapid.Bool().Draw(t, "serial")}
		o.Sigma = rapid.SampledFrom([]int{1, o.Height, 4 * o.Height}).Draw(t, "sigma")
		o.Sliced = rapid.Bool().Draw(t, "sliced")
		if rapid.Bool().Draw(t, "own memory") {
			o.Alloc = func(n int64) ([]byte, error) { return make([]byte, n), nil }
		}
		l, err := ellpack.Measure(rows.Ptr, rows.First, rows.End, o)
		require.NoError(t, err)
		for _, f := range ellpack.Formats() {
			got, err := build(f, rows, o)
			require.NoError(t, err, f)
			require.Equal(t, want, sorted(got.entries), f)
			require.EqualValues(t, got.slots, got.shape.Slots, f)
			require.EqualValues(t, got.bytes, got.shape.Bytes(8), f)
			require.EqualValues(t, len(want), got.shape.NNZ, f)
			told, ok := l.Shape(f, 8)
			require.True(t, ok)
			require.Equal(t, told, got.shape, f)
		}
	})
}

func TestAPartOfAMatrixIsItsOwnEntries(t *testing.T) {
	whole, list := matrix([]int{3, 0, 5, 2, 0, 4}, 1)
	part := whole
	part.First, part.End = 2, 9 // the last of row 0 to the first of row 3
	part.Idx, part.Val = whole.Idx[2:9], whole.Val[2:9]
	var want []entry
	for row, k := range [][2]int{{2, 3}, {}, {3, 8}, {8, 9}} {
		for at := k[0]; at < k[1]; at++ {
			want = append(want, entry{int32(row), whole.Idx[at], whole.Val[at]})
		}
	}
	require.Len(t, list, 14)
	want = sorted(want)
	for _, f := range ellpack.Formats() {
		got, err := build(f, part, ellpack.Options{Height: 4, Sigma: 4})
		require.NoError(t, err)
		require.Equal(t, want, sorted(got.entries), f)
	}
}

// steps is the sum over warps of h rows of the longest.
func steps(lengths []int, h int) (sum int64) {
	for warp := range slices.Chunk(lengths, h) {
		sum += int64(slices.Max(warp))
	}
	return sum
}

func TestStepsAndWorkAreThePapersEquations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lengths := lengthLists().Draw(t, "lengths")
		h := rapid.SampledFrom([]int{8, 32}).Draw(t, "height")
		rows, list := matrix(lengths, 1)
		l, err := ellpack.Measure(rows.Ptr, rows.First, rows.End, ellpack.Options{Height: h, Sigma: h})
		require.NoError(t, err)
		shape := func(f sparse.Format) ellpack.Shape {
			s, _ := l.Shape(f, 8)
			return s
		}
		work, longest := int64(0), 0
		for _, n := range lengths {
			work += int64(max(2*n-1, 0))
			longest = max(longest, n)
		}
		falling := slices.Clone(lengths)
		slices.Sort(falling)
		slices.Reverse(falling)
		require.Equal(t, int64((len(lengths)+h-1)/h*longest), shape(ellpack.FormatELL).Steps)
		require.Equal(t, steps(lengths, h), shape(ellpack.FormatELLR).Steps)
		require.Equal(t, steps(lengths, h), shape(ellpack.FormatSELL).Steps, "one warp a window")
		for _, f := range []sparse.Format{ellpack.FormatPELLR, ellpack.FormatPELLRWarp, ellpack.FormatJAD} {
			require.Equal(t, steps(falling, h), shape(f).Steps, f)
		}
		for _, f := range []sparse.Format{ellpack.FormatELLR, ellpack.FormatPELLR, ellpack.FormatBiELL, ellpack.FormatJAD, ellpack.FormatSELL} {
			require.Equal(t, work, shape(f).Work, f)
		}
		require.Equal(t, int64(len(lengths)*max(2*longest-1, 0)), shape(ellpack.FormatELL).Work)
		for _, f := range []sparse.Format{ellpack.FormatBiELL, ellpack.FormatBiJAD} {
			require.GreaterOrEqual(t, shape(f).Steps*int64(h), int64(len(list)), f)
		}
		require.LessOrEqual(t, shape(ellpack.FormatBiELL).Steps, steps(lengths, h)+5*int64(len(lengths)/h+1), "halves round up")
	})
}

// The example of section 3: 26 rows, warps of 8.
func TestTheExampleOfThePaperTakes18And14Steps(t *testing.T) {
	rows, _ := matrix([]int{2, 3, 3, 4, 4, 4, 2, 4, 2, 3, 2, 3, 2, 3, 2, 2, 2, 2, 7, 3, 3, 3, 3, 3, 4, 3}, 1)
	l, err := ellpack.Measure(rows.Ptr, 0, rows.End, ellpack.Options{Height: 8})
	require.NoError(t, err)
	s, _ := l.Shape(ellpack.FormatELLR, 8)
	require.EqualValues(t, 18, s.Steps)
	rows, _ = matrix([]int{7, 4, 4, 4, 4, 4, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2}, 1)
	l, err = ellpack.Measure(rows.Ptr, 0, rows.End, ellpack.Options{Height: 8})
	require.NoError(t, err)
	s, _ = l.Shape(ellpack.FormatPELLR, 8)
	require.EqualValues(t, 14, s.Steps)
}

func TestAWarpIsBisectedAtThe17th9th5th3rdAnd2ndRow(t *testing.T) {
	// Lengths 100, 90, 80, 80, 60, ... : rows 17, 9, 5, 3 and 2 have 2, 10, 60, 80, 90.
	lengths := []int{100, 90, 80, 80, 60, 60, 60, 60, 10, 10, 10, 10, 10, 10, 10, 10, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 0, 0}
	rand.Shuffle(len(lengths), func(i, j int) { lengths[i], lengths[j] = lengths[j], lengths[i] })
	rows, _ := matrix(lengths, 1)
	for _, f := range []sparse.Format{ellpack.FormatBiELL, ellpack.FormatBiJAD} {
		e, err := ellpack.NewBisected(f, rows, ellpack.Options{})
		require.NoError(t, err)
		require.Equal(t, 6, e.Groups)
		var steps []int64
		for g := range e.Groups {
			steps = append(steps, (e.Start[g+1]-e.Start[g])/32)
		}
		// 2; (10-2)/2; (60-10)/4; (80-60)/8; (90-80)/16; (100-90)/32, rounded up.
		require.Equal(t, []int64{2, 4, 13, 3, 1, 1}, steps)
		require.EqualValues(t, 24, e.Shape.Steps)
	}
}

func TestTheWidthOfAHybFollowsItsRule(t *testing.T) {
	// 9 rows: 3 of them, a third, have at least 5 entries; 2 have more. The mean is 3.
	rows, _ := matrix([]int{1, 1, 2, 5, 7, 1, 7, 1, 2}, 1)
	third, err := ellpack.NewHYB(ellpack.FormatHYB, rows, ellpack.Options{})
	require.NoError(t, err)
	require.EqualValues(t, 5, third.ELL.Width)
	require.Equal(t, []int32{4, 4, 6, 6}, third.Row)
	mean, err := ellpack.NewHYB(ellpack.FormatHYBMean, rows, ellpack.Options{})
	require.NoError(t, err)
	require.EqualValues(t, 3, mean.ELL.Width)
	require.Len(t, mean.Row, 10)
}

// giant is n rows of one entry, the middle one of n.
func giant(n int) ellpack.Rows[float64] {
	lengths := make([]int, n)
	for i := range lengths {
		lengths[i] = 1
	}
	lengths[n/2] = n
	rows, _ := matrix(lengths, 1)
	return rows
}

func TestOneGiantRowIsRefusedByELLAndNoOther(t *testing.T) {
	rows := giant(20_000)
	for _, f := range ellpack.Formats() {
		got, err := build(f, rows, ellpack.Options{Height: 32})
		if f == ellpack.FormatELL {
			require.True(t, sparse.IsInput(err))
			require.EqualError(t, err, "format: ell takes 4800000000 bytes, of which padding is 399960001 places for 39999 entries, because the longest of 20000 rows has 20000: more than the 1076301808 bytes it may take; use sell, jad or csr")
			continue
		}
		require.NoError(t, err, f)
		require.Len(t, got.entries, 39_999, f)
		sliced := f == ellpack.FormatELLR || f == ellpack.FormatPELLR || f == ellpack.FormatPELLRWarp
		require.Equal(t, sliced, got.shape.Sliced, f)
		require.Less(t, got.shape.Bytes(8), int64(20<<20), f)
	}
}

func TestFiguresBeyond63BitsAreGivenAsTheLargestNumber(t *testing.T) {
	// 2^16 rows of 2^30 entries need no arrays to be measured.
	ptr := make([]int64, 1<<16+1)
	for i := range ptr {
		ptr[i] = int64(i) << 30
	}
	l, err := ellpack.Measure(ptr, 0, 1<<46, ellpack.Options{})
	require.NoError(t, err)
	s, _ := l.Shape(ellpack.FormatELL, 8)
	require.EqualValues(t, int64(1)<<46, s.Slots)
	s.Slots = math.MaxInt64 / 8
	require.EqualValues(t, int64(math.MaxInt64), s.Bytes(8))
}

func TestWrongOptionsAndRowsAreRefused(t *testing.T) {
	rows, _ := matrix([]int{1, 2}, 1)
	for _, o := range []ellpack.Options{{Height: 3}, {Height: 128}, {Height: 1}, {Height: -8}, {Sigma: 33}, {Sigma: -32}} {
		_, err := ellpack.NewSELL(rows, o)
		require.True(t, sparse.IsInput(err), "%+v", o)
	}
	_, err := ellpack.Measure([]int64{0, 1 << 31}, 0, 1<<31, ellpack.Options{})
	require.True(t, sparse.IsInput(err))
	require.ErrorContains(t, err, "a row of 2147483648 entries")
}

func TestAnErrorOfTheMemoryIsHandedOn(t *testing.T) {
	full := errors.New("no memory left")
	rows, _ := matrix([]int{5, 1, 0, 7, 7, 2}, 1)
	for _, f := range ellpack.Formats() {
		for after := range 6 {
			calls := 0
			_, err := build(f, rows, ellpack.Options{Height: 2, Sigma: 2, Alloc: func(n int64) ([]byte, error) {
				if calls++; calls > after {
					return nil, full
				}
				return make([]byte, n), nil
			}})
			if calls > after {
				require.ErrorIs(t, err, full, f)
			} else {
				require.NoError(t, err)
			}
		}
	}
}

func TestTheLargestFormatIsRefusedBeforeMemoryIsTaken(t *testing.T) {
	rows, _ := matrix([]int{100, 1, 1, 1, 1, 1, 1, 1}, 1)
	_, err := ellpack.NewELL(rows, ellpack.Options{MaxBytes: 12*3200 - 1, Alloc: func(int64) ([]byte, error) {
		t.Fatal("memory was asked for")
		return nil, nil
	}})
	require.True(t, sparse.IsInput(err))
	_, err = ellpack.NewELL(rows, ellpack.Options{MaxBytes: 12 * 3200})
	require.NoError(t, err)
}

func TestAFormatLargerThanTheMachineIsAnErrorBeforeMemoryIsTaken(t *testing.T) {
	_, err := ellpack.NewELL(giant(300_000), ellpack.Options{MaxBytes: math.MaxInt64})
	require.ErrorIs(t, err, ellpack.ErrMemory)
	require.ErrorContains(t, err, "ell takes 1080000000000 bytes")
}

func BenchmarkBuild(b *testing.B) {
	lengths := make([]int, 200_000)
	for i := range lengths {
		lengths[i] = i * i % 41
	}
	rows, _ := matrix(lengths, 1)
	for _, f := range ellpack.Formats() {
		b.Run(string(f), func(b *testing.B) {
			b.SetBytes(12 * rows.End)
			for b.Loop() {
				if err := construct(f, rows, ellpack.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func construct(f sparse.Format, r ellpack.Rows[float64], o ellpack.Options) (err error) {
	switch f {
	case ellpack.FormatELL:
		_, err = ellpack.NewELL(r, o)
	case ellpack.FormatELLR, ellpack.FormatPELLR, ellpack.FormatPELLRWarp:
		_, err = ellpack.NewELLR(f, r, o)
	case ellpack.FormatBiELL, ellpack.FormatBiJAD:
		_, err = ellpack.NewBisected(f, r, o)
	case ellpack.FormatJAD:
		_, err = ellpack.NewJAD(r, o)
	case ellpack.FormatHYB, ellpack.FormatHYBMean:
		_, err = ellpack.NewHYB(f, r, o)
	default:
		_, err = ellpack.NewSELL(r, o)
	}
	return err
}
