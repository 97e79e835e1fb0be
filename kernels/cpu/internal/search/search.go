package search

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/forms"
	"github.com/msrep-go/msrep/kernels/cpu/internal/memory"
	"github.com/msrep-go/msrep/sparse"
)

// search is the choice of the form of a packed part. It builds the candidates on a sample of the rows (all rows of a
// small part) and times products of it. Only the fastest is then built whole.
type search[V sparse.Value] struct {
	*choosing[V]
	op       *kernels.Packing[V]
	products int // number of expected products

	sample   [][]stretch[V]
	fraction float64      // fraction of all entries in the sample
	x, y     []V          // vectors to time products with
	vec      memory.Arena // memory of x and y

	looked time.Duration // time to find the candidates
	csr    time.Duration // time of a product of all rows in plain CSR
	spent  time.Duration // time spent of the budget
	wanted time.Duration // time of all workers in timed products
	lost   time.Duration // part of wanted in which something else had the CPUs of the workers
	best   contender[V]
	left   string // the first candidate that the budget left out, and why
}

// contender is a form that was built on the sample.
type contender[V sparse.Value] struct {
	forms.Candidate[V]
	trial[V]
	product  time.Duration // least time of a product of the sample
	scatter  float64       // logarithm of the scatter of the shortest times
	verdict  verdict       // comparison with the best form before it
	building time.Duration // time to build the whole
	tried    int           // index in PackInfo.Tried
}

func newSearch[V sparse.Value](p *choosing[V], op *kernels.Packing[V]) *search[V] {
	const endless = 1_000_000_000 // more would overflow a time.Duration
	s := &search[V]{choosing: p, op: op, products: min(op.Products, endless)}
	if s.products == 0 {
		s.products = defaultProducts
	}
	s.sample, s.fraction = sample(p)
	return s
}

// run finds the fastest form and packs all pieces in it.
func (s *search[V]) run() (err error) {
	candidates, err := s.candidates()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.vec.Free()) }()
	err = s.makeVectors()
	if errors.Is(err, kernels.ErrOutOfMemory) {
		return errors.Join(s.vec.Free(), s.plain(s.op, "no memory to look for another form"))
	}
	if err != nil {
		return err
	}
	if err := s.timeCSR(); err != nil {
		return err
	}
	for _, c := range candidates {
		if s.op.Stop != nil {
			if err := s.op.Stop(); err != nil {
				return errors.Join(err, s.best.mem.Free())
			}
		}
		s.Info.Tried = append(s.Info.Tried, kernels.PackTrial{Form: c.Form, Why: c.Why})
		t := &s.Info.Tried[len(s.Info.Tried)-1]
		err := s.try(c, t)
		var no skipped
		switch {
		case errors.As(err, &no), sparse.IsInput(err), errors.Is(err, kernels.ErrOutOfMemory):
			t.Skipped = err.Error()
			if s.left == "" && no != "" {
				s.left = fmt.Sprintf("%s was not tried: %s", c.Form, t.Skipped)
			}
		case err != nil:
			return errors.Join(err, s.best.mem.Free())
		}
	}
	return s.finish()
}

// timeCSR makes plain CSR, in place, the best form so far.
func (s *search[V]) timeCSR() error {
	c := contender[V]{Candidate: forms.CSR[V](true)}
	var err error
	if c.trial, err = s.build(c.Candidate, s.rows(s.sample), memory.NewArena(s.Mem, len(s.sample))); err != nil {
		return err
	}
	c.mem = nil // it takes no memory
	if c.product, c.scatter, err = s.time(c.trial); err != nil {
		return err
	}
	s.best, s.csr = c, s.whole(c.product)
	s.spent += min(s.looked, longestLook*s.csr)
	s.Info.Tried = []kernels.PackTrial{{Form: kernels.FormCSR, Why: "the rows as they are", Product: s.csr}}
	return nil
}

// longestLook is the most time, in products of csr, that counts for finding candidates. It is two or three times as
// much as most matrices take: what took longer was delayed by something else.
const longestLook = 10

// candidates returns the forms to try, the most likely first; in the caches, that with the fastest expected product
// first.
func (s *search[V]) candidates() ([]forms.Candidate[V], error) {
	looks := make([]forms.Look, len(s.Bodies))
	w, err := s.Mem.Pool.Timed(len(looks), func(i int) { looks[i] = forms.At(s.Bodies[i].Rows) })
	if s.op.Products > 0 {
		s.looked = w.Took
	}
	all := forms.Candidates[V](looks)
	if s.cached() {
		slices.SortStableFunc(all, func(a, b forms.Candidate[V]) int { return cmp.Compare(a.Cached.Product, b.Cached.Product) })
	}
	return all, err
}

// skipped says why a candidate was left out.
type skipped string

func (s skipped) Error() string { return string(s) }

// muchFaster is the factor over csr from which on the best form so far is taken. Only forms that are known to read less are
// still tried.
const muchFaster = 4

