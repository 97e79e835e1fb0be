package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/msrep-go/msrep/solver"
)

// solution is the result that solve prints.
type solution struct {
	Matrix       matrixName       `json:"matrix"`
	Method       string           `json:"method"`
	Precond      string           `json:"precond"`
	Order        string           `json:"order"`
	Converged    bool             `json:"converged"`
	LeastSquares bool             `json:"least_squares,omitempty"` // x minimises |b - A x|
	Failure      string           `json:"failure,omitempty"`       // why the solve did not converge
	Diagnosis    *diagnosis       `json:"diagnosis,omitempty"`
	Iterations   int              `json:"iterations"`
	Products     int              `json:"products"`
	Residual     number           `json:"residual"`        // |b - A x| / |b|, computed from x
	History      []number         `json:"history"`         // residuals that the method's recurrence gives
	Basis        *basisReport     `json:"basis,omitempty"` // of gmres and fgmres
	Attempts     []attemptsReport `json:"attempts"`
	Phases       solvePhases      `json:"phases"`
	X            norms            `json:"x"`

	Devices []deviceName `json:"devices"`
	Ranks   []rankReport `json:"ranks,omitempty"` // only with several ranks
}

// basisReport says how gmres or fgmres stored its basis.
type basisReport struct {
	Numbers   solver.Basis `json:"numbers"`
	WidenedAt int          `json:"widened_at,omitempty"` // the iteration from which on int32 was float64
	Bytes     int64        `json:"bytes"`                // read and written in this process
}

// diagnosis says what is wrong with a system.
type diagnosis struct {
	Kind solver.DiagnosisKind `json:"kind"`
	Text string               `json:"text"`
}

// attemptsReport is an attempt to solve the system.
type attemptsReport struct {
	Method     string   `json:"method"`
	Precond    string   `json:"precond"`
	Order      string   `json:"order"`
	Iterations int      `json:"iterations"`
	Residual   number   `json:"residual"`
	Seconds    float64  `json:"seconds"`
	Why        string   `json:"why"`
	Failure    string   `json:"failure,omitempty"`
	History    []number `json:"-"`
}

// solvePhases are times in seconds.
type solvePhases struct {
	Read    float64 `json:"read_s"`
	Plan    float64 `json:"plan_s"`    // split, packing, and copies to the devices
	Precond float64 `json:"precond_s"` // preconditioner or factors, construction and application
	Product float64 `json:"product_s"` // all products
	Vector  float64 `json:"vector_s"`  // the rest of the solve
	Total   float64 `json:"total_s"`
}

// newSolution returns a solution with the fields that are known before the solve.
func (s *solve) newSolution(rows, cols int, nnz int64, read time.Duration) *solution {
	r := &solution{Matrix: matrixName{shortName(s.args[0]), rows, cols, nnz}, History: []number{}, Attempts: []attemptsReport{}}
	r.Phases.Read = read.Seconds()
	return r
}

// copySolution copies the result of solver.Solve.
func (r *solution) copySolution(res *solver.Solution, failed error) {
	r.setChoice(res.Choice)
	r.copyResult(&res.Result, failed)
	r.LeastSquares = res.LeastSquares
	r.setDiagnosis(res.Diagnosis)
	for _, a := range res.Attempts {
		r.add(a)
	}
}

func (r *solution) setDiagnosis(d *solver.Diagnosis) {
	if d != nil {
		r.Diagnosis = &diagnosis{d.Kind, d.Text}
	}
}

func (r *solution) add(a solver.Attempt) {
	p := attemptsReport{
		Method: a.Method, Precond: nameOrNone(a.Precond), Order: nameOrNone(a.Order), Iterations: a.Iterations,
		Residual: number(a.Residual), Seconds: a.Time.Seconds(), Why: a.Why, History: numbers(a.History),
	}
	if a.Err != nil {
		p.Failure = a.Err.Error()
	}
	r.Attempts = append(r.Attempts, p)
}

// addAttempt adds the result of a solve over several ranks, which make one attempt.
func (r *solution) addAttempt(c solver.Choice, res *solver.Result, failed error) {
	r.setChoice(c)
	r.copyResult(res, failed)
	var unsolved *solver.SystemError
	switch {
	case errors.As(failed, &unsolved):
		r.setDiagnosis(&unsolved.Diagnosis)
	case errors.Is(failed, solver.ErrNotConverged):
		r.setDiagnosis(&solver.Diagnosis{Kind: solver.Limit, Text: failed.Error()})
	}
	r.add(solver.Attempt{
		Choice: c, Iterations: res.Iterations, Products: res.Products, Residual: res.Residual, History: res.History,
		Time: res.Timing.Total, Why: "several ranks have one attempt", Err: failed,
	})
}

func (r *solution) setChoice(c solver.Choice) {
	r.Method, r.Precond, r.Order = nameOrNone(c.Method), nameOrNone(c.Precond), nameOrNone(c.Order)
}

