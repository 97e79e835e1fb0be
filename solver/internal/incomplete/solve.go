package incomplete

// Solve overwrites y with V^-1 D^-1 L^-1 y. Large factors that divide well are solved on several goroutines; each
// element of y is computed in the same way on any number of them.
func (f *Factors) Solve(y []float64) {
	f.lower.eachRange(func(first, end int, shared []bool) { f.Lower.solveLower(first, end, shared, y) })
	for _, i := range f.lower.rows {
		f.Lower.solveLower(int(i), int(i)+1, nil, y)
	}
	for _, i := range f.upper.rows {
		f.Upper.solveUpper(int(i), int(i)+1, nil, f.Inverse, y)
	}
	f.upper.eachRange(func(first, end int, shared []bool) { f.Upper.solveUpper(first, end, shared, f.Inverse, y) })
}

// solveLower computes the elements of L^-1 y from first to before end, but not those that are shared:
//
//	y_i = y_i - sum of l_ij y_j
//
// The last products of a row, which may need an element that was computed just now, are subtracted last: the processor
// does the rest while it waits for that element.
func (r *Rows) solveLower(first, end int, shared []bool, y []float64) {
	ptr, next := r.Ptr[first+1:end+1], r.Ptr[first]
	for i, after := range ptr {
		col, val := r.Col[next:after], r.Val[next:after]
		next = after
		if i += first; shared != nil && shared[i] {
			continue
		}
		s := y[i]
		if early := (len(col) - 1) &^ 3; early > 0 {
			s -= dot(col[:early], val[:early], y)
			col, val = col[early:], val[early:]
		}
		val = val[:len(col)]
		for k, j := range col {
			s -= float64(val[k] * y[j])
		}
		y[i] = s
	}
}

// solveUpper computes the elements of V^-1 D^-1 y from before end down to first, but not those that are shared:
//
//	y_i = y_i/d_i - sum of v_ij y_j
//
// It subtracts the first products of a row last, as solveLower its last ones.
func (r *Rows) solveUpper(first, end int, shared []bool, inverse, y []float64) {
	ptr, after := r.Ptr[first:end], r.Ptr[end]
	for i := len(ptr) - 1; i >= 0; i-- {
		col, val := r.Col[ptr[i]:after], r.Val[ptr[i]:after]
		after = ptr[i]
		i := first + i
		if shared != nil && shared[i] {
			continue
		}
		s := float64(y[i] * inverse[i])
		if early := (len(col) - 1) &^ 3; early > 0 {
			late := len(col) - early
			s -= dot(col[late:], val[late:], y)
			col, val = col[:late], val[:late]
		}
		val = val[:len(col)]
		for k := len(col) - 1; k >= 0; k-- {
			s -= float64(val[k] * y[col[k]])
		}
		y[i] = s
	}
}

// dot returns the sum of val[k]*y[col[k]], in four interleaved partial sums. The number of elements is a multiple of 4.
func dot(col []int32, val, y []float64) float64 {
	val = val[:len(col)]
	var s0, s1, s2, s3 float64
	for k := 0; k+4 <= len(col); k += 4 {
		c, v := col[k:k+4:k+4], val[k:k+4:k+4]
		s0 += float64(v[0] * y[c[0]])
		s1 += float64(v[1] * y[c[1]])
		s2 += float64(v[2] * y[c[2]])
		s3 += float64(v[3] * y[c[3]])
	}
	return s0 + s1 + (s2 + s3)
}

// SolveTransposed overwrites y with L'^-1 D^-1 V'^-1 y.
func (f *Factors) SolveTransposed(y []float64) {
	y = y[:len(f.Inverse)]
	for i := range y {
		col, val := f.Upper.row(i)
		subtract(col, val, y[i], y)
	}
	for i, d := range f.Inverse {
		y[i] *= d
	}
	for i := len(y) - 1; i >= 0; i-- {
		col, val := f.Lower.row(i)
		subtract(col, val, y[i], y)
	}
}

// subtract computes y[col[k]] -= val[k]*x.
func subtract(col []int32, val []float64, x float64, y []float64) {
	for k, j := range col {
		y[j] -= float64(val[k] * x)
	}
}

// Scale turns factors of R A C into factors of A, for diagonals R and C that are given by their elements in the order
// of the rows and the columns of the factors.
func (f *Factors) Scale(r, c []float64) {
	for i := range f.Inverse {
		col, val := f.Lower.row(i)
		for k, j := range col {
			val[k] *= r[j] / r[i]
		}
		col, val = f.Upper.row(i)
		for k, j := range col {
			val[k] *= c[i] / c[j]
		}
		f.Inverse[i] *= r[i] * c[i]
	}
}
