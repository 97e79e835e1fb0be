package launch

import (
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// spgemmOp plans an operation of a sparse product without values, and reports whether op is one.
func spgemmOp(b *builder, op kernels.Operation) bool {
	p, ok := op.(*kernels.SpGEMMCount)
	if ok {
		spgemmCount(b, p)
	}
	return ok
}

// factors holds the addresses of the structures of the factors.
type factors struct{ ptrA, idxA, ptrB, idxB Addr }

func openFactors(b *builder, f *kernels.SpGEMMFactors) (at factors) {
	if b.err = f.Check(); b.err != nil {
		return at
	}
	at.ptrA, at.idxA = array(b, "ptrA", f.A.Ptr, f.A.Ptr.Len), array(b, "idxA", f.A.Idx, f.A.Idx.Len)
	at.ptrB, at.idxB = array(b, "ptrB", f.B.Ptr, f.B.Ptr.Len), array(b, "idxB", f.B.Idx, f.B.Idx.Len)
	return at
}

// spgemmRows plans a call of a kernel for each list that has rows. args returns the arguments of a kernel for the rows of
// a list; bits is nil for kernels with hash tables. There are sums elements for dense rows, -1 if the kernel has no sums.
func spgemmRows(b *builder, name, suffix string, rows *kernels.SpGEMMRows, cols, sums int64, args func(row Addr, n int64, bits any) []any) {
	blocks, err := rows.DenseBlocks(cols, sums)
	if err != nil && b.err == nil {
		b.err = err
	}
	for _, list := range []struct {
		kind string
		row  kernels.Array[int32]
	}{{"_warp", rows.Warp}, {"_block", rows.Block}, {"_dense", rows.Dense}} {
		n := list.row.Len
		if n == 0 || b.err != nil {
			continue
		}
		row := array(b, "row", list.row, n)
		var bits any
		if list.kind == "_dense" {
			bits = array(b, "bits", rows.Bits, rows.Bits.Len)
		}
		b.call(name+list.kind+suffix, n, args(row, n, bits)...)
		if call := &b.prog.Calls[len(b.prog.Calls)-1]; bits != nil {
			call.Blocks = min(call.Blocks, blocks)
		}
	}
}

func spgemmCount(b *builder, op *kernels.SpGEMMCount) {
	f := &op.Of
	at := openFactors(b, f)
	count := array(b, "count", op.Count, f.A.Ptr.Len-1)
	spgemmRows(b, "msrep_spgemm_count", "", &op.Rows, f.Cols, -1, func(row Addr, n int64, bits any) []any {
		args := []any{at.ptrA, at.idxA, at.ptrB, at.idxB, row, count}
		if bits != nil {
			args = append(args, bits)
		}
		return append(args, n, f.A.First, f.RowB, f.B.First, f.Cols)
	})
}

func spgemmFill[V sparse.Value](b *builder, op *kernels.SpGEMMFill[V]) {
	f := &op.Of
	at := openFactors(b, f)
	valA, valB := array(b, "valA", op.ValA, f.A.Idx.Len), array(b, "valB", op.ValB, f.B.Idx.Len)
	ptr, idx, val := array(b, "ptr", op.Ptr, f.A.Ptr.Len), array(b, "idx", op.Idx, op.Idx.Len), array(b, "val", op.Val, op.Idx.Len)
	sums := array(b, "sums", op.Sums, op.Sums.Len)
	spgemmRows(b, "msrep_spgemm_fill", suffix[V](), &op.Rows, f.Cols, op.Sums.Len, func(row Addr, n int64, bits any) []any {
		args := []any{at.ptrA, at.idxA, valA, at.ptrB, at.idxB, valB, row, ptr, idx, val}
		if bits == nil {
			return append(args, n, f.A.First, f.RowB, f.B.First)
		}
		return append(args, bits, sums, n, f.A.First, f.RowB, f.B.First, f.Cols)
	})
}
