package launch

import (
	"errors"
	"fmt"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/internal/cuda/sliced"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
)

// evenSlices limits the longest slice to 1/evenSlices of all steps. A single warp
// processes a slice, while a large GPU runs thousands of warps.
const evenSlices = 1 << 10

// whyNotSlices returns why slices do not suit a part, or "" if they do: they must take fewer
// bytes than CSR, and no slice may be so long that the others wait for it.
func whyNotSlices[V sparse.Value](op *kernels.Packing[V], p *sliced.Plan[V]) string {
	switch csr, steps := csrBytes(op), p.Places()/sliced.Height; {
	case p.Bytes() > csr:
		return fmt.Sprintf("they take %d bytes, csr takes %d", p.Bytes(), csr)
	case p.Longest() > 64 && p.Longest() > steps/evenSlices:
		return fmt.Sprintf("one slice has %d of %d steps", p.Longest(), steps)
	}
	return ""
}

// csrBytes returns the memory of a part in CSR.
func csrBytes[V sparse.Value](op *kernels.Packing[V]) int64 {
	return 8*int64(len(op.Ptr)) + (4+mem.Size[V]())*op.Part.NNZ()
}

func planSlices[V sparse.Value](op *kernels.Packing[V]) (*sliced.Plan[V], error) {
	if err := checkPacking(op); err != nil {
		return nil, err
	}
	return sliced.NewPlan(ellpack.Rows[V]{Ptr: op.Ptr, First: op.Part.StartIdx, End: op.Part.EndIdx + 1, Idx: op.Idx, Val: op.Val})
}

// TrySlices packs a part in slices if that may pay. Otherwise it returns no part, and
// the reason.
func TrySlices[V sparse.Value](d kernels.Device, s kernels.Stream, op *kernels.Packing[V]) (*Rows[V], string, error) {
	begin := time.Now()
	plan, err := planSlices(op)
	if err != nil {
		return nil, "", err
	}
	if why := whyNotSlices(op, plan); why != "" {
		return nil, why, nil
	}
	p, err := buildSlices(d, s, op, plan)
	if err != nil {
		return nil, "", err
	}
	p.info.Took = time.Since(begin)
	return p, "", nil
}

// packSlices packs a part in slices on request.
func packSlices[V sparse.Value](d kernels.Device, s kernels.Stream, op *kernels.Packing[V]) (kernels.Packed, error) {
	begin := time.Now()
	plan, err := planSlices(op)
	if err != nil {
		return nil, err
	}
	if need, bound := plan.Bytes(), ellpack.Bound(csrBytes(op)); need > bound {
		return nil, sparse.Inputf("format", "%s takes %d bytes, %d places of it without an entry: at most %d bytes are allowed, use csr", kernels.FormSlices, need, plan.Padding(), bound)
	}
	p, err := buildSlices(d, s, op, plan)
	if err != nil {
		return nil, err
	}
	p.info.Took = time.Since(begin)
	return p, nil
}

// buildSlices builds the planned slices on the host and copies them to the device. The
// error wraps kernels.ErrOutOfMemory if the device or the host lacks memory.
func buildSlices[V sparse.Value](d kernels.Device, s kernels.Stream, op *kernels.Packing[V], plan *sliced.Plan[V]) (*Rows[V], error) {
	need := plan.Bytes()
	if free, bounded := free(d); bounded && need > free {
		return nil, &kernels.DeviceError{Device: d.Info().ID, Call: "pack", Bytes: need,
			Err: fmt.Errorf("%w: %s of %d entries, %d bytes are free", kernels.ErrOutOfMemory, kernels.FormSlices, op.Part.NNZ(), free)}
	}
	if have, ok := mem.Fits(need); !ok {
		return nil, fmt.Errorf("%w of the host: %s takes %d bytes, %d are available", kernels.ErrOutOfMemory, kernels.FormSlices, need, have)
	}
	p := &Rows[V]{dev: d, stream: s, part: op.Part, minors: int64(op.Minors)}
	p.info.Form, p.info.Why, p.info.Padding = kernels.FormSlices, plan.String(), plan.Padding()
	m := plan.Build()
	data, err1 := upload(p, "data", m.Data)
	head, err2 := upload(p, "head", m.Head)
	perm, err3 := upload(p, "perm", m.Perm)
	// With few steps, a slice ends before the head of the next one is loaded. With many
	// steps, consecutive slices in several blocks reuse more of x in the caches than
	// one block that processes them in sequence.
	turns := min(48*int64(len(m.Head)/2)*sliced.Height/max(plan.Places(), 1), 8)
	name := "msrep_major_slices" + suffix[V]()
	if m.Short {
		name = "msrep_major_slices_short" + suffix[V]()
	}
	p.calls = func(b *builder, v vectors[V]) {
		b.call(name, v.rows, data(b), head(b), perm(b), v.x, v.y, v.carry, v.rows, v.skip, v.alpha, v.beta)
		b.setGroupsPerBlock(turns)
	}
	if err := errors.Join(err1, err2, err3, s.Sync()); err != nil {
		return nil, errors.Join(err, p.Free())
	}
	return p, nil
}
