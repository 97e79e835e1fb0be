package plot

import "math"

// axis maps values to positions.
type axis struct {
	lo, hi   float64
	from, to float64
	log      bool
}

func (a axis) at(v float64) float64 {
	lo, hi := a.lo, a.hi
	if a.log {
		v, lo, hi = math.Log10(v), math.Log10(lo), math.Log10(hi)
	}
	return a.from + (v-lo)/(hi-lo)*(a.to-a.from)
}

// ticks returns round values within the axis.
func (a axis) ticks() (t []float64) {
	if a.log {
		return a.logTicks()
	}
	step := math.Pow(10, math.Floor(math.Log10((a.hi-a.lo)/2)))
	for _, f := range []float64{1, 2, 5, 10} {
		if (a.hi-a.lo)/(step*f) <= 8 {
			step *= f
			break
		}
	}
	for k := math.Ceil(a.lo/step-1e-9) + 0; k*step <= a.hi*(1+1e-9); k++ {
		t = append(t, k*step)
	}
	return t
}

// mostTicks is the number of ticks that fit on a logarithmic axis.
const mostTicks = 12

// logTicks returns powers of ten, and for less than three decades also 2 and 5 times them.
func (a axis) logTicks() (t []float64) {
	factors := []float64{1}
	if a.hi < 1e3*a.lo {
		factors = []float64{1, 2, 5}
	}
	for d := math.Floor(math.Log10(a.lo)); d <= math.Ceil(math.Log10(a.hi)); d++ {
		for _, f := range factors {
			if v := f * math.Pow(10, d); v >= a.lo*0.999 && v <= a.hi*1.001 {
				t = append(t, v)
			}
		}
	}
	if len(t) < 2 {
		return []float64{a.lo, a.hi}
	}
	if every := (len(t) + mostTicks - 1) / mostTicks; every > 1 { // decades that do not fit
		kept := t[:0]
		for i := 0; i < len(t); i += every {
			kept = append(kept, t[i])
		}
		t = kept
	}
	return t
}

// axes returns the ranges of a figure.
func axes(f Figure) (x, y axis) {
	x, y = axis{lo: math.Inf(1), hi: math.Inf(-1)}, axis{lo: math.Inf(1), hi: math.Inf(-1), log: f.Log}
	widen := func(a *axis, vs ...float64) {
		for _, v := range vs {
			if v > 0 || !f.Log {
				a.lo, a.hi = min(a.lo, v), max(a.hi, v)
			}
		}
	}
	for _, s := range f.Series {
		for _, v := range s.X {
			x.lo, x.hi = min(x.lo, v), max(x.hi, v)
		}
		widen(&y, s.Y...)
		widen(&y, s.Low...)
		widen(&y, s.High...)
	}
	if f.Kind == Bars {
		x.lo, x.hi = x.lo-0.5, x.hi+0.5
		y.lo = 0
		if f.Log {
			y.lo, y.hi = 0.8, 10 // a count of 1 has a bar
		}
		for _, top := range stackTops(f) {
			widen(&y, top)
		}
	}
	if math.IsInf(y.lo, 0) {
		x.lo, x.hi, y.lo, y.hi = 0, 1, 1, 10
	}
	if f.Level != 0 {
		widen(&y, f.Level)
	}
	switch {
	case f.Log:
		y.lo, y.hi = y.lo/1.2, y.hi*1.2
	case y.lo >= 0:
		y.lo, y.hi = 0, y.hi*1.05
	}
	if y.hi == y.lo {
		y.hi = y.lo + 1
	}
	if x.hi == x.lo {
		x.lo, x.hi = x.lo-0.5, x.hi+0.5
	}
	if n := len(f.Names); f.upright() {
		x.lo, x.hi = f.Names[0].X-0.5, f.Names[n-1].X+0.5
	}
	x.from, x.to = plotLeft, float64(widthOf(f))-plotRight
	y.from, y.to = plotTop+plotHeight, plotTop
	return x, y
}
