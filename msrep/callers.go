package msrep

import "time"

// callerSchedule is how the products of a plan are made that several goroutines ask for. They run one
// after the other: each on all workers, or each by who asks for it, which leaves the other CPUs to
// what the others do between two products. What is faster depends on how much that is, so both are
// measured, and the faster is kept for nine times as long. With one goroutine all workers take part.
type callerSchedule struct {
	lastWait time.Duration // when one waited for another last; 0 is never
	stage    int           // how products are made now: crowdAll, then crowdAlone, then crowdFaster
	began    time.Duration // when the first one of this way began
	products int           // products since
	tried    time.Duration // that the first two ways took
	rate     [2]float64    // products in a nanosecond in each of these
}

const (
	timeAllWorkers = iota
	timeCallerAlone
	useFaster
	callerTrialTime  = 10 * time.Millisecond // of each of the first two ways, or a product, if that is longer
	callerKeepFactor = 9                     // times what these took
	callerKeepTime   = 5 * callerTrialTime   // behind the last one that waited: Go lets a goroutine run for as long as crowdTime
)

// alone reports whether the product that begins now is made by who asks for it.
func (c *callerSchedule) alone(now time.Duration) bool {
	if c.lastWait == 0 || now-c.lastWait > callerKeepTime {
		*c = callerSchedule{began: now}
		return false
	}
	took := now - c.began
	switch {
	case c.stage < useFaster && took >= callerTrialTime:
		c.rate[c.stage] = float64(c.products) / float64(took)
		c.began, c.products, c.tried, c.stage = now, 0, c.tried+took, c.stage+1
	case c.stage == useFaster && took >= callerKeepFactor*c.tried:
		*c = callerSchedule{lastWait: c.lastWait, began: now}
	}
	c.products++
	return c.stage == timeCallerAlone || c.stage == useFaster && c.rate[timeCallerAlone] > c.rate[timeAllWorkers]
}
