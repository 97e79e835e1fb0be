package bench

import (
	"fmt"
	"slices"
	"time"
)

// undisturbed is times of something that was done again and again, in order of length.
type undisturbed struct {
	times []time.Duration // of the runs that count
	clean int             // runs that were undisturbed
	all   int             // runs
	few   bool            // too few were undisturbed: times are of all
}

// timeUndisturbed times f until reps runs were undisturbed, but 5*reps runs and, from the fifth on, 5 seconds
// at most. A run is disturbed if the system took a CPU from the process, as interrupted counts: it then tells
// what else the machine had to do. The drivers of the other libraries (scripts/race-cpu) take the same runs.
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

// String is the undisturbed runs and all, with a mark where all count, as other drivers print them.
func (u undisturbed) String() string {
	mark := ""
	if u.few {
		mark = "~"
	}
	return fmt.Sprintf("%d/%d%s", u.clean, u.all, mark)
}

// typical is the median of undisturbed runs, or the lower quartile of all where too few were.
func (u undisturbed) typical() time.Duration {
	if u.few {
		return u.times[len(u.times)/4]
	}
	return u.times[len(u.times)/2]
}
