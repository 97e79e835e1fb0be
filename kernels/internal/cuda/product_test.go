package cuda_test

import (
	"github.com/msrep-go/msrep/kernels/internal/cuda"
	"github.com/msrep-go/msrep/kernels/internal/ptx"
	"github.com/msrep-go/msrep/sparse"
)

// vector is a vector on the device.
type vector[V sparse.Value] struct {
	g    *gpu
	addr ptx.Addr
	n    int
}

func (v *vector[V]) read() []V { return download[V](v.g, v.addr, v.n) }

// carryOf uploads a carry; without one, the address is 0.
func carryOf[V sparse.Value](g *gpu, skip int) *vector[V] {
	if skip == 0 {
		return &vector[V]{g: g}
	}
	return &vector[V]{g: g, addr: array[V](g, "carry", 1), n: 1}
}

// The functions below compute products as README.md describes. Each returns the carry,
// if there is one, and y.

func gatherVector[V sparse.Value](g *gpu, p *part[V], lanes int) []V {
	y, carry := result(g, p.beta, p.y), carryOf[V](g, p.skip)
	g.launch(named[V]("msrep_major_vector%d", lanes), int64(p.rows()),
		upload(g, "ptr", p.ptr), upload(g, "idx", p.idx), upload(g, "val", p.val), upload(g, "x", p.x), y.addr, carry.addr,
		int64(p.rows()), p.first, p.end, int64(p.skip), p.alpha, p.beta)
	return append(carry.read(), y.read()...)
}

func gatherMerge[V sparse.Value](g *gpu, p *part[V]) []V {
	y, carry := result(g, p.beta, p.y), carryOf[V](g, p.skip)
	ptr, rows := upload(g, "ptr", p.ptr), int64(p.rows())
	name := named[V]("msrep_major_merge")
	k, err := cuda.Lookup(name)
	g.err = err
	items := rows + int64(p.nnz())
	tiles := k.Carries(items)
	start := array[int32](g, "start", int(tiles)+1)
	carryRow, carryVal := array[int32](g, "carryRow", int(tiles)), array[V](g, "carryVal", int(tiles))
	g.launch("msrep_merge_path", tiles+1, ptr, start, rows, p.first, p.end)
	g.launch(name, items, ptr, upload(g, "idx", p.idx), upload(g, "val", p.val), upload(g, "x", p.x), y.addr, carry.addr,
		start, carryRow, carryVal, rows, p.first, p.end, int64(p.skip), p.alpha, p.beta)
	product := g.last
	addCarries[V](g, carryRow, carryVal, tiles, y.addr, carry.addr, rows, int64(p.skip))
	g.last = product
	return append(carry.read(), y.read()...)
}

// addCarries adds n carries.
func addCarries[V sparse.Value](g *gpu, row, val ptx.Addr, n int64, y, carry ptx.Addr, rows, skip int64) {
	if n > 0 {
		g.launch(named[V]("msrep_add_carries"), n, row, val, y, carry, n, rows, skip)
	}
}

func gatherCOO[V sparse.Value](g *gpu, p *part[V], above int32) []V {
	majors := p.majors()
	for k := range majors {
		majors[k] += above
	}
	y, carry := result(g, p.beta, p.y), carryOf[V](g, p.skip)
	nnz, owned, own := int64(p.nnz()), int64(len(p.y)), int64(above)+int64(p.skip)
	name := named[V]("msrep_major_coo")
	k, err := cuda.Lookup(name)
	g.err = err
	carries := k.Carries(nnz)
	carryRow, carryVal := array[int32](g, "carryRow", int(carries)), array[V](g, "carryVal", int(carries))
	g.launch(named[V]("msrep_scale"), owned, y.addr, owned, p.beta)
	if p.skip == 1 {
		g.launch(named[V]("msrep_fill"), 1, carry.addr, int64(1), V(0))
	}
	g.launch(name, nnz, upload(g, "major", majors), upload(g, "minor", p.idx), upload(g, "val", p.val), upload(g, "x", p.x),
		y.addr, carry.addr, carryRow, carryVal, nnz, own, p.alpha)
	addCarries[V](g, carryRow, carryVal, carries, y.addr, carry.addr, owned+1, 1)
	return append(carry.read(), y.read()...)
}

func scatter[V sparse.Value](g *gpu, p *part[V]) []V {
	y := result(g, p.beta, p.yt)
	g.launch(named[V]("msrep_scale"), int64(p.cols), y.addr, int64(p.cols), p.beta)
	g.launch(named[V]("msrep_minor"), int64(p.nnz()),
		upload(g, "ptr", p.ptr), upload(g, "idx", p.idx), upload(g, "val", p.val), upload(g, "x", p.xt), y.addr,
		int64(p.rows()), p.first, p.end, p.alpha)
	return y.read()
}

func scatterCOO[V sparse.Value](g *gpu, p *part[V]) []V {
	y := result(g, p.beta, p.yt)
	g.launch(named[V]("msrep_scale"), int64(p.cols), y.addr, int64(p.cols), p.beta)
	g.launch(named[V]("msrep_minor_coo"), int64(p.nnz()),
		upload(g, "major", p.majors()), upload(g, "minor", p.idx), upload(g, "val", p.val), upload(g, "x", p.xt), y.addr,
		int64(p.nnz()), p.alpha)
	return y.read()
}
