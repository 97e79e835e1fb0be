package ptx

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
)

func TestMemoryIsBoundedAndNamesWhatItRefuses(t *testing.T) {
	m := NewMemory(1000)
	a, err := m.Alloc("a", 600)
	require.NoError(t, err)
	_, err = m.Alloc("b", 401)
	require.ErrorIs(t, err, ErrOutOfMemory)
	require.ErrorContains(t, err, "401 bytes, 600 of 1000 are in use")
	_, err = m.Alloc("c", 1<<62)
	require.ErrorIs(t, err, ErrOutOfMemory)
	_, err = m.Alloc("c", -1)
	require.ErrorIs(t, err, ErrOutOfMemory)
	require.Equal(t, int64(600), m.InUse())
	require.ErrorIs(t, m.Free(a+8), ErrAddress)
	require.NoError(t, m.Free(a))
	require.Zero(t, m.InUse())
	require.ErrorIs(t, m.Free(a), ErrAddress)
	b, err := m.Alloc("b", 1000)
	require.NoError(t, err)
	require.NotEqual(t, a, b, "addresses are not used again")
}

func TestMemoryThatTheHostLacksIsRefused(t *testing.T) {
	_, err := NewMemory(0).Alloc("a", 1<<45) // 32 TiB
	require.ErrorIs(t, err, ErrOutOfMemory)
	require.ErrorContains(t, err, "of the host: 35184372088832 bytes take 39582418599936 there")
}

func TestALaunchWithoutHostMemoryForItsChecksIsRefused(t *testing.T) {
	const n = 3 << 20
	m := NewMemory(0)
	a := upload(t, m, "a", make([]int32, n/4))
	touch := `mov.u32 %r1, 0; bra.uni check;
again: add.u64 %rd2, %rd0, %rd1; ld.global.u32 %r2, [%rd2]; add.u32 %r1, %r1, 4096; check: cvt.u64.u32 %rd1, %r1; setp.lt.u32 %p0, %r1, 3145728; @%p0 bra again; ret;`
	_, err := try(t, 1, touch, m, a)
	require.NoError(t, err)
	m = NewMemory(0)
	a = upload(t, m, "a", make([]int32, n/4))
	end := mem.SetAvailable(0)
	_, err = try(t, 1, touch, m, a)
	end()
	require.ErrorIs(t, err, ErrOutOfMemory)
	require.ErrorContains(t, err, "of the host: to find races in a, of 3145728 bytes, takes six times as many")

	m = NewMemory(0)
	_, err = m.Alloc("large", 128<<20)
	require.NoError(t, err)
	end = mem.SetAvailable(0)
	_, err = try(t, 1, "ret;", m)
	end()
	require.ErrorIs(t, err, ErrOutOfMemory)
	require.ErrorContains(t, err, "of the host: to count the traffic of large takes 16777220 bytes there, 0 are available")
}

func TestCopiesStayInsideAllocations(t *testing.T) {
	m := NewMemory(0)
	a := upload(t, m, "a", []int32{1, 2, 3})
	b := upload(t, m, "b", []int32{4, 5, 6})
	require.Less(t, uint64(a)+12+guard-1, uint64(b), "a gap lies in between")
	require.NoError(t, m.Copy(a+4, m, b, 8))
	require.Equal(t, []int32{1, 4, 5}, download[int32](t, m, a, 3))
	require.NoError(t, m.Copy(a, m, a+4, 8), "overlapping")
	require.Equal(t, []int32{4, 5, 5}, download[int32](t, m, a, 3))
	require.NoError(t, m.Zero(a+4, 4))
	require.Equal(t, []int32{4, 0, 5}, download[int32](t, m, a, 3))
	for _, err := range []error{
		m.Write(a+4, make([]byte, 9)), m.Read(make([]byte, 1), a+12), m.Zero(a, 13), m.Copy(a, m, b, 13), m.Copy(a, m, b, -1),
		m.Write(0, []byte{1}), m.Read(make([]byte, 1), ^Addr(0)),
	} {
		require.ErrorIs(t, err, ErrAddress)
	}
	require.NoError(t, m.Free(a))
	require.ErrorContains(t, m.Write(a, []byte{1}), "which was freed")
}

