package msrep

import (
	"fmt"
	"time"

	"github.com/msrep-go/msrep/internal/crash"
	"github.com/msrep-go/msrep/kernels"
)

// Event is an operation on a device, or a call or phase of a plan. Config.Trace receives all events.
//
// Name is
//   - "write" or "read": a copy from or to host memory; "copy": a copy between buffers of devices;
//   - the name of a kernel in package kernels, such as "major-product-packed" or "cg-step";
//   - "sync": a wait for a device;
//   - "plan: " and a phase of NewPlan (PlanTiming), or "spmv", "spmm", "apply", "retune": the whole phase or call.
//     These events have no device. The copies that a device makes to pack its part have no events of their own: they
//     are included in "plan: pack". A part in the form streamed stays in host memory; the copies that a product makes
//     of it are included in its kernel.
//
// On CPU devices and simulated GPUs, the event follows the end of the operation. Real GPUs work asynchronously: there
// Duration is the time to queue the operation, and the next "sync" includes the operation itself.
type Event struct {
	Name     string
	Device   string // kernels.Info.ID; "" for a call or phase
	Bytes    int64  // bytes copied; 0 for other operations
	Start    time.Time
	Duration time.Duration
	Err      error // nil if the operation succeeded
}

// listener returns a function that calls trace with an event and returns the error of the event. A panic in trace
// becomes the error of an event without one, so that the call fails and frees its memory.
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

// traced returns a stream that reports its operations to Config.Trace.
func (s *System) traced(d kernels.Device, stream kernels.Stream) kernels.Stream {
	return &tracedStream{Stream: stream, device: d.Info().ID, trace: s.trace}
}

// traceCall starts the event of a call. The function that it returns ends and reports the event.
func (p *Plan[V]) traceCall(name string, err *error) func() {
	if p.sys == nil || p.sys.trace == nil || p.opt.nested { // p.sys is nil if NewPlan did not make p
		return func() {}
	}
	start := time.Now()
	return func() { *err = p.sys.trace(Event{Name: name, Start: start, Duration: time.Since(start), Err: *err}) }
}

// tracedStream is a stream that reports each operation.
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
