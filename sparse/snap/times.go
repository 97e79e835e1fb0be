package snap

import "math"

// times is what tells whether the weights of a list are times.
type times struct {
	n           int64
	min, max    float64
	first, last float64
	fraction    bool  // not all are whole numbers
	falls       bool  // one is smaller than the one before it
	steps       int64 // how many are larger than the one before them
}

// timesOf looks at the weights of some edges.
func timesOf(val []float64) times {
	if len(val) == 0 {
		return times{}
	}
	t := times{n: int64(len(val)), min: val[0], max: val[0], first: val[0], last: val[len(val)-1]}
	before := val[0]
	for _, v := range val {
		if v != math.Trunc(v) {
			t.fraction = true // which ends the question
			break
		}
		if v > before {
			t.steps++
		} else if v < before {
			t.falls = true
		}
		t.min, t.max, before = min(t.min, v), max(t.max, v), v
	}
	return t
}

// join puts the edges of u behind those of t.
func (t *times) join(u times) {
	if t.n == 0 || u.n == 0 {
		if t.n == 0 {
			*t = u
		}
		return
	}
	t.falls = t.falls || u.falls || !(u.first >= t.last)
	if u.first > t.last {
		t.steps++
	}
	t.n, t.steps, t.last = t.n+u.n, t.steps+u.steps, u.last
	t.min, t.max, t.fraction = min(t.min, u.min), max(t.max, u.max), t.fraction || u.fraction
}

// likely reports whether the weights look like times: whole numbers that are all seconds or milliseconds since 1970 of the
// years 1980 to 2100, or that never fall from edge to edge and mostly rise, in a list of 100 edges or more.
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
	return t.n >= 100 && !t.falls && 2*t.steps > t.n
}
