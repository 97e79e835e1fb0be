package cpu

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/form"
	"github.com/msrep-go/msrep/kernels/cpu/inspect"
	"github.com/msrep-go/msrep/sparse"
)

// search is the choice of the form of a packed part. It builds the candidates on a
// sample of the rows, which is all rows of a small part, and times products of it.
// Only the fastest is then built whole; a form of which a sample says too little is so before.
type search[V sparse.Value] struct {
	*packed[V]
	op       *kernels.Packing[V]
	products int // that are expected

	sample [][]stretch[V]
	share  float64        // of all entries, that are in the sample
	all    [][]stretch[V] // all rows
	x, y   []V            // to time products with
	vec    arena          // their memory

	looked time.Duration // to find the candidates
	csr    time.Duration // a product of all rows in plain CSR
	spent  time.Duration // of the budget
	wanted time.Duration // by all workers in products that were timed
	lost   time.Duration // of this, because something else had their CPUs
	best   contender[V]
	half   *half[V]     // a form that may do where the matrix is symmetric, or nil
	halved contender[V] // that stores all of what half does, in the least memory; its forms are gone
	left   string       // the first candidate that the budget left out, and why
}

// contender is a form that was built on the sample.
type contender[V sparse.Value] struct {
	inspect.Candidate[V]
	trial[V]
	product  time.Duration // of the sample
	scatter  float64       // of the times of which it is the least, as a logarithm
	verdict  verdict       // against the best form before it
	building time.Duration // of the whole
	tried    int           // its place in PackInfo.Tried
}

func newSearch[V sparse.Value](p *packed[V], op *kernels.Packing[V]) *search[V] {
	const endless = 1_000_000_000 // more would be beyond the range of a time
	s := &search[V]{packed: p, op: op, products: min(op.Products, endless)}
	if s.products == 0 {
		s.products = defaultProducts
	}
	s.sample, s.share = sample(p, stretches)
	s.all = cut(p, 1, 1, 0)
	return s
}

// run finds the fastest form and packs all pieces in it.
func (s *search[V]) run() (err error) {
	candidates, err := s.candidates()
	if err != nil {
		return err
	}
	if slices.ContainsFunc(candidates, func(c inspect.Candidate[V]) bool { return c.AllOfX }) {
		s.sample, s.share = sample(s.packed, 1)
	}
	read := s.sample
	if slices.ContainsFunc(candidates, func(c inspect.Candidate[V]) bool { return c.Whole }) {
		read = s.all
	}
	defer func() { err = errors.Join(err, s.vec.free()) }()
	err = s.makeVectors(read)
	if errors.Is(err, kernels.ErrOutOfMemory) {
		return errors.Join(s.vec.free(), s.plain(s.op, "no memory to look for another form"))
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
				return errors.Join(err, s.best.mem.free())
			}
		}
		s.info.Tried = append(s.info.Tried, kernels.PackTrial{Form: c.Form, Why: c.Why})
		t := &s.info.Tried[len(s.info.Tried)-1]
		err := s.try(c, t)
		var no skipped
		switch {
		case errors.As(err, &no), sparse.IsInput(err), errors.Is(err, kernels.ErrOutOfMemory):
			t.Skipped = err.Error()
			if s.left == "" && no != "" {
				s.left = fmt.Sprintf("%s was not tried: %s", c.Form, t.Skipped)
			}
		case err != nil:
			return errors.Join(err, s.best.mem.free())
		}
	}
	return s.finish()
}

// timeCSR makes plain CSR, in place, the form to beat.
func (s *search[V]) timeCSR() error {
	c := contender[V]{Candidate: inspect.CSR[V](true)}
	var err error
	if c.trial, err = s.build(c.Candidate, s.rows(s.sample), make(arena, len(s.sample))); err != nil {
		return err
	}
	c.mem = nil // it takes none
	if c.product, c.scatter, err = s.time(c.trial); err != nil {
		return err
	}
	s.best, s.csr = c, s.whole(c.product)
	s.spent += min(s.looked, longestLook*s.csr)
	s.info.Tried = []kernels.PackTrial{{Form: kernels.FormCSR, Why: "the rows as they are", Product: s.csr}}
	return nil
}

// longestLook is the most products of csr that looking for candidates takes, two or three times as
// many as most matrices take: what took longer was held up by something else.
const longestLook = 10

// candidates is the forms to try, the likeliest first: in the caches that of the fastest product.
func (s *search[V]) candidates() ([]inspect.Candidate[V], error) {
	looks := make([]inspect.Look, len(s.pieces))
	w, err := s.dev.pool.timed(len(looks), func(i int) { looks[i] = inspect.At(s.pieces[i].rows.body) })
	if s.op.Products > 0 {
		s.looked = w.took
	}
	all := inspect.Candidates[V](looks)
	if s.cached() {
		slices.SortStableFunc(all, func(a, b inspect.Candidate[V]) int { return cmp.Compare(a.Cached.Product, b.Cached.Product) })
	}
	return all, err
}

// skipped says why a candidate was left out.
type skipped string

func (s skipped) Error() string { return string(s) }

