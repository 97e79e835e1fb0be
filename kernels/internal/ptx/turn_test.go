package ptx

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// waits is a kernel in which thread 0 of warp %r2 of block %r1 waits for word FROM of buf
// to become 1 and then writes 1 to word TO.
const waits = `
	mov.u32 %%r1, %%ctaid.x; and.b32 %%r3, %%r0, 31; shr.u32 %%r2, %%r0, 5;
	%s
	setp.lt.s32 %%p1, %%r4, 0; @%%p1 bra $write;
	mul.wide.u32 %%rd1, %%r4, 4; add.s64 %%rd1, %%rd1, %%rd0;
	$again: ld.relaxed.gpu.global.u32 %%r9, [%%rd1]; setp.ne.u32 %%p2, %%r9, 1; @%%p2 bra $again;
	$write: mul.wide.u32 %%rd2, %%r5, 4; add.s64 %%rd2, %%rd2, %%rd0; st.relaxed.gpu.global.u32 [%%rd2], 1; ret;`

func TestAWarpMayWaitForAnother(t *testing.T) {
	for _, c := range []struct {
		name, set       string // sets %r4 to FROM, below 0 for none, and %r5 to TO
		blocks, threads int
		workers         int
		deadlock        bool
	}{
		{"an earlier warp", "sub.s32 %r4, %r2, 1; mov.b32 %r5, %r2;", 1, 96, 1, false},
		{"a later warp", "add.s32 %r4, %r2, 1; setp.eq.u32 %p3, %r2, 2; @%p3 mov.b32 %r4, -1; mov.b32 %r5, %r2;", 1, 96, 1, false},
		{"warps for each other", "xor.b32 %r4, %r2, 1; mov.b32 %r5, %r2;", 1, 64, 1, true},
		{"an earlier block", "sub.s32 %r4, %r1, 1; mov.b32 %r5, %r1;", 5, 32, 1, false},
		{"a later block", "add.s32 %r4, %r1, 1; setp.eq.u32 %p3, %r1, 4; @%p3 mov.b32 %r4, -1; mov.b32 %r5, %r1;", 5, 32, 1, true},
		{"a later block, of as many workers", "add.s32 %r4, %r1, 1; setp.eq.u32 %p3, %r1, 4; @%p3 mov.b32 %r4, -1; mov.b32 %r5, %r1;", 5, 32, 5, false},
		{"blocks for each other", "xor.b32 %r4, %r1, 1; mov.b32 %r5, %r1;", 4, 32, 4, true},
		{"a lane of its warp that has left the loop", "sub.s32 %r4, %r3, 1; mov.b32 %r5, %r3;", 1, 32, 1, true},
		{"nobody", "mov.b32 %r4, 63; mov.b32 %r5, %r2;", 3, 64, 2, true},
	} {
		turns := []int64{0, 1, 100}
		if c.workers > 1 && !c.deadlock {
			turns = append(turns, make([]int64, 50)...) // workers that lose their CPU at any point
		}
		for _, turn := range turns {
			m := NewMemory(0)
			buf := upload(t, m, "buf", make([]int32, 64))
			k := kernelOf(t, 1, fmt.Sprintf(waits, c.set))
			_, err := k.Launch(m, Launch{Grid: Dim{X: c.blocks}, Block: Dim{X: c.threads}, Workers: c.workers, Turn: turn, Seed: 3}, buf)
			if !c.deadlock {
				require.NoError(t, err, "%s, turns of %d", c.name, turn)
				continue
			}
			f := faultOf(t, err, "deadlock: it waits for the word at offset ")
			require.Contains(t, f.Msg, "of buf, which no block that has begun writes", c.name)
			require.Equal(t, bodyLine+5, f.Line, c.name)
		}
	}
}

// A counter that is read and written in two steps loses counts in some orders.
func TestTurnsRunWarpsInAnyOrder(t *testing.T) {
	k := kernelOf(t, 1, `
		mov.u32 %r5, 0;
		$again: ld.volatile.global.u32 %r3, [%rd0]; add.s32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 20; @%p1 bra $next;
		$next: add.s32 %r3, %r3, 1; st.volatile.global.u32 [%rd0], %r3; @%p1 bra $again; ret;`)
	count := func(turn int64, seed uint64) int32 {
		m := NewMemory(0)
		buf := upload(t, m, "buf", []int32{0})
		_, err := k.Launch(m, Launch{Grid: Dim{X: 3}, Block: Dim{X: 64}, Workers: 3, Turn: turn, Seed: seed}, buf)
		require.NoError(t, err)
		return download[int32](t, m, buf, 1)[0]
	}
	seen := map[int32]bool{}
	for seed := range uint64(20) {
		n := count(4, seed)
		require.Equal(t, n, count(4, seed), "the same seed, the same order")
		seen[n] = true
	}
	require.Greater(t, len(seen), 5)
	require.Equal(t, int32(120), count(1<<40, 1), "one warp after the other")
}

func TestAFaultInOneBlockEndsTheTurnsOfAll(t *testing.T) {
	k := kernelOf(t, 1, `mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 2; @%p1 trap;
		$again: ld.volatile.global.u32 %r3, [%rd0]; setp.eq.u32 %p2, %r3, 0; @%p2 bra $again; ret;`)
	for _, turn := range []int64{0, 10} {
		m := NewMemory(0)
		_, err := k.Launch(m, Launch{Grid: Dim{X: 9}, Workers: 3, Turn: turn}, upload(t, m, "buf", []int32{0}))
		faultOf(t, err, "trap")
	}
}
