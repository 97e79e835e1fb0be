package ptx

import (
	"fmt"
	"math"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestShufflesFollowTheManual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mode := rapid.SampledFrom([]string{"up", "down", "bfly", "idx"}).Draw(t, "mode")
		width := rapid.SampledFrom([]int{1, 2, 4, 8, 16, 32}).Draw(t, "width")
		by := rapid.IntRange(0, 31).Draw(t, "by")
		threads := rapid.SampledFrom([]int{32, 32, 13}).Draw(t, "threads")
		c := (32-width)<<8 | 31
		if mode == "up" {
			c = (32 - width) << 8
		}
		m := NewMemory(0)
		out := upload(t, m, "out", make([]int32, 64))
		_, err := try(t, threads, fmt.Sprintf(`
			add.s32 %%r1, %%r0, 100;
			activemask.b32 %%r2;
			shfl.sync.%s.b32 %%r3|%%p0, %%r1, %d, %d, %%r2;
			selp.b32 %%r4, 1, 0, %%p0;
			mul.wide.u32 %%rd1, %%r0, 8; add.s64 %%rd1, %%rd1, %%rd0; st.global.v2.u32 [%%rd1], {%%r3, %%r4}; ret;`, mode, by, c), m, out)
		require.NoError(t, err)
		got := download[int32](t, m, out, 64)
		for l := range threads {
			// CUDA: segments have width lanes; a source outside the segment returns the
			// lane's own value.
			first := l / width * width
			from := map[string]int{"up": l - by, "down": l + by, "bfly": l ^ by, "idx": first + by%width}[mode]
			inside := from >= first && from < first+width
			if mode == "bfly" { // may read an earlier segment
				inside = from < first+width
			}
			want, valid := int32(l+100), int32(0)
			if inside {
				want, valid = int32(from+100), 1
				if from >= threads {
					want = -1
				}
			}
			require.Equal(t, [2]int32{want, valid}, [2]int32{got[2*l], got[2*l+1]}, "lane %d", l)
		}
	})
}

func TestVotesAndMatchesAmongTheLanesOfTheMask(t *testing.T) {
	m := NewMemory(0)
	out := upload(t, m, "out", make([]int32, 256))
	_, err := try(t, 32, `
		and.b32 %r1, %r0, 3;
		setp.eq.u32 %p0, %r1, 0;
		setp.lt.u32 %p9, %r0, 16;
		selp.b32 %r2, 0xffff, 0xffff0000, %p9;
		vote.sync.ballot.b32 %r10, %p0, %r2;
		vote.sync.any.pred %p1, %p0, %r2; selp.b32 %r11, 1, 0, %p1;
		vote.sync.all.pred %p1, %p0, -1; selp.b32 %r12, 1, 0, %p1;
		vote.sync.all.pred %p1, %p9, %r2; selp.b32 %r13, 1, 0, %p1;
		vote.sync.uni.pred %p1, !%p9, %r2; selp.b32 %r14, 1, 0, %p1;
		match.any.sync.b32 %r15, %r1, %r2;
		match.all.sync.b32 %r16|%p2, %r2, %r2;
		selp.b32 %r17, 1, 0, %p2;
		mul.wide.u32 %rd1, %r0, 32; add.s64 %rd1, %rd1, %rd0;
		st.global.v4.u32 [%rd1], {%r10, %r11, %r12, %r13}; st.global.v4.u32 [%rd1+16], {%r14, %r15, %r16, %r17}; ret;`, m, out)
	require.NoError(t, err)
	got := download[int32](t, m, out, 256)
	for l := range 32 {
		mask, low := uint32(0xffff0000), int32(0)
		if l < 16 {
			mask, low = 0xffff, 1
		}
		require.Equal(t, []int32{int32(0x11111111 & mask), 1, 0, low, 1, int32(0x11111111 << (l % 4) & mask), int32(mask), 1}, got[8*l:8*l+8], "lane %d", l)
	}
}

