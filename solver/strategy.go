package solver

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/msrep-go/msrep/solver/factor"
	"github.com/msrep-go/msrep/solver/internal/probe"
	"github.com/msrep-go/msrep/solver/internal/space"
	"github.com/msrep-go/msrep/sparse"
)

// This file has the list of attempts of Solve. Their costs are seconds that a model computes from sizes only, so that the list
// is the same on every machine.

// Costs of the model, about those of two cores of the Zen 5 of docs/performance.md.
const (
	iterationCost = 15e-6   // an iteration, besides the following
	entryCost     = 0.35e-9 // a product, for each entry
	elementCost   = 0.07e-9 // an operation on vectors, for each element read or written
	factorCost    = 0.04e-9 // an operation of a factorisation
	storeCost     = 1.5e-9  // an entry of factors
	orderCost     = 50e-9   // order and analysis of factors, for each entry of the matrix
	rowCost       = 250e-9  // the same, for each row
	setupEntry    = 50e-9   // levels of a multigrid hierarchy, for each entry of the matrix
	setupRow      = 100e-9  // the same, for each row
	cycleCost     = 150e-6  // a multigrid cycle, besides its products and operations on vectors
)

// run makes attempts until one succeeds.
func (s *search) run() error {
	var p attempt
	if c := s.opt.Choice.forced(); c != (Choice{}) {
		var err error
		if p, err = s.named(c); err != nil {
			return err
		}
		s.asked = true
	}
	if s.norm == 0 {
		clear(s.x)
		s.sol.Converged, s.sol.Residual, s.sol.History = true, 0, []float64{0}
		return nil
	}
	s.start()
	if s.asked {
		return s.forced(p)
	}
	if s.a.Rows != s.a.Cols {
		return s.leastSquares(fmt.Sprintf("the matrix has %d rows and %d columns", s.a.Rows, s.a.Cols), Diagnosis{Inconsistent, "no x satisfies all equations"})
	}
	var done bool
	var err error
	if s.traits.Symmetric && s.traits.Positive {
		done, err = s.definite()
	} else {
		done, err = s.general()
	}
	if done {
		return err
	}
	return s.last(err)
}

// floorOf is the least time of complete factors: their order and analysis, and for large meshes, at most ten times as much,
// the dense factorisation of a separator and what goes with it. Factors of a mesh in three dimensions take far longer than
// iterations.
func (s *search) floorOf() float64 {
	if s.floor > 0 {
		return s.floor
	}
	s.floor = orderCost*float64(s.a.NNZ()) + rowCost*float64(s.a.Rows)
	if s.a.Rows >= largeMesh {
		w := float64(probe.Width(s.a))
		s.floor += min(9*s.floor, factorCost*4*w*w*w)
	}
	return s.floor
}

// largeMesh is the number of rows from which a search of the graph takes little time beside the analysis of factors.
const largeMesh = 20_000

// iterations returns how many iterations have the given cost, at least 1. Each makes the given number of products and reads or
// writes the given number of elements of vectors for each row.
func (s *search) iterations(cost float64, products, elements int) int {
	return int(min(max(cost/s.seconds(1, products, elements), 1), 1e9))
}

// seconds is the cost of iterations; products and elements are those of iterations (above).
func (s *search) seconds(iterations, products, elements int) float64 {
	return float64(iterations) * (iterationCost + float64(products)*entryCost*float64(s.a.NNZ()) + elementCost*float64(elements)*float64(s.a.Rows))
}

// complete returns an attempt with complete factors whose cost is at most the given one; 0 means no bound.
func complete(cost float64, cholesky bool, why string) attempt {
	return attempt{Choice: Choice{Method: "direct", Order: "auto"}, cost: cost, cholesky: cholesky, why: why}
}

// Multigrid cycles that the model expects until the tolerance is reached, and the products and the elements that one reads and
// writes, with the iteration around it. Most elements of a cycle are float32.
const (
	cycles        = 16
	cycleProducts = 8
	cycleElements = 40
)

