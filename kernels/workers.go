package kernels

import "github.com/msrep-go/msrep/numa"

// Workers is a device that runs host code on its own workers, such as a CPU device; pinned workers run on its node.
type Workers interface {
	Info() Info
	// Run calls f(0) ... f(n-1) and waits. n is at most Info().Threads. A panic of f is returned as an error.
	Run(n int, f func(i int)) error
}

// Threaded is a device that one thread of the host manages, such as a GPU.
type Threaded interface {
	// OnThread runs f on this thread and waits.
	OnThread(f func()) error
}

// Scratcher is a device that keeps memory beside its buffers, for results of its workers or for copies.
type Scratcher interface {
	// Scratch returns the number of bytes of this memory.
	Scratch() int64
}

// Stager is a device that copies by way of pinned memory of the host.
type Stager interface {
	// Staging returns the bytes of this memory, and the nodes of its pages.
	Staging() (bytes int64, pages numa.PageCount)
}
