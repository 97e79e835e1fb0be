package msrep

import (
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// fillDeterministic sets the options that Deterministic implies, and refuses options that contradict it.
func (o *PlanOptions) fillDeterministic() error {
	switch {
	case o.Variant.Strategy != Optimized:
		return sparse.Inputf("strategy", "%s sums in an order of its own: with deterministic use %s", o.Variant.Strategy, Optimized)
	case o.Storage.Format == sparse.FormatCSC || o.Storage.Format == sparse.FormatCOO:
		return sparse.Inputf("format", "%q sums in an order of its own: with deterministic use auto, csr, or a form that takes entries in their order", string(o.Storage.Format))
	case o.Variant.Split != partition.RuleAuto && o.Variant.Split != partition.RuleWhole:
		return sparse.Inputf("split", "%q cuts rows or balances badly: with deterministic use %s or %s", string(o.Variant.Split), partition.RuleAuto, partition.RuleWhole)
	case o.Storage.Segments != kernels.Segments{}:
		return sparse.Inputf("precision", "%d of %d segments: with deterministic all segments of a value are read", o.Storage.Segments.Read, o.Storage.Segments.Count)
	case o.Variant.Library == LibraryCuSPARSE:
		return sparse.Inputf("kernel", "cusparse sums in an order of its own: with deterministic use auto or own")
	}
	switch {
	case o.Storage.Form != "":
		o.form = o.Storage.Form
	case o.Storage.Format == sparse.FormatCSR:
		o.form = ""
	default:
		o.form = kernels.FormAuto
	}
	o.Storage.Format, o.Variant.Split = sparse.FormatCSR, partition.RuleWhole
	return nil
}

// longestMajor returns the number of entries of the longest of the majors [first, end). l must have pointers.
func (l layout[V]) longestMajor(first, end int) int64 {
	var most atomic.Int64
	ptr := l.ptr[first : end+1]
	par.Range(int64(end-first), 1<<16, func(lo, hi int64) {
		m := int64(0)
		for r := lo; r < hi; r++ {
			m = max(m, ptr[r+1]-ptr[r])
		}
		for old := most.Load(); m > old && !most.CompareAndSwap(old, m); old = most.Load() {
		}
	})
	return most.Load()
}
