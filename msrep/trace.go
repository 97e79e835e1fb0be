package msrep

import (
	"fmt"
	"time"

	"github.com/msrep-go/msrep/internal/crash"
	"github.com/msrep-go/msrep/kernels"
)

// Event is something that took time on a device or in a call. Config.Trace is called
// with each.
//
// Name is
//   - "write", "read": a copy from or to host memory, "copy": between buffers of devices;
//   - the name of a kernel as in package kernels: "major-product-packed", "cg-step";
//   - "sync": waiting for a device;
//   - "plan: " and a phase of NewPlan (PlanTiming), "spmv", "spmm", "apply": the call
//     as a whole. They have no device. What devices copy to bring parts into forms of
//     their own is in "plan: pack" only, and for parts that are streamed in the kernel.
//
// Copies and kernels are over when an event of a CPU device or a simulated GPU comes.
// Real GPUs work later: there a Duration is what it took to hand the work over, and
// the work itself shows in the next "sync".
type Event struct {
	Name     string
	Device   string // as in kernels.Info; "" for a call as a whole
	Bytes    int64  // that were copied; 0 for others
	Start    time.Time
	Duration time.Duration
	Err      error // of the call; nil when it went well
}

// listener calls trace with an event and gives the error of the event. A panic of trace becomes that
// error where there is none: the call that the event tells of has failed, and what frees memory
// after a call that failed frees it now.
func listener(trace func(Event)) func(Event) error {
	if trace == nil {
		return nil
	}
	return func(e Event) (err error) {
		defer func() {
			if r := recover(); r != nil && e.Err == nil {
				e.Err = fmt.Errorf("trace: panicked: %w", crash.Recovered(r))
			}
			err = e.Err
		}()
		trace(e)
		return nil
	}
}

// traced lets the listener of the system hear what is put on a stream.
func (s *System) traced(d kernels.Device, stream kernels.Stream) kernels.Stream {
	if s.trace == nil || stream == nil {
		return stream
	}
	return &tracedStream{Stream: stream, device: d.Info().ID, trace: s.trace}
}

// span reports a call as a whole: it begins now and ends when the function that it
// gives is called.
func (p *Plan[V]) span(name string, err *error) func() {
	if p.sys == nil || p.sys.trace == nil || p.opt.ofPlan { // nil: NewPlan did not make it
		return func() {}
	}
	start := time.Now()
	return func() { *err = p.sys.trace(Event{Name: name, Start: start, Duration: time.Since(start), Err: *err}) }
}

// tracedStream reports what is put on a stream.
type tracedStream struct {
	kernels.Stream
	device string
	trace  func(Event) error
}

func (s *tracedStream) report(name string, bytes int64, f func() error) error {
	start := time.Now()
	err := f()
	return s.trace(Event{Name: name, Device: s.device, Bytes: bytes, Start: start, Duration: time.Since(start), Err: err})
}

func (s *tracedStream) Write(dst kernels.Buffer, off int64, src []byte) error {
	return s.report("write", int64(len(src)), func() error { return s.Stream.Write(dst, off, src) })
}

func (s *tracedStream) Read(dst []byte, src kernels.Buffer, off int64) error {
	return s.report("read", int64(len(dst)), func() error { return s.Stream.Read(dst, src, off) })
}

func (s *tracedStream) Copy(dst kernels.Buffer, dstOff int64, src kernels.Buffer, srcOff, bytes int64) error {
	return s.report("copy", bytes, func() error { return s.Stream.Copy(dst, dstOff, src, srcOff, bytes) })
}

func (s *tracedStream) Launch(op kernels.Operation) error {
	return s.report(op.Name(), 0, func() error { return s.Stream.Launch(op) })
}

func (s *tracedStream) Sync() error { return s.report("sync", 0, s.Stream.Sync) }
