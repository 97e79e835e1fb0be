package ptx

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels/internal/cuda"
	"github.com/msrep-go/msrep/sparse"
)

func TestEveryShippedKernelIsReadWithTheParametersOfTheTable(t *testing.T) {
	for _, family := range cuda.Families() {
		text, err := cuda.PTX(family)
		require.NoError(t, err)
		m, err := Parse(family+".ptx", text)
		require.NoError(t, err)
		var names []string
		for _, k := range cuda.Kernels() {
			if k.Family != family {
				continue
			}
			names = append(names, k.Name)
			got, err := m.Kernel(k.Name)
			require.NoError(t, err)
			require.Len(t, got.params, len(k.Params), k.Name)
			require.Equal(t, int64(k.Block), got.maxDim[0], k.Name)
			for i, p := range k.Params {
				size := int64(8)
				if p.Type == cuda.Float32 {
					size = 4
				}
				require.Equal(t, size, got.params[i].size, "%s of %s", p.Name, k.Name)
			}
		}
		require.Equal(t, names, m.Kernels())
	}
}

func TestBadTextIsRefusedWithItsLine(t *testing.T) {
	for _, c := range []struct{ body, msg string }{
		{"frob.s32 %r1, %r2;", `unknown instruction "frob.s32"`},
		{"add.s32.x %r1, %r2, %r3;", "unknown instruction"},
		{"add.rz.f64 %fd1, %fd2, %fd3;", "unknown instruction"},
		{"div.approx.f32 %f1, %f2, %f3;", "unknown instruction"},
		{"add.cc.s32 %r1, %r2, %r3;", "unknown instruction"},
		{"cvt.f32.f64 %f1, %fd2;", "unknown instruction"},
		{"cvt.s32.f32 %r1, %f2;", "unknown instruction"},
		{"cvt.rni.sat.s32.f32 %r1, %f2;", "unknown instruction"},
		{"setp.xx.s32 %p1, %r1, %r2;", "unknown instruction"},
		{"setp.lt.nand.s32 %p1, %r1, %r2, %p2;", "unknown instruction"},
		{"ld.global.v3.f32 {%f1, %f2, %f3}, [%rd1];", "unknown instruction"},
		{"ld.shared.nc.f32 %f1, [%rd1];", "unknown instruction"},
		{"ld.global.v4.f64 {%fd1, %fd2, %fd3, %fd4}, [%rd1];", "unknown instruction"},
		{"st.const.f32 [%rd1], %f1;", "unknown instruction"},
		{"st.param.f32 [%rd1], %f1;", "unknown instruction"},
		{"ld.relaxed.global.f32 %f1, [%rd1];", "unknown instruction"},
		{"atom.global.mul.f32 %f1, [%rd1], %f2;", "unknown instruction"},
		{"red.global.exch.b32 [%rd1], %r2;", "unknown instruction"},
		{"shfl.down.b32 %r1, %r2, 1, 31;", "unknown instruction"},
		{"shfl.sync.left.b32 %r1, %r2, 1, 31, -1;", "unknown instruction"},
		{"vote.ballot.b32 %r1, %p1;", "unknown instruction"},
		{"bar.arrive 0, 32;", "unknown instruction"},
		{"membar.xx;", "unknown instruction"},
		{"call foo;", "is not declared"},
		{"mov.b64 {%r1, %r2, %r3}, %rd1;", "unknown instruction"},
		{"mov.u32 %r1, %clock;", `"%clock" is not declared`},
		{"add.s32 %r1, %r2;", "add.s32 has 2 operands, it needs 3"},
		{"add.s32 %r1, %r2, %p1;", `"%p1" where a register or a number belongs`},
		{"add.s32 %rd1, %r2, %r3;", "%rd1 has 64 bits, add.s32 writes 32"},
		{"add.s32 7, %r2, %r3;", `"7" where a register belongs`},
		{"add.s32 %r1, %r2, %r100;", `"%r100" is not declared`},
		{"add.s32 %r1, %r2, %r01;", `"%r01" is not declared`},
		{"add.s32 %r1, %r2, %r99999999999999999999999;", "is not declared"},
		{"ld.global.f64 %f1, [%rd1];", "%f1 has 32 bits, ld.global.f64 loads 64"},
		{"ld.global.f64 %fd1, %rd1;", "where an address in brackets belongs"},
		{"ld.global.f64 %fd1, [%fd1];", "is not an address"},
		{"ld.global.v2.f64 %fd1, [%rd1];", "needs a vector of 2"},
		{"ld.global.v2.f64 {%fd1, %fd2, %fd3}, [%rd1];", "needs a vector of 2"},
		{"ld.global.f64 %fd1, [%rd1;", `";" where "]" belongs`},
		{"@%r1 bra $x; $x:", `"%r1" is not a predicate`},
		{"@!!%p1 bra $x; $x:", "! before something that is not a predicate"},
		{"bra $nowhere;", "label $nowhere is not defined"},
		{"$a: $a: ret;", "label $a is defined twice"},
		{"mov.f64 %fd1, 0d123;", "is not a floating-point number of 16 hexadecimal digits"},
		{"mov.f64 %fd1, 1.5;", "where a number belongs"},
		{"mov.u32 %r1, 0x1ffffffffffffffff;", "where a number belongs"},
		{".reg .foo %z;", "where the type of a register belongs"},
		{".reg .b32 %y, %y;", "register %y is declared twice"},
		{".reg .b32 %r<5>;", "registers %r are declared twice"},
		{".shared .align 8 .b8 s[1000000];", "s of 1000000 bytes: a kernel may declare 49152 of .shared"},
		{".local .align 8 .b8 s[1000000];", "a kernel may declare 65536 of .local"},
		{".shared .align 3 .b8 s[10];", "alignment 3 is not a power of two"},
		{".shared .b8 s[4] = {1,2,3,4,5};", "s has more initial values than its size allows"},
		{".shared .b8 s[4] = {1};", "s has initial values"},
		{".shared .b8 s[99999999999999];", "is more than"},
		{".shared .b64 s[1000000][1000000];", "s is too large"},
		{`.pragma "unroll";`, "unknown pragma"},
		{".frob;", "unknown directive"},
		{"7;", "where an instruction belongs"},
		{"ret }", `"}" where an operand belongs`},
		{"mov.u32 %r1, \"abc;", "a string without closing quote"},
		{"mov.u32 %r1, `;", "unexpected character"},
		{strings.Repeat("{", 100), "nested more than 64 deep"},
	} {
		_, err := Parse("test.ptx", textOf(0, c.body))
		require.ErrorContains(t, err, c.msg, c.body)
		require.True(t, sparse.IsInput(err))
		require.Contains(t, err.Error(), "test.ptx:6", c.body)
	}
}