// multigridOf is the expected cost of a solve with multigrid cycles. It is infinite for matrices so small that factors take
// little time, also where the matrix is not from a mesh.
func (s *search) multigridOf() float64 {
	if s.a.Rows < largeMesh {
		return math.Inf(1)
	}
	return setupEntry*float64(s.a.NNZ()) + setupRow*float64(s.a.Rows) + cycles*s.cycleOf()
}

// cycleOf is the cost of an iteration with one multigrid cycle.
func (s *search) cycleOf() float64 { return cycleCost + s.seconds(1, cycleProducts, cycleElements) }

// multigrid returns an attempt with multigrid cycles, each iteration with the given number of them. It ends when it is expected
// to take longer than an attempt of the given cost.
func (s *search) multigrid(method string, perIteration, cost float64, why string) attempt {
	return attempt{Choice: Choice{Method: method, Precond: "amg"}, why: why, most: int(min(max(cost/(perIteration*s.cycleOf()), cycles), 1e9))}
}

// cheap is how much longer multigrid cycles may be expected to take than the order and the analysis of complete factors: these take
// less than half of the time of factors for meshes so large that cycles are considered.
const cheap = 2

// definite makes the attempts for a symmetric matrix with a positive diagonal.
func (s *search) definite() (done bool, err error) {
	const products, elements = 1, 12
	cycle := s.multigridOf()
	cg := attempt{
		Choice: Choice{Method: "cg", Precond: "jacobi"}, most: s.iterations(min(s.floorOf(), cycle), products, elements),
		why: "symmetric with a positive diagonal: cg may converge before factors are ordered",
	}
	if cycle < s.floorOf() {
		cg.why = "symmetric with a positive diagonal: cg may converge before multigrid levels are built"
	}
	done, err = s.try(cg)
	if done {
		return true, err
	}
	cost := math.Inf(1) // of cg
	var slow *probe.SlowError
	if errors.As(err, &slow) && !slow.Stalled() {
		cost = s.seconds(slow.Expected, products, elements)
	}
	cycled := cycle < cheap*s.floorOf() && cycle < cost
	if cycled {
		done, err = s.try(s.multigrid("cg", 1, cheap*s.floorOf(), fmt.Sprintf("multigrid cycles: about %.2g s by the model, factors at least %.2g s", cycle, s.floorOf())))
		if done {
			return true, err
		}
	}
	bound := cost
	if !cycled {
		bound = min(cost, cycle)
	}
	if math.IsInf(bound, 1) {
		bound = 0
	}
	done, err = s.try(complete(bound, true, "symmetric with a positive diagonal: Cholesky factors"))
	var dear *costError
	switch {
	case done:
		return true, err
	case errors.As(err, &dear):
		if !cycled && cycle < cost {
			why := fmt.Sprintf("multigrid cycles: about %.2g s by the model, factors %.2g s", cycle, dear.seconds)
			if done, err = s.try(s.multigrid("cg", 1, dear.seconds, why)); done {
				return true, err
			}
		}
		if cost < dear.seconds {
			cg.most = s.iterations(dear.seconds, products, elements)
			cg.why = fmt.Sprintf("about %d iterations take less time than factors", slow.Expected)
			if done, err = s.try(cg); done {
				return true, err
			}
		}
		done, err = s.try(complete(0, true, "iterations converge slowly: Cholesky factors"))
	case memoryOf(err) != nil:
		why := "factors do not fit in memory"
		if !cycled && cycle < cost {
			p := s.multigrid("cg", 1, 0, why)
			if p.most = 0; !math.IsInf(cost, 1) {
				p.most = int(min(max(cost/s.cycleOf(), cycles), 1e9))
			}
			if done, err = s.try(p); done {
				return true, err
			}
		}
		cg.most, cg.why = 0, why
		if done, err = s.try(cg); done {
			return true, err
		}
		return s.incomplete(0, why)
	}
	if done || !errors.Is(err, factor.ErrNotPositiveDefinite) {
		return done, err
	}
	return s.try(complete(0, false, "the matrix is not positive definite, as Cholesky factors show: LU factors"))
}

