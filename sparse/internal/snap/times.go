package snap

import "math"

// times is statistics of weights that show whether the weights are times.
type times struct {
	n           int64
	min, max    float64
	first, last float64
	fraction    bool  // some weight is not a whole number
	decreases   bool  // some weight is smaller than the one before it
	steps       int64 // number of weights that are larger than the one before
}

// timesOf computes the statistics of the weights of some edges.
func timesOf(val []float64) times {
	if len(val) == 0 {
		return times{}
	}
	t := times{n: int64(len(val)), min: val[0], max: val[0], first: val[0], last: val[len(val)-1]}
	before := val[0]
	for _, v := range val {
		if v != math.Trunc(v) {
			t.fraction = true // these are not times
			break
		}
		if v > before {
			t.steps++
		} else if v < before {
			t.decreases = true
		}
		t.min, t.max, before = min(t.min, v), max(t.max, v), v
	}
	return t
}

// join adds the statistics u of the edges that follow those of t.
func (t *times) join(u times) {
	if t.n == 0 || u.n == 0 {
		if t.n == 0 {
			*t = u
		}
		return
	}
	t.decreases = t.decreases || u.decreases || !(u.first >= t.last)
	if u.first > t.last {
		t.steps++
	}
	t.n, t.steps, t.last = t.n+u.n, t.steps+u.steps, u.last
	t.min, t.max, t.fraction = min(t.min, u.min), max(t.max, u.max), t.fraction || u.fraction
}

// likely reports whether the weights look like times: whole numbers that are all seconds
// or milliseconds since 1970 in the years 1980 to 2100, or, in a list of at least 100
// edges, whole numbers that never decrease from edge to edge and increase at most edges.
func (t *times) likely() bool {
	const first, last = 315_532_800, 4_133_980_800 // seconds
	if t.n == 0 || t.fraction {
		return false
	}
	for _, unit := range []float64{1, 1000} {
		if t.min >= first*unit && t.max < last*unit {
			return true
		}
	}
	return t.n >= 100 && !t.decreases && 2*t.steps > t.n
}