// try builds a candidate on the sample and times it, if that and building the whole
// fit in the budget. It becomes the best if it is.
func (s *search[V]) try(c inspect.Candidate[V], told *kernels.PackTrial) error {
	if b := s.best.Bytes; s.part.NNZ() > sampleSize[V]() && b > 0 && c.Bytes > b {
		return skipped(fmt.Sprintf("it reads %.1f bytes for each entry, %s only %.1f", c.Bytes, s.best.Form, b))
	}
	if c.Unless != "" && c.Unless == s.best.Form {
		return skipped(string(c.Unless) + " is the fastest so far and does for the same entries")
	}
	if err := s.mayRepay(c); err != nil {
		return err
	}
	t, err := s.prepare(c)
	if err != nil {
		return err
	}
	told.Build, told.Bytes = t.took, t.mem.bytes()
	if !t.whole {
		told.Build, told.Bytes = s.whole(t.took), int64(float64(t.mem.bytes())/s.share)
	}
	if err := s.judge(&contender[V]{Candidate: c, trial: t, building: told.Build, tried: len(s.info.Tried) - 1}); err != nil {
		return errors.Join(err, t.mem.free())
	}
	return nil
}

// prepare builds a candidate on the sample, or on all rows where only they tell its time, if
// building the whole fits in the budget.
func (s *search[V]) prepare(c inspect.Candidate[V]) (trial[V], error) {
	if s.share < 1 && !c.Whole {
		return s.afford(c, s.sample, s.share)
	}
	building, err := s.probe(c)
	if err != nil {
		return trial[V]{}, err
	}
	t, err := s.build(c, s.bodies(), s.newArena(1))
	t.whole = s.share < 1
	t.took = min(t.took, building) // the longer one was held up
	s.spent += t.took
	return t, err
}

// judge times a contender and keeps the faster of it and the best.
func (s *search[V]) judge(c *contender[V]) error {
	if err := s.timeContender(c); err != nil {
		return err
	}
	if err := s.duel(c); err != nil {
		return err
	}
	s.info.Tried[c.tried].Product = s.whole(c.product)
	s.info.Tried[s.best.tried].Product = s.whole(s.best.product)
	s.csr = s.info.Tried[0].Product
	if h := halfOf(c.forms[0][0]); h != nil && (s.half == nil || s.info.Tried[c.tried].Bytes < s.info.Tried[s.halved.tried].Bytes) {
		s.half, s.halved = h, contender[V]{Candidate: c.Candidate, product: c.product, building: c.building, tried: c.tried}
	}
	loser := s.best
	if s.wins(c) {
		s.best = *c
	} else {
		loser = *c
	}
	return loser.mem.free()
}

// wins reports whether a contender is faster than the best so far, or does for it. Where few products are timed it
// does for csr, which is in the caches already, while a form gets there with its first ten, if it is not clearly slower.
func (s *search[V]) wins(c *contender[V]) bool {
	best, v := &s.best, s.believed(c)
	s.doubts(v)
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

// The logarithms of a tenth and of a seventh more.
var (
	clearlySlower = math.Log(1.1)
	farSlower     = math.Log(8. / 7)
)

// finish packs all pieces in the best form.
func (s *search[V]) finish() error {
	b := &s.best
	taken, err := s.trySymmetric()
	if err != nil {
		return errors.Join(err, b.mem.free())
	}
	if taken {
		return nil
	}
	if b.Form == kernels.FormCSR {
		return s.plain(s.op, s.whyCSR())
	}
	why := fmt.Sprintf("%s; %.2f times as fast as csr", b.Why, float64(s.csr)/float64(s.whole(b.product)))
	if s.share == 1 || b.whole {
		return s.take(b.trial, b.Candidate, why)
	}
	if err := errors.Join(b.mem.free(), s.vec.free()); err != nil { // to be had again
		return err
	}
	t, err := s.build(b.Candidate, s.bodies(), s.newArena(1))
	told := &s.info.Tried[b.tried]
	if sparse.IsInput(err) || errors.Is(err, kernels.ErrOutOfMemory) {
		told.Skipped = err.Error()
		return s.plain(s.op, string(b.Form)+" suits only a sample of the rows")
	}
	if err != nil {
		return err
	}
	told.Build, told.Bytes = t.took, t.mem.bytes()
	return s.take(t, b.Candidate, fmt.Sprintf("%s, on a sample of %.0f %% of the entries", why, 100*s.share))
}

// whyCSR says what became of the other forms.
func (s *search[V]) whyCSR() string {
	var why []string
	for _, t := range s.info.Tried[1:] {
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

// rows is the rows of stretches.
func (s *search[V]) rows(of [][]stretch[V]) [][]form.Rows[V] {
	out := make([][]form.Rows[V], len(of))
	for i, piece := range of {
		for _, s := range piece {
			out[i] = append(out[i], s.rows)
		}
	}
	return out
}

// whole is the time of all rows when that of the sample is given.
func (s *search[V]) whole(sample time.Duration) time.Duration {
	return time.Duration(float64(sample) / s.share)
}
