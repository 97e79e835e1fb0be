package cuda

import "fmt"

// addSegments adds the kernels of values and vectors in segments, all float64.
func addSegments(add func(family, name, value string, block int, items int64, unit string, perCarry int64, params string)) {
	for _, segments := range []int{2, 4} {
		add("cpms", fmt.Sprintf("msrep_cpms_cut_%d", segments), "", 128, 64*int64(segments), "values", 0, "a &f64, n i64")
		add("cpms", fmt.Sprintf("msrep_cpms_join_%d", segments), "", 128, 64*int64(segments), "values", 0, "a &f64, n i64")
		for k := 1; k <= segments; k++ {
			of := fmt.Sprintf("_%dof%d", k, segments)
			add("cpms", "msrep_cpms_rows"+of, "", 128, 128, "rows", 0,
				"ptr *i64, idx *i32, val *i32, x *f64, y &f64, carry &f64, "+bounds+", skip i64, shift i64, alpha f64, beta f64")
			add("cpms", "msrep_cpms_ellr"+of, "", 128, 128, "rows", 0,
				"idx *i32, val *i32, length *i32, start *i64, x *f64, y &f64, carry &f64, rows i64, stride i64, places i64, skip i64, shift i64, alpha f64, beta f64")
			add("cpms_vector", "msrep_cpms_norm1"+of, "", 256, 256, "elements", 0, "p *i32, partial &f64, n i64, shift i64")
			add("cpms_vector", "msrep_cpms_scale"+of, "", 256, 256, "elements", 0, "p &i32, n i64, shift i64, factor f64")
			add("cpms_vector", "msrep_cpms_pick"+of, "", 256, 256, "nodes", 0, "p *i32, node *i32, partial &f64, count i64, n i64, shift i64")
			for w := k; w <= min(k+1, segments) && 64/segments*k >= 32; w++ {
				add("cpms_vector", fmt.Sprintf("msrep_cpms_rank_%dto%dof%d", k, w, segments), "", 256, 256, "elements", 0,
					"sums *f64, cur *i32, next &i32, partial &f64, n i64, shift i64, add f64")
			}
		}
	}
}
