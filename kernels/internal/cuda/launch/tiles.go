package launch

import (
	"errors"
	"fmt"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/internal/cuda/tiled"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
)

// leastTiles is the number of tiles that a part is cut into if it has so many rows and entries: about one for each
// multiprocessor of a large GPU.
const leastTiles = 128

// whyNotTiles returns why tiles are not worth building for a part, or "" if they may pay: the part must be so large that
// its tiles have many rounds, and x so large that the caches near the threads do not hold it anyway.
func whyNotTiles[V sparse.Value](op *kernels.Packing[V]) string {
	const rounds, cached = 16, 256 << 10
	switch least := int64(leastTiles * tiled.Round * rounds); {
	case op.Part.NNZ() < least:
		return fmt.Sprintf("fewer than %d entries", least)
	case int64(op.Minors)*mem.Size[V]() <= cached:
		return fmt.Sprintf("x has no more than %d bytes", int64(cached))
	}
	return ""
}

// TryTiles packs a part in tiles if that may pay. csr is the part on the device, from whose arrays the device builds them.
// Otherwise it returns no part, and the reason.
func TryTiles[V sparse.Value](s kernels.Stream, op *kernels.Packing[V], csr *Packed[V]) (*Rows[V], string, error) {
	if err := checkPacking(op); err != nil {
		return nil, "", err
	}
	if why := whyNotTiles(op); why != "" {
		return nil, why, nil
	}
	p, err := TilesOnDevice(s, op, csr)
	return p, "", err
}

// TilesOnDevice packs a part in tiles, which the device builds from the part in CSR.
func TilesOnDevice[V sparse.Value](s kernels.Stream, op *kernels.Packing[V], csr *Packed[V]) (*Rows[V], error) {
	return newTiles(csr.A.Ptr.Buf.Device(), s, op, func(t *tileArrays[V]) error { return t.buildOnDevice(csr.A) })
}

// packTiles packs a part in tiles on request. The host builds them, because the device does not have the part.
func packTiles[V sparse.Value](d kernels.Device, s kernels.Stream, op *kernels.Packing[V]) (kernels.Packed, error) {
	if err := checkPacking(op); err != nil {
		return nil, err
	}
	p, err := newTiles(d, s, op, (*tileArrays[V]).buildOnHost)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// newTiles packs a part in tiles that build stores on the device. The error wraps kernels.ErrOutOfMemory if the device or
// the host lacks memory.
func newTiles[V sparse.Value](d kernels.Device, s kernels.Stream, op *kernels.Packing[V], build func(t *tileArrays[V]) error) (*Rows[V], error) {
	begin := time.Now()
	plan, err := tiled.NewPlan(ellpack.Rows[V]{Ptr: op.Ptr, First: op.Part.StartIdx, End: op.Part.EndIdx + 1, Idx: op.Idx, Val: op.Val}, leastTiles, int(mostSums[V](d)))
	if err != nil {
		return nil, err
	}
	p := &Rows[V]{dev: d, stream: s, part: op.Part, minors: int64(op.Minors)}
	t := &tileArrays[V]{Rows: p, op: op, plan: plan}
	if err = build(t); err == nil {
		t.setCalls()
		err = s.Sync()
	}
	if err != nil {
		return nil, errors.Join(err, p.Free())
	}
	p.info.Form, p.info.Why, p.info.Padding = kernels.FormTiles, plan.String(), t.matrix.Places-op.Part.NNZ()
	p.info.Took = time.Since(begin)
	return p, nil
}

// tileArrays is a part in tiles whose arrays are being stored.
type tileArrays[V sparse.Value] struct {
	*Rows[V]
	op     *kernels.Packing[V]
	plan   *tiled.Plan[V]
	matrix *tiled.Matrix[V] // Val, Short, Code and Base may be missing

	val, code, base, head, sum func(b *builder) Addr
}

// buildOnHost builds the tiles on the host and copies them to the device.
func (t *tileArrays[V]) buildOnHost() error {
	host := 3 * csrBytes(t.op) // the arrays of all tiles, and their concatenation
	if have, ok := mem.Fits(host); !ok {
		return fmt.Errorf("%w of the host: building %s takes %d bytes, %d are available", kernels.ErrOutOfMemory, kernels.FormTiles, host, have)
	}
	m, err := t.plan.Build(t.op.Stop)
	if err != nil {
		return err
	}
	t.matrix = m
	if err = t.check(m.Bytes()); err != nil {
		return err
	}
	var err1, err2, err3, err4, err5 error
	t.head, err1 = upload(t.Rows, "head", m.Head)
	t.sum, err2 = upload(t.Rows, "sum", m.Sum)
	if m.Short != nil {
		t.val, err3 = upload(t.Rows, "val", m.Short)
	} else {
		t.val, err3 = upload(t.Rows, "val", m.Val)
	}
	t.code, err4 = upload(t.Rows, "code", m.Code)
	t.base, err5 = upload(t.Rows, "base", m.Base)
	return errors.Join(err1, err2, err3, err4, err5)
}

// check returns an error if need bytes are more than a form may take, or than the device has left.
func (t *tileArrays[V]) check(need int64) error {
	if bound := ellpack.Bound(csrBytes(t.op)); need > bound {
		return sparse.Inputf("format", "%s takes %d bytes, %d places of it without an entry: at most %d bytes are allowed, use csr", kernels.FormTiles, need, t.matrix.Places-t.op.Part.NNZ(), bound)
	}
	return t.room(need)
}

// room returns an error if the device has less than need bytes left.
func (t *tileArrays[V]) room(need int64) error {
	if free, bounded := free(t.dev); bounded && need > free {
		return &kernels.DeviceError{Device: t.dev.Info().ID, Call: "pack", Bytes: need,
			Err: fmt.Errorf("%w: %s of %d entries, %d bytes are free", kernels.ErrOutOfMemory, kernels.FormTiles, t.op.Part.NNZ(), free)}
	}
	return nil
}

// setCalls sets the calls of a product.
func (t *tileArrays[V]) setCalls() {
	name := "msrep_major_tiles" + suffix[V]()
	if t.plan.Short() {
		name = "msrep_major_tiles_short" + suffix[V]()
	}
	val, code, base, head, sum := t.val, t.code, t.base, t.head, t.sum
	n, cut, shared := t.plan.Tiles(), t.matrix.Cut, t.plan.Shared()
	t.calls = func(b *builder, v vectors[V]) {
		var row, carry any = Addr(0), Addr(0)
		if cut {
			row, carry = temp[int32](b, "carryRow", n), temp[V](b, "carryVal", n)
		}
		b.call(name, n, val(b), code(b), base(b), head(b), sum(b), v.x, v.y, v.carry, row, carry, n, v.skip, v.alpha, v.beta)
		b.setShared(shared)
		if cut {
			addCarries[V](b, row, carry, v.y, v.carry, n, v.rows, v.skip)
		}
	}
}
