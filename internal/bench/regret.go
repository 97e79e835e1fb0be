package bench

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
)

// Regret measures how much slower the forms that automatic plans choose are than the best ones, on one CPU device,
// with random values.
//
// For each matrix it makes a plan in every form that plans may choose, and times products of all of them alternately.
// Then it makes Runs automatic plans for each number of busy processes. The regret of a plan is the time of its form
// over the least time of any form, minus 1.
type Regret struct {
	Dir     string // folder of *.bin files of binary CSR
	Threads []int
	Busy    []int // numbers of processes that keep a CPU busy while the automatic plans are made
	Runs    int   // automatic plans for each number of busy processes
	Limit   time.Duration

	Expected int // msrep.PlanOptions.Expected.Products
}

// RegretBound is the largest regret of a plan that counts as right.
const RegretBound = 0.05

// RegretCase holds the plans of one matrix.
type RegretCase struct {
	Matrix        string
	Threads, Busy int
	Best          kernels.Form
	Seconds       float64 // of a product in the best form
	Plans         []RegretPlan
}

// RegretPlan is an automatic plan.
type RegretPlan struct {
	Form    kernels.Form
	Why     string  // kernels.PackInfo.Why
	Doubt   float64 // kernels.PackInfo.Doubt
	Regret  float64
	Seconds float64 // to make the plan
}

// within returns the number of plans with a regret of at most RegretBound.
func (c RegretCase) within() (n int) {
	for _, p := range c.Plans {
		if p.Regret <= RegretBound {
			n++
		}
	}
	return n
}

// Run prints a line for each matrix, number of threads and number of busy processes, then a table of the means, and
// returns the cases. It starts no matrix after Limit, unless Limit is 0.
func (r Regret) Run(ctx context.Context, w io.Writer) (cases []RegretCase, err error) {
	files, err := filepath.Glob(filepath.Join(r.Dir, "*.bin"))
	if err != nil || len(files) == 0 {
		return nil, sparse.Inputf(r.Dir, "must be a folder with *.bin files of binary CSR, as msrep convert writes them; it has none")
	}
	begin, left := time.Now(), 0
	for i, f := range files {
		if r.Limit > 0 && time.Since(begin) > r.Limit {
			left = len(files) - i
			break
		}
		of, err := r.matrix(ctx, w, f)
		if err != nil {
			return cases, fmt.Errorf("%s: %w", f, err)
		}
		cases = append(cases, of...)
	}
	if left > 0 {
		if _, err := fmt.Fprintf(w, "reached the limit of %v: left out %d of %d matrices\n", r.Limit, left, len(files)); err != nil {
			return cases, err
		}
	}
	return cases, r.summary(w, cases)
}

// matrix measures one file.
func (r Regret) matrix(ctx context.Context, w io.Writer, file string) (cases []RegretCase, err error) {
	m, err := matio.Read(ctx, file)
	if err != nil {
		return nil, err
	}
	a := m.CSR
	randomize(a.Val)
	for _, threads := range r.Threads {
		of, err := r.threads(ctx, strings.TrimSuffix(filepath.Base(file), ".bin"), a, threads)
		if err != nil {
			return nil, err
		}
		for _, c := range of {
			if err := c.print(w); err != nil {
				return nil, err
			}
		}
		cases = append(cases, of...)
	}
	return cases, nil
}

