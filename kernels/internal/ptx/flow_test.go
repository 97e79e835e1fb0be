package ptx

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// generator draws a random program of nested ifs and loops over a few 32-bit variables,
// as PTX and as a Go function.
type generator struct {
	text   strings.Builder
	labels int
}

// node is one statement as a Go function. It returns false when the thread exits.
type node func(v *[4]uint32) bool

// block draws statements, nested at most depth deep.
func (p *generator) block(t *rapid.T, depth int) node {
	var nodes []node
	for range rapid.IntRange(1, 3).Draw(t, "statements") {
		nodes = append(nodes, p.statement(t, depth))
	}
	return func(v *[4]uint32) bool {
		for _, n := range nodes {
			if !n(v) {
				return false
			}
		}
		return true
	}
}

func (p *generator) label() string {
	p.labels++
	return fmt.Sprintf("$L%d", p.labels)
}

func (p *generator) statement(t *rapid.T, depth int) node {
	a, b := rapid.IntRange(0, 3).Draw(t, "a"), rapid.IntRange(0, 3).Draw(t, "b")
	k := uint32(rapid.IntRange(0, 7).Draw(t, "k"))
	kind := rapid.IntRange(0, 9).Draw(t, "kind")
	if depth == 0 {
		kind = 0
	}
	switch {
	case kind < 4:
		fmt.Fprintf(&p.text, "mad.lo.s32 %%r1%d, %%r1%d, 5, %%r1%d; add.s32 %%r1%d, %%r1%d, %d;\n", a, b, a, a, a, k)
		return func(v *[4]uint32) bool { v[a] = v[b]*5 + v[a] + k; return true }
	case kind < 7: // if (v[a] & 7) > k; the else part comes first or last in the text
		other, end := p.label(), p.label()
		fmt.Fprintf(&p.text, "and.b32 %%r20, %%r1%d, 7; setp.gt.u32 %%p0, %%r20, %d; @%%p0 bra %s;\n", a, k, other)
		no := p.block(t, depth-1)
		fmt.Fprintf(&p.text, "bra.uni %s;\n%s:\n", end, other)
		yes := p.block(t, depth-1)
		fmt.Fprintf(&p.text, "%s:\n", end)
		return func(v *[4]uint32) bool {
			if v[a]&7 > k {
				return yes(v)
			}
			return no(v)
		}
	case kind < 9: // a loop of (v[a] & 3) + 1 iterations, tested at its end, or left early
		head, end := p.label(), p.label()
		count := 30 + depth
		fmt.Fprintf(&p.text, "and.b32 %%r%d, %%r1%d, 3;\n%s:\n", count, a, head)
		body := p.block(t, depth-1)
		fmt.Fprintf(&p.text, "setp.eq.u32 %%p0, %%r1%d, %d; @%%p0 bra %s;\n", b, k, end)
		fmt.Fprintf(&p.text, "sub.s32 %%r%d, %%r%d, 1; setp.ge.s32 %%p0, %%r%d, 0; @%%p0 bra %s;\n%s:\n", count, count, count, head, end)
		return func(v *[4]uint32) bool {
			for n := int32(v[a] & 3); ; {
				if !body(v) {
					return false
				}
				if v[b] == k {
					return true
				}
				if n--; n < 0 {
					return true
				}
			}
		}
	}
	fmt.Fprintf(&p.text, "and.b32 %%r20, %%r1%d, 31; setp.eq.u32 %%p0, %%r20, %d; @%%p0 bra $store;\n", a, k)
	return func(v *[4]uint32) bool { return v[a]&31 != k }
}

