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

// TryTiles packs a part in tiles if that may pay. Otherwise it returns no part, and the reason.
func TryTiles[V sparse.Value](d kernels.Device, s kernels.Stream, op *kernels.Packing[V]) (*Rows[V], string, error) {
	if err := checkPacking(op); err != nil {
		return nil, "", err
	}
	if why := whyNotTiles(op); why != "" {
		return nil, why, nil
	}
	p, err := buildTiles(d, s, op)
	return p, "", err
}

// packTiles packs a part in tiles on request.
func packTiles[V sparse.Value](d kernels.Device, s kernels.Stream, op *kernels.Packing[V]) (kernels.Packed, error) {
	if err := checkPacking(op); err != nil {
		return nil, err
	}
	p, err := buildTiles(d, s, op)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// buildTiles builds tiles on the host and copies them to the device. The error wraps kernels.ErrOutOfMemory if the device
// or the host lacks memory.
func buildTiles[V sparse.Value](d kernels.Device, s kernels.Stream, op *kernels.Packing[V]) (*Rows[V], error) {
	begin := time.Now()
	sums := sharedBytes(d) / mem.Size[V]()
	plan, err := tiled.NewPlan(ellpack.Rows[V]{Ptr: op.Ptr, First: op.Part.StartIdx, End: op.Part.EndIdx + 1, Idx: op.Idx, Val: op.Val}, leastTiles, int(sums))
	if err != nil {
		return nil, err
	}
	host := 3 * csrBytes(op) // the arrays of all tiles, and their concatenation
	if have, ok := mem.Fits(host); !ok {
		return nil, fmt.Errorf("%w of the host: building %s takes %d bytes, %d are available", kernels.ErrOutOfMemory, kernels.FormTiles, host, have)
	}
	m, err := plan.Build(op.Stop)
	if err != nil {
		return nil, err
	}
	need := m.Bytes()
	if bound := ellpack.Bound(csrBytes(op)); need > bound {
		return nil, sparse.Inputf("format", "%s takes %d bytes, %d places of it without an entry: at most %d bytes are allowed, use csr", kernels.FormTiles, need, m.Places-op.Part.NNZ(), bound)
	}
	if free, bounded := free(d); bounded && need > free {
		return nil, &kernels.DeviceError{Device: d.Info().ID, Call: "pack", Bytes: need,
			Err: fmt.Errorf("%w: %s of %d entries, %d bytes are free", kernels.ErrOutOfMemory, kernels.FormTiles, op.Part.NNZ(), free)}
	}
	p := &Rows[V]{dev: d, stream: s, part: op.Part, minors: int64(op.Minors)}
	p.info.Form, p.info.Why, p.info.Padding = kernels.FormTiles, plan.String(), m.Places-op.Part.NNZ()
	if err := errors.Join(p.tiles(plan, m), s.Sync()); err != nil {
		return nil, errors.Join(err, p.Free())
	}
	p.info.Took = time.Since(begin)
	return p, nil
}

// tiles uploads the arrays and sets the calls.
func (p *Rows[V]) tiles(plan *tiled.Plan[V], m *tiled.Matrix[V]) error {
	name := "msrep_major_tiles" + suffix[V]()
	val, err1 := upload(p, "val", m.Val)
	if m.Short != nil {
		name = "msrep_major_tiles_short" + suffix[V]()
		val, err1 = upload(p, "val", m.Short)
	}
	code, err2 := upload(p, "code", m.Code)
	base, err3 := upload(p, "base", m.Base)
	head, err4 := upload(p, "head", m.Head)
	sum, err5 := upload(p, "sum", m.Sum)
	n := plan.Tiles()
	p.calls = func(b *builder, v vectors[V]) {
		var row, carry any = Addr(0), Addr(0)
		if m.Cut {
			row, carry = temp[int32](b, "carryRow", n), temp[V](b, "carryVal", n)
		}
		b.call(name, n, val(b), code(b), base(b), head(b), sum(b), v.x, v.y, v.carry, row, carry, n, v.skip, v.alpha, v.beta)
		b.setShared(plan.Shared())
		if m.Cut {
			addCarries[V](b, row, carry, v.y, v.carry, n, v.rows, v.skip)
		}
	}
	return errors.Join(err1, err2, err3, err4, err5)
}
