package msrep

import "time"

// crowd is how the products of a plan are made that several goroutines ask for. They run one
// after the other: each on all workers, or each by who asks for it, which leaves the other CPUs to
// what the others do between two products. What is faster depends on how much that is, so both are
// measured, and the faster is kept for nine times as long. With one goroutine all workers take part.
type crowd struct {
	seen  time.Duration // when one waited for another last; 0 is never
	way   int           // how products are made now: crowdAll, then crowdAlone, then crowdFaster
	begin time.Duration // when the first one of this way began
	made  int           // products since
	tried time.Duration // that the first two ways took
	rate  [2]float64    // products in a nanosecond in each of these
}

const (
	crowdAll = iota
	crowdAlone
	crowdFaster
	crowdTime  = 10 * time.Millisecond // of each of the first two ways, or a product, if that is longer
	crowdKept  = 9                     // times what these took
	crowdLasts = 5 * crowdTime         // behind the last one that waited: Go lets a goroutine run for as long as crowdTime
)

// alone reports whether the product that begins now is made by who asks for it.
func (c *crowd) alone(now time.Duration) bool {
	if c.seen == 0 || now-c.seen > crowdLasts {
		*c = crowd{begin: now}
		return false
	}
	took := now - c.begin
	switch {
	case c.way < crowdFaster && took >= crowdTime:
		c.rate[c.way] = float64(c.made) / float64(took)
		c.begin, c.made, c.tried, c.way = now, 0, c.tried+took, c.way+1
	case c.way == crowdFaster && took >= crowdKept*c.tried:
		*c = crowd{seen: c.seen, begin: now}
	}
	c.made++
	return c.way == crowdAlone || c.way == crowdFaster && c.rate[crowdAlone] > c.rate[crowdAll]
}