func TestCopiesKeepUnwrittenBytesUnwritten(t *testing.T) {
	m, other := NewMemory(0), NewMemory(0)
	src, err := other.Alloc("src", 256)
	require.NoError(t, err)
	require.NoError(t, other.Write(src+8, make([]byte, 8)))
	dst, err := m.Alloc("dst", 256)
	require.NoError(t, err)
	require.NoError(t, m.Copy(dst+64, other, src, 128))
	_, err = try(t, 1, "ld.global.u64 %rd1, [%rd0+72]; ret;", m, dst)
	require.NoError(t, err)
	_, err = try(t, 1, "ld.global.u64 %rd1, [%rd0+80]; ret;", m, dst)
	faultOf(t, err, "load of 8 bytes at offset 80 of dst, before they are written")
	require.NoError(t, m.Copy(dst, other, src+4, 12))
	_, err = try(t, 1, "ld.global.u64 %rd1, [%rd0]; ret;", m, dst)
	faultOf(t, err, "load of 8 bytes at offset 0 of dst, before they are written")
	require.NoError(t, m.Write(dst+129, make([]byte, 3)))
	_, err = try(t, 1, "ld.global.u8 %r1, [%rd0+131]; ld.global.u8 %r1, [%rd0+132]; ret;", m, dst)
	faultOf(t, err, "load of 1 bytes at offset 132 of dst, before they are written")
}

func TestAKernelReadsTheMemoryOfPeersAndDoesNotWriteIt(t *testing.T) {
	m, peer, other := NewMemory(0), NewMemory(0), NewMemory(0)
	x, y, z := upload(t, peer, "x", []uint64{1, 2, 3}), upload(t, m, "y", []uint64{0, 0}), upload(t, other, "z", []uint64{5})
	fresh, err := peer.Alloc("fresh", 8)
	require.NoError(t, err)
	run := func(body string) (Counters, error) {
		return kernelOf(t, 4, body).Launch(m, Launch{Peers: []*Memory{other, peer}}, x, y, z, fresh)
	}
	c, err := run("ld.global.u64 %rd4, [%rd0+8]; ld.global.nc.u64 %rd5, [%rd2]; st.global.u64 [%rd1], %rd4; st.global.u64 [%rd1+8], %rd5; ret;")
	require.NoError(t, err)
	require.Equal(t, []uint64{2, 5}, download[uint64](t, m, y, 2))
	require.Len(t, c.Buffers, 3)
	for i, want := range []BufferTraffic{{Name: "y", Peer: 0}, {Name: "z", Peer: 1}, {Name: "x", Peer: 2}} {
		require.Equal(t, want, BufferTraffic{Name: c.Buffers[i].Name, Peer: c.Buffers[i].Peer})
	}
	require.Equal(t, Traffic{Loads: 1, LoadSectors: 1, LoadPieces: 1}, c.Buffer("x").Traffic)
	for body, msg := range map[string]string{
		"st.global.u64 [%rd0], %rd0; ret;":            "store of 8 bytes at offset 0 of x, which is memory of another device",
		"atom.global.add.u64 %rd4, [%rd0+8], 1; ret;": "atomic of 8 bytes at offset 8 of x, which is memory of another device",
		"ld.global.u64 %rd4, [%rd0+24]; ret;":         "load of 8 bytes at offset 24 of x, which has 24",
		"ld.global.u64 %rd4, [%rd3]; ret;":            "of fresh, before they are written",
		"ld.global.u64 %rd4, [%rd1+16]; ret;":         "load of 8 bytes at offset 16 of y, which has 16",
	} {
		_, err := run(body)
		require.ErrorIs(t, faultOf(t, err, msg), kernels.ErrBadAccess)
	}
	_, err = try(t, 1, "ld.global.u64 %rd1, [%rd0]; ret;", m, x)
	faultOf(t, err, "where no memory is allocated")
	require.NoError(t, peer.Free(x))
	_, err = run("ld.global.u64 %rd4, [%rd0]; ret;")
	faultOf(t, err, "load of 8 bytes at offset 0 of x, which was freed")
}

