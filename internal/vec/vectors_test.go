package vec_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/internal/vec"
)

// vectorCall is a call of a loop over vectors; it returns sums and writes vectors.
type vectorCall struct {
	name    string
	vectors int
	do      func(v [][]float64) []float64
}

func vectorCalls() []vectorCall {
	one := func(f func(s *vec.Sum)) []float64 {
		var s vec.Sum
		f(&s)
		return []float64{s.Total()}
	}
	two := func(f func(s, t *vec.Sum)) []float64 {
		var s, t vec.Sum
		f(&s, &t)
		return []float64{s.Total(), t.Total()}
	}
	calls := []vectorCall{
		{"Dot", 2, func(v [][]float64) []float64 {
			return one(func(s *vec.Sum) { vec.AddDot(v[0], v[1], s) })
		}},
		{"Dots", 2, func(v [][]float64) []float64 {
			return two(func(s, t *vec.Sum) { vec.AddDots(v[0], v[1], s, t) })
		}},
		{"Axpy", 2, func(v [][]float64) []float64 {
			return one(func(s *vec.Sum) { vec.AddAxpy(0.7, v[0], v[1], s) })
		}},
		{"AxpyScaled", 3, func(v [][]float64) []float64 {
			return two(func(s, t *vec.Sum) { vec.AddAxpyScaled(0.7, v[0], v[1], v[2], s, t) })
		}},
		{"Move", 3, func(v [][]float64) []float64 {
			vec.UpdateDirection(0.7, -0.3, v[0], v[1], v[2])
			return nil
		}},
		{"MoveScaled", 4, func(v [][]float64) []float64 {
			vec.UpdateDirectionScaled(0.7, -0.3, v[0], v[1], v[2], v[3])
			return nil
		}},
		{"Turn", 3, func(v [][]float64) []float64 {
			vec.BiCGSTABDirection(v[0], 0.7, -0.3, v[1], v[2])
			return nil
		}},
		{"Stabilise", 6, func(v [][]float64) []float64 {
			return two(func(s, t *vec.Sum) { vec.AddBiCGSTABStep(0.7, v[0], -0.3, v[1], v[2], v[3], v[4], v[5], s, t) })
		}},
		{"Stabilise with s = r", 5, func(v [][]float64) []float64 {
			return two(func(s, t *vec.Sum) { vec.AddBiCGSTABStep(0.7, v[0], -0.3, v[3], v[1], v[2], v[3], v[4], s, t) })
		}},
	}
	for _, m := range []int{1, 2, 3, 6, 8, 24} {
		a, b := vec.Repeat(perVector[:m]), vec.Repeat(perVector[24-m:])
		calls = append(calls,
			vectorCall{fmt.Sprintf("DotMany/%d", m), 2, func(v [][]float64) []float64 {
				parts := vec.Repeat(perVector[:m])
				vec.DotMany(v[0], v[1], parts)
				return parts
			}},
			vectorCall{fmt.Sprintf("AxpyMany/%d", m), 2, func(v [][]float64) []float64 {
				parts := vec.Repeat(perVector[:m])
				vec.AxpyMany(a, v[0], v[1], parts)
				return parts
			}},
			vectorCall{fmt.Sprintf("MoveMany/%d", m), 3, func(v [][]float64) []float64 {
				vec.UpdateDirectionMany(a, b, v[0], v[1], v[2])
				return nil
			}},
			vectorCall{fmt.Sprintf("ScaleMany/%d", m), 3, func(v [][]float64) []float64 {
				n := len(v[0]) / m
				vec.ScaleMany(m, v[0][len(v[0])-n:], v[1][:n*m], v[2][len(v[2])-n*m:])
				return nil
			}})
	}
	for m := 1; m <= 9; m++ {
		calls = append(calls,
			vectorCall{fmt.Sprintf("Project/%d", m), m + 2, func(v [][]float64) []float64 { return project(v[:m], v[m], v[m+1]) }},
			vectorCall{fmt.Sprintf("Remove/%d", m), m + 2, func(v [][]float64) []float64 {
				at := len(v[m]) / 3
				vec.SubtractProjection(coefficients[9-m:], coefficients[:m], v[:m], at, v[m][at:], v[m+1][at:], new(vec.Sum))
				return nil
			}},
			vectorCall{fmt.Sprintf("Combine/%d", m), m + 1, func(v [][]float64) []float64 {
				at := len(v[m]) / 3
				vec.Combine(-1, coefficients[:m], v[:m], at, v[m][at:], new(vec.Sum))
				return nil
			}})
	}
	return calls
}

// perVector returns 24 numbers of about 1.
var perVector = func() []float64 {
	f := make([]float64, 24)
	for i := range f {
		f[i] = math.Sin(float64(i))
	}
	return f
}()

var coefficients = []float64{0.7, -0.3, 1.1, 0.2, -0.9, 0.4, 0, 0.6, -2}

// project returns the totals of sums over one third of u and w and then the rest.
func project(v [][]float64, u, w []float64) []float64 {
	m, at := len(v), len(w)/3&^7
	sums := make([]vec.Sum, 2*m)
	vec.Project(v, 0, u[:at], w[:at], sums[:m], sums[m:])
	vec.Project(v, at, u[at:], w[at:], sums[:m], sums[m:])
	out := make([]float64, 2*m)
	for j := range sums {
		out[j] = sums[j].Total()
	}
	return out
}

