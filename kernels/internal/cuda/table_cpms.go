package cuda

import "fmt"

// addSegments adds the kernels of values and vectors in segments, all float64.
func addSegments(add adder) {
	const ends = "xlen i64, xread i64, ylen i64, yread i64, alpha f64, beta f64"
	for _, segments := range []int{2, 4} {
		s := fmt.Sprint(segments)
		add("cpms", "msrep_cpms_join_"+s, "", 128, 64*int64(segments), "values", 0, "a &f64, n i64")
		for k := 0; k <= segments; k++ {
			of := fmt.Sprintf("_%dof%d", k, segments)
			add("cpms", "msrep_cpms_rows"+of, "", 128, 128, "rows", 0,
				"ptr *i64, idx *i32, val *i32, x *f64, y &f64, carry &f64, "+bounds+", skip i64, shift i64, "+ends)
			add("cpms", "msrep_cpms_ellr"+of, "", 128, 128, "rows", 0,
				"idx *i32, val *i32, length *i32, start *i64, perm *i32, x *f64, y &f64, carry &f64, rows i64, stride i64, places i64, skip i64, shift i64, "+ends)
		}
		add("cpms_vector", "msrep_cpms_norm1_"+s, "", 256, 256, "elements", 0, "p *f64, degree *i32, partial &f64, n i64, read i64, first i64, count i64")
		add("cpms_vector", "msrep_cpms_divide_"+s, "", 256, 256, "elements", 0, "p &f64, n i64, read i64, first i64, count i64, by f64")
		add("cpms_vector", "msrep_cpms_pick_"+s, "", 256, 256, "nodes", 0, "p *f64, node *i32, partial &f64, n i64, read i64, count i64")
		add("cpms_vector", "msrep_cpms_rank_"+s, "", 256, 256, "elements", 0,
			"sums *f64, cur *f64, next &f64, degree *i32, partial &f64, n i64, read i64, write i64, first i64, count i64, add f64")
	}
}
