package slices_test

import (
	"math"
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/formtest"
	slicesform "github.com/msrep-go/msrep/kernels/cpu/internal/form/slices"
	"github.com/msrep-go/msrep/sparse"
)

func TestSlicesLoadSuccessiveElementsAtOnce(t *testing.T) {
	formtest.EachLevel(t, checkStraight[float64], checkStraight[float32])
}

func checkStraight[V sparse.Value](t *testing.T, l simd.Level) {
	const n, apart = 4000, 70_000
	lanes := simd.Lanes[V](l)
	// Three diagonals after scattered entries, in columns of 2 or 4 bytes, and a long row.
	for _, spread := range []int{1, apart} {
		r := rand.New(rand.NewPCG(1, 2))
		p := formtest.Pattern{Cols: n + 3*spread}
		for i := range n {
			row := []int32{int32(r.IntN(i + 1)), int32(i), int32(i + spread), int32(i + 3*spread)}
			if i == n/2 {
				row = row[:0]
				for c := range n + 3 {
					if c != n/3 {
						row = append(row, int32(c))
					}
				}
			}
			p.Rows = append(p.Rows, row)
		}
		a := sparse.Convert[V](p.CSR(r.NormFloat64))
		x := make([]V, a.Cols)
		for i := range x {
			x[i] = V(r.NormFloat64())
		}
		x[17] = V(math.Inf(1))
		y := make([]V, n)
		for _, far := range []bool{false, true} {
			rows := formtest.RowsOf(a)
			f := formtest.Must(formtest.BuildFar(far, func() (form.Form[V], error) { return slicesform.NewSlices(rows, slicesform.SliceOptions[V]{Level: l}) }))(t)
			consecutive, _ := slicesform.RegularColumns(f)
			require.Greater(t, consecutive, 7*n/2/lanes, "three of four columns, and most of the long row")
			f.Multiply(1, 0, x, y)
			require.Equal(t, -1, reference.Check(y, reference.Multiply(false, 1, a, x, 0, y)))
			rows.Fixed = true
			f = formtest.Must(formtest.BuildFar(far, func() (form.Form[V], error) { return slicesform.NewSlices(rows, slicesform.SliceOptions[V]{Level: l}) }))(t)
			consecutive, pairs := slicesform.RegularColumns(f)
			require.Zero(t, consecutive+pairs, "entries stay in their order")
		}
	}
	rows := links[V](rand.New(rand.NewPCG(3, 4)), 3000)
	f := formtest.Must(slicesform.NewSlices(rows, slicesform.SliceOptions[V]{Level: l}))(t)
	consecutive, pairs := slicesform.RegularColumns(f)
	require.Zero(t, consecutive+pairs, "hardly any")
}

func TestSlicesLoadPairsOfElementsAtOnce(t *testing.T) {
	formtest.EachLevel(t, checkPairs[float64], checkPairs[float32])
}