// general makes the attempts for other square matrices.
func (s *search) general() (done bool, err error) {
	const products, elements = 2, 25
	why := fmt.Sprintf("%d elements on the diagonal are zero", s.traits.Missing)
	switch {
	case s.a.NNZ() <= 2*int64(s.a.Rows):
		why = "at most two entries for each row on average"
	case s.traits.Missing == 0:
		why = "bicgstab converges slowly"
		done, err = s.try(attempt{
			Choice: Choice{Method: "bicgstab", Precond: "jacobi"}, most: s.iterations(s.floorOf(), products, elements),
			why: "no zero on the diagonal: bicgstab may converge before factors are ordered",
		})
		if done {
			return true, err
		}
	}
	if s.traits.Positive && probe.Diffusive(s.a) {
		if cycle := s.multigridOf(); cycle < cheap*s.floorOf() {
			text := fmt.Sprintf("most couplings are negative: multigrid cycles: about %.2g s by the model, factors at least %.2g s", cycle, s.floorOf())
			if done, err = s.try(s.multigrid("bicgstab", 2, cheap*s.floorOf(), text)); done {
				return true, err
			}
		}
	}
	done, err = s.try(complete(dearer*s.floorOf(), false, why+": LU factors"))
	var dear *costError
	switch {
	case done:
		return true, err
	case errors.As(err, &dear):
		if done, err = s.incomplete(dear.seconds, "complete factors take long"); done {
			return true, err
		}
		return s.try(complete(0, false, "incomplete factors did not help: LU factors"))
	case memoryOf(err) != nil:
		return s.incomplete(0, "complete factors do not fit in memory")
	}
	return false, err
}

// dearer is the cost of complete factors, in units of floorOf, above which incomplete factors are tried first.
const dearer = 20

// incomplete tries incomplete factors. Each attempt costs at most half of the given cost; 0 means no bound.
func (s *search) incomplete(cost float64, why string) (done bool, err error) {
	const products, elements = 4, 40 // the factors of ilut count as products
	for _, c := range []Choice{{Method: "bicgstab", Precond: "ilu"}, {Method: "gmres", Precond: "ilut", Order: "amd"}} {
		p := attempt{Choice: c, why: why}
		if cost > 0 {
			p.most = s.iterations(cost/2, products, elements)
		}
		if done, err = s.try(p); done {
			return done, err
		}
	}
	return false, err
}

// last ends a search in which all attempts failed; cause is the last error. If the matrix is singular, last tries LSMR, as b
// may be in the range of the matrix.
func (s *search) last(cause error) error {
	var inaccurate *accuracyError
	d, singular := singularOf(cause)
	switch {
	case singular:
		return s.leastSquares(d.Text, d)
	case errors.As(cause, &inaccurate) && inaccurate.singular():
		if d = (Diagnosis{Singular, inaccurate.text()}); !inaccurate.rounded {
			return s.leastSquares(d.Text, d)
		}
		return s.fail(d.Kind, cause, "%s; the least residual is %.3g", d.Text, s.sol.Residual)
	}
	return s.limit(cause)
}

// limit ends a search that reached no solution and proved nothing of the system.
func (s *search) limit(cause error) error {
	by := ""
	if s.sol.Method != "" {
		by = ", by " + s.sol.Choice.String()
	}
	return s.fail(Limit, cause, "no attempt reached the tolerance %g: the least residual is %.3g%s; %v", s.opt.Tol, s.sol.Residual, by, cause)
}

// leastSquares makes an attempt with LSMR for a system that may have no solution. d is the diagnosis if it has none.
func (s *search) leastSquares(why string, d Diagnosis) error {
	_, err := s.try(attempt{Choice: Choice{Method: "lsmr"}, why: why})
	var unsolved *SystemError
	if errors.As(err, &unsolved) && d.Kind != Inconsistent { // out of time: what is known of the matrix remains
		return s.fail(d.Kind, err, "%s; %v", d.Text, err)
	}
	if err != nil && !recoverable(err) {
		return err
	}
	return s.judge(d, err)
}

// judge ends a search after LSMR. If the residual is above the tolerance, d is the diagnosis.
func (s *search) judge(d Diagnosis, cause error) error {
	if s.sol.Residual <= s.opt.Tol {
		return nil
	}
	s.sol.Converged = false
	what := "the least residual is"
	if cause != nil {
		if d.Kind == Inconsistent && !s.orthogonal() {
			return s.limit(cause)
		}
		what = "the least residual that was found is"
	}
	return s.fail(d.Kind, cause, "%s; %s %.3g", d.Text, what, s.sol.Residual)
}