func TestWrongMasksAreFaults(t *testing.T) {
	for _, c := range []struct{ body, msg string }{
		{"setp.ge.u32 %p0, %r0, 16; @%p0 bra $skip;\nshfl.sync.down.b32 %r1, %r0, 1, 31, -1;\n$skip: ret;",
			"the mask 0xffffffff names lanes 16-31, which do not execute it"},
		{"setp.eq.u32 %p0, %r0, 5; @%p0 ret;\nshfl.sync.down.b32 %r1, %r0, 1, 31, -1; ret;", "names lanes 5, which have exited"},
		{"\nshfl.sync.down.b32 %r1, %r0, 1, 31, 0x7fffffff; ret;", "does not name the lane 31 that executes it"},
		{"setp.lt.u32 %p0, %r0, 3;\n@%p0 bar.warp.sync -1; ret;", "names lanes 3-31, which do not execute it"},
		{"setp.lt.u32 %p0, %r0, 3;\n@%p0 vote.sync.ballot.b32 %r1, %p0, 0xf; ret;", "names lanes 3, which do not execute it"},
		{"setp.lt.u32 %p0, %r0, 3;\n@%p0 match.any.sync.b32 %r1, %r0, 0xf; ret;", "names lanes 3, which do not execute it"},
	} {
		_, err := try(t, 32, c.body, NewMemory(0))
		f := faultOf(t, err, c.msg)
		require.Equal(t, bodyLine+1, f.Line, c.body)
	}
	_, err := try(t, 20, "shfl.sync.down.b32 %r1, %r0, 1, 31, -1; ret;", NewMemory(0))
	faultOf(t, err, "names lanes 20-31, which the block does not have")
}

func TestBarriersNeedEveryThread(t *testing.T) {
	for _, c := range []struct{ body, msg string }{
		{"setp.ge.u32 %p0, %r0, 40; @%p0 bra $x;\nbar.sync 0;\n$x: ret;", "bar.sync in divergent code: lanes 8-31 do not execute it"},
		{"setp.ge.u32 %p0, %r0, 40;\n@%p0 bar.sync 0; ret;", "its guard is false in lanes 0-7"},
		{"setp.eq.u32 %p0, %r0, 40; @%p0 ret;\nbar.sync 0; ret;", "not reached by lanes 8 of the warp, which have exited"},
		{"setp.ge.u32 %p0, %r0, 32; @%p0 ret;\nbar.sync 0; ret;", "bar.sync 0 is not reached by warp 1 of the block, which has ended"},
		{"setp.ge.u32 %p0, %r0, 32;\nselp.b32 %r1, 1, 2, %p0; bar.sync %r1; ret;", "waits at barrier 1"},
		{"\nbar.sync 3, 96; ret;", "bar.sync 3 waits for 96 threads, more than reach it"},
		{"\nbar.sync 16; ret;", "barrier 16: a block has barriers 0 to 15"},
		{"\nbar.sync 1, 33; ret;", "not a multiple of 32"},
	} {
		_, err := try(t, 64, c.body, NewMemory(0))
		f := faultOf(t, err, c.msg)
		require.Equal(t, bodyLine+1, f.Line, c.body)
	}
}

func TestBarriersOrderAndReduce(t *testing.T) {
	m := NewMemory(0)
	out := upload(t, m, "out", make([]int32, 128))
	c, err := try(t, 128, `
		.shared .align 4 .b8 s[512];
		mul.wide.u32 %rd1, %r0, 4; mov.u64 %rd2, s; add.s64 %rd2, %rd2, %rd1;
		st.shared.u32 [%rd2], %r0;
		bar.sync 0;
		mov.u32 %r1, 127; sub.s32 %r1, %r1, %r0; mul.wide.u32 %rd3, %r1, 4; mov.u64 %rd4, s; add.s64 %rd4, %rd4, %rd3;
		ld.shared.u32 %r2, [%rd4];
		setp.lt.u32 %p0, %r0, 37;
		barrier.cta.red.popc.aligned.u32 %r3, 0, %p0;
		bar.red.and.pred %p1, 0, %p0; bar.red.or.pred %p2, 1, 128, %p0; bar.red.or.pred %p3, 0, !%p2;
		setp.lt.u32 %p4, %r0, 128; bar.red.and.pred %p4, 0, %p4; @%p4 add.s32 %r3, %r3, 8000;
		@%p1 add.s32 %r3, %r3, 1000; @%p2 add.s32 %r3, %r3, 2000; @%p3 add.s32 %r3, %r3, 4000;
		mad.lo.s32 %r2, %r3, 1000, %r2;
		add.s64 %rd1, %rd1, %rd0; st.global.u32 [%rd1], %r2; ret;`, m, out)
	require.NoError(t, err)
	for i, v := range download[int32](t, m, out, 128) {
		require.Equal(t, int32(10037*1000+127-i), v)
	}
	require.Equal(t, int64(6*4), c.Barriers)
}