func checkPairs[V sparse.Value](t *testing.T, l simd.Level) {
	const n, cell, pairs, parts = 3000, 4, 3, 6
	lanes := simd.Lanes[V](l)
	for _, cells := range []int{1000, 30_000} { // columns of 2 bytes or of 4
		r := rand.New(rand.NewPCG(1, 2))
		p := formtest.Pattern{Cols: cells * cell}
		for i := range n {
			var row []int32
			for k, part := range r.Perm(parts)[:pairs+r.IntN(4)] { // each in a part of the cells
				at := part*(cells/parts) + r.IntN(cells/parts)
				c := int32(at*cell + r.IntN(cell-1))
				if row = append(row, c); k < pairs {
					row = append(row, c+1)
				}
			}
			switch {
			case i == n/2: // long: two of three columns
				row = row[:0]
				for c := range int32(p.Cols) {
					if c%3 != 1 {
						row = append(row, c)
					}
				}
			case i%100 == 0: // the ends of x, but for rows that have them
				row = append(row, 0, int32(p.Cols-2), int32(p.Cols-1))
			}
			slices.Sort(row)
			p.Rows = append(p.Rows, slices.Compact(row))
		}
		a := sparse.Convert[V](p.CSR(r.NormFloat64))
		x := make([]V, a.Cols)
		for i := range x {
			x[i] = V(r.NormFloat64())
		}
		x[18], x[77] = V(math.Inf(1)), V(math.NaN())
		y := make([]V, n)
		var g formtest.Guards
		for _, atEnd := range []bool{true, false} {
			x := formtest.Guarded(t, &g, x, atEnd)
			for _, far := range []bool{false, true} { // prefetched or not
				rows := form.Rows[V]{Ptr: a.RowPtr, Idx: a.ColIdx, Val: a.Val, Cols: a.Cols}
				f := formtest.Must(formtest.BuildFar(far, func() (form.Form[V], error) { return slicesform.NewSlices(rows, slicesform.SliceOptions[V]{Level: l}) }))(t)
				_, found := slicesform.RegularColumns(f)
				require.Greater(t, 10*found*lanes, 9*(pairs*n+p.Cols/3), "those of all rows, and of the long one")
				f.Multiply(1, 0, x, y)
				require.Equal(t, -1, reference.Check(y, reference.Multiply(false, 1, a, x, 0, y)))
				rows.Fixed = true
				f = formtest.Must(formtest.BuildFar(far, func() (form.Form[V], error) { return slicesform.NewSlices(rows, slicesform.SliceOptions[V]{Level: l}) }))(t)
				consecutive, found := slicesform.RegularColumns(f)
				require.Zero(t, consecutive+found, "entries stay in their order")
			}
		}
		g.Free(t)
	}
}

func TestRowsOfUnevenLengthsAreCutIntoPieces(t *testing.T) {
	formtest.EachLevel(t, checkUneven[float64], checkUneven[float32])
}

func checkUneven[V sparse.Value](t *testing.T, l simd.Level) {
	for _, cols := range []int{3000, 200_000} { // pieces that count from the same column, or from others
		for _, rows := range []int{3, 25, 1500} {
			r := rand.New(rand.NewPCG(7, uint64(rows)))
			p := formtest.Pattern{Cols: cols}
			for range rows {
				row := formtest.AnyRow(r, cols, 1)
				switch {
				case rows < 64:
					row = formtest.AnyRow(r, cols, 200+r.IntN(1800))
				case r.IntN(40) == 0:
					row = formtest.AnyRow(r, cols, 40+r.IntN(400))
				}
				p.Rows = append(p.Rows, row)
			}
			a := sparse.Convert[V](p.CSR(r.NormFloat64))
			f, err := slicesform.NewSlices(formtest.RowsOf(a), slicesform.SliceOptions[V]{Level: l})
			require.NoError(t, err)
			if rows < 64 {
				require.Less(t, 10*f.Padding(), a.NNZ(), "%d rows", rows)
			}
			x, y := make([]V, a.Cols), make([]V, rows)
			for i := range x {
				x[i] = V(r.NormFloat64())
			}
			f.Multiply(1, 0, x, y)
			require.Equal(t, -1, reference.Check(y, reference.Multiply(false, 1, a, x, 0, y)))
			clear(x)
			f.MultiplyTransposed(1, y, func(lo, hi int) []V { return x[lo:hi] })
			require.Equal(t, -1, reference.Check(x, reference.Multiply(true, 1, a, y, 0, x)))
		}
	}
}

func TestSlicesOfMoreConsecutiveColumnsThanTheirCountHolds(t *testing.T) {
	const consecutive, half, rows = 1<<16 + 8, 30_000, 16
	p := formtest.Pattern{Cols: 2*half + rows + 3}
	for i := range int32(rows) {
		var row []int32
		for j := range int32(consecutive) {
			row = append(row, i+j%half)
		}
		for j := range int32(half) { // pairs
			c := half + rows + 6*j%half + i%2
			row = append(row, c, c+1)
		}
		p.Rows = append(p.Rows, row)
	}
	r := rand.New(rand.NewPCG(1, 2))
	a := p.CSR(r.NormFloat64)
	x, y := make([]float64, a.Cols), make([]float64, a.Rows)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	want := reference.Multiply(false, 1, a, x, 0, y)
	for _, l := range simd.Levels()[1:] {
		f := formtest.Must(slicesform.NewSlices(formtest.RowsOf(a), slicesform.SliceOptions[float64]{Level: l}))(t)
		slices := rows / simd.Lanes[float64](l)
		found, pairs := slicesform.RegularColumns(f)
		require.Equal(t, slices*math.MaxUint16, found, "those behind are columns as others")
		require.GreaterOrEqual(t, pairs, slices*half)
		f.Multiply(1, 0, x, y)
		require.Equal(t, -1, reference.Check(y, want), l)
	}
}