// A block of the owner and one of a peer have the same number, and read the same sector.
func TestLaunchesOfSeveralDevicesOnOneMemoryAreToldApart(t *testing.T) {
	m, peer := NewMemory(0), NewMemory(0)
	x := upload(t, peer, "x", []uint64{1, 2, 3, 4})
	own := func(body string) (Counters, error) { return kernelOf(t, 1, body).Launch(peer, Launch{}, x) }
	for range 3 {
		_, err := own("st.global.u64 [%rd0], 7; ret;")
		require.NoError(t, err)
		c, err := kernelOf(t, 1, "ld.global.u64 %rd1, [%rd0]; ret;").Launch(m, Launch{Grid: Dim{X: 2}, Peers: []*Memory{peer, peer}}, x)
		require.NoError(t, err, "no race with the store of another launch")
		require.Equal(t, int64(2), c.Buffer("x").DistinctSectors)
		c, err = own("ld.global.u64 %rd1, [%rd0+8]; ret;")
		require.NoError(t, err)
		require.Equal(t, int64(1), c.Buffer("x").DistinctSectors)
	}
}

// Each body makes an invalid access to the buffer at %rd0: 8 numbers of 8 bytes, of
// which all but the last are written.
func TestBadAccessesAreFaultsThatNameTheAccess(t *testing.T) {
	for _, c := range []struct{ body, msg string }{
		{"ld.global.u64 %rd1, [%rd0+64];", "load of 8 bytes at offset 64 of buffer, which has 64"},
		{"ld.global.u32 %r1, [%rd0+-4];", "where no memory is allocated"},
		{"st.global.u64 [%rd0+4096], %rd0;", "store of 8 bytes at offset 4096 of buffer, which has 64"},
		{"ld.global.u64 %rd1, [%rd0+4];", "which is not a multiple of 8"},
		{"ld.global.v2.f64 {%fd0, %fd1}, [%rd0+8];", "load of 16 bytes"},
		{"ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd0+8];", "which is not a multiple of 16"},
		{"ld.global.u64 %rd1, [%rd0+56];", "load of 8 bytes at offset 56 of buffer, before they are written"},
		{"ld.global.v2.u64 {%rd1, %rd2}, [%rd0+48];", "before they are written"},
		{"atom.global.add.u64 %rd1, [%rd0+56], 1;", "atomic on 8 bytes at offset 56 of buffer, before they are written"},
		{"atom.global.add.u64 %rd1, [%rd0+64], 1;", "atomic of 8 bytes at offset 64 of buffer"},
		{"st.global.u8 [0], %h0;", "store of 1 bytes at 0x0, where no memory is allocated"},
		{"ld.u64 %rd1, [%rd0+64];", "load of 8 bytes at offset 64"},
		{".shared .align 8 .b8 s[64]; ld.shared.u64 %rd1, [s+8];", "load of 8 bytes at offset 8 of shared memory, before they are written"},
		{".shared .align 8 .b8 s[64]; st.shared.u64 [s+64], 1;", "offset 64 of shared memory, which has 64"},
		{".shared .align 8 .b8 s[64]; mov.u64 %rd1, s; cvta.shared.u64 %rd2, %rd1; st.u32 [%rd2+60], 1; st.u64 [%rd2+60], 1;", "not a multiple of 8"},
		{".local .align 8 .b8 l[16]; ld.local.u32 %r1, [l+12];", "of local memory, before they are written"},
		{".local .align 8 .b8 l[16]; st.local.u32 [l+16], 1;", "of local memory, which has 16"},
		{"ld.param.u64 %rd1, [p0+8];", "of the parameters, which have 8"},
		{"ld.param.u32 %r1, [p0+2];", "of the parameters"},
		{"trap;", "trap"},
	} {
		m := NewMemory(0)
		a, err := m.Alloc("buffer", 64)
		require.NoError(t, err)
		require.NoError(t, m.Write(a, make([]byte, 56)))
		_, err = try(t, 1, c.body+"\nret;", m, a)
		f := faultOf(t, err, c.msg)
		require.Equal(t, bodyLine, f.Line, c.body)
		require.Equal(t, "k", f.Kernel)
		require.Equal(t, c.body != "trap;", errors.Is(err, kernels.ErrBadAccess), c.body)
	}
}