func TestBadModulesAreRefused(t *testing.T) {
	const body = " { ret; }"
	for src, msg := range map[string]string{
		".frob":                                     `1: unknown directive ".frob"`,
		"\n.address_size 32\n":                      "2: addresses of 32 bits: 64 are supported",
		".address_size":                             "where a whole number belongs",
		".address_size 6_4":                         "where a whole number belongs",
		".entry k" + body[:3]:                       "a body without end",
		".entry k":                                  `the end of the text between`,
		".entry k() .frob" + body:                   `".frob" between the parameters and the body of kernel k`,
		".entry k(.param .u32 a[5000])" + body:      "5000 is more than 4096",
		".entry k(.param .u64 a[4000])" + body:      "parameters of kernel k take more than 4096 bytes",
		".entry k(.param .pred a)" + body:           "where a type belongs",
		".entry k(.param .u64 .ptr .frob a)" + body: "unknown attribute",
		".entry k" + body + ".entry k" + body:       "kernel k is defined twice",
		".visible .func f()" + body:                 "a device function",
		".func f()" + body:                          "a device function",
		".visible .visible":                         "where .entry, .const",
		".const .b8 x[100000];":                     "constant memory has 65536",
		".global .b8 x[4]; .global .b8 x[4];":       "x is declared twice",
		".extern .global .b8 x[4];":                 "external variable x",
		".global .b8 x[];":                          "x has no size",
		".shared .b8 x[4] = {1};":                   "x has initial values",
		".global .u64 x = y;":                       "where a number belongs",
		".section .debug {":                         "a section without end",
		".section":                                  "a section without content",
		"/* abc":                                    "a comment without end",
		".file 1 abc":                               "where the path of a source file belongs",
		".target ;":                                 "where a name belongs",
	} {
		_, err := Parse("m", src)
		require.ErrorContains(t, err, msg, src)
		require.True(t, sparse.IsInput(err), src)
	}
}

func TestHarmlessDirectivesAreRead(t *testing.T) {
	_, err := Parse("m", header+`.target sm_70, debug
.file 1 "a.cu", 123, 456
.extern .shared .align 16 .b8 dyn[];
.shared .align 8 .b8 all[16];
.weak .entry k() .maxntid 32 .minnctapersm 2 .maxnreg 40 { .pragma "nounroll"; /* c
*/ .loc 1 2 3
	.reg .b32 tmp; .reg .b64 t2; { .reg .b64 tmp; mov.u64 tmp, all; mov.u64 t2, dyn; } mov.u32 tmp, 0x10; mov.u32 tmp, 7U; ret.uni; }
.section .debug_loc { .b8 1 }
`)
	require.NoError(t, err)
}

