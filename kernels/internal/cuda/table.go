package cuda

import (
	"fmt"
	"slices"
	"strings"
)

// Parameters of kernels are written here as in the sources: "*" for a pointer, "&" for
// a pointer that the kernel writes to, V for the type of the values.
const (
	compressed = "ptr *i64, idx *i32, val *V, x *V, y &V, carry &V"
	bounds     = "rows i64, first i64, end i64"
	places     = "idx *i32, val *V"
	vectors    = "x *V, y &V, carry &V"
	scalars    = "alpha V, beta V"
)

var table = build()

// adder adds a kernel to the table. A block takes items units, and leaves one carry for
// each perCarry units. params are as above.
type adder func(family, name, value string, block int, items int64, unit string, perCarry int64, params string)

func build() []Kernel {
	var list []Kernel
	add := func(family, name, value string, block int, items int64, unit string, perCarry int64, params string) {
		k := Kernel{Family: family, Name: name, Value: value, Block: block, Items: items, Unit: unit, PerCarry: perCarry}
		for p := range strings.SplitSeq(params, ",") {
			k.Params = append(k.Params, param(p, value))
		}
		list = append(list, k)
	}
	addPartition(add)
	addSegments(add)
	addKrylov(add)
	addVectors(add)
	addSpGEMM(add)
	addExchange(add)
	addTileBuilders(add)
	for _, v := range []string{"f64", "f32"} {
		addRows(add, v)
		addELL(add, v)
		addEntries(add, v)
		addTriangular(add, v)
	}
	slices.SortFunc(list, func(a, b Kernel) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// addPartition adds the kernels that compute the index arrays of parts.
func addPartition(add adder) {
	add("csr_merge", "msrep_merge_path", "", 128, 128, "tiles", 0, "ptr *i64, start &i32, "+bounds)
	add("partition", "msrep_local_ptr", "", 256, 256, "pointers", 0, "ptr *i64, dst &i64, first i64, n i64, s i64, e i64")
	add("partition", "msrep_coo_ptr", "", 256, 256, "pointers", 0, "major *i32, ptr &i64, nnz i64, first i64, n i64")
	for _, v := range []string{"f64", "f32"} {
		add("partition", "msrep_permute_"+v, v, 256, 256, "elements", 0, "src *V, perm *i64, dst &V, n i64")
	}
}

// addRows adds the kernels that multiply by rows in CSR.
func addRows(add adder, v string) {
	for lanes := 1; lanes <= 32; lanes *= 2 {
		rows := 4 * min(32, 128/int64(lanes))
		add("csr_vector", fmt.Sprintf("msrep_major_vector%d_%s", lanes, v), v, 128, rows, "rows", 0,
			compressed+", "+bounds+", skip i64, "+scalars)
	}
	add("major_fixed", "msrep_major_fixed_"+v, v, 128, 128, "rows", 0,
		"ptr *i64, idx *i32, val *V, x *V, y &V, rows i64, first i64, "+scalars)
	add("csr_merge", "msrep_major_merge_"+v, v, 128, 1408, "rows and entries", 1408,
		compressed+", start *i32, carryRow &i32, carryVal &V, "+bounds+", skip i64, "+scalars)
	add("carries", "msrep_add_carries_"+v, v, 512, 512, "carries", 0,
		"row *i32, val *V, y &V, carry &V, n i64, rows i64, skip i64")
	add("ell_rivals", "msrep_major_csrs_"+v, v, 128, 128, "rows", 0, compressed+", "+bounds+", skip i64, "+scalars)
	add("ell_rivals", "msrep_major_csrv_"+v, v, 128, 8, "rows", 0, compressed+", "+bounds+", skip i64, "+scalars)
}

// addELL adds the kernels of the ELLPACK family, of slices and of tiles.
func addELL(add adder, v string) {
	add("ell", "msrep_major_ell_"+v, v, 128, 128, "rows", 0,
		places+", "+vectors+", rows i64, stride i64, width i64, skip i64, "+scalars)
	for _, name := range []string{"msrep_major_ellr_", "msrep_major_pellr_warp_"} {
		add("ell", name+v, v, 128, 128, "rows", 0,
			places+", length *i32, start *i64, perm *i32, "+vectors+", rows i64, stride i64, skip i64, "+scalars)
	}
	add("ell", "msrep_major_sell_"+v, v, 128, 128, "rows", 0,
		places+", start *i64, perm *i32, "+vectors+", rows i64, skip i64, "+scalars)
	for _, name := range map[string][]string{"f64": {"slices_", "slices_short_"}, "f32": {"slices_"}}[v] {
		add("slices", "msrep_major_"+name+v, v, 128, 128, "rows", 0,
			"data *i64, head *i64, perm *i32, "+vectors+", rows i64, skip i64, "+scalars)
	}
	const tiles = ", code *i32, base *i32, head *i64, sum *i32, " + vectors + ", carryRow &i32, carryVal &V, tiles i64, skip i64, " + scalars
	add("tiles", "msrep_major_tiles_"+v, v, 512, 1, "tiles", 1, "val *V"+tiles)
	if v == "f64" {
		add("tiles", "msrep_major_tiles_short_"+v, v, 512, 1, "tiles", 1, "val *f32"+tiles)
	}
	add("ell_sorted", "msrep_major_jad_"+v, v, 128, 128, "rows", 0,
		places+", start *i64, perm *i32, "+vectors+", rows i64, diagonals i64, skip i64, "+scalars)
	add("ell_sorted", "msrep_major_bisected_"+v, v, 128, 128, "rows", 0,
		places+", start *i64, perm *i32, "+vectors+", rows i64, skip i64, "+scalars)
}

// addEntries adds the kernels that divide their work by entries instead of rows.
func addEntries(add adder, v string) {
	add("minor", "msrep_minor_"+v, v, 128, 1024, "entries", 0,
		"ptr *i64, idx *i32, val *V, x *V, y &V, "+bounds+", alpha V")
	add("coo", "msrep_major_coo_"+v, v, 128, 1792, "entries", 448,
		"major *i32, minor *i32, val *V, x *V, y &V, carry &V, carryRow &i32, carryVal &V, nnz i64, own i64, alpha V")
	add("coo", "msrep_minor_coo_"+v, v, 128, 128, "entries", 0,
		"major *i32, minor *i32, val *V, x *V, y &V, nnz i64, alpha V")
}

// addTriangular adds the kernels that solve triangular systems.
func addTriangular(add adder, v string) {
	const matrix = "ptr *i64, idx *i32, val *V, diag *V, perm *i32, task *i32, b *V, x &V, w &V, ticket &i32, failed &i32, tasks i64, "
	add("triangular", "msrep_triangular_start_"+v, v, 256, 256, "elements", 0, "w &V, ticket &i32, n i64")
	add("triangular", "msrep_triangular_"+v, v, 256, 8, "tasks", 0, matrix+"strideB i64, strideX i64, polls i64, alpha V")
	add("triangular", "msrep_triangular_many_"+v, v, 256, 8, "tasks", 0, matrix+"cols i64, strideB i64, strideX i64, polls i64, alpha V")
}

// addVectors adds the kernels that use vectors alone.
func addVectors(add adder) {
	add("vector", "msrep_total", "", 256, 1<<62, "elements", 0, "partial *f64, out &f64, n i64")
	for _, v := range []string{"f64", "f32"} {
		add("merge", "msrep_sum_partials_"+v, v, 256, 256, "elements", 0,
			"y &V, p0 *V, p1 *V, p2 *V, p3 *V, p4 *V, p5 *V, p6 *V, p7 *V, count i64, n i64, beta V")
		add("vector", "msrep_axpby_"+v, v, 256, 256, "elements", 0, "x *V, y &V, n i64, "+scalars)
		add("vector", "msrep_scale_"+v, v, 256, 256, "elements", 0, "y &V, n i64, beta V")
		add("vector", "msrep_fill_"+v, v, 256, 256, "elements", 0, "y &V, n i64, alpha V")
	}
}

func param(text, value string) Param {
	name, t, _ := strings.Cut(strings.TrimSpace(text), " ")
	elem := strings.Replace(strings.TrimLeft(t, "*&"), "V", value, 1)
	switch {
	case t[0] == '*' || t[0] == '&':
		return Param{Name: name, Type: Pointer, Elem: elem, Written: t[0] == '&'}
	case elem == "f64":
		return Param{Name: name, Type: Float64}
	case elem == "f32":
		return Param{Name: name, Type: Float32}
	default:
		return Param{Name: name, Type: Int64}
	}
}
