package msrep

import (
	"time"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// clockStart is the origin of times in this package. time.Since reads only the monotonic clock, in half the time of
// time.Now.
var clockStart = time.Now()

// direct is the route of a plan with a single device that has its matrix in a form and uses x and y in place. A product
// is one call of the device. It omits the steps of shared that only other products need, which take as long as 2000
// entries. Products that the form does not compute go as in shared.
type direct[V sparse.Value] struct {
	shared[V]
	op kernels.HostProduct[V] // the product in progress
}

func (r *direct[V]) Multiply(q *product[V]) (t Timing, err error) {
	s := r.p.shares[0]
	begin := time.Since(clockStart)
	r.op = kernels.HostProduct[V]{A: s.packed, Alpha: q.alpha, Beta: q.beta, X: q.x, Y: q.y, Minor: !q.byMajor, NoWorkers: r.p.callers.alone(begin)}
	err = s.stream.Launch(&r.op)
	r.op = kernels.HostProduct[V]{} // the vectors belong to the caller
	if err != nil {
		return t, err
	}
	took := time.Since(clockStart) - begin
	return Timing{Kernel: took, Total: took, Devices: []time.Duration{took}}, nil
}

// MultiplyMany multiplies several vectors by row.
func (r *direct[V]) MultiplyMany(q *manyProduct[V], took []time.Duration) (carries [][]V, err error) {
	s := r.p.shares[0]
	if !q.byMajor || !s.multipliesMany() {
		return r.shared.MultiplyMany(q, took)
	}
	if err := q.ctx.Err(); err != nil {
		return nil, err
	}
	begin := time.Since(clockStart)
	r.op = kernels.HostProduct[V]{A: s.packed, Alpha: q.alpha, Beta: q.beta, X: q.x.rowElements(0, r.p.lay.Minors), Y: q.y.rowElements(0, s.part.OwnEnd),
		Cols: q.x.Count, StrideX: q.x.Stride, StrideY: q.y.Stride}
	err = s.stream.Launch(&r.op)
	r.op = kernels.HostProduct[V]{}
	took[0] = time.Since(clockStart) - begin
	return nil, err
}

// isDirect reports whether the route of the plan is direct.
func (p *Plan[V]) isDirect() bool {
	_, ok := p.route.(*direct[V])
	return ok
}

// callerSchedule decides on which threads a product runs when several goroutines call one plan. Products run one after
// the other. A product either runs on all workers, or on its caller alone, which leaves the other CPUs to the callers
// that work between two products. Which way gives more products per second depends on that work, so both ways are timed
// and the faster is used for callerKeepFactor times as long. With a single caller, all workers take part.
type callerSchedule struct {
	lastWait  time.Duration // when a caller last waited for another; 0 means never
	stage     int           // the current way: timeAllWorkers, then timeCallerAlone, then useFaster
	start     time.Duration // start of the first product of this stage
	products  int           // products since start
	trialTime time.Duration // duration of the first two stages together
	rate      [2]float64    // products per nanosecond in each of these stages
}

const (
	timeAllWorkers = iota
	timeCallerAlone
	useFaster
	callerTrialTime  = 10 * time.Millisecond // least duration of each of the first two stages
	callerKeepFactor = 9                     // duration of the last stage, as a multiple of trialTime
	callerKeepTime   = 5 * callerTrialTime   // after the last wait; Go lets a goroutine run for as long as callerTrialTime
)

// alone reports whether the product that begins at now runs on its caller alone.
func (c *callerSchedule) alone(now time.Duration) bool {
	if c.lastWait == 0 || now-c.lastWait > callerKeepTime {
		*c = callerSchedule{start: now}
		return false
	}
	took := now - c.start
	switch {
	case c.stage < useFaster && took >= callerTrialTime:
		c.rate[c.stage] = float64(c.products) / float64(took)
		c.start, c.products, c.trialTime, c.stage = now, 0, c.trialTime+took, c.stage+1
	case c.stage == useFaster && took >= callerKeepFactor*c.trialTime:
		*c = callerSchedule{lastWait: c.lastWait, start: now}
	}
	c.products++
	return c.stage == timeCallerAlone || c.stage == useFaster && c.rate[timeCallerAlone] > c.rate[timeAllWorkers]
}
