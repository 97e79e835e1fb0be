package ptx

import (
	"fmt"
	"strings"

	"github.com/msrep-go/msrep/kernels"
)

// Fault describes an error of a kernel. The launch stops at the fault, and memory keeps
// its contents at that point.
type Fault struct {
	Kernel string
	Line   int    // line of the PTX text
	Source string // "file:line" where the text has .loc, else ""
	Text   string // name of the PTX text
	Block  [3]int64
	Thread [3]int64
	Addr   uint64 // address of the access, if the fault has one
	Msg    string
	access bool // an access outside of memory, to read-only memory, or to unwritten bytes
}

// Is makes a fault of an invalid memory access match kernels.ErrBadAccess.
func (f *Fault) Is(target error) bool { return f.access && target == kernels.ErrBadAccess }

func (f *Fault) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "kernel %s, %s:%d", f.Kernel, f.Text, f.Line)
	if f.Source != "" {
		fmt.Fprintf(&b, " (%s)", f.Source)
	}
	fmt.Fprintf(&b, ", block %s, thread %s: %s", coordinates(f.Block), coordinates(f.Thread), f.Msg)
	return b.String()
}

// coordinates formats coordinates without trailing zeros, but with at least one number.
func coordinates(c [3]int64) string {
	switch {
	case c[2] != 0:
		return fmt.Sprintf("(%d,%d,%d)", c[0], c[1], c[2])
	case c[1] != 0:
		return fmt.Sprintf("(%d,%d)", c[0], c[1])
	}
	return fmt.Sprint(c[0])
}

// fault returns the error of a lane.
func (w *warp) fault(in *instr, lane int, addr uint64, format string, args ...any) *Fault {
	wk := w.worker
	f := &Fault{
		Kernel: wk.k.name, Line: int(in.line), Text: wk.k.mod.name,
		Block: wk.block, Thread: w.thread(lane), Addr: addr, Msg: fmt.Sprintf(format, args...),
	}
	if file, ok := wk.k.mod.files[uint64(in.source.file)]; ok && in.source.line > 0 {
		f.Source = fmt.Sprintf("%s:%d", file, in.source.line)
	}
	return f
}

// badAccess returns the error of a lane that makes an invalid memory access.
func (w *warp) badAccess(in *instr, lane int, addr uint64, format string, args ...any) error {
	f := w.fault(in, lane, addr, format, args...)
	f.access = true
	return f
}

// lanes formats a mask as ranges: "0-15, 31".
func lanes(m uint32) string {
	var parts []string
	for i := 0; i < warpSize; i++ {
		if m>>i&1 == 0 {
			continue
		}
		j := i
		for j+1 < warpSize && m>>(j+1)&1 == 1 {
			j++
		}
		if i == j {
			parts = append(parts, fmt.Sprint(i))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", i, j))
		}
		i = j
	}
	return strings.Join(parts, ", ")
}