func TestSlicesAreOrderedByStripsIfTheFirstCacheKeepsAStrip(t *testing.T) {
	formtest.EachLevel(t, checkStrips[float64], checkStrips[float32])
}

func checkStrips[V sparse.Value](t *testing.T, l simd.Level) {
	const rows, window, reach = 2*1024 + 1021, 1024, 400
	lanes := simd.Lanes[V](l)
	for _, wide := range []int32{1, 70_000} { // columns of 2 bytes or of 4: all in few parts of x
		for _, local := range []bool{true, false} {
			r := rand.New(rand.NewPCG(1, 2))
			p := formtest.Pattern{Cols: 16*rows + reach + int(wide)}
			for i := range rows {
				var row []int32
				for range r.IntN(9) {
					c := int32(16*i + r.IntN(reach))
					if !local {
						c = int32(r.IntN(16 * rows))
					}
					row = append(row, c+wide*r.Int32N(2))
				}
				slices.Sort(row)
				p.Rows = append(p.Rows, slices.Compact(row))
			}
			a := sparse.Convert[V](p.CSR(r.NormFloat64))
			for _, fixed := range []bool{false, true} {
				in := formtest.RowsOf(a)
				in.Fixed = fixed
				f := formtest.Must(slicesform.NewSlices(in, slicesform.SliceOptions[V]{Level: l}))(t)
				by := regexp.MustCompile("by strips of ([0-9]+)").FindStringSubmatch(f.Name())
				require.Equal(t, local, by != nil, f.Name())
				if by != nil && (wide == 1 || !fixed) { // else each kind has an order of its own
					size := formtest.Must(strconv.Atoi(by[1]))(t)
					order := slicesform.Orders(f)[1]
					for first := 0; first < rows; first += window {
						strip, back := 0, 0
						for i := first; i+lanes < min(first+window, rows); i += lanes {
							next := int(order[i+lanes/2]) / size
							if next < strip {
								back++
							}
							strip = next
						}
						require.LessOrEqual(t, back, 1, "but for rows without entries, or without near ones, which come last")
					}
				}
				x, y := make([]V, a.Cols), make([]V, rows)
				for i := range x {
					x[i] = V(r.NormFloat64())
				}
				for _, beta := range []V{0, -.5} { // stored slice by slice, and in the order of the rows
					want := reference.Multiply(false, 1.5, a, x, beta, slices.Clone(y))
					f.Multiply(1.5, beta, x, y)
					require.Equal(t, -1, reference.Check(y, want), "beta %v", beta)
					checkProductMany(t, f.(form.Many[V]), a, 2, beta)
				}
				transposed := make([]V, a.Cols)
				want := reference.Multiply(true, 1.5, a, y, 0, slices.Clone(transposed))
				f.MultiplyTransposed(1.5, y, func(lo, hi int) []V { return transposed[lo:hi] })
				require.Equal(t, -1, reference.Check(transposed, want), "transposed")
			}
		}
	}
}

func TestScatteredEntriesOfShortRowsAreAllWide(t *testing.T) {
	bytes := func(near, far int) float64 { // for each entry, but for the order that only several vectors need
		r, p := rand.New(rand.NewPCG(1, 2)), formtest.Pattern{Cols: 150_000}
		for range 1 << 15 {
			p.Rows = append(p.Rows, append(formtest.AnyRow(r, 1000, near), formtest.AnyRow(r, p.Cols, far)...))
		}
		a := p.CSR(func() float64 { return 1 })
		f := formtest.Must(slicesform.NewSlices(formtest.RowsOf(a), slicesform.SliceOptions[float64]{}))(t)
		return float64(f.Bytes()-2*int64(len(slicesform.Orders(f)[1]))) / float64(a.NNZ())
	}
	require.Greater(t, bytes(0, 3), 13., "all columns in 4 bytes, and 3 for each row")
	require.Less(t, bytes(20, 1), 11., "most columns in 2 bytes")
	formtest.WithStreams(func() { require.Less(t, bytes(0, 3), 13., "x beyond the caches") })
}