func TestDivergingLanesComputeWhatEachAloneWould(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &generator{}
		want := p.block(t, 3)
		body := `mov.u32 %r10, %r0; mul.lo.s32 %r11, %r0, 3; mov.u32 %r12, 7; shr.u32 %r13, %r0, 1;` + "\n" + p.text.String() + `
			$store: mul.wide.u32 %rd1, %r0, 16; add.s64 %rd1, %rd1, %rd0; st.global.v4.u32 [%rd1], {%r10, %r11, %r12, %r13};
			activemask.b32 %r1; setp.eq.u32 %p1, %r0, 0; @%p1 st.global.u32 [%rd0+1024], %r1; ret;`
		m := NewMemory(0)
		out := upload(t, m, "out", make([]int32, 4*64+1))
		_, err := try(t, 64, body, m, out)
		require.NoError(t, err)
		got := download[int32](t, m, out, 4*64+1)
		for i := range uint32(64) {
			v := [4]uint32{i, i * 3, 7, i / 2}
			want(&v)
			require.Equal(t, [4]int32{int32(v[0]), int32(v[1]), int32(v[2]), int32(v[3])}, [4]int32(got[4*i:4*i+4]), "thread %d", i)
		}
		require.Equal(t, int32(-1), got[4*64], "all lanes have met again at the end")
	})
}

func TestBlocksAreInWeakTopologicalOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "instructions")
		list := make([]instr, n+1)
		for i := range n {
			list[i] = instr{op: opUnary, guard: -1, line: int32(i)}
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 1:
				list[i].op, list[i].guard, list[i].target = opBranch, 0, int32(rapid.IntRange(0, n).Draw(t, "to"))
			case 2:
				list[i].op, list[i].target = opBranch, int32(rapid.IntRange(0, n).Draw(t, "to"))
			}
		}
		list[n] = instr{op: opExit, guard: -1, line: int32(n)}
		p := layout(list)

		// Each reachable instruction is there once, and has the same successors as in
		// the text.
		reached := map[int32]bool{}
		var walk func(i int32)
		next := func(i int32) (to []int32) {
			if !list[i].ends() {
				to = append(to, i+1)
			}
			if list[i].op == opBranch {
				to = append(to, list[i].target)
			}
			return to
		}
		walk = func(i int32) {
			if !reached[i] {
				reached[i] = true
				for _, j := range next(i) {
					walk(j)
				}
			}
		}
		walk(0)
		at := func(pc int32) int32 { // the instruction of the text that runs at pc
			for p.code[pc].op == opJump {
				pc = p.code[pc].target
			}
			return p.code[pc].line
		}
		seen := map[int32]bool{}
		for pc, in := range p.code {
			if in.op == opJump {
				continue
			}
			require.False(t, seen[in.line])
			seen[in.line] = true
			require.Equal(t, int32(pc), p.where[in.line])
			var to []int32
			if !in.ends() {
				to = append(to, at(int32(pc)+1))
			}
			if in.op == opBranch {
				to = append(to, at(in.target))
			}
			require.Equal(t, next(in.line), to)
		}
		require.Equal(t, len(reached), len(seen))

		// A backward edge leads to the head of a loop, which every instruction between
		// can reach.
		comes := func(from, to int32) bool {
			been := map[int32]bool{}
			var find func(i int32) bool
			find = func(i int32) bool {
				if i == to {
					return true
				}
				if been[i] {
					return false
				}
				been[i] = true
				for _, j := range next(i) {
					if find(j) {
						return true
					}
				}
				return false
			}
			return find(from)
		}
		for i := range reached {
			for _, j := range next(i) {
				lo, hi := p.where[j], p.where[i]
				for pc := lo; pc <= hi; pc++ {
					if p.code[pc].op != opJump {
						require.True(t, comes(p.code[pc].line, j), "from %d back to %d", i, j)
					}
				}
			}
		}
	})
}

