package cuda

// addKrylov adds the kernels of Krylov methods.
func addKrylov(add adder) {
	const four = "v0 *V, v1 *V, v2 *V, v3 *V"
	add("krylov", "msrep_totals", "", 256, 1, "sums", 0, "partial *f64, out &f64, parts i64, count i64")
	for _, v := range []string{"f64", "f32"} {
		for _, k := range []struct{ name, params string }{
			{"project", four + ", w *V, partial &f64, count i64, n i64, parts i64"},
			{"combine", four + ", w &V, partial &f64, count i64, n i64, parts i64, h0 V, h1 V, h2 V, h3 V"},
			{"cg_step", "p *V, q *V, x &V, r &V, partial &f64, n i64, parts i64, a V"},
			{"bicgstab_direction", "r *V, v *V, p &V, n i64, b V, w V"},
			{"bicgstab_step", "p *V, s *V, t *V, c *V, x &V, r &V, partial &f64, n i64, parts i64, a V, w V"},
			{"misfit", "y *V, x *V, partial &f64, n i64, parts i64, a V"},
			{"multiply", "d *V, r *V, z &V, n i64"},
		} {
			add("krylov", "msrep_"+k.name+"_"+v, v, 256, 256, "elements", 0, k.params)
		}
	}
}
