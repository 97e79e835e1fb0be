package cuda

import (
	"strings"

	"github.com/msrep-go/msrep/kernels"
)

// addKrylov adds the kernels of Krylov methods.
func addKrylov(add adder) {
	const four = "v0 *V, v1 *V, v2 *V, v3 *V"
	add("krylov", "msrep_totals", "", 256, 1, "sums", 0, "partial *f64, out &f64, parts i64, count i64")
	add("krylov", "msrep_cg_alpha", "", 32, 1<<62, "states", 0, "pq *f64, state &f64")
	add("krylov", "msrep_cg_beta", "", 32, 1<<62, "states", 0, "sums *f64, state &f64, count i64, room i64, norm f64, tol f64")
	for _, v := range []string{"f64", "f32"} {
		one := func(name, params string) { add("krylov", "msrep_"+name+"_"+v, v, 256, 256, "elements", 0, params) }
		one("project", four+", w *V, partial &f64, count i64, n i64, parts i64")
		one("combine", four+", w &V, partial &f64, count i64, n i64, parts i64, h0 V, h1 V, h2 V, h3 V")
		for _, f := range kernels.Formulas() {
			one(f.Kernel(), formulaParams(f))
		}
	}
}

// formulaParams returns the parameters of the kernel of a formula, as kernels.Formula states them.
func formulaParams(f *kernels.Formula) string {
	var params []string
	for _, v := range f.Vectors {
		params = append(params, v.Name+map[bool]string{false: " *V", true: " &V"}[v.Written])
	}
	if f.Sums > 0 {
		params = append(params, "partial &f64", "n i64", "parts i64")
	} else {
		params = append(params, "n i64")
	}
	for _, a := range f.Numbers {
		params = append(params, a+" V")
	}
	if len(f.Numbers) > 0 {
		params = append(params, "at *f64")
	}
	return strings.Join(params, ", ")
}