func TestCountersCountWhatAWarpDoes(t *testing.T) {
	m := NewMemory(0)
	in := upload(t, m, "in", make([]float64, 2048))
	out := upload(t, m, "out", make([]float64, 64))
	k := kernelOf(t, 2, `
		mul.wide.u32 %rd2, %r0, 8; add.s64 %rd3, %rd2, %rd0; add.s64 %rd4, %rd2, %rd1;
		mul.lo.s64 %rd5, %rd2, 8; add.s64 %rd5, %rd5, %rd0;
		ld.global.f64 %fd0, [%rd3];    // 8 sectors a warp
		ld.global.f64 %fd1, [%rd5];    // 32 sectors
		ld.global.f64 %fd2, [%rd0];    // 1 sector
		ld.global.f64 %fd2, [%rd0+8];  // the same
		.shared .align 16 .b8 s[16384];
		mov.u64 %rd6, s; add.s64 %rd7, %rd6, %rd2; mul.wide.u32 %rd8, %r0, 128; add.s64 %rd8, %rd8, %rd6;
		st.shared.f64 [%rd7], %fd0;    // no conflict
		bar.sync 0;
		st.shared.f32 [%rd8], 0f00000000;  // all in one bank
		bar.sync 0;
		and.b32 %r1, %r0, 3; setp.eq.u32 %p0, %r1, 3;
	$loop:
		sub.s32 %r1, %r1, 1; setp.ge.s32 %p1, %r1, 0; @%p1 bra $loop;
		@%p0 st.global.f64 [%rd4], %fd0; ret;`)
	c, err := k.Launch(m, Launch{Block: Dim{X: 64}, Watch: "$loop"}, in, out)
	require.NoError(t, err)
	require.Equal(t, Traffic{Loads: 8, LoadSectors: 2 * (8 + 32 + 1 + 1), LoadPieces: 2 * (4 + 32 + 1 + 1)}, c.Buffer("in").Traffic)
	require.Equal(t, int64(16+64-8), c.Buffer("in").DistinctSectors, "8 sectors are in both strides")
	require.Equal(t, Traffic{Stores: 2, StoreSectors: 16}, c.Buffer("out").Traffic)
	require.Equal(t, SharedTraffic{Requests: 4, Conflicts: 2 * 31}, c.Shared)
	require.Equal(t, []int64{4, 4}, c.Iterations)
	require.Equal(t, int64(8), c.Branches)
	require.Equal(t, int64(6), c.DivergentBranches)
	require.Equal(t, int64(4), c.Barriers)
	require.Equal(t, int64(2), c.Warps)
	// 34 instructions, and the loop of 3, which the lanes run 1, 2, 3 and 4 times.
	require.Equal(t, c.WarpInstructions*32-2*(3*(8+16+24)+24), c.ThreadInstructions)
}

func TestEndlessKernelsAreStopped(t *testing.T) {
	k := kernelOf(t, 0, "$l: bra $l;")
	_, err := k.Launch(NewMemory(0), Launch{MaxInstructions: 100_000}, []any{}...)
	faultOf(t, err, "the launch takes more than 100000 warp instructions")
}

func TestCodeThatFallsOffItsEndExits(t *testing.T) {
	m := NewMemory(0)
	a := upload(t, m, "a", []int32{1})
	_, err := try(t, 1, "st.global.u32 [%rd0], 5;", m, a)
	require.NoError(t, err)
	require.Equal(t, []int32{5}, download[int32](t, m, a, 1))
}

func BenchmarkThreadInstructions(b *testing.B) {
	const rows, per = 1 << 14, 64
	k := kernelOf(b, 3, `
		mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mad.lo.s32 %r3, %r1, %r2, %r0;
		mul.wide.u32 %rd3, %r3, 8; add.s64 %rd4, %rd3, %rd0; add.s64 %rd5, %rd3, %rd1; add.s64 %rd6, %rd3, %rd2;
		mov.u32 %r4, 0; mov.f64 %fd0, 0d0000000000000000;
	$loop:
		ld.global.nc.f64 %fd1, [%rd4]; ld.global.nc.f64 %fd2, [%rd5]; fma.rn.f64 %fd0, %fd1, %fd2, %fd0;
		add.s64 %rd4, %rd4, 8; add.s64 %rd5, %rd5, 8; add.s32 %r4, %r4, 1; setp.lt.s32 %p0, %r4, 64; @%p0 bra $loop;
		st.global.f64 [%rd6], %fd0; ret;`)
	m := NewMemory(0)
	x := upload(b, m, "x", make([]float64, rows+per))
	y := upload(b, m, "y", make([]float64, rows))
	for _, free := range []bool{false, true} {
		b.Run(fmt.Sprintf("checks=%t", !free), func(b *testing.B) {
			n := int64(0)
			for b.Loop() {
				c, err := k.Launch(m, Launch{Grid: Dim{X: rows / 128}, Block: Dim{X: 128}, AllowRaces: free, AllowUnwritten: free}, x, x, y)
				require.NoError(b, err)
				n += c.ThreadInstructions
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds()/1e6, "Minstr/s")
		})
	}
}
