package cuda

// addSpGEMM adds the kernels of products of two sparse matrices.
func addSpGEMM(add adder) {
	const bounds = ", n i64, firstA i64, rowB i64, firstB i64"
	const count = "ptrA *i64, idxA *i32, ptrB *i64, idxB *i32, row *i32, count &i32"
	add("spgemm", "msrep_spgemm_count_warp", "", 128, 4, "rows", 0, count+bounds+", cols i64")
	add("spgemm", "msrep_spgemm_count_block", "", 256, 1, "rows", 0, count+bounds+", cols i64")
	add("spgemm", "msrep_spgemm_count_dense", "", 256, 1, "rows", 0, count+", bits &i32"+bounds+", cols i64")
	const fill = "ptrA *i64, idxA *i32, valA *V, ptrB *i64, idxB *i32, valB *V, row *i32, ptr *i64, idx &i32, val &V"
	for _, v := range []string{"f64", "f32"} {
		add("spgemm", "msrep_spgemm_fill_warp_"+v, v, 128, 4, "rows", 0, fill+bounds)
		add("spgemm", "msrep_spgemm_fill_block_"+v, v, 256, 1, "rows", 0, fill+bounds)
		add("spgemm", "msrep_spgemm_fill_dense_"+v, v, 256, 1, "rows", 0, fill+", bits &i32, sums &V"+bounds+", cols i64")
	}
}