// orthogonal reports whether r = b - A x of the solution so far is nearly orthogonal to all columns: |A'r| <= 1e-6 |A| |r|
// in Frobenius' norm. Then a y with |b - A y| < |r|/2 is longer than 5e5 |r|/|A|, because r'(b - A y) = r'b - (A'r)'y.
func (s *search) orthogonal() bool {
	x := slices.Clone(s.x)
	space.ScaleBy(x, -s.exp)
	z := make([]float64, s.a.Cols)
	var rr, squares float64
	for i := range s.a.Rows {
		r := s.b[i]
		lo, hi := s.a.RowPtr[i], s.a.RowPtr[i+1]
		for k := lo; k < hi; k++ {
			r -= float64(s.a.Val[k] * x[s.a.ColIdx[k]])
			squares += float64(s.a.Val[k] * s.a.Val[k])
		}
		for k := lo; k < hi; k++ {
			z[s.a.ColIdx[k]] += float64(s.a.Val[k] * r)
		}
		rr += float64(r * r)
	}
	return norm(z) <= 1e-6*math.Sqrt(squares)*math.Sqrt(rr)
}

// forced makes the one attempt that the options name.
func (s *search) forced(p attempt) error {
	_, err := s.try(p)
	if errors.Is(err, factor.ErrNotPositiveDefinite) && p.Method == "direct" {
		p.cholesky, p.why = false, "the matrix is not positive definite: LU factors"
		_, err = s.try(p)
	}
	var gaveUp *ConvergenceError
	var inaccurate *accuracyError
	d, singular := singularOf(err)
	switch {
	case err == nil:
		return s.judge(Diagnosis{Inconsistent, "no x satisfies all equations"}, nil)
	case singular:
		return s.fail(d.Kind, err, "%s", d.Text)
	case memoryOf(err) != nil:
		return s.fail(Limit, err, "%v", err)
	case errors.As(err, &inaccurate) && inaccurate.singular():
		s.sol.Diagnosis = &Diagnosis{Singular, inaccurate.text()}
	case errors.As(err, &gaveUp) && errors.Is(err, ErrInconsistent):
		s.sol.Diagnosis = &Diagnosis{Inconsistent, err.Error()}
	case errors.As(err, &gaveUp) && errors.Is(err, ErrNotConverged), inaccurate != nil:
		s.sol.Diagnosis = &Diagnosis{Limit, err.Error()}
	}
	return err
}

// named returns the attempt that c names, and chooses the fields that c leaves empty.
func (s *search) named(c Choice) (attempt, error) {
	square := s.a.Rows == s.a.Cols
	if !square && c.Order != "" {
		return attempt{}, sparse.Inputf("order", "%q: the matrix has %d rows and %d columns, and lsmr has no factors to order", c.Order, s.a.Rows, s.a.Cols)
	}
	if !square && c.Method != "lsmr" && c.Method != "" {
		return attempt{}, sparse.Inputf("matrix", "%d x %d: %s needs a square matrix; lsmr takes any", s.a.Rows, s.a.Cols, c.Method)
	}
	if !square && c.Precond != "" && c.Precond != "none" {
		return attempt{}, sparse.Inputf("matrix", "%d x %d: %s needs a square matrix", s.a.Rows, s.a.Cols, c.Precond)
	}
	if c.Method == "" {
		switch {
		case !square:
			c.Method = "lsmr"
		case c.Precond == "" || c.Precond == "none" && c.Order != "":
			c.Method = "direct" // only an order is given
		case s.traits.Symmetric && s.traits.Positive && c.Precond != "ilu" && c.Precond != "ilut":
			c.Method = "cg"
		default:
			c.Method = "gmres"
		}
	}
	c.Precond = cmp.Or(c.Precond, "none")
	if c.Method == "direct" {
		c.Order = cmp.Or(c.Order, "auto")
	}
	return attempt{Choice: c, why: "asked for", cholesky: s.traits.Symmetric && s.traits.Positive}, nil
}