// threads measures a matrix with one number of threads.
func (r Regret) threads(ctx context.Context, name string, a *sparse.CSR[float64], threads int) (cases []RegretCase, err error) {
	sys, err := msrep.Open(msrep.Config{Devices: "cpu:1", Threads: threads})
	if err != nil {
		return nil, err
	}
	defer sys.Close()
	times, err := formTimes(ctx, sys, a)
	if err != nil {
		return nil, err
	}
	best := kernels.FormCSR
	for f, t := range times {
		if t < times[best] {
			best = f
		}
	}
	for _, busy := range r.Busy {
		c := RegretCase{Matrix: name, Threads: threads, Busy: busy, Best: best, Seconds: times[best]}
		err := besideBusy(ctx, busy, func() error {
			for range r.Runs {
				p, err := r.plan(ctx, sys, a, times)
				if err != nil {
					return err
				}
				p.Regret = times[p.Form]/times[best] - 1
				c.Plans = append(c.Plans, p)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		cases = append(cases, c)
	}
	return cases, nil
}

// plan makes an automatic plan.
func (r Regret) plan(ctx context.Context, sys *msrep.System, a *sparse.CSR[float64], times map[kernels.Form]float64) (out RegretPlan, err error) {
	begin := time.Now()
	p, err := msrep.NewPlan(ctx, sys, a, msrep.PlanOptions{Expected: msrep.Expected{Products: r.Expected}, SkipValidation: true})
	if err != nil {
		return out, err
	}
	out.Seconds = time.Since(begin).Seconds()
	info := p.Packed(msrep.NoTrans)[0]
	out.Form, out.Why, out.Doubt = info.Form, info.Why, info.Doubt
	if times[out.Form] == 0 {
		return out, fmt.Errorf("a plan chose the form %s, but a plan that names this form cannot be made", out.Form)
	}
	return out, p.Close()
}

// formTimes returns the time of a product in each form that a plan may choose and that suits the matrix. It takes the
// least time of each turn and the lower quartile over all turns, because in a few turns the caches may favour a form.
func formTimes(ctx context.Context, sys *msrep.System, a *sparse.CSR[float64]) (times map[kernels.Form]float64, err error) {
	type formPlan struct {
		form kernels.Form
		plan *msrep.Plan[float64]
	}
	var plans []formPlan
	times = map[kernels.Form]float64{}
	for _, f := range cpu.Choices() {
		o := msrep.PlanOptions{Storage: msrep.Storage{Form: f}, SkipValidation: true}
		if f == kernels.FormCSR { // as the search packs it, with its long rows cut
			o.Storage.Form, o.Expected.Products = "", 1
		}
		p, err := msrep.NewPlan(ctx, sys, a, o)
		if sparse.IsInput(err) {
			continue // the form does not suit the matrix
		}
		if err != nil {
			return nil, fmt.Errorf("form %s: %w", f, err)
		}
		defer p.Close()
		plans = append(plans, formPlan{f, p})
		times[f] = math.Inf(1)
	}
	const (
		rounds   = 60
		turnTime = 300 * time.Microsecond
		few      = 5 // least number of products of a turn
		warm     = 3 // products before each turn
		early    = 5 // rounds after which forms far behind the best are skipped
		behind   = 4 // a smaller factor may come from the contents of the caches
	)
	turns := map[kernels.Form][]float64{} // least time of a product in each turn
	x, y := make([]float64, a.Cols), make([]float64, a.Rows)
	randomize(x)
	least := math.Inf(1)
	for round := range rounds {
		for _, p := range plans {
			if round >= early && times[p.form] > behind*least {
				continue
			}
			product := func() (float64, error) {
				begin := time.Now()
				err := p.plan.SpMV(ctx, msrep.NoTrans, 1, x, 0, y)
				return time.Since(begin).Seconds(), err
			}
			first, turn := time.Now(), math.Inf(1)
			for k := 0; k < warm+few || time.Since(first) < turnTime; k++ {
				took, err := product()
				if err != nil {
					return nil, err
				}
				if k >= warm {
					turn = min(turn, took)
				}
			}
			turns[p.form] = append(turns[p.form], turn)
			times[p.form] = min(times[p.form], turn)
			least = min(least, turn)
		}
	}
	for f, of := range turns {
		slices.Sort(of)
		times[f] = of[len(of)/4]
	}
	return times, nil
}

// randomize fills v with random numbers around 0.
func randomize(v []float64) {
	rng := rand.New(rand.NewPCG(1, 2))
	for k := range v {
		v[k] = rng.Float64() - 0.5
	}
}

// print prints the line of a case.
func (c RegretCase) print(w io.Writer) error {
	chosen := map[kernels.Form]int{}
	var worst RegretPlan
	for _, p := range c.Plans {
		chosen[p.Form]++
		if p.Regret > worst.Regret {
			worst = p
		}
	}
	var forms []string
	for f, n := range chosen {
		forms = append(forms, fmt.Sprintf("%s=%d", f, n))
	}
	slices.Sort(forms)
	why := ""
	if worst.Regret > RegretBound {
		why = fmt.Sprintf(" (%s: %s; doubt %.2f)", worst.Form, worst.Why, worst.Doubt)
	}
	_, err := fmt.Fprintf(w, "%-24s %d threads, %d busy: within %d/%d, worst %5.1f %%, plan %7.2f ms, best %s %.1f us, chosen %s%s\n",
		c.Matrix, c.Threads, c.Busy, c.within(), len(c.Plans), 100*worst.Regret, 1e3*c.planTime(), c.Best, 1e6*c.Seconds, strings.Join(forms, " "), why)
	return err
}

// planTime returns the median time to make a plan.
func (c RegretCase) planTime() float64 {
	var times []float64
	for _, p := range c.Plans {
		times = append(times, p.Seconds)
	}
	slices.Sort(times)
	return times[len(times)/2]
}

// summary prints a table with a row for each number of threads and of busy processes: the fraction of matrices all of
// whose plans are within the bound, and the fraction of plans within it.
func (r Regret) summary(w io.Writer, cases []RegretCase) error {
	if _, err := fmt.Fprintf(w, "\n| threads | busy | matrices | all plans within %.0f %% | plans within | mean regret | worst | plan, ms (median) |\n|---|---|---|---|---|---|---|---|\n", 100*RegretBound); err != nil {
		return err
	}
	for _, threads := range r.Threads {
		for _, busy := range r.Busy {
			var of []RegretCase
			for _, c := range cases {
				if c.Threads == threads && c.Busy == busy {
					of = append(of, c)
				}
			}
			if len(of) == 0 {
				continue
			}
			right, within, plans, logs := 0, 0, 0, 0.0
			var worst RegretCase
			most := -1.0
			var times []float64
			for _, c := range of {
				n := c.within()
				if within, plans = within+n, plans+len(c.Plans); n == len(c.Plans) {
					right++
				}
				for _, p := range c.Plans {
					logs += math.Log1p(p.Regret)
					if p.Regret > most {
						most, worst = p.Regret, c
					}
				}
				times = append(times, c.planTime())
			}
			slices.SortFunc(times, cmp.Compare[float64])
			_, err := fmt.Fprintf(w, "| %d | %d | %d | %d (%.1f %%) | %d of %d (%.1f %%) | %.2f %% | %.0f %% (%s) | %.2f |\n", threads, busy, len(of),
				right, 100*float64(right)/float64(len(of)), within, plans, 100*float64(within)/float64(plans),
				100*math.Expm1(logs/float64(plans)), 100*most, worst.Matrix, 1e3*times[len(times)/2])
			if err != nil {
				return err
			}
		}
	}
	return nil
}
