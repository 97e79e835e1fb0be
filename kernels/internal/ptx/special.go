package ptx

// special is a register that the hardware sets.
type special struct {
	size int
	read func(w *warp, lane int) uint64
}

var specials = func() map[string]special {
	t := map[string]special{
		"%laneid":  {4, func(_ *warp, lane int) uint64 { return uint64(lane) }},
		"%warpid":  {4, func(w *warp, _ int) uint64 { return uint64(w.id) }},
		"%nwarpid": {4, func(w *warp, _ int) uint64 { return uint64(len(w.worker.warps)) }},

		"%lanemask_eq": {4, func(_ *warp, l int) uint64 { return 1 << l }},
		"%lanemask_lt": {4, func(_ *warp, l int) uint64 { return 1<<l - 1 }},
		"%lanemask_le": {4, func(_ *warp, l int) uint64 { return 2<<l - 1 }},
		"%lanemask_gt": {4, func(_ *warp, l int) uint64 { return mask(4) &^ (2<<l - 1) }},
		"%lanemask_ge": {4, func(_ *warp, l int) uint64 { return mask(4) &^ (1<<l - 1) }},
	}
	for i, axis := range []string{".x", ".y", ".z"} {
		t["%tid"+axis] = special{4, func(w *warp, lane int) uint64 { return uint64(w.thread(lane)[i]) }}
		t["%ntid"+axis] = special{4, func(w *warp, _ int) uint64 { return uint64(w.worker.run.block[i]) }}
		t["%ctaid"+axis] = special{4, func(w *warp, _ int) uint64 { return uint64(w.worker.block[i]) }}
		t["%nctaid"+axis] = special{4, func(w *warp, _ int) uint64 { return uint64(w.worker.run.grid[i]) }}
	}
	return t
}()