// PTX ISA, ld and ld.global.nc: hints that need version 7.4, and hints that need newer
// targets.
func TestHintsOfLoadsNeedTheirVersionAndTarget(t *testing.T) {
	const new, all = "L1::no_allocate", "L1::no_allocate.L2::256B"
	for _, c := range []struct {
		version, target, load string
		ok                    bool
	}{
		{"6.3", "sm_70", "global.cs.nc", true}, {"6.3", "sm_70", "global.nc." + new, false}, {"7.4", "sm_70", "global.nc." + new, true},
		{"7.4", "sm_80", "global.cs.nc." + new, false}, {"7.4", "sm_80", "shared." + new, false}, {"7.4", "sm_75", "global.nc." + all, false},
		{"7.4", "sm_80", "global.nc." + all, true}, {"9.0", "sm_90", "global.nc." + all, true}, {"6.3", "sm_80", "global.nc.L2::64B", false},
		{"7.4", "sm_75", "global.nc.L2::64B", true}, {"7.4", "sm_80", "global.nc.L2::256B.L1::no_allocate", false},
	} {
		text := strings.NewReplacer(".version 6.3", ".version "+c.version, "sm_70", c.target).Replace(textOf(1, "ld."+c.load+".v2.f64 {%fd0, %fd1}, [%rd0]; ret;"))
		_, err := Parse("m", text)
		require.Equal(t, c.ok, err == nil, "%v %v", c, err)
	}
}

func TestDynamicSharedMemoryLiesBehindTheStaticOne(t *testing.T) {
	mod, err := Parse("m", header+`.extern .shared .align 16 .b8 dyn[];
.shared .align 8 .b8 all[20];
.entry k(.param .u64 p) {
	.reg .b64 %rd<9>; .shared .align 4 .b8 own[4];
	ld.param.u64 %rd0, [p]; mov.u64 %rd1, own; mov.u64 %rd2, all; mov.u64 %rd3, dyn;
	st.global.v2.u64 [%rd0], {%rd1, %rd2}; st.global.u64 [%rd0+16], %rd3;
	st.shared.u64 [dyn+24], 1; ret; }`)
	require.NoError(t, err)
	k, err := mod.Kernel("k")
	require.NoError(t, err)
	require.Equal(t, int64(28), k.StaticShared())
	m := NewMemory(0)
	out := upload(t, m, "out", make([]int64, 3))
	_, err = k.Launch(m, Launch{Shared: 32}, out)
	require.NoError(t, err)
	require.Equal(t, []int64{0, 8, 32}, download[int64](t, m, out, 3))
	_, err = k.Launch(m, Launch{Shared: 31}, out)
	faultOf(t, err, "offset 56 of shared memory, which has 63")
}

func TestHostileTextIsRefusedAtOnce(t *testing.T) {
	start := time.Now()
	for _, src := range []string{
		".global .b8 x[1099511627776]; .entry k() { .reg .b64 %r<2147483647>; mov.u64 %r2147483646, x; ret; }",
		".entry k() { " + strings.Repeat("bra $l; ", 1<<16) + "$l: }",
		".entry k() { .reg .pred %p; " + loops(2000) + " }",
	} {
		m, err := Parse("m", src)
		if err != nil {
			require.True(t, sparse.IsInput(err))
			continue
		}
		k, err := m.Kernel("k")
		require.NoError(t, err)
		_, err = k.Launch(NewMemory(1<<20), Launch{MaxInstructions: 1000})
		var f *Fault
		require.True(t, err == nil || errors.Is(err, ErrOutOfMemory) || errors.As(err, &f), "%v", err)
	}
	require.Less(t, time.Since(start), 5*time.Second)
}

// loops returns n nested loops, the worst case for the order of blocks.
func loops(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("$l" + strings.Repeat("i", i%7) + string(rune('a'+i%26)) + strconv.Itoa(i) + ": ")
	}
	for i := n - 1; i >= 0; i-- {
		b.WriteString("@%p bra $l" + strings.Repeat("i", i%7) + string(rune('a'+i%26)) + strconv.Itoa(i) + "; ")
	}
	return b.String() + "trap;"
}

func FuzzParse(f *testing.F) {
	for _, family := range []string{"merge", "carries"} {
		text, err := cuda.PTX(family)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add(textOf(1, "$l: @%p1 bra $l; ld.global.v2.f64 {%fd0, _}, [%rd0+8]; mov.b64 {%r1, %r2}, %rd1; bar.sync 0;"))
	f.Fuzz(func(t *testing.T, src string) {
		m, err := Parse("fuzz", src)
		if err != nil {
			if !sparse.IsInput(err) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		for _, name := range m.Kernels() {
			k, err := m.Kernel(name)
			if err != nil {
				t.Fatal(err)
			}
			args := make([]any, len(k.params))
			for i, p := range k.params {
				args[i] = make([]byte, p.size)
				if !p.array {
					args[i] = map[typ]any{{floatKind, 4}: float32(1), {floatKind, 8}: 1.0}[p.typ]
					if args[i] == nil {
						args[i] = map[int64]any{4: int32(3), 8: int64(3)}[p.size]
					}
				}
			}
			_, _ = k.Launch(NewMemory(1<<20), Launch{Block: Dim{X: 40}, MaxInstructions: 2000}, args...)
		}
	})
}