func nameOrNone(name string) string {
	if name == "" {
		return "none"
	}
	return name
}

// copyResult copies the result of a method.
func (r *solution) copyResult(res *solver.Result, failed error) {
	r.Converged, r.Iterations, r.Products, r.Residual = res.Converged && failed == nil, res.Iterations, res.Products, number(res.Residual)
	r.History = numbers(res.History)
	if res.Basis != "" {
		r.Basis = &basisReport{res.Basis, res.WidenedAt, res.BasisBytes}
	}
	if failed != nil {
		r.Failure = failed.Error()
	}
	t := res.Timing
	r.Phases.Plan += t.Plan.Seconds()
	r.Phases.Precond += t.Precond.Seconds()
	r.Phases.Product = t.Products.Seconds()
	r.Phases.Vector = (t.Total - t.Products - t.Precond - t.Plan).Seconds()
	r.Phases.Total = r.Phases.Read + r.Phases.Plan + r.Phases.Precond + r.Phases.Product + r.Phases.Vector
}

func numbers(v []float64) []number {
	out := make([]number, len(v))
	for i, e := range v {
		out[i] = number(e)
	}
	return out
}

func (r *solution) print(w io.Writer, explain bool) error {
	p, state := r.Phases, "converged"
	switch {
	case r.LeastSquares && !r.Converged:
		state = "least squares solution"
	case !r.Converged:
		state = "not converged"
	}
	fmt.Fprintf(w, "%s  %d x %d, %d nonzeros\n", r.Matrix.Name, r.Matrix.Rows, r.Matrix.Cols, r.Matrix.NNZ)
	if explain {
		for i, a := range r.Attempts {
			fmt.Fprintf(w, "attempt %d  %s: %s\n", i+1, a.name(), a.Why)
			end := "within the tolerance"
			if a.Failure != "" {
				end = a.Failure
			}
			fmt.Fprintf(w, "           %d iterations, residual %.3g, %s: %s\n", a.Iterations, a.lastResidual(), seconds(a.Seconds), end)
		}
	}
	fmt.Fprintf(w, "%s, preconditioner %s, order %s: %s, %d iterations, %d products, relative residual %.3g\n",
		r.Method, r.Precond, r.Order, state, r.Iterations, r.Products, float64(r.Residual))
	if b := r.Basis; b != nil {
		fmt.Fprintf(w, "basis   %s", b.Numbers)
		if b.WidenedAt > 0 {
			fmt.Fprintf(w, ", float64 after iteration %d", b.WidenedAt)
		}
		fmt.Fprintf(w, ", %d bytes read and written\n", b.Bytes)
	}
	if n := len(r.Attempts); n > 0 && !explain {
		fmt.Fprintf(w, "why     %s\n", r.Attempts[n-1].Why)
	}
	fmt.Fprintf(w, "phases  read %s  plan %s  precond %s  products %s  vectors %s  total %s\n",
		seconds(p.Read), seconds(p.Plan), seconds(p.Precond), seconds(p.Product), seconds(p.Vector), seconds(p.Total))
	printRanks(w, r.Ranks)
	_, err := fmt.Fprintf(w, "x  norm1 %.17g  norm2 %.17g  sum %.17g\n", r.X.Norm1, r.X.Norm2, r.X.Sum)
	return err
}

// lastResidual returns the residual computed from x, or the last one of the recurrence where x was dropped.
func (a *attemptsReport) lastResidual() float64 {
	residual := float64(a.Residual)
	if n := len(a.History); math.IsNaN(residual) && n > 0 {
		residual = float64(a.History[n-1])
	}
	return residual
}

func (a *attemptsReport) name() string {
	name := a.Method
	if a.Precond != "none" {
		name += " with " + a.Precond
	}
	if a.Order != "none" {
		name += ", order " + a.Order
	}
	return name
}

// solveProgress shows a solve on a terminal: the attempt, its iteration, its residual, the rate (the mean factor by which an
// iteration multiplied the residual), and the time left at this rate.
type solveProgress struct {
	line  *progress
	tol   float64
	start time.Time  // of the solve
	begin time.Time  // of the attempt
	keeps bool       // whether times is filled, for --plot
	times [][]moment // by attempt
}

// moment is a residual and the seconds from the start of the solve to it.
type moment struct{ seconds, residual float64 }

func (p *solveProgress) step(s solver.Step) {
	if p.keeps {
		for len(p.times) < s.Attempt {
			p.times = append(p.times, nil)
		}
		p.times[s.Attempt-1] = append(p.times[s.Attempt-1], moment{time.Since(p.start).Seconds(), s.Residual})
	}
	if s.Iteration == 0 {
		p.begin = time.Now()
		p.line.show("attempt %d: %s", s.Attempt, s.Choice)
		return
	}
	if !p.line.due() {
		return
	}
	p.line.converging(fmt.Sprintf("attempt %d: %s", s.Attempt, s.Choice), p.begin, s.Iteration, s.Residual, p.tol)
}
