package msrep

import (
	"cmp"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep/internal/reorder"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// PlanOptions states how a Plan stores and splits its matrix. The zero value suits almost every program.
type PlanOptions struct {
	Expected Expected // the products that the plan will make
	Storage  Storage  // how devices store the matrix
	Variant  Variant  // what the MSREP paper compares
	// Deterministic gives every product the same bits, whatever the devices and the number of threads. Sums then have
	// a fixed shape (kernels.MajorProductFixed), no row is cut between devices, and devices use only forms that sum
	// in this shape. Products with Trans use the transposed matrix. The first one builds it if none were expected.
	// Variant and Storage.Segments must be left at their defaults; Storage.Format must not be csc or coo.
	Deterministic bool
	// Reorder makes the plan permute the rows and columns of a square matrix so that the devices exchange little
	// (order.Partition), for devices that have their own memory. It is for many products with Vectors, as solvers
	// make: their elements are then in the order of the plan, which Plan.Reordering returns. Products of host vectors
	// take and return them in the order of the matrix; the host permutes them. If the matrix is not square, devices use
	// host memory, there is only one device, the strategy is not Optimized, or no order is better than that of the
	// matrix, Reorder has no effect.
	Reorder bool
	// RefuseUnsorted makes NewPlan fail with partition.ErrUnsorted on a COO matrix that is sorted neither by row
	// nor by column. Without it NewPlan sorts a copy.
	RefuseUnsorted bool
	// SkipValidation trusts the matrix: NewPlan does not check its pointers and indices. A wrong index then leads
	// to an error of NewPlan or of a product, or to a wrong result.
	SkipValidation bool

	form             kernels.Form  // the form into which devices bring their parts; "" leaves the parts as they are
	nested           bool          // the plan belongs to another plan, which has checked the matrix and traces the calls
	nestedTransposed bool          // the plan belongs to another plan as the plan of its transposed matrix
	xCuts            []int         // in a nested plan, the pieces of the vectors x; otherwise nil
	copies           bool          // devices copy from each other even if their kernels can read each other's memory; for tests
	cuts             *reorder.Cuts // of the parts of a reordered matrix or of its transpose; nil if it has the order in which it was given
}

// Expected states the products that a plan will make. CPU devices weigh the time that a faster form takes to find and
// build against the time that it saves.
type Expected struct {
	// Products is the number of products. The search for a form takes about 15 % of the time that this many products
	// take in plain CSR; 30 % for matrices that fit in the last-level cache and for tiles, which
	// work in pieces of cache size. The time to allocate memory is extra. There is no search for fewer than 30
	// products, or fewer than 60 with a matrix in the caches: no form would pay for itself. 0 means that the number is
	// unknown: the search then takes twice as long as for 100 products, or 30 ms if that is longer.
	Products int
	// Transposed is the number of products with Trans, in addition to Products. From 2 on (from 1 on with a named
	// form, Release or Segments) the plan also keeps the transposed matrix. That takes the same memory again and
	// makes these products as fast as the others.
	//
	// With fewer, a product with Trans adds to y entry by entry. On CPU devices it takes little longer than a product
	// without, except for matrices that fit in the last-level cache. A plan of such a matrix on a single CPU device
	// builds the transposed matrix after 100 products with Trans, unless Release, Format or Form forbids it. From then
	// on sums are rounded in another order.
	Transposed int
}

// Storage states how the devices store the matrix. The zero value lets each device choose its fastest form.
type Storage struct {
	// Format is the format in which the matrix is split. "" and FormatAuto split a CSR matrix, convert a CSC or
	// unsorted COO matrix to CSR in a copy first (unless Expected.Products is 1), and let each device choose a form for
	// its part. FormatCSR, FormatCSC and FormatCOO keep the parts in the partial formats of the MSREP paper (pCSR,
	// pCSC, pCOO). If at least 100 products are expected, or an unknown number, GPUs also try their parts in COO as CSR
	// (as CSC if the matrix is sorted by column) and keep the faster of the two.
	Format sparse.Format
	// Form names the form into which every device brings its part: "sell", "ellr", "diagonals"; Forms lists the
	// names. "" names none. With a form, Format must be "", FormatAuto or FormatCSR.
	Form Form
	// Choice is the result of Plan.Choice of an earlier plan: devices use its forms and do not search. A choice for
	// another matrix or other devices, or with a form that cannot store the matrix, gives a *sparse.InputError. Format,
	// Form, Segments and Variant.Strategy must be left at their defaults.
	Choice Choice
	// Segments states how many CPMS segments of each value a product reads. The zero value keeps plain values.
	Segments Segments
	// Release states that the caller does not need the matrix after NewPlan. A plan whose devices store all parts in
	// forms keeps nothing of the matrix, and the caller may drop it too. UpdateValues is then an error. If the plan is
	// Deterministic or has a device other than a CPU, a product with Trans is an error too, unless Expected.Transposed
	// announced it.
	Release bool
}

// NamedStorage returns the Storage for a name as the flag --format of the command msrep accepts it: "auto", "csr",
// "csc", "coo" or the name of a form.
func NamedStorage(name string) Storage {
	switch f := sparse.Format(name); f {
	case "", FormatAuto, sparse.FormatCSR, sparse.FormatCSC, sparse.FormatCOO:
		return Storage{Format: f}
	}
	return Storage{Form: Form(name)}
}

// Variant selects among the ways to multiply that the MSREP paper compares (section 5.3). The zero value is the
// fastest.
type Variant struct {
	// Strategy is the way to distribute a product; "" means Optimized.
	Strategy Strategy
	// Split is the rule by which the matrix is split. "" means partition.RuleAuto: by nonzeros, or by merge path if
	// very many rows are empty or short. Baseline always uses partition.RuleMajor.
	Split SplitRule
	// Library is the library of kernels that GPUs use; "" means LibraryAuto. CPU devices have only this project's
	// kernels.
	Library KernelLibrary
}

// Strategy is one of the paper's three ways to distribute a product.
type Strategy string

// The strategies.
const (
	// Optimized (p*-opt) splits by nonzeros, lets devices use the matrix in place where they can, and writes results
	// directly to y. It is the default.
	Optimized Strategy = "p-opt"
	// Partial (p*) splits by nonzeros and uses one goroutine for each device, but copies every part, with local row
	// pointers, and merges the results on the host.
	Partial Strategy = "p"
	// Baseline splits into equal numbers of rows (CSR, COO) or columns (CSC) and uses one device after the other.
	Baseline Strategy = "baseline"
)

// KernelLibrary selects the kernels that GPUs use.
type KernelLibrary string

// The kernel libraries.
const (
	LibraryAuto     KernelLibrary = "auto"     // the faster one, measured once on the matrix
	LibraryOwn      KernelLibrary = "own"      // this project's kernels
	LibraryCuSPARSE KernelLibrary = "cusparse" // NVIDIA's library, on NVIDIA GPUs
)

// fill sets empty options to their defaults for a matrix in the given format, and checks the others.
func (o *PlanOptions) fill(given sparse.Format) error {
	o.Variant.Strategy, o.Variant.Split = cmp.Or(o.Variant.Strategy, Optimized), cmp.Or(o.Variant.Split, partition.RuleAuto)
	switch o.Variant.Strategy {
	case Optimized, Partial:
	case Baseline:
		o.Variant.Split = partition.RuleMajor
	default:
		return sparse.Inputf("strategy", "%q is not known: use %s, %s or %s", string(o.Variant.Strategy), Baseline, Partial, Optimized)
	}
	switch o.Variant.Library {
	case "", LibraryAuto, LibraryOwn, LibraryCuSPARSE:
	default:
		return sparse.Inputf("kernel", "%q is not known: use auto, own or cusparse", string(o.Variant.Library))
	}
	if o.Expected.Products < 0 || o.Expected.Transposed < 0 {
		return sparse.Inputf("expected products", "%d and %d transposed: they can't be negative", o.Expected.Products, o.Expected.Transposed)
	}
	if err := o.checkStorage(); err != nil {
		return err
	}
	fill := func() error { return o.fillForm(given) }
	if o.Deterministic {
		fill = o.fillDeterministic
	}
	if err := fill(); err != nil {
		return err
	}
	if o.Storage.Choice != "" && o.form != kernels.FormAuto {
		return sparse.Inputf("choice", "names the forms already: leave format, strategy and precision at their defaults")
	}
	return nil
}
