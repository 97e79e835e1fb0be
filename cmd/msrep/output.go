package main

import (
	"encoding/json"
	"math"
	"slices"
	"time"
)

// number is a float64 that JSON shows as null when it is not finite.
type number float64

// MarshalJSON returns the number, or null.
func (n number) MarshalJSON() ([]byte, error) {
	f := float64(n)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(f)
}

// printJSON prints v as one JSON object.
func (c *call) printJSON(v any) error {
	e := json.NewEncoder(c.stdout)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// median returns the median in seconds, or 0 for no durations.
func median(d []time.Duration) float64 {
	if len(d) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(d))
	n := len(s)
	return (s[(n-1)/2].Seconds() + s[n/2].Seconds()) / 2
}

// sum adds numbers by Neumaier's compensated summation, whose error does not grow with their count.
type sum struct{ s, c float64 }

func (a *sum) add(v float64) {
	t := a.s + v
	if math.Abs(a.s) >= math.Abs(v) {
		a.c += (a.s - t) + v
	} else {
		a.c += (v - t) + a.s
	}
	a.s = t
}

func (a *sum) value() float64 {
	if math.IsInf(a.s, 0) || math.IsNaN(a.s) {
		return a.s
	}
	return a.s + a.c
}

// norms are the norms of a vector and the sum of its elements.
type norms struct {
	Norm1 number `json:"norm1"` // sum of absolute values
	Norm2 number `json:"norm2"` // Euclidean
	Sum   number `json:"sum"`
}

func normsOf[V float32 | float64](y []V) norms {
	var one, all, squares sum
	largest := 0.0
	for _, v := range y {
		largest = max(largest, math.Abs(float64(v)))
	}
	scale := 1.0 // keeps the squares in range
	if largest > 1e140 && !math.IsInf(largest, 1) || (largest > 0 && largest < 1e-140) {
		scale = math.Ldexp(1, min(-math.Ilogb(largest), 1023)) // the scale of a subnormal number would overflow
	}
	for _, v := range y {
		f := float64(v)
		one.add(math.Abs(f))
		all.add(f)
		squares.add(f * scale * (f * scale))
	}
	return norms{number(one.value()), number(math.Sqrt(squares.value()) / scale), number(all.value())}
}
