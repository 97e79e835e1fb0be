package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// measureSquare multiplies a square matrix by itself, with all arrays on the device.
func measureSquare[V sparse.Value](ctx context.Context, b *bench, name, value string, a *sparse.CSR[V]) error {
	if a.Rows != a.Cols {
		return sparse.Inputf(name, "it has %d rows and %d columns: it has no square", a.Rows, a.Cols)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	info := b.dev.Info()
	line := map[string]any{"what": "spgemm", "matrix": name, "value": value, "device": info.ID, "name": info.Name, "rows": a.Rows, "nnz": a.NNZ()}
	s := &square[V]{bench: b, a: a}
	err := errors.Join(s.measure(line), s.free())
	if err != nil {
		line["error"] = err.Error()
	}
	return errors.Join(print(line), b.stream.Sync())
}

// square computes C = A A on a device.
type square[V sparse.Value] struct {
	bench   *bench
	a       *sparse.CSR[V]
	buffers []kernels.Buffer
}

func (s *square[V]) free() (err error) {
	for _, b := range s.buffers {
		err = errors.Join(err, b.Free())
	}
	return err
}

// measure adds the times of counting and of filling to line, and the number of wrong rows among some.
func (s *square[V]) measure(line map[string]any) error {
	a, b := s.a, s.bench
	products := make([]int64, a.Rows)
	total := int64(0)
	for r := range products {
		for _, c := range a.ColIdx[a.RowPtr[r]:a.RowPtr[r+1]] {
			products[r] += a.RowPtr[c+1] - a.RowPtr[c]
		}
		total += products[r]
	}
	line["products"] = total
	ptr, err1 := toDevice(s, a.RowPtr)
	idx, err2 := toDevice(s, a.ColIdx)
	val, err3 := toDevice(s, a.Val)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	structure := kernels.Structure{Ptr: ptr, Idx: idx}
	of := kernels.SpGEMMFactors{A: structure, B: structure, Cols: int64(a.Cols)}

	rows, _, err := s.rows(kernels.SpGEMMCountRows(products, of.Cols), false)
	if err != nil {
		return err
	}
	count, err := toDevice(s, make([]int32, a.Rows))
	if err != nil {
		return err
	}
	took, _, err := b.time(func() error { return b.stream.Launch(&kernels.SpGEMMCount{Of: of, Rows: rows, Count: count}) })
	if err != nil {
		return err
	}
	line["count_s"] = took.Seconds()
	counts := make([]int32, a.Rows)
	if err := errors.Join(count.Read(b.stream, counts), b.stream.Sync()); err != nil {
		return err
	}
	begin := time.Now()
	to := make([]int64, a.Rows+1)
	for r, n := range counts {
		to[r+1] = to[r] + int64(n)
	}
	lists := kernels.SpGEMMFillRows(products, counts)
	line["host_s"] = time.Since(begin).Seconds()
	rows, sums, err := s.rows(lists, true)
	if err != nil {
		return err
	}
	n := to[a.Rows]
	line["entries"] = n
	outPtr, err1 := toDevice(s, to)
	outIdx, err2 := toDevice(s, make([]int32, n))
	outVal, err3 := toDevice(s, make([]V, n))
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	fill := &kernels.SpGEMMFill[V]{Of: of, ValA: val, ValB: val, Rows: rows, Sums: sums, Ptr: outPtr, Idx: outIdx, Val: outVal}
	took, _, err = b.time(func() error { return b.stream.Launch(fill) })
	if err != nil {
		return err
	}
	line["fill_s"] = took.Seconds()
	cols, values := make([]int32, n), make([]V, n)
	if err := errors.Join(outIdx.Read(b.stream, cols), outVal.Read(b.stream, values), b.stream.Sync()); err != nil {
		return err
	}
	line["wrong_rows"] = s.wrong(to, cols, values)
	return nil
}

// rows copies lists of rows to the device, and allocates the memory of dense rows.
func (s *square[V]) rows(l kernels.SpGEMMLists, withSums bool) (rows kernels.SpGEMMRows, sums kernels.Array[V], err error) {
	var errs [5]error
	rows.Warp, errs[0] = toDevice(s, l.Warp)
	rows.Block, errs[1] = toDevice(s, l.Block)
	rows.Dense, errs[2] = toDevice(s, l.Dense)
	if n := int64(len(l.Dense)); n > 0 {
		words, cols := kernels.SpGEMMWords(int64(s.a.Cols)), int64(s.a.Cols)
		blocks := max(min(n, 1024, 1<<30/(4*words+mem.Size[V]()*cols)), 1)
		rows.Bits, errs[3] = toDevice(s, make([]int32, blocks*words))
		if withSums {
			sums, errs[4] = toDevice(s, make([]V, blocks*cols))
		}
	}
	return rows, sums, errors.Join(errs[:]...)
}

// toDevice copies a slice to the device.
func toDevice[T mem.Elem, V sparse.Value](s *square[V], v []T) (kernels.Array[T], error) {
	if len(v) == 0 {
		return kernels.Array[T]{}, nil
	}
	a, err := kernels.NewArray[T](s.bench.dev, int64(len(v)))
	if err != nil {
		return a, err
	}
	s.buffers = append(s.buffers, a.Buf)
	return a, errors.Join(a.Write(s.bench.stream, v), s.bench.stream.Sync())
}

// wrong computes about 1000 rows of C on the host, and returns how many of them differ in any bit.
func (s *square[V]) wrong(ptr []int64, idx []int32, val []V) (wrong int) {
	a := s.a
	for r := 0; r < a.Rows; r += max(a.Rows/1000, 1) {
		sum := map[int32]V{}
		for k := a.RowPtr[r]; k < a.RowPtr[r+1]; k++ {
			for j := a.RowPtr[a.ColIdx[k]]; j < a.RowPtr[a.ColIdx[k]+1]; j++ {
				sum[a.ColIdx[j]] += V(a.Val[k] * a.Val[j])
			}
		}
		cols, values := idx[ptr[r]:ptr[r+1]], val[ptr[r]:ptr[r+1]]
		same := len(cols) == len(sum) && slices.IsSorted(cols)
		for i, c := range cols {
			v, ok := sum[c]
			same = same && ok && v == values[i]
		}
		if !same {
			wrong++
		}
	}
	return wrong
}
