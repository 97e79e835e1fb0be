package msrep

import "time"

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
