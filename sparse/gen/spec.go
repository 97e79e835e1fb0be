package gen

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/msrep-go/msrep/sparse"
)

// params are the parameters of a spec. They keep the first error. After an error every
// getter still returns an allowed value, so a plan needs no checks in between.
type params struct {
	arg   string            // "gen:" and the spec without trailing colons, for errors
	value map[string]string // as given, or the default
	err   error
}

// parse finds the generator and checks the names of the parameters.
func parse(spec string) (generator, *params, error) {
	p := &params{arg: strings.TrimRight("gen:"+clip(spec), ":"), value: map[string]string{}}
	if named, ok := strings.CutPrefix(spec, "like="); ok { // short for like:name=
		spec = "like:name=" + strings.Replace(strings.TrimSuffix(named, ":"), ":", ",", 1)
	}
	name, rest, _ := strings.Cut(spec, ":")
	if name == "" {
		return generator{}, p, sparse.Inputf(p.arg, "no generator is named, as in gen:stencil:n=100; known are %s", strings.Join(known(), ", "))
	}
	g, ok := find(name)
	if !ok {
		return g, p, sparse.Inputf(p.arg, "generator %q is unknown; known are %s", clip(name), strings.Join(known(), ", "))
	}
	for _, d := range g.Params {
		p.value[d.Name] = d.Default
	}
	if rest == "" {
		return g, p, nil
	}
	given := map[string]bool{}
	for _, item := range strings.Split(rest, ",") {
		key, value, ok := strings.Cut(item, "=")
		if !ok || value == "" {
			return g, p, sparse.Inputf(p.arg, "%q must be of the form key=value", clip(item))
		}
		if _, ok := p.value[key]; !ok {
			return g, p, sparse.Inputf(p.arg, "%s has no parameter %q; it has %s", g.Name, clip(key), strings.Join(keys(g), ", "))
		}
		if given[key] {
			return g, p, sparse.Inputf(p.arg, "%s is given twice", key)
		}
		given[key], p.value[key] = true, value
	}
	return g, p, nil
}

func find(name string) (generator, bool) {
	for _, g := range generators {
		if g.Name == name {
			return g, true
		}
	}
	return generator{}, false
}

func known() (names []string) {
	for _, g := range generators {
		names = append(names, g.Name)
	}
	return names
}

func keys(g generator) (names []string) {
	for _, d := range g.Params {
		names = append(names, d.Name)
	}
	return names
}

// fail records an error unless there is one already.
func (p *params) fail(format string, args ...any) {
	if p.err == nil {
		p.err = sparse.Inputf(p.arg, format, args...)
	}
}

// set sets a parameter for a generator that calls another one.
func (p *params) set(key string, n int64) { p.value[key] = strconv.FormatInt(n, 10) }

// formatNumber formats a number as a parameter.
func formatNumber(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// given reports whether a parameter without a default was given.
func (p *params) given(key string) bool { return p.value[key] != "" }

// count returns a whole number in [lo, hi], or lo after an error.
func (p *params) count(key string, lo, hi int64) int64 {
	n, ok := parseCount(p.value[key])
	switch {
	case !ok:
		p.fail("%s=%s must be a whole number, with k, M or G behind it for thousands, millions or billions", key, clip(p.value[key]))
	case n < lo || n > hi:
		p.fail("%s=%s must be in [%d, %d]", key, clip(p.value[key]), lo, hi)
	default:
		return n
	}
	return lo
}

// dim returns a number of rows or columns.
func (p *params) dim(key string, lo int64) int64 { return p.count(key, lo, sparse.MaxDim) }

// dimOr is dim, or other if the parameter is not given.
func (p *params) dimOr(key string, lo, other int64) int64 {
	if !p.given(key) {
		return other
	}
	return p.dim(key, lo)
}

// parseCount parses digits with an optional k, M or G. It returns false for other text
// and for numbers beyond 2^63-1.
func parseCount(s string) (int64, bool) {
	unit := int64(1)
	if s != "" {
		switch s[len(s)-1] {
		case 'k':
			unit = 1e3
		case 'M':
			unit = 1e6
		case 'G':
			unit = 1e9
		}
	}
	if unit > 1 {
		s = s[:len(s)-1]
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n > math.MaxInt64/unit || n < math.MinInt64/unit {
		return 0, false
	}
	return n * unit, true
}

// number returns a number in [lo, hi], or lo after an error.
func (p *params) number(key string, lo, hi float64) float64 {
	x, err := strconv.ParseFloat(p.value[key], 64)
	switch {
	case err != nil || math.IsNaN(x):
		p.fail("%s=%s must be a number", key, clip(p.value[key]))
	case x < lo || x > hi:
		p.fail("%s=%s must be in [%g, %g]", key, clip(p.value[key]), lo, hi)
	default:
		return x
	}
	return lo
}

// seed returns the seed, which is any whole number.
func (p *params) seed() seed {
	return newSeed(p.count("seed", math.MinInt64, math.MaxInt64))
}

// choice returns one of the words, the first after an error.
func (p *params) choice(key string, words ...string) string {
	for _, w := range words {
		if p.value[key] == w {
			return w
		}
	}
	p.fail("%s=%s must be one of %s", key, clip(p.value[key]), strings.Join(words, ", "))
	return words[0]
}

// clip limits the length of s for an error message.
func clip(s string) string {
	const most = 100
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "..."
	}
	return s
}

// size formats a number of bytes for people.
func size(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d bytes", n)
}
