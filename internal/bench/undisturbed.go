package bench

import (
	"fmt"
	"slices"
	"time"
)

// undisturbed holds the times of a repeated operation, sorted.
type undisturbed struct {
	times []time.Duration // times of the runs that count
	clean int             // number of undisturbed runs
	all   int             // number of runs
	few   bool            // too few runs were undisturbed: times holds all runs
}

// timeUndisturbed times f until reps runs were undisturbed, with at most 5*reps runs and, from the fifth run on, at
// most 5 seconds. interrupted counts how often the system took a CPU from the process; a run in which the count grows
// is disturbed by other work on the machine. The drivers of the other libraries (scripts/race-cpu) count the same
// way.
func timeUndisturbed(reps int, f func() error, interrupted func() int64) (u undisturbed, err error) {
	const least, most, limit = 5, 5, 5 * time.Second
	var every []time.Duration
	first := time.Now()
	for len(u.times) < reps && len(every) < most*reps && (len(every) < least || time.Since(first) < limit) {
		before, begin := interrupted(), time.Now()
		if err := f(); err != nil {
			return u, err
		}
		every = append(every, time.Since(begin))
		if interrupted() == before {
			u.times = append(u.times, every[len(every)-1])
		}
	}
	u.clean, u.all = len(u.times), len(every)
	if len(u.times) < min(least, reps) {
		u.times, u.few = every, true
	}
	slices.Sort(u.times)
	return u, nil
}

// String returns the numbers of undisturbed runs and of all runs, with a ~ if all count, as other drivers print them.
func (u undisturbed) String() string {
	mark := ""
	if u.few {
		mark = "~"
	}
	return fmt.Sprintf("%d/%d%s", u.clean, u.all, mark)
}

// typical returns the median of the undisturbed runs, or the lower quartile of all runs if too few were undisturbed.
func (u undisturbed) typical() time.Duration {
	if u.few {
		return u.times[len(u.times)/4]
	}
	return u.times[len(u.times)/2]
}
