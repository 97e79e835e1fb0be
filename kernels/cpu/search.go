package cpu

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/form"
	"github.com/msrep-go/msrep/kernels/cpu/inspect"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// search is the choice of the form of a packed part. It builds the candidates on a
// sample of the rows, which is all rows of a small part, and times products of it.
// Only the fastest is then built whole.
type search[V sparse.Value] struct {
	*packed[V]
	op       *kernels.Packing[V]
	products int // that are expected
	start    time.Time

	sample [][]stretch[V]
	share  float64 // of all entries, that are in the sample
	x, y   []V     // to time products with
	vec    kernels.Buffer

	csr    time.Duration // a product of all rows in plain CSR
	waited time.Duration // for the memory of what was tried
	best   contender[V]
	left   string // the first candidate that the budget left out, and why
}

// contender is a form that was built on the sample.
type contender[V sparse.Value] struct {
	inspect.Candidate[V]
	*trial[V]
	product  time.Duration // of the sample
	building time.Duration // of the whole
	tried    int           // its place in PackInfo.Tried
}

func newSearch[V sparse.Value](p *packed[V], op *kernels.Packing[V]) *search[V] {
	s := &search[V]{packed: p, op: op, products: op.Products, start: time.Now()}
	if s.products == 0 {
		s.products = defaultProducts
	}
	s.sample, s.share = sample(p)
	return s
}

// makeVectors makes x and y, and fills of x what the sample reads.
func (s *search[V]) makeVectors() (err error) {
	const apart = 64 // elements, so that they do not end up at the same place of a page
	rows := int64(s.part.OwnEnd - s.part.OwnFirst)
	n := int64(s.minors) + apart + rows
	if s.vec, err = s.dev.Alloc(n * mem.Size[V]()); err != nil {
		return err
	}
	b, err := s.dev.View(s.vec)
	if err != nil {
		return err
	}
	all, _ := mem.Slice[V](b, n)
	s.x, s.y = all[:s.minors], all[int64(s.minors)+apart:]
	err = s.fillX()
	s.waited = time.Since(s.start)
	return err
}

// fillX sets the elements of x that the sample reads to 1.
func (s *search[V]) fillX() error {
	spans := make([][][2]int, len(s.sample))
	err := s.dev.pool.run(len(s.sample), func(i int) {
		for _, st := range s.sample[i] {
			if len(st.rows.Idx) > 0 {
				lo, hi := simd.MinMax(simd.Default(), st.rows.Idx)
				spans[i] = append(spans[i], [2]int{max(int(lo), 0), min(int(hi)+1, len(s.x))})
			}
		}
	})
	if err != nil {
		return err
	}
	all := slices.Concat(spans...)
	slices.SortFunc(all, func(a, b [2]int) int { return a[0] - b[0] })
	done := 0
	for _, span := range all {
		lo, hi := max(span[0], done), span[1]
		if lo >= hi {
			continue
		}
		x, n := s.x[lo:hi], len(s.pieces)
		done = hi
		if err := s.dev.pool.run(n, func(i int) {
			x := x[par.Cut(int64(len(x)), n, i):par.Cut(int64(len(x)), n, i+1)]
			for k := range x {
				x[k] = 1
			}
		}); err != nil {
			return err
		}
	}
	return nil
}

// run finds the fastest form and packs all pieces in it.
func (s *search[V]) run() (err error) {
	err = s.makeVectors()
	if errors.Is(err, kernels.ErrOutOfMemory) {
		return s.plain(s.op, "no memory to look for another form")
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.vec.Free()) }()
	if err := s.timeCSR(); err != nil {
		return err
	}
	bodies := make([]form.Rows[V], len(s.pieces))
	for i := range s.pieces {
		bodies[i] = s.pieces[i].rows.body
	}
	for _, c := range inspect.Candidates(bodies) {
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
	if c.trial, err = s.build(c.Candidate, s.rows(s.sample)); err != nil {
		return err
	}
	if c.product, err = s.time(c.trial); err != nil {
		return err
	}
	s.best, s.csr = c, s.whole(c.product)
	s.info.Tried = []kernels.PackTrial{{Form: kernels.FormCSR, Why: "the rows as they are", Product: s.csr}}
	return nil
}

