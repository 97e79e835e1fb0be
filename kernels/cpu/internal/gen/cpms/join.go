package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

// join generates the kernel that reads the first k of segments segments.
func join(l lanes.Lanes, segments, k int) {
	fn := fmt.Sprintf("join%dof%d%s", k, segments, l.Suffix())
	lanes.Func(fn, "func(dst *float64, src *byte, step, n int)",
		"computes, for n values, a multiple of 8,",
		"",
		"\tfor i := range n {",
		"\t\tdst[i] = join(src[i], (src+step)[i], (src+2*step)[i], ...)",
		"\t}",
		"",
		"from the first segments of each value. Segments of one kind are contiguous; the next kind begins step bytes later.")
	v := values{size: 8 / segments, read: k}
	dst := Load(Param("dst"), GP64())
	n := Load(Param("n"), GP64())
	step := Load(Param("step"), GP64())
	seg := v.places(Load(Param("src"), GP64()), step)
	i := GP64()
	XORQ(i, i)
	Label("next")
	for done := 0; done < 8; done += l.Count() {
		l.Store(v.load(l, seg, i, done).(VecVirtual), Mem{Base: dst, Index: i, Scale: 8, Disp: 8 * done})
	}
	v.prefetch(seg, i)
	ADDQ(Imm(8), i)
	CMPQ(i, n)
	JLT(LabelRef("next"))
	VZEROUPPER()
	RET()
}
