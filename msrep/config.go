package msrep

import "github.com/msrep-go/msrep/kernels"

// ErrClosed reports that a System, or one of its Plans or Vectors, was closed before the call. Devices
// return the same error.
var ErrClosed = kernels.ErrClosed

// Config selects the devices of a System. The zero value selects all devices of the machine.
type Config struct {
	// Devices is one of
	//   - "auto" or "": all NVIDIA GPUs that can be used if there are any, otherwise "cpu";
	//   - "cpu": one CPU device for each group of physical cores that share a NUMA node;
	//   - "cpu:N": N CPU devices;
	//   - "cuda": all NVIDIA GPUs that can be used, in an order in which neighbours have fast links;
	//   - "cuda:0,2": the listed GPUs, each of which must open; a GPU that is listed several times gets several devices;
	//   - "cuda:0+0": the same, but each device has its own context, for tests on one GPU of what happens between GPUs;
	//   - "sim:N": N simulated GPUs, which run the GPU kernels in a checking interpreter: for tests, slow. "sim:dgx1"
	//     means 8 and "sim:summit" 6.
	//
	// GPUs need a binary that was built with the tag cuda. If the environment has MSREP_P2P=0, they copy to each other
	// only through the host; see System.Peers.
	Devices string
	// Threads is the total number of CPU threads of all devices; 0 means GOMAXPROCS. Each device has at least one.
	// If GOMAXPROCS is reduced after Open, fewer threads work. If it is increased, open another System to use more.
	Threads int
	// Yield makes the workers of CPU devices sleep at once when they have nothing to do, instead of polling for the next
	// product for up to 100 microseconds. It is for programs with threads of their own that work between products, such as
	// those of OpenMP. Each product then takes some microseconds more, to wake the workers.
	Yield bool
	// Run, unless nil, runs the parts of a product on threads of the program instead of workers of the System. It must
	// call f(0) ... f(n-1), each once, on any threads and best all at the same time, and return when the calls have
	// returned. n is at most Threads. With several devices, Run is called from several goroutines at once. The threads
	// of a pool that polls between two loops, as OpenMP's does, then compute products as well: they and workers would
	// take the CPUs from each other. Run needs CPU devices and NUMA "off", which is the default then.
	Run func(n int, f func(i int))
	// NUMA states whether devices are placed on NUMA nodes; "" means NUMAAuto.
	NUMA NUMA
	// Warn, unless nil, is called with one line of text if placement is on and the operating system refuses it or the
	// devices do not allow it. Products are correct in any case. Warn is called for this at most once in the life of
	// the process, from any goroutine; System.Placement reports the same for each System. Open also calls Warn once for
	// each GPU that "auto" or "cuda" leaves out because it cannot be used. A panic in Warn is ignored.
	Warn func(msg string)
	// Trace, unless nil, is called after each operation on a device and after each phase of a plan or product; see
	// Event. It may be called from several goroutines at once and should return soon. It must not use the plans and
	// vectors of the System: they wait for it. A panic in Trace becomes the error of the call that it reports. A nil
	// Trace costs nothing.
	Trace func(Event)
}

// NUMA states whether the threads and the memory of devices are placed on NUMA nodes.
//
// With placement, each device belongs to a node: the threads of the device run on the CPUs of that node, and its host
// memory is on that node. A plan splits its matrix in two levels, first among the nodes in proportion to their number
// of devices, then among the devices of each node (section 4.2 of the MSREP paper). It copies each part to the memory
// of its node, which takes as much memory again as the matrix. If the copy would take more than half of the memory of
// a node, the plan uses the matrix in place. Partial results are merged within a node first. The strategy Baseline
// ignores placement. docs/numa.md has more.
//
// Placement needs at least one device for each node that has CPUs. "cpu:N" distributes N devices over the nodes in
// proportion to their CPUs, at least one on each.
type NUMA string

// The values of NUMA.
const (
	NUMAAuto NUMA = "auto" // on if more than one node has CPUs and each of these has a device
	NUMAOn   NUMA = "on"
	NUMAOff  NUMA = "off" // matrices are used in place, threads run anywhere
)

// Transpose selects op(A), the matrix that a product multiplies by.
type Transpose bool

// The values of Transpose.
const (
	NoTrans Transpose = false // op(A) = A
	Trans   Transpose = true  // op(A) = A', the transpose of A
)