func TestRacesInSharedMemoryAreFaults(t *testing.T) {
	const index = `.shared .align 8 .b8 s[1024]; mul.wide.u32 %rd1, %r0, 4; mov.u64 %rd2, s; add.s64 %rd2, %rd2, %rd1;
		xor.b32 %r1, %r0, 32; mul.wide.u32 %rd3, %r1, 4; mov.u64 %rd4, s; add.s64 %rd4, %rd4, %rd3;
		xor.b32 %r1, %r0, 1; mul.wide.u32 %rd5, %r1, 4; mov.u64 %rd6, s; add.s64 %rd6, %rd6, %rd5;
		`
	for name, c := range map[string]struct{ body, msg string }{
		"barrier":                  {"st.shared.u32 [%rd2], %r0; bar.sync 0; ld.shared.u32 %r2, [%rd4]; ret;", ""},
		"no barrier":               {"st.shared.u32 [%rd4], %r0; st.shared.u32 [%rd2], %r0; ret;", "race: store at offset 0 of shared memory, which was written by another thread"},
		"read then write":          {"st.shared.u32 [%rd2], %r0; bar.sync 0; setp.lt.u32 %p0, %r0, 32; @%p0 ld.shared.u32 %r2, [%rd4]; @!%p0 st.shared.u32 [%rd2], %r0; ret;", "which was read by another thread"},
		"write then read":          {"st.shared.u32 [%rd2], %r0; bar.sync 0; st.shared.u32 [%rd2], %r0; ld.shared.u32 %r2, [%rd4]; ret;", "race: store at offset 128 of shared memory, which was read"},
		"warp barrier":             {"st.shared.u32 [%rd2], %r0; bar.warp.sync -1; ld.shared.u32 %r2, [%rd6]; ret;", ""},
		"read before, own after":   {"st.shared.u32 [%rd2], %r0; bar.warp.sync -1; ld.shared.u32 %r2, [%rd6]; bar.warp.sync -1; ld.shared.u32 %r3, [%rd2]; st.shared.u32 [%rd2], %r3; ret;", ""},
		"no warp barrier":          {"st.shared.u32 [%rd2], %r0; ld.shared.u32 %r2, [%rd6]; ret;", "race: load at offset 4 of shared memory"},
		"warp barrier, two warps":  {"st.shared.u32 [%rd2], %r0; bar.warp.sync -1; st.shared.u32 [%rd4], %r0; ret;", "race: "},
		"warp write after read":    {"st.shared.u32 [%rd2], %r0; bar.sync 0; ld.shared.u32 %r2, [%rd6]; st.shared.u32 [%rd2], %r0; ret;", "which was read"},
		"both read":                {"st.shared.u32 [%rd2], %r0; bar.sync 0; ld.shared.u32 %r2, [%rd4]; ld.shared.u32 %r2, [%rd2]; ld.shared.u32 %r2, [s]; ret;", ""},
		"bytes beside each other":  {"cvt.u64.u32 %rd7, %r0; mov.u64 %rd8, s; add.s64 %rd8, %rd8, %rd7; st.shared.u8 [%rd8], %r0; ld.shared.u8 %r2, [%rd8]; st.shared.u8 [%rd8], %r2; ret;", ""},
		"atomics":                  {"st.shared.u32 [%rd2], 0; bar.sync 0; atom.shared.add.u32 %r2, [s], 1; bar.sync 0; ld.shared.u32 %r3, [s]; ret;", ""},
		"atomic and plain":         {"st.shared.u32 [%rd2], 0; bar.sync 0; atom.shared.add.u32 %r2, [s], 1; ld.shared.u32 %r3, [s]; ret;", "race: "},
		"all write one word":       {"setp.lt.u32 %p0, %r0, 32; @%p0 st.shared.u32 [s], 7; ret;", ""},
		"all warps write one word": {"st.shared.u32 [s], 7; ret;", "race: "},
	} {
		_, err := try(t, 64, index+c.body, NewMemory(0))
		if c.msg == "" {
			require.NoError(t, err, name)
		} else {
			faultOf(t, err, c.msg)
		}
	}
}

