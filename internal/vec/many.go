package vec

// The functions of several vectors at once take them row by row: element i of vector j, of m, is
// v[i*m+j]. Factors and sums lie in as many places as Parts says, over and over those of the
// vectors: element e of the rows has factor e%len and is added to sum e%len. So registers of any
// width treat rows of any length.

// placesAtOnce is the elements that assembly treats in one round.
const placesAtOnce = 16

// Parts is how many places factors and sums of m > 0 vectors have: those of some rows. It is a
// multiple of 16, unless that would be many.
func Parts(m int) int {
	const most = 4096
	if p := placesAtOnce / (m & -m); m%placesAtOnce != 0 && p > 1 {
		if m*p > most {
			return m
		}
		return m * p
	}
	return m
}

// Repeat is numbers of each vector in as many places as Parts says.
func Repeat(numbers []float64) []float64 {
	out := make([]float64, Parts(len(numbers)))
	for i := 0; i < len(out); i += len(numbers) {
		copy(out[i:], numbers)
	}
	return out
}

// Totals is the sums of each vector from those of its parts.
func Totals(parts, sums []float64) {
	copy(sums, parts)
	for i := len(sums); i < len(parts); i += len(sums) {
		for j, v := range parts[i : i+len(sums)] {
			sums[j] += v
		}
	}
}

// stretch is the elements from at on that have as many places, or fewer at the end.
func stretch(v []float64, at, places int) []float64 { return v[at:min(at+places, len(v))] }

// DotMany adds x_j'y_j to parts.
func DotMany(x, y, parts []float64) {
	for at := 0; at < len(x); at += len(parts) {
		x := stretch(x, at, len(parts))
		y, s := y[at:][:len(x)], parts[:len(x)]
		for i, v := range x {
			s[i] += wide(v, y[i])
		}
	}
}

// AxpyMany is y_j = y_j + a_j*x_j, and adds y_j'y_j to parts.
func AxpyMany(a, x, y, parts []float64) {
	for at := 0; at < len(x); at += len(parts) {
		x := stretch(x, at, len(parts))
		a, y, s := a[:len(x)], y[at:][:len(x)], parts[:len(x)]
		for i, v := range x {
			e := y[i] + mul(a[i], v)
			y[i] = e
			s[i] += wide(e, e)
		}
	}
}

// UpdateDirectionMany is x_j = x_j + a_j*p_j and p_j = z_j + b_j*p_j.
func UpdateDirectionMany(a, b, z, p, x []float64) {
	for at := 0; at < len(z); at += len(a) {
		z := stretch(z, at, len(a))
		a, b, p, x := a[:len(z)], b[:len(z)], p[at:][:len(z)], x[at:][:len(z)]
		for i, v := range z {
			old := p[i]
			x[i] += mul(a[i], old)
			p[i] = v + mul(b[i], old)
		}
	}
}

// ScaleMany is z_j = d*r_j, element by element, for each of m vectors.
func ScaleMany(m int, d, r, z []float64) {
	for i, f := range d {
		r, z := r[i*m:(i+1)*m], z[i*m:(i+1)*m]
		for j, v := range r {
			z[j] = f * v
		}
	}
}
