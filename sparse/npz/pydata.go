package npz

// The package sparse of PyData writes its classes COO and GCXS with the array names of SciPy,
// and two more:
//
//	fill_value       the value of all entries that are not stored; here it must be 0
//	compressed_axes  of GCXS: [0] stands for csr, [1] for csc

// compressedFormat is the format of GCXS arrays, csr where compressed_axes is not there.
func (g *groupReader) compressedFormat() (string, error) {
	const key = "compressed_axes"
	if g.member[g.prefix+key] == nil {
		return "csr", nil
	}
	x, err := g.integers(key, 1)
	if err != nil {
		return "", err
	}
	if n := x.items(); n != 1 {
		return "", x.failf("holds %d axes: a matrix has one, 0 for rows or 1 for columns", n)
	}
	axes, err := x.ints(g.ctx)
	if err != nil {
		return "", err
	}
	switch axes[0] {
	case 0:
		return "csr", nil
	case 1:
		return "csc", nil
	}
	return "", x.failf("is %d: it must be 0 for rows or 1 for columns", axes[0])
}

// checkFill refuses a matrix whose entries that are not stored are not 0.
func (g *groupReader) checkFill() error {
	const key = "fill_value"
	if g.member[g.prefix+key] == nil {
		return nil
	}
	x, err := g.open(key)
	if err != nil {
		return err
	}
	if k := x.dtype.kind; x.items() != 1 || k == 'S' || k == 'U' {
		return x.failf("has the shape %v and type %s: must be one number", x.shape, clip(x.dtype.name))
	}
	fill, err := x.values(g.ctx)
	if err != nil {
		return err
	}
	if fill[0] != 0 {
		return x.failf("is %v: entries that are not stored must be 0", fill[0])
	}
	return nil
}