func TestRacesBetweenBlocksAreFaults(t *testing.T) {
	for name, c := range map[string]struct{ body, msg string }{
		"own words":            {"st.global.u32 [%rd2], 1; ld.global.u32 %r3, [%rd2];", ""},
		"reads":                {"ld.global.u32 %r3, [%rd0]; ld.global.nc.u32 %r3, [%rd0+4];", ""},
		"one word":             {"st.global.u32 [%rd0], 1;", "race: store at offset 0 of buf, which was written by another block"},
		"read and write":       {"ld.global.u32 %r3, [%rd0+4]; st.global.u32 [%rd2], 1;", "race: store at offset 4 of buf, which was read by another block"},
		"write and read":       {"st.global.u32 [%rd2], 1; ld.global.u32 %r3, [%rd0];", "race: load at offset 0 of buf, which was written by another block"},
		"atomics":              {"red.global.add.u32 [%rd0], 1; atom.global.add.u32 %r3, [%rd0], 1;", ""},
		"atomic and load":      {"ld.global.u32 %r3, [%rd0]; red.global.add.u32 [%rd0], 1;", "race: "},
		"volatile and plain":   {"setp.eq.u32 %p0, %r1, 3; @!%p0 ld.volatile.global.u32 %r3, [%rd0]; @%p0 st.global.u32 [%rd0], 1;", "race: store at offset 0 of buf, which was read by another block"},
		"plain, then volatile": {"setp.eq.u32 %p0, %r1, 3; @!%p0 ld.global.u32 %r3, [%rd0]; @!%p0 ld.volatile.global.u32 %r3, [%rd0]; @%p0 red.global.add.u32 [%rd0], 1;", "race: atomic at offset 0 of buf, which was read by another block"},
		"volatile, then plain": {"setp.eq.u32 %p0, %r1, 3; @!%p0 ld.volatile.global.u32 %r3, [%rd0]; @!%p0 ld.global.u32 %r3, [%rd0]; @%p0 red.global.add.u32 [%rd0], 1;", "race: atomic at offset 0 of buf, which was read by another block"},
		"own plain, volatile":  {"setp.eq.u32 %p0, %r1, 3; @!%p0 ld.volatile.global.u32 %r3, [%rd0]; @%p0 ld.global.u32 %r3, [%rd0]; @%p0 red.global.add.u32 [%rd0], 1;", ""},
		"atomic and volatile":  {"ld.volatile.global.u32 %r3, [%rd0]; red.global.add.u32 [%rd0], 1;", ""},
		"bytes":                {"cvt.u64.u32 %rd3, %r1; add.s64 %rd3, %rd3, %rd0; ld.global.u8 %r4, [%rd3]; st.global.u8 [%rd3], %r1;", ""},
		"nc of written":        {"st.global.u32 [%rd2], 1; ld.global.nc.u32 %r3, [%rd2];", ".nc load at offset 0 of buf, which this launch writes"},
		"written after nc":     {"ld.global.nc.u32 %r3, [%rd2]; st.global.u32 [%rd2], 1;", "store at offset 0 of buf, which this launch reads by .nc loads"},
		"last block":           {"st.global.u32 [%rd2], 1; membar.gl; atom.global.add.u32 %r3, [%rd0+64], 1; setp.ne.u32 %p0, %r3, 3; @%p0 ret; ld.global.u32 %r4, [%rd0]; ld.global.u32 %r4, [%rd0+8];", ""},
		"last block, late":     {"st.global.u32 [%rd2], 1; atom.global.add.u32 %r3, [%rd0+64], 1; membar.gl; setp.ne.u32 %p0, %r3, 3; @%p0 ret; ld.global.u32 %r4, [%rd0];", "race: load at offset 0"},
		"last block, no fence": {"st.global.u32 [%rd2], 1; atom.global.add.u32 %r3, [%rd0+64], 1; setp.ne.u32 %p0, %r3, 3; @%p0 ret; ld.global.u32 %r4, [%rd0];", "race: load at offset 0"},
	} {
		m := NewMemory(0)
		buf := upload(t, m, "buf", make([]int32, 32))
		k := kernelOf(t, 1, "mov.u32 %r1, %ctaid.x; mul.wide.u32 %rd1, %r1, 4; add.s64 %rd2, %rd1, %rd0; "+c.body+" ret;")
		for _, allow := range []bool{false, true} {
			require.NoError(t, m.Zero(buf, 128))
			_, err := k.Launch(m, Launch{Grid: Dim{X: 4}, AllowRaces: allow}, buf)
			if c.msg == "" || allow {
				require.NoError(t, err, name)
			} else {
				faultOf(t, err, c.msg)
			}
		}
	}
}