// try builds a candidate on the sample and times it, if building the sample and the whole fits in the budget. The
// candidate becomes the best if replacesBest says so.
func (s *search[V]) try(c forms.Candidate[V], record *kernels.PackTrial) error {
	if times := s.inCSR(s.whole(s.best.product)); times*muchFaster < 1 && c.Bytes >= s.best.Bytes {
		return skipped(fmt.Sprintf("%s is %.1f times as fast as csr", s.best.Form, 1/times))
	}
	if b := s.best.Bytes; s.NNZ() > sampleSize[V]() && b > 0 && c.Bytes > b {
		return skipped(fmt.Sprintf("it reads %.1f bytes for each entry, %s only %.1f", c.Bytes, s.best.Form, b))
	}
	if err := s.mayRepay(c); err != nil {
		return err
	}
	t, err := s.prepare(c)
	if err != nil {
		return err
	}
	record.Build, record.Bytes = s.whole(t.took), int64(float64(t.mem.Bytes())/s.fraction)
	if err := s.compareWithBest(&contender[V]{Candidate: c, trial: t, building: record.Build, tried: len(s.Info.Tried) - 1}); err != nil {
		return errors.Join(err, t.mem.Free())
	}
	return nil
}

// prepare builds a candidate on the sample, provided that building the whole fits in the budget.
func (s *search[V]) prepare(c forms.Candidate[V]) (trial[V], error) {
	if s.fraction < 1 {
		return s.afford(c, s.sample, s.fraction)
	}
	building, err := s.probe(c)
	if err != nil {
		return trial[V]{}, err
	}
	t, err := s.build(c, s.bodies(), s.newArena(1))
	t.took = min(t.took, building) // the longer one was delayed
	s.spent += t.took
	return t, err
}

// compareWithBest times a contender and keeps the faster of the contender and the best.
func (s *search[V]) compareWithBest(c *contender[V]) error {
	if err := s.timeContender(c); err != nil {
		return err
	}
	if err := s.timePaired(c); err != nil {
		return err
	}
	s.Info.Tried[c.tried].Product = s.whole(c.product)
	s.Info.Tried[s.best.tried].Product = s.whole(s.best.product)
	s.csr = s.Info.Tried[0].Product
	slower := s.best
	if s.replacesBest(c) {
		s.best = *c
	} else {
		slower = *c
	}
	return slower.mem.Free()
}

// replacesBest reports whether a contender replaces the best form so far: whether it is faster, or steadier and not clearly
// slower. Where few products are timed it also replaces csr if it is not far slower: csr is in the caches already,
// while a form gets there with its first ten products.
func (s *search[V]) replacesBest(c *contender[V]) bool {
	best, v := &s.best, s.withModel(c)
	s.updateDoubt(v)
	switch {
	case c.SteadierThan == best.Form:
		return v.ratio <= clearlySlower
	case best.SteadierThan == c.Form:
		return v.ratio < -clearlySlower
	case s.brief() && best.Form == kernels.FormCSR:
		return v.ratio <= farSlower
	}
	return v.ratio < 0
}

// clearlySlower and farSlower are the logarithms of 10 % and of 1/7 more time.
var (
	clearlySlower = math.Log(1.1)
	farSlower     = math.Log(8. / 7)
)

// finish packs all pieces in the best form.
func (s *search[V]) finish() error {
	b := &s.best
	if b.Form == kernels.FormCSR {
		return s.plain(s.op, s.whyCSR())
	}
	why := fmt.Sprintf("%s; %.2f times as fast as csr", b.Why, float64(s.csr)/float64(s.whole(b.product)))
	if s.fraction == 1 {
		return s.take(b.trial, b.Candidate, why)
	}
	if err := errors.Join(b.mem.Free(), s.vec.Free()); err != nil { // the whole form takes the memory again
		return err
	}
	t, err := s.build(b.Candidate, s.bodies(), s.newArena(1))
	record := &s.Info.Tried[b.tried]
	if sparse.IsInput(err) || errors.Is(err, kernels.ErrOutOfMemory) {
		record.Skipped = err.Error()
		return s.plain(s.op, string(b.Form)+" suits only a sample of the rows")
	}
	if err != nil {
		return err
	}
	record.Build, record.Bytes = t.took, t.mem.Bytes()
	return s.take(t, b.Candidate, fmt.Sprintf("%s, on a sample of %.0f %% of the entries", why, 100*s.fraction))
}

// whyCSR says why no other form was taken.
func (s *search[V]) whyCSR() string {
	var why []string
	for _, t := range s.Info.Tried[1:] {
		if t.Product > 0 {
			why = append(why, fmt.Sprintf("%s was slower", t.Form))
		}
	}
	why = slices.Compact(why) // blocks are tried in two ways
	if s.left != "" {
		why = append(why, s.left)
	}
	if why == nil {
		return "no other form is likely to be faster"
	}
	return strings.Join(why, "; ")
}

// rows returns the rows of stretches.
func (s *search[V]) rows(of [][]stretch[V]) [][]form.Rows[V] {
	out := make([][]form.Rows[V], len(of))
	for i, piece := range of {
		for _, s := range piece {
			out[i] = append(out[i], s.rows)
		}
	}
	return out
}

// whole returns the time of all rows for a time of the sample.
func (s *search[V]) whole(sample time.Duration) time.Duration {
	return time.Duration(float64(sample) / s.fraction)
}