// skipped says why a candidate was left out.
type skipped string

func (s skipped) Error() string { return string(s) }

// try builds a candidate on the sample and times it, if that and building the whole
// fit in the budget. It becomes the best if it is.
func (s *search[V]) try(c inspect.Candidate[V], told *kernels.PackTrial) error {
	if b := s.best.Bytes; s.share < 1 && b > 0 && c.Bytes > b {
		return skipped(fmt.Sprintf("it reads %.1f bytes for each entry, %s only %.1f", c.Bytes, s.best.Form, b))
	}
	if s.budget(c) < leastBudget {
		return skipped("so few products do not repay the search")
	}
	if s.share == 1 {
		if err := s.probe(c); err != nil {
			return err
		}
	}
	t, err := s.build(c, s.rows(s.sample))
	if err != nil {
		return err
	}
	s.waited += t.waited()
	told.Build, told.Bytes = s.whole(t.took), int64(float64(t.mem.bytes())/s.share)
	if err := s.judge(&contender[V]{Candidate: c, trial: t, building: told.Build, tried: len(s.info.Tried) - 1}); err != nil {
		return errors.Join(err, t.mem.free())
	}
	return nil
}

// judge times a contender and keeps the faster of it and the best.
func (s *search[V]) judge(c *contender[V]) error {
	if s.share < 1 {
		if err := s.affords(c.Candidate, c.building, s.info.Tried[c.tried].Bytes); err != nil {
			return err
		}
	}
	var err error
	if c.product, err = s.time(c.trial); err != nil {
		return err
	}
	if err := s.again(c); err != nil {
		return err
	}
	s.info.Tried[c.tried].Product = s.whole(c.product)
	if s.best.tried > 0 {
		s.info.Tried[s.best.tried].Product = s.whole(s.best.product)
	}
	loser := s.best
	if c.product < s.best.product {
		s.best = *c
	} else {
		loser = *c
	}
	return loser.mem.free()
}

// The share of a piece that tells what building the whole takes, in at most so many
// stretches of at least so many rows.
const (
	probeShare = 1. / 16
	probes     = 4
	probeRows  = 1 << 10
)

// probe builds a candidate on a few rows to see whether building it on all of them
// fits in the budget. It tries again where it does not: something else may have held
// up the first time.
func (s *search[V]) probe(c inspect.Candidate[V]) error {
	rows := cut(s.packed, probeShare, probes, probeRows)
	held := int64(0)
	for _, piece := range rows {
		for _, st := range piece {
			held += int64(len(st.rows.Idx))
		}
	}
	more := float64(s.part.NNZ()) / float64(max(held, 1))
	var over error
	for range 2 {
		t, err := s.build(c, s.rows(rows))
		if err != nil {
			return err
		}
		s.waited += t.waited()
		bytes := float64(t.mem.bytes())
		if err := t.mem.free(); err != nil {
			return err
		}
		if over = s.affords(c, time.Duration(more*float64(t.took)), int64(more*bytes)); over == nil {
			return nil
		}
	}
	return over
}

// affords fails where building the whole, which takes so long and so much memory, is
// over the budget. Memory counts as long as a product of csr takes to read as much.
// How long the system takes to provide it is not known before, and not counted: in a
// virtual machine it may be ten times as long.
func (s *search[V]) affords(c inspect.Candidate[V], building time.Duration, bytes int64) error {
	csrBytes := (4+mem.Size[V]())*s.part.NNZ() + 8*int64(s.part.Majors())
	building += time.Duration(float64(s.csr) * float64(bytes) / float64(csrBytes))
	if s.op.Products == 0 && building < defaultBudget/4 {
		return nil // there are few candidates: what was spent says more about the machine
	}
	if spent := time.Since(s.start) - s.waited; spent+building > s.budget(c) {
		csr := float64(s.csr)
		return skipped(fmt.Sprintf("making it would take %.0f products of csr, and %.0f of %.0f are spent",
			float64(building)/csr, float64(spent)/csr, float64(s.budget(c))/csr))
	}
	return nil
}