func TestBlocksKnowNothingOfEachOthersSharedAndLocalMemory(t *testing.T) {
	for body, msg := range map[string]string{
		".shared .align 4 .b8 s[4]; setp.lt.and.u32 %p1, %r0, 32, %p0; @%p1 st.shared.u32 [s], 1; @!%p0 ld.shared.u32 %r2, [s]; ret;": "of shared memory, before they are written",
		".local .align 4 .b8 l[4]; @%p0 st.local.u32 [l], 1; @!%p0 ld.local.u32 %r2, [l]; ret;":                                       "of local memory, before they are written",
		"@%p2 trap; setp.eq.u32 %p2, %r2, 0; @!%p2 trap; add.s32 %r2, %r2, 1; ret;":                                                   "", // registers begin as zeros
		".shared .align 4 .b8 s[4]; setp.eq.u32 %p1, %r3, %r0; @%p1 st.shared.u32 [s], 1; ret;":                                       "", // another warp in each block
	} {
		k := kernelOf(t, 0, "mov.u32 %r1, %ctaid.x; setp.eq.u32 %p0, %r1, 0; shl.b32 %r3, %r1, 5; "+body)
		_, err := k.Launch(NewMemory(0), Launch{Grid: Dim{X: 2}, Block: Dim{X: 64}})
		if msg == "" {
			require.NoError(t, err)
			continue
		}
		f := faultOf(t, err, msg)
		require.Equal(t, [3]int64{1}, f.Block)
	}
}

func TestAtomicsUpdateAndGiveTheOldValue(t *testing.T) {
	for _, c := range []struct {
		op            string
		size          int
		old, x, y, to uint64
	}{
		{"add.u32", 4, 5, 7, 0, 12}, {"add.s32", 4, 5, 1<<32 - 6, 0, 1<<32 - 1}, {"add.u64", 8, 1 << 40, 1, 0, 1<<40 + 1},
		{"add.f32", 4, putF32(1.5), putF32(2), 0, putF32(3.5)}, {"add.f64", 8, putF64(1.5), putF64(0.1), 0, putF64(1.6)},
		{"min.s32", 4, 1<<32 - 1, 3, 0, 1<<32 - 1}, {"min.u32", 4, 1<<32 - 1, 3, 0, 3}, {"max.s64", 8, 1<<64 - 1, 3, 0, 3}, {"max.u64", 8, 1<<64 - 1, 3, 0, 1<<64 - 1},
		{"and.b32", 4, 12, 10, 0, 8}, {"or.b32", 4, 12, 10, 0, 14}, {"xor.b64", 8, 12, 10, 0, 6}, {"exch.b32", 4, 12, 10, 0, 10}, {"exch.b64", 8, 12, 10, 0, 10},
		{"cas.b32", 4, 12, 12, 9, 9}, {"cas.b32", 4, 12, 13, 9, 12}, {"cas.b64", 8, 1 << 40, 1 << 40, 9, 9}, {"inc.u32", 4, 5, 5, 0, 0}, {"inc.u32", 4, 4, 5, 0, 5},
		{"dec.u32", 4, 0, 5, 0, 5}, {"dec.u32", 4, 3, 5, 0, 2}, {"dec.u32", 4, 9, 5, 0, 5},
	} {
		m := NewMemory(0)
		word := upload(t, m, "word", []int64{int64(c.old)})
		ops := upload(t, m, "operands", []int64{int64(c.x), int64(c.y), -1})
		reg, list := "%r", "%r3"
		if c.size == 8 {
			reg, list = "%rd", "%rd3"
		}
		if c.y != 0 {
			list += ", " + reg + "4"
		}
		body := fmt.Sprintf("ld.global.u%d %s3, [%%rd1]; ld.global.u%d %s4, [%%rd1+8]; atom.global.%s %s5, [%%rd0], %s; st.global.u%d [%%rd1+16], %s5; ret;",
			8*c.size, reg, 8*c.size, reg, c.op, reg, list, 8*c.size, reg)
		_, err := try(t, 1, body, m, word, ops)
		require.NoError(t, err, c.op)
		require.Equal(t, c.to, uint64(download[int64](t, m, word, 1)[0]), c.op)
		require.Equal(t, c.old, uint64(download[int64](t, m, ops, 3)[2])&mask(c.size), c.op)
	}
}