func TestFaultsNameBlockThreadAndSource(t *testing.T) {
	src := header + `.file 1 "kernel.cu"
.visible .entry k(.param .u64 p) {
	.reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %q;
	.loc 1 17 3
	ld.param.u64 %rd0, [p];
	.loc 1 42 5, function_name $L__info_string0, inlined_at 1 17 3
	mov.u32 %r1, %ctaid.y;
	setp.ne.u32 %q, %r1, 2;
	@%q bra $end;
	mov.u32 %r2, %tid.z;
	setp.ne.u32 %q, %r2, 1;
	@%q bra $end;
	ld.global.u32 %r3, [%rd0+4];
$end:
	ret;
}`
	mod, err := Parse("a.ptx", src)
	require.NoError(t, err)
	k, err := mod.Kernel("k")
	require.NoError(t, err)
	m := NewMemory(0)
	_, err = k.Launch(m, Launch{Grid: Dim{2, 3, 1}, Block: Dim{4, 2, 2}}, upload(t, m, "buf", []int32{1}))
	require.EqualError(t, err, "kernel k, a.ptx:16 (kernel.cu:42), block (0,2), thread (0,0,1): load of 4 bytes at offset 4 of buf, which has 4")
}

func TestConstantMemoryCannotBeWritten(t *testing.T) {
	src := header + `.visible .const .align 4 .b8 table[8] = {1, 0, 0, 0, 2};
.visible .global .align 4 .u32 state = 7;
.visible .entry good(.param .u64 p) {
	.reg .b32 %r<4>; .reg .b64 %rd<4>;
	ld.param.u64 %rd0, [p];
	ld.const.u32 %r0, [table];
	mov.u64 %rd1, table;
	ld.const.u32 %r1, [%rd1+4];
	ld.global.u32 %r2, [state];
	add.s32 %r2, %r2, 1;
	st.global.u32 [state], %r2;
	st.global.v2.u32 [%rd0], {%r0, %r1};
	st.global.u32 [%rd0+8], %r2;
}
.visible .entry bad() {
	.reg .b64 %rd<4>;
	mov.u64 %rd1, table+4;
	st.global.u32 [%rd1], 1;
}`
	mod, err := Parse("a.ptx", src)
	require.NoError(t, err)
	m := NewMemory(0)
	out := upload(t, m, "out", make([]int32, 3))
	good, err := mod.Kernel("good")
	require.NoError(t, err)
	for turn := range int32(2) {
		_, err = good.Launch(m, Launch{}, out)
		require.NoError(t, err)
		require.Equal(t, []int32{1, 2, 8 + turn}, download[int32](t, m, out, 3), "a variable lives on between launches")
	}
	require.Equal(t, int64(12), m.InUse(), "variables are not the caller's")
	bad, err := mod.Kernel("bad")
	require.NoError(t, err)
	_, err = bad.Launch(m, Launch{})
	faultOf(t, err, "offset 4 of table, which is constant")
}

