package msrep

import "time"

// crowd is how the products of a plan are made that several goroutines ask for. They run one
// after the other: each on all workers, or each by who asks for it, which leaves the other CPUs to
// what the others do between two products. What is faster depends on how much that is, so both are
// measured, and the faster is kept for nine times as long. With one goroutine all workers take part.
type crowd struct {
	seen  time.Duration // when one waited for another last; 0 is never
	begin time.Duration // of the turn
	made  int           // products in the turn
	turn  int           // crowdAll, crowdAlone or crowdFaster
	tried time.Duration // that the first two turns took
	rate  [2]float64    // products in a nanosecond in these two
}

const (
	crowdAll = iota
	crowdAlone
	crowdFaster
	crowdTurn  = 10 * time.Millisecond // or a product, if that is longer
	crowdKept  = 9                     // times what the first two turns took
	crowdLasts = 5 * crowdTurn         // behind the last one that waited: Go lets a goroutine run for as long as a turn
)

// alone reports whether the product that begins now is made by who asks for it.
func (c *crowd) alone(now time.Duration) bool {
	if c.seen == 0 || now-c.seen > crowdLasts {
		*c = crowd{begin: now}
		return false
	}
	took := now - c.begin
	switch {
	case c.turn < crowdFaster && took >= crowdTurn:
		c.rate[c.turn] = float64(c.made) / float64(took)
		c.begin, c.made, c.tried, c.turn = now, 0, c.tried+took, c.turn+1
	case c.turn == crowdFaster && took >= crowdKept*c.tried:
		*c = crowd{seen: c.seen, begin: now}
	}
	c.made++
	return c.turn == crowdAlone || c.turn == crowdFaster && c.rate[crowdAlone] > c.rate[crowdAll]
}