// PTX ISA, atom: float32 addition keeps subnormal numbers in shared memory only.
func TestAtomicsInGlobalMemoryTakeSubnormalNumbersAsZeros(t *testing.T) {
	for _, c := range []struct{ old, x, global, shared float32 }{
		{1, 2, 3, 3}, {0x1p-126, 0x1p-127, 0x1p-126, 0x1.8p-126}, {0x1p-127, 0x1p-126, 0x1p-126, 0x1.8p-126},
		{0x1p-126, -0x1.8p-126, float32(math.Copysign(0, -1)), -0x1p-127}, {0x1p-149, 0x1p-149, 0, 0x1p-148},
	} {
		m := NewMemory(0)
		v := upload(t, m, "values", []float32{c.old, c.x, -1, -1, -1})
		_, err := try(t, 1, `.shared .align 4 .f32 s; ld.global.f32 %f0, [%rd0]; ld.global.f32 %f1, [%rd0+4]; st.shared.f32 [s], %f0;
			atom.shared.add.f32 %f2, [s], %f1; ld.shared.f32 %f3, [s]; st.global.f32 [%rd0+8], %f3; st.global.f32 [%rd0+12], %f2;
			atom.global.add.f32 %f4, [%rd0], %f1; st.global.f32 [%rd0+16], %f4; ret;`, m, v)
		require.NoError(t, err)
		got := download[uint32](t, m, v, 5)
		bits := math.Float32bits
		require.Equal(t, []uint32{bits(c.global), bits(c.x), bits(c.shared), bits(c.old), bits(c.old)}, got, "%g and %g", c.old, c.x)
	}
}

func TestAtomicsOfBlocksSideBySideLoseNothing(t *testing.T) {
	for _, workers := range []int{1, 4} {
		m := NewMemory(0)
		sum := upload(t, m, "sum", make([]float64, 2))
		k := kernelOf(t, 1, "atom.global.add.f64 %fd1, [%rd0], 0d3FF0000000000000; red.global.add.u64 [%rd0+8], 1; ret;")
		c, err := k.Launch(m, Launch{Grid: Dim{X: 640}, Block: Dim{X: 96}, Workers: workers}, sum)
		require.NoError(t, err)
		require.Equal(t, float64(640*96), download[float64](t, m, sum, 1)[0])
		require.Equal(t, int64(640*96), download[int64](t, m, sum+8, 1)[0])
		require.Equal(t, int64(640), c.Blocks)
		require.Equal(t, int64(640*3*2), c.Total().Atomics)
	}
}

func TestSpecialRegistersKnowTheirPlace(t *testing.T) {
	m := NewMemory(0)
	out := upload(t, m, "out", make([]int32, 2*3*48*4))
	k := kernelOf(t, 1, `
		mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.y; mad.lo.s32 %r3, %r2, %r1, %r0; // thread
		mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ctaid.y; mov.u32 %r6, %nctaid.x; mad.lo.s32 %r7, %r5, %r6, %r4; // block
		mov.u32 %r8, %ntid.y; mul.lo.s32 %r9, %r1, %r8; mad.lo.s32 %r10, %r7, %r9, %r3;
		mov.u32 %r11, %laneid; mov.u32 %r12, %warpid;
		mov.u32 %r13, %lanemask_lt; popc.b32 %r13, %r13; mov.u32 %r14, %lanemask_ge; popc.b32 %r14, %r14;
		mul.wide.u32 %rd1, %r10, 16; add.s64 %rd1, %rd1, %rd0; st.global.v4.u32 [%rd1], {%r11, %r12, %r13, %r14}; ret;`)
	_, err := k.Launch(m, Launch{Grid: Dim{X: 2, Y: 3}, Block: Dim{X: 8, Y: 6}}, out)
	require.NoError(t, err)
	got := download[int32](t, m, out, 2*3*48*4)
	for i := range 2 * 3 * 48 {
		l := int32(i % 48 % 32)
		require.Equal(t, []int32{l, int32(i % 48 / 32), l, 32 - l}, got[4*i:4*i+4])
	}
	require.Equal(t, 3, bits.OnesCount32(uint32(specials["%lanemask_le"].read(nil, 2))))
}
