package msrep

import "github.com/msrep-go/msrep/kernels"

// ErrClosed says that a System, or a Plan, Vector or Selection of it, was closed before
// the call. Devices give the same error.
var ErrClosed = kernels.ErrClosed

// Config says which devices a System has. The zero value means all of them.
type Config struct {
	// Devices is "auto" (or ""), "cpu", "cpu:N" for N CPU devices, "cuda" for all
	// NVIDIA GPUs, "cuda:0,2" for some of them (one that stands several times gets
	// several devices), or "sim:N" for N simulated GPUs, which are for tests: right,
	// checked, and slow ("sim:dgx1" are 8 and "sim:summit" 6). auto is all GPUs where
	// there are any, else cpu, which makes one CPU device per group of physical cores
	// that share a NUMA node. GPUs need a binary built with the tag cuda.
	Devices string
	// Threads is the number of CPU threads of all devices together; 0 means
	// GOMAXPROCS. Each device has at least one. While GOMAXPROCS is less than when the System was
	// opened, fewer of them work; where it is more, open another System to use more.
	Threads int
	// NUMA says whether devices are placed: NUMAAuto when "".
	NUMA NUMA
	// Warn, unless nil, is called with a line of text where placement is on and the
	// system refuses it or has no use for it. It is called at most once in the life of
	// the process, whatever is opened, from any goroutine. Products are right all the
	// same. System.Placement tells the same of each System. A panic of it is ignored.
	Warn func(msg string)
	// Trace, unless nil, is called for everything that is done on the devices, as soon as
	// it is done, and for the phases of plans and products; see Event. It is called from
	// any goroutine, from several at once, and should return soon. It must not use the plans
	// and vectors of the System, which wait for it. A panic of it is an error of the call that it
	// was called for. nil costs nothing.
	Trace func(Event)
}

// NUMA says whether threads and memory of CPU devices are placed by NUMA node.
//
// With placement every device belongs to a node: its workers are threads that run
// on the CPUs of the node only, and its memory is memory of the node. A plan then
// splits its matrix in two levels, first among the nodes in proportion to their
// devices, then among the devices of each node (section 4.2 of the MSREP paper),
// and copies each part to memory of its node, so that it needs as much memory again
// as the matrix; a matrix whose copy would take more than half of the memory of a
// node is used where it is. Partial results are merged within a node first. Plans of
// strategy Baseline are split as without placement. docs/numa.md has more.
//
// Placement needs at least one device for each node that has CPUs. cpu:N spreads
// N devices over the nodes in proportion to their CPUs, at least one on each.
type NUMA string

// When devices are placed.
const (
	NUMAAuto NUMA = "auto" // on when more than one node has CPUs, each with a device
	NUMAOn   NUMA = "on"
	NUMAOff  NUMA = "off" // matrices are used in place, threads run anywhere
)

// Transpose selects op(A), the matrix that a product multiplies by.
type Transpose bool

// The values of Op.
const (
	NoTrans Transpose = false // op(A) = A
	Trans   Transpose = true  // op(A) = A', the transpose of A
)
