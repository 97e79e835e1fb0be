package cuda

// addTileBuilders adds the kernels that build tiles.
func addTileBuilders(add adder) {
	add("tiles_build", "msrep_tiles_sort", "", 512, 1, "tiles", 0,
		"ptr *i64, idx *i32, from *i64, head *i64, sum *i32, key &i64, spare &i64, sumOf &u16, tiles i64, passes i64")
	for suffix, value := range map[string][2]string{"f64": {"f64", "f64"}, "f32": {"f32", "f32"}, "short_f64": {"f64", "f32"}} {
		add("tiles_build", "msrep_tiles_arrange_"+suffix, value[0], 512, 1, "tiles", 0,
			"key *i64, spare &i64, sumOf *u16, val *V, from *i64, head *i64, sum *i32, count &i64, outVal &"+value[1]+
				", code &i32, base &i32, tiles i64")
	}
}