func TestLoadsWidenAndVectorsAreInOrder(t *testing.T) {
	m := NewMemory(0)
	in := upload(t, m, "in", []int32{-2, 5, 6, 7})
	out := upload(t, m, "out", make([]int64, 8))
	_, err := try(t, 1, `
		ld.global.s32 %rd2, [%rd0]; st.global.u64 [%rd1], %rd2;
		ld.global.u32 %rd2, [%rd0]; st.global.u64 [%rd1+8], %rd2;
		ld.global.s8 %r2, [%rd0]; cvt.u64.u32 %rd2, %r2; st.global.u64 [%rd1+16], %rd2;
		ld.global.u8 %h2, [%rd0]; cvt.u64.u16 %rd2, %h2; st.global.u64 [%rd1+24], %rd2;
		ld.global.nc.v4.u32 {%r1, %r2, %r3, _}, [%rd0]; st.global.v2.u32 [%rd1+32], {%r3, %r2};
		ld.global.v2.u64 {%rd3, %rd4}, [%rd0]; mov.b64 {_, %r5}, %rd4; mov.b64 %rd5, {%r5, %r1}; st.global.u64 [%rd1+40], %rd5;
		mov.b32 {%h1, %h2}, %r5; mov.b32 %r6, {%h2, %h1}; st.global.u32 [%rd1+48], %r6;
		st.global.u8 [%rd1+52], %r1; st.global.u16 [%rd1+54], %h1;
		ret;`, m, in, out)
	require.NoError(t, err)
	got := download[int64](t, m, out, 7)
	require.Equal(t, []int64{-2, 0xfffffffe, 0xfffffffe, 0xfe, 5<<32 | 6, -2<<32 | 7, 7<<48 | 0xfe<<32 | 7<<16}, got)
}

func TestArgumentsMustMatchTheParameters(t *testing.T) {
	mod, err := Parse("a.ptx", header+`.visible .entry k(.param .u32 a, .param .f64 b, .param .align 8 .b8 c[12], .param .f32 d, .param .u64 .ptr .global .align 1 e) .maxntid 64, 1, 1
{ ret; }`)
	require.NoError(t, err)
	k, err := mod.Kernel("k")
	require.NoError(t, err)
	good := []any{int32(1), 2.0, make([]byte, 12), float32(1), Addr(0)}
	m := NewMemory(0)
	_, err = k.Launch(m, Launch{}, good...)
	require.NoError(t, err)
	for i, bad := range [][]any{
		{int64(1), float32(1), 7}, {int64(2), float32(2)}, {make([]byte, 11), int64(1)}, {2.0, uint32(1)}, {int32(1), 1.0, "x", 1},
	} {
		for _, v := range bad {
			args := append([]any(nil), good...)
			args[i] = v
			_, err = k.Launch(m, Launch{}, args...)
			require.ErrorContains(t, err, "argument")
		}
	}
	_, err = k.Launch(m, Launch{}, good[:4]...)
	require.ErrorContains(t, err, "4 arguments, it has 5 parameters")
	for _, l := range []Launch{
		{Block: Dim{X: 65}}, {Block: Dim{X: 1025}}, {Block: Dim{1, 1, 65}}, {Grid: Dim{Y: 70000}}, {Grid: Dim{Z: 70000}}, {Grid: Dim{X: -1}}, {Workers: -1},
		{Grid: Dim{1 << 20, 1 << 12, 1}}, {Shared: -1}, {Shared: 1 << 20}, {Watch: "$nowhere"}, {Grid: Dim{X: 1 << 30, Y: 2, Z: 2}},
	} {
		_, err = k.Launch(m, l, good...)
		require.Error(t, err)
		var f *Fault
		require.False(t, errors.As(err, &f))
	}
	_, err = mod.Kernel("other")
	require.ErrorContains(t, err, `it has no kernel "other"; its kernels are ["k"]`)
}