func TestLongRowsAddNoPaddingBesideNarrowAndWideEntries(t *testing.T) {
	p := formtest.Pattern{Cols: 200_000, Rows: [][]int32{make([]int32, 1<<20)}}
	for i := range int32(300) {
		p.Rows = append(p.Rows, []int32{i, 150_000 + i})
	}
	rows := formtest.RowsOf(p.CSR(func() float64 { return 1 }))
	room := make([]byte, 32<<20)
	rows.Mem = &form.Memory{Alloc: func(n int64) (b []byte, err error) {
		n = (n + 63) / 64 * 64
		b, room = room[:n], room[n:]
		return b, nil
	}}
	var before, after runtime.MemStats
	formtest.WithStreams(func() { // in the caches all of them would be far
		runtime.ReadMemStats(&before)
		formtest.Must(slicesform.NewSlices(rows, slicesform.SliceOptions[float64]{Level: simd.Best()}))(t)
		runtime.ReadMemStats(&after)
	})
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4<<20))
}

func TestTransposedSlicesReachTheLastColumns(t *testing.T) {
	const end = math.MaxInt32 // columns; of y only the last are there
	r := form.Rows[float64]{Ptr: []int64{0, 2}, Idx: []int32{end - 9, end - 1}, Val: []float64{2, 3}, Cols: end}
	f := formtest.Must(slicesform.NewSlices(r, slicesform.SliceOptions[float64]{}))(t)
	y := make([]float64, 10)
	f.MultiplyTransposed(1, []float64{1}, func(lo, hi int) []float64 { return y[lo-(end-10) : hi-(end-10)] })
	require.Equal(t, []float64{0, 2, 0, 0, 0, 0, 0, 0, 0, 3}, y)
}

func TestValuesAreFoundWhereBitsAreEqual(t *testing.T) {
	negativeZero := math.Copysign(0, -1)
	few := make([]float64, 17)
	for i := range few {
		few[i] = float64(i) / 3
	}
	for _, c := range []struct {
		val  []float64
		want form.Storage
	}{
		{nil, form.Full},
		{[]float64{.1, .1, .1}, form.Same},
		{[]float64{0, negativeZero}, form.Table},
		{few[:16], form.Table},
		{few, form.Full},
		{append([]float64{math.NaN()}, few[:15]...), form.Table},
		{[]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17}, form.Short},
		{[]float64{1e300, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 33}, form.Full},
		{[]float64{0x1.fffffp300, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 33}, form.Full},
		{[]float64{0x1.fffff8p30, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 0x1.000008p0}, form.Short},
		{append(slices.Repeat([]float64{1}, 50), few...), form.Full},
	} {
		v := form.FindValues(c.val)
		require.Equal(t, c.want, v.Storage(), "%v", c.val)
	}
	require.Equal(t, form.Full, new(form.ValueSet[float32]).Storage())
	single := []float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	found := form.FindValues(single)
	require.Equal(t, form.Table, found.Storage())
	found = form.FindValues(append(single, 17))
	require.Equal(t, form.Full, found.Storage())
}

// links returns rows with most entries within 200 columns of the diagonal; one in eight is
// anywhere, and one in 16 is in one of 50 columns. One row is long.
func links[V sparse.Value](r *rand.Rand, n int) form.Rows[V] {
	a := form.Rows[V]{Ptr: []int64{0}, Cols: n}
	for i := range n {
		entries := 1 + r.IntN(15)
		if i == n/2 {
			entries = 20_000
		}
		for range entries {
			c := min(max(i-200+r.IntN(400), 0), n-1)
			switch r.IntN(16) {
			case 0:
				c = r.IntN(50)
			case 1, 2:
				c = r.IntN(n)
			}
			a.Idx, a.Val = append(a.Idx, int32(c)), append(a.Val, V(r.NormFloat64()))
		}
		a.Ptr = append(a.Ptr, int64(len(a.Idx)))
	}
	return a
}
