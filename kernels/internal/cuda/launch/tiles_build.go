package launch

import (
	"errors"
	"math/bits"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/internal/cuda/tiled"
	"github.com/msrep-go/msrep/sparse"
)

// tileBuild holds the arrays from which a device builds the tiles of a part (tiles_build.cu). key, spare and sumOf have an
// element for each entry.
type tileBuild[V sparse.Value] struct {
	csr        kernels.Compressed[V]
	from, head kernels.Array[int64]
	sum        kernels.Array[int32]
	key, spare kernels.Array[int64]
	sumOf      kernels.Array[uint16]
	count      kernels.Array[int64] // rounds of each tile
	tiles      int64
	sums       int64 // of the largest tile
	passes     int64 // 8 bits of the columns each
}

// free frees the arrays that products do not need.
func (t *tileBuild[V]) free() error {
	return errors.Join(t.from.Free(), t.key.Free(), t.spare.Free(), t.sumOf.Free(), t.count.Free())
}

// buildOnDevice builds the tiles on the device, from a part that is there. It takes 18 bytes of device memory for each
// entry besides the arrays.
func (t *tileArrays[V]) buildOnDevice(csr kernels.Compressed[V]) (err error) {
	t.matrix = t.plan.Header()
	nnz, n := t.op.Part.NNZ(), t.plan.Tiles()
	if err := t.room(18 * nnz); err != nil {
		return err
	}
	b := &tileBuild[V]{csr: csr, tiles: n, sums: t.plan.Sums(), passes: int64(bits.Len64(uint64(max(t.minors-1, 0)))+7) / 8}
	defer func() { err = errors.Join(err, b.free()) }()
	if err = t.start(b); err != nil {
		return err
	}
	rounds := make([]int64, n)
	err = errors.Join(t.stream.Launch(&tileSort[V]{b}), t.stream.Launch(&tileArrange[V]{tileBuild: b}), b.count.Read(t.stream, rounds), t.stream.Sync())
	if err == nil && t.op.Stop != nil {
		err = t.op.Stop()
	}
	if err != nil {
		return err
	}
	t.matrix.SetRounds(rounds)
	if t.plan.Short() {
		return storePlaces[V, float32](t, b)
	}
	return storePlaces[V, V](t, b)
}

// start allocates the arrays of b, and stores those that the host knows.
func (t *tileArrays[V]) start(b *tileBuild[V]) error {
	nnz := t.op.Part.NNZ()
	var errs [7]error
	b.from, errs[0] = put(t.dev, t.stream, t.plan.From())
	b.head, errs[1] = put(t.dev, t.stream, t.matrix.Head)
	if len(t.matrix.Sum) > 0 {
		b.sum, errs[2] = put(t.dev, t.stream, t.matrix.Sum)
	}
	b.key, errs[3] = kernels.NewArray[int64](t.dev, nnz)
	b.spare, errs[4] = kernels.NewArray[int64](t.dev, nnz)
	b.sumOf, errs[5] = kernels.NewArray[uint16](t.dev, nnz)
	b.count, errs[6] = kernels.NewArray[int64](t.dev, b.tiles)
	t.head, t.sum = keep(t.Rows, "head", b.head), keep(t.Rows, "sum", b.sum)
	return errors.Join(append(errs[:], t.stream.Sync())...)
}

// storePlaces stores the places, with values of type T, and the first rounds of the tiles.
func storePlaces[V, T sparse.Value](t *tileArrays[V], b *tileBuild[V]) error {
	places := t.matrix.Places
	if err := t.check((mem.Size[T]()+4)*places + places/8 + 8*b.head.Len + 4*b.sum.Len); err != nil {
		return err
	}
	if places == 0 {
		t.val, t.code, t.base = none, none, none
		return nil
	}
	val, err1 := kernels.NewArray[T](t.dev, places)
	code, err2 := kernels.NewArray[int32](t.dev, places)
	base, err3 := kernels.NewArray[int32](t.dev, places/32)
	t.val, t.code, t.base = keep(t.Rows, "val", val), keep(t.Rows, "code", code), keep(t.Rows, "base", base)
	if err := errors.Join(err1, err2, err3, b.head.Write(t.stream, t.matrix.Head)); err != nil {
		return err
	}
	d := &tileArrange[V]{tileBuild: b, short: t.plan.Short(), val: t.val, code: t.code, base: t.base}
	return errors.Join(t.stream.Launch(d), t.stream.Sync())
}

// tileSort is an operation that sorts the entries of each tile by column.
type tileSort[V sparse.Value] struct{ *tileBuild[V] }

// Name returns the name of the operation.
func (tileSort[V]) Name() string { return "sort-tiles" }

func (t *tileSort[V]) plan(b *builder) {
	c := openCompressed(b, t.csr)
	b.call("msrep_tiles_sort", t.tiles, c.ptr, c.idx, array(b, "from", t.from, t.tiles+1), array(b, "head", t.head, 3*t.tiles+3),
		array(b, "sum", t.sum, t.sum.Len), array(b, "key", t.key, t.key.Len), array(b, "spare", t.spare, t.spare.Len),
		array(b, "sumOf", t.sumOf, t.sumOf.Len), t.tiles, t.passes)
}

// tileArrange is an operation that arranges the sorted entries in rounds. It counts the rounds of each tile, or stores them in
// the arrays that val, code and base find.
type tileArrange[V sparse.Value] struct {
	*tileBuild[V]
	short           bool // val has float32 values
	val, code, base func(b *builder) Addr
}

// Name returns the name of the operation.
func (tileArrange[V]) Name() string { return "arrange-tiles" }

func (t *tileArrange[V]) plan(b *builder) {
	c := openCompressed(b, t.csr)
	key, spare := t.key, t.spare
	if t.passes%2 == 1 {
		key, spare = spare, key
	}
	name := "msrep_tiles_arrange" + suffix[V]()
	if t.short {
		name = "msrep_tiles_arrange_short" + suffix[V]()
	}
	var count, val, code, base Addr
	if t.code == nil {
		count = array(b, "count", t.count, t.tiles)
	} else {
		val, code, base = t.val(b), t.code(b), t.base(b)
	}
	b.call(name, t.tiles, array(b, "key", key, key.Len), array(b, "spare", spare, spare.Len), array(b, "sumOf", t.sumOf, t.sumOf.Len),
		c.val, array(b, "from", t.from, t.tiles+1), array(b, "head", t.head, 3*t.tiles+3), array(b, "sum", t.sum, t.sum.Len),
		count, val, code, base, t.tiles)
	b.setShared(4 * t.sums)
}

// mostSums returns the largest number of sums of a tile for a device. A block of the product keeps them in shared memory; a
// block that builds the tile keeps 4 bytes for each beside its other arrays.
func mostSums[V sparse.Value](d kernels.Device) int64 {
	const others = 9 << 10
	sums := sharedBytes(d, mostShared) / mem.Size[V]()
	return max(min(sums, (sharedBytes(d, sums*4+others)-others)/4, tiled.MaxSums), 1)
}