// plain returns the result of a call that runs the loops in plain Go.
func plain(call func() float64) float64 {
	defer vec.SetLevel(simd.Generic)()
	return call()
}

// eachLevel runs a test with each instruction set of this processor.
func eachLevel(t *testing.T, f func(t *testing.T)) {
	for _, l := range simd.Levels() {
		t.Run(l.String(), func(t *testing.T) {
			defer vec.SetLevel(l)()
			f(t)
		})
	}
}

// Loops over a basis have the bits of one vector after the other.
func TestBasisLoopsEqualLoopsOverEachVector(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	eachLevel(t, func(t *testing.T) {
		for _, n := range []int{0, 1, 7, 8, 23, 64, 100} {
			v := make([][]float64, 11)
			for j := range v {
				v[j] = make([]float64, n)
				for i := range v[j] {
					v[j][i] = random.Float64() - 0.5
				}
			}
			for m := 1; m <= 9; m++ {
				u, w := slices.Clone(v[9]), slices.Clone(v[10])
				for j, got := range project(v[:m], u, w) {
					require.Equal(t, plain(func() float64 { return vec.Dot(v[j%m], [][]float64{u, w}[j/m]) }), got, "%d elements, vector %d of %d", n, j, m)
				}
				at, wantU, wantW := n/3, slices.Clone(u), slices.Clone(w)
				g, h := coefficients[9-m:], coefficients[:m]
				for j := range m {
					plain(func() float64 { return vec.Axpy(-g[j], v[j][at:], wantU[at:]) })
					plain(func() float64 { return vec.Axpy(-h[j], v[j][at:], wantW[at:]) })
				}
				vec.SubtractProjection(g, h, v[:m], at, u[at:], w[at:], new(vec.Sum))
				require.Equal(t, wantU, u, "%d elements, %d vectors", n, m)
				require.Equal(t, wantW, w, "%d elements, %d vectors", n, m)
				for j := range m {
					plain(func() float64 { return vec.Axpy(-h[j], v[j][at:], wantW[at:]) })
				}
				vec.Combine(-1, h, v[:m], at, w[at:], new(vec.Sum))
				require.Equal(t, wantW, w, "%d elements, %d vectors", n, m)
			}
		}
	})
}

// Every level has the bits of the plain loops at every length and position, also with elements that
// are not finite, and writes nothing next to the vectors.
func TestLoopsOverVectorsHaveTheSameBitsOnAllLevels(t *testing.T) {
	const beside = 8
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range vectorCalls() {
		for n := range 100 {
			for _, special := range []float64{0, math.NaN(), math.Inf(1)} {
				var all [][][]float64 // for each level
				var gave [][]float64
				memory := make([][]float64, c.vectors)
				for j := range memory {
					memory[j] = make([]float64, beside+n+beside)
					for i := range memory[j] {
						memory[j][i] = random.Float64() - 0.5
					}
				}
				if n > 0 && special != 0 {
					memory[random.IntN(c.vectors)][beside+random.IntN(n)] = special
				}
				from := random.IntN(beside)
				for _, l := range simd.Levels() {
					restore := vec.SetLevel(l)
					copies, parts := make([][]float64, c.vectors), make([][]float64, c.vectors)
					for j, m := range memory {
						copies[j] = append([]float64(nil), m...)
						parts[j] = copies[j][from:][:n:n]
					}
					gave = append(gave, c.do(parts))
					restore()
					all = append(all, copies)
				}
				for l := 1; l < len(all); l++ {
					equalOrNaN(t, gave[0], gave[l], "%s, %s, %d elements", c.name, simd.Levels()[l], n)
					for j := range all[l] {
						equalOrNaN(t, all[0][j], all[l][j], "%s, %s, %d elements, vector %d", c.name, simd.Levels()[l], n, j)
						equalOrNaN(t, memory[j][:from], all[l][j][:from], "before vector %d of %s", j, c.name)
						equalOrNaN(t, memory[j][from+n:], all[l][j][from+n:], "behind vector %d of %s", j, c.name)
					}
				}
			}
		}
	}
}

// equalOrNaN requires the same bits, or NaN for NaN.
func equalOrNaN(t *testing.T, want, got []float64, format string, args ...any) {
	t.Helper()
	require.Len(t, got, len(want), args...)
	for i, w := range want {
		if math.IsNaN(w) && math.IsNaN(got[i]) || math.Float64bits(w) == math.Float64bits(got[i]) {
			continue
		}
		require.Failf(t, "other bits", "element %d: %v, not %v: "+format, append([]any{i, got[i], w}, args...)...)
	}
}

// BenchmarkVectors measures the loops over cached vectors, in ns per element.
func BenchmarkVectors(b *testing.B) {
	const n = 1 << 13
	for _, c := range vectorCalls() {
		v := make([][]float64, c.vectors)
		for j := range v {
			v[j] = make([]float64, n+40*j)[40*j:]
		}
		for _, l := range simd.Levels() {
			b.Run(c.name+"/"+l.String(), func(b *testing.B) {
				defer vec.SetLevel(l)()
				for b.Loop() {
					c.do(v)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/element")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
