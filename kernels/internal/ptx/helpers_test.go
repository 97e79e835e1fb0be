package ptx

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/mem"
)

const header = ".version 6.3\n.target sm_70\n.address_size 64\n"

// upload copies a slice to new device memory.
func upload[T mem.Elem](t require.TestingT, m *Memory, name string, v []T) Addr {
	a, err := m.Alloc(name, int64(len(v))*mem.Size[T]())
	require.NoError(t, err)
	require.NoError(t, m.Write(a, mem.Bytes(v)))
	return a
}

func download[T mem.Elem](t require.TestingT, m *Memory, a Addr, n int) []T {
	v := make([]T, n)
	require.NoError(t, m.Read(mem.Bytes(v), a))
	return v
}

// kernelOf parses a kernel k with a body. The body may use registers %p0-%p9, %r0-%r99,
// %rd0-%rd99, %h0-%h9, %f0-%f9 and %fd0-%fd9. %r0 holds the thread's number; %rd0, %rd1
// and so on hold the parameters.
func kernelOf(t require.TestingT, params int, body string) *Kernel {
	m, err := Parse("test.ptx", textOf(params, body))
	require.NoError(t, err)
	k, err := m.Kernel("k")
	require.NoError(t, err)
	return k
}

// bodyLine is the line of the first line of a body in the text.
const bodyLine = 6

func textOf(params int, body string) string {
	var list []string
	load := ""
	for i := range params {
		list = append(list, fmt.Sprintf(".param .u64 p%d", i))
		load += fmt.Sprintf("ld.param.u64 %%rd%d, [p%d]; ", i, i)
	}
	return header + ".visible .entry k(" + strings.Join(list, ", ") + ") {\n" +
		".reg .pred %p<10>; .reg .b16 %h<10>; .reg .b32 %r<100>; .reg .b64 %rd<100>; .reg .f32 %f<10>; .reg .f64 %fd<10>; " +
		"mov.u32 %r0, %tid.x; " + load + "\n" + body + "\n}\n"
}

// try launches one block of a body and returns its error.
func try(t require.TestingT, threads int, body string, m *Memory, args ...any) (Counters, error) {
	return kernelOf(t, len(args), body).Launch(m, Launch{Block: Dim{X: threads}}, args...)
}

// faultOf returns err as a *Fault.
func faultOf(t *testing.T, err error, msg string) *Fault {
	t.Helper()
	require.ErrorContains(t, err, msg)
	var f *Fault
	require.ErrorAs(t, err, &f)
	return f
}

// odd holds special values, at which arithmetic is most likely to be wrong.
var odd = []uint64{
	0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 1 << 31, 1<<31 - 1, 1<<32 - 1, 1 << 32, 1 << 63, 1<<63 - 1,
	math.MaxUint64, 0x3ff0000000000000, 0x3f800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x00000001, 0x00400000, 0x80000001, 0x4f000000, 0xcf000001,
	0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0x000fffffffffffff, 0x43e0000000000000, 0xc3e0000000000000, 0x41efffffffe00000,
	0x3fe0000000000000, 0xbff8000000000000, 0x4000000000000000, 0x3f000000, 0xbfc00000, 0x40200000,
}

func value() *rapid.Generator[uint64] {
	return rapid.OneOf(rapid.SampledFrom(odd), rapid.Uint64(), rapid.Map(rapid.Float64(), math.Float64bits),
		rapid.Map(rapid.Float32(), func(f float32) uint64 { return uint64(math.Float32bits(f)) }),
		rapid.Map(rapid.IntRange(-70, 70), func(i int) uint64 { return uint64(int64(i)) }))
}

// evaluate runs an instruction in 32 lanes and returns the results, dst bytes wide.
// Operands have 64 bits, cut to sizes.
func evaluate(t require.TestingT, op string, dst int, sizes []int, in [][]uint64) []uint64 {
	m := NewMemory(0)
	names := map[int]string{2: "%%h%d", 4: "%%r%d", 8: "%%rd%d"}
	var b strings.Builder
	args := []any{upload(t, m, "out", make([]int64, 32))}
	fmt.Fprintf(&b, "shl.b32 %%r99, %%r0, 3; cvt.u64.u32 %%rd99, %%r99;\n")
	list := []string{fmt.Sprintf(names[dst], 9)}
	for i, size := range sizes {
		words := make([]int64, 32)
		for l := range words {
			words[l] = int64(in[i][l])
		}
		args = append(args, upload(t, m, "in", words))
		fmt.Fprintf(&b, "add.s64 %%rd98, %%rd%d, %%rd99; ld.global.b%d "+names[size]+", [%%rd98];\n", i+1, 8*size, i+5)
		list = append(list, fmt.Sprintf(names[size], i+5))
	}
	fmt.Fprintf(&b, "%s %s;\n", op, strings.Join(list, ", "))
	fmt.Fprintf(&b, "add.s64 %%rd98, %%rd0, %%rd99; st.global.b%d [%%rd98], "+names[dst]+"; ret;", 8*dst, 9)
	_, err := try(t, 32, b.String(), m, args...)
	require.NoError(t, err, op)
	out := make([]uint64, 32)
	for l, v := range download[int64](t, m, args[0].(Addr), 32) {
		out[l] = uint64(v)
	}
	return out
}
