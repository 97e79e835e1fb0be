package msrep

import (
	"cmp"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

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

// Strategy is one of the paper's three ways to spread a product (section 5.3).
type Strategy string

// The strategies.
const (
	// Optimized (p*-opt) splits by nonzeros, lets devices use the matrix in place
	// where they can, and writes results straight to y. It is the default.
	Optimized Strategy = "p-opt"
	// Partial (p*) splits by nonzeros, with one goroutine per device, but copies
	// every part with pointers of its own, and merges results on the host.
	Partial Strategy = "p"
	// Baseline splits by rows (CSR, COO) or columns (CSC), whatever they hold, and
	// serves one device after the other.
	Baseline Strategy = "baseline"
)

// PlanOptions says how a Plan spreads its matrix. The zero value is right for
// almost everybody.
type PlanOptions struct {
	// Format is the format to multiply in. With "" and FormatAuto each device keeps its
	// part in the form that it finds the fastest: the matrix is split as CSR, to which a
	// matrix in CSC or unsorted COO is converted in a copy (not for ExpectedProducts = 1).
	// With FormatCSR, FormatCSC and FormatCOO parts stay in the partial formats of the
	// MSREP paper; of COO, GPUs make CSR (CSC where it is sorted by column) if they find that
	// faster, and 100 products or more are expected or nobody knows. Other names are forms into which each device brings its part, after a
	// split as CSR: "ell", "ellr", "pellr", "biell", "jad", "bijad", "hyb", "sell";
	// Formats names them all, FormatsOf those of a kind of device.
	Format sparse.Format
	// Kernel says whose kernels GPUs use: KernelAuto when "". CPU devices have none
	// but our own.
	Kernel Kernel
	// ExpectedProducts is how many products the plan is for. It bounds the time that CPU
	// devices spend on finding a faster form: some 15 % of what so many products would take
	// in plain CSR, or 30 % for matrices that stay in the last cache and for forms that
	// block for the caches; what the system takes to provide memory comes on top. With 1
	// they look for none, and fewer than 60 repay none for a matrix in the caches. 0 means
	// that nobody knows: twice the time of 100 products or 30 ms, the longer.
	ExpectedProducts int
	// ExpectedTransposed is how many products with Trans are expected besides. When
	// it is 2 or more (1 with a form that was named, Release or Precision), the plan
	// keeps the transposed matrix as well, which takes as much memory again and makes
	// these products as fast as the others.
	//
	// Otherwise they add to y entry by entry, in the form of the part. On CPU devices that
	// takes little longer than a straight product, except for matrices that stay in the
	// last cache. Of such a matrix a plan on a single CPU device therefore keeps the
	// transposed one as well once it has made 100 of these products, unless Release or
	// Format says otherwise; from then on sums are rounded in another order.
	ExpectedTransposed int
	// ExpectedVectors is how many vectors each product will have; 0 means 1. With more
	// than 1 (SpMM, solver.CGMany) CPU devices leave out the symmetric forms, by which
	// several vectors gain less than by others.
	ExpectedVectors int
	// Precision is how much of each value a product reads; see kernels.Precision. The
	// zero value is all of it.
	Precision kernels.Precision
	// Strategy is Optimized when "".
	Strategy Strategy
	// Split is the rule for the parts; "" means partition.RuleAuto: by nonzeros,
	// or by merge path for matrices with very many empty or short rows. Baseline
	// always uses partition.RuleMajor.
	Split partition.Rule
	// Release says that the matrix is not needed after NewPlan: a plan whose devices
	// hold all parts in forms of their own keeps nothing of it, and the caller may
	// drop it too. UpdateValues is then an error. So are products with Trans that were
	// not expected (ExpectedTransposed), where the plan is Deterministic or has devices
	// other than CPUs.
	Release bool
	// Deterministic gives every product the same bits, whatever the devices and the
	// number of threads: sums have a fixed shape (kernels.GatherFixed), rows are not cut
	// between devices, and devices keep their parts in forms that sum in this shape.
	// Products with Trans use the transposed matrix, which the first of them makes where
	// none were expected. Split, Precision and Strategy must be left at their defaults or
	// say the same, and Format must not be csc or coo.
	Deterministic bool
	// Choice is the forms of an earlier plan (Plan.Choice): devices bring their parts into these, and look for no
	// others. A choice that was made for another matrix or other devices, or whose forms do not suit the matrix, is a
	// *sparse.InputError. Format, Strategy and Precision must be left at their defaults.
	Choice Choice
	// RefuseUnsorted makes NewPlan fail with partition.ErrUnsorted on a COO matrix
	// that is sorted neither by row nor by column, instead of sorting a copy.
	RefuseUnsorted bool
	// SkipValidation trusts the matrix: its pointers and indices are not checked.
	// A wrong index then ends a product with an error or a wrong result.
	SkipValidation bool

	form   kernels.Form // what devices make of their parts; "" leaves them as they are
	held   bool         // by another plan, which has checked the matrix and tells of products
	turned bool         // by another plan, of whose matrix this is the transposed one
}

// Kernel says whose kernels multiply.
type Kernel string

// The kernels.
const (
	KernelAuto     Kernel = "auto"     // measured once on the matrix: the faster one
	KernelOwn      Kernel = "own"      // those of this project
	KernelCuSPARSE Kernel = "cusparse" // NVIDIA's library, on NVIDIA GPUs
)

// fill replaces empty options by their defaults for a matrix in the given format,
// and checks the others.
func (o *PlanOptions) fill(given sparse.Format) error {
	o.Strategy, o.Split = cmp.Or(o.Strategy, Optimized), cmp.Or(o.Split, partition.RuleAuto)
	switch o.Strategy {
	case Optimized, Partial:
	case Baseline:
		o.Split = partition.RuleMajor
	default:
		return sparse.Inputf("strategy", "%q is not known: use %s, %s or %s", string(o.Strategy), Baseline, Partial, Optimized)
	}
	switch o.Kernel {
	case "", KernelAuto, KernelOwn, KernelCuSPARSE:
	default:
		return sparse.Inputf("kernel", "%q is not known: use auto, own or cusparse", string(o.Kernel))
	}
	if o.ExpectedProducts < 0 || o.ExpectedTransposed < 0 {
		return sparse.Inputf("expected products", "%d and %d transposed: they can't be negative", o.ExpectedProducts, o.ExpectedTransposed)
	}
	if o.ExpectedVectors < 0 {
		return sparse.Inputf("expected vectors", "%d: they can't be negative", o.ExpectedVectors)
	}
	fill := func() error { return o.fillForm(given) }
	if o.Deterministic {
		fill = o.fillDeterministic
	}
	if err := fill(); err != nil {
		return err
	}
	if o.Choice != "" && o.form != kernels.FormAuto {
		return sparse.Inputf("choice", "names the forms already: leave format, strategy and precision at their defaults")
	}
	return nil
}

// Op says which matrix multiplies.
type Op bool

// The operations.
const (
	NoTrans Op = false // op(A) = A
	Trans   Op = true  // op(A) = the transpose of A
)
