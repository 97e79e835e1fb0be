package msrep

import "time"

// crowd is how the products of a plan are made that several goroutines ask for. They run one
// after the other: each on all workers, or each by who asks for it, which leaves the other CPUs to
// what the others do between two products. What is faster depends on how much that is, so both are
// measured, and the faster is kept for a while. With one goroutine all workers take part.
type crowd struct {
	seen  time.Duration // when one waited for another last; 0 is never
	begin time.Duration // of the window
	made  int           // products in the window
	turn  int           // of the windows: crowdAll, crowdAlone, and behind them the faster
	rate  [2]float64    // products in a nanosecond in these two
}

const (
	crowdAll = iota
	crowdAlone
	crowdTurns  = 20
	crowdWindow = 10 * time.Millisecond
	crowdLasts  = 5 * crowdWindow // behind the last one that waited: Go lets a goroutine run for as long as a window
)

// alone reports whether the product that begins now is made by who asks for it. waited says that
// others wait for it to end.
func (c *crowd) alone(now time.Duration, waited bool) bool {
	if waited {
		c.seen = now
	}
	if c.seen == 0 || now-c.seen > crowdLasts {
		*c = crowd{begin: now}
		return false
	}
	if took := now - c.begin; took >= crowdWindow {
		if c.turn <= crowdAlone {
			c.rate[c.turn] = float64(c.made) / float64(took)
		}
		c.begin, c.made, c.turn = now, 0, (c.turn+1)%crowdTurns
	}
	c.made++
	return c.turn == crowdAlone || c.turn > crowdAlone && c.rate[crowdAlone] > c.rate[crowdAll]
}