// budget is the time that the search may take if it ends with this candidate. Where
// no number of products was stated it is doubled: a machine that is slow for a moment
// would else decide for a form that is slow for good.
func (s *search[V]) budget(c inspect.Candidate[V]) time.Duration {
	b := time.Duration(c.Budget(s.products) * float64(s.csr))
	if s.op.Products == 0 {
		b = max(2*b, defaultBudget)
	}
	return b
}

// finish packs all pieces in the best form.
func (s *search[V]) finish() error {
	b := &s.best
	if b.Form == kernels.FormCSR {
		why := "no other form is likely to be faster"
		if s.left != "" {
			why = s.left
		}
		return errors.Join(b.mem.free(), s.plain(s.op, why))
	}
	why := fmt.Sprintf("%s; %.2f times as fast as csr", b.Why, float64(s.csr)/float64(s.whole(b.product)))
	if s.share == 1 {
		s.take(b.trial, b.Form, why)
		return nil
	}
	if err := b.mem.free(); err != nil {
		return err
	}
	t, err := s.build(b.Candidate, s.bodies())
	told := &s.info.Tried[b.tried]
	if sparse.IsInput(err) || errors.Is(err, kernels.ErrOutOfMemory) {
		told.Skipped = err.Error()
		return s.plain(s.op, string(b.Form)+" suits only a sample of the rows")
	}
	if err != nil {
		return err
	}
	told.Build, told.Bytes = t.took, t.mem.bytes()
	s.take(t, b.Form, fmt.Sprintf("%s, on a sample of %.0f %% of the entries", why, 100*s.share))
	return nil
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

// How long products are timed: single ones are too short for the clock, and the
// least of many is what the machine can do.
const (
	burstTime = 20 * time.Microsecond
	trialTime = 200 * time.Microsecond
)

// time is the least time of a product of the sample, after one that warms up. It
// takes few products where few were announced.
func (s *search[V]) time(t *trial[V]) (least time.Duration, err error) {
	least = math.MaxInt64
	most := max(2, 3*s.products/100)
	if s.op.Products == 0 {
		most = math.MaxInt
	}
	if _, err := s.burst(t, 1); err != nil {
		return 0, err
	}
	spent := time.Duration(0)
	for n, made := 1, 0; made < 2 || spent < trialTime && made < most; made += n {
		took, err := s.burst(t, n)
		if err != nil {
			return 0, err
		}
		spent += took
		least = min(least, max(took/time.Duration(n), 1))
		n = min(int(burstTime/least)+1, max(most-made-n, 1))
	}
	return least, nil
}

// duelRounds is how often two forms that are close are timed once more in turn.
const duelRounds = 4

// again times a contender and the best in turn where the budget allows it: a slow
// moment of the machine then hits both. Forms that are not within a seventh of one
// another may take only a little of what is left.
func (s *search[V]) again(c *contender[V]) error {
	n := int(burstTime/s.best.product) + 1
	cost := duelRounds * time.Duration(n) * (c.product + s.best.product)
	left := s.budget(c.Candidate) - time.Since(s.start)
	if s.share < 1 {
		left -= max(c.building, s.best.building)
	}
	if a, b := c.product, s.best.product; a > b+b/7 || b > a+a/7 {
		left /= 8
	}
	if cost > left {
		return nil
	}
	for range duelRounds {
		for _, c := range []*contender[V]{c, &s.best} {
			took, err := s.burst(c.trial, n)
			if err != nil {
				return err
			}
			c.product = min(c.product, max(took/time.Duration(n), 1))
		}
	}
	return nil
}

// burst is how long n products of the sample take.
func (s *search[V]) burst(t *trial[V], n int) (time.Duration, error) {
	begin := time.Now()
	for range n {
		err := s.dev.pool.run(len(s.sample), func(i int) {
			for k, st := range s.sample[i] {
				t.forms[i][k].Multiply(1, 0, s.x, s.y[st.y:st.y+len(st.rows.Ptr)-1])
			}
		})
		if err != nil {
			return 0, err
		}
	}
	return time.Since(begin), nil
}
