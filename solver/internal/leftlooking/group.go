package leftlooking

import "context"

// factorGroup factors the blocks of group g.
func (f *LU) factorGroup(ctx context.Context, v *values, g int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s, start := &f.stores[g], f.sym.start
	largest, predicted := 0, int64(0)
	for b := f.groups[g]; b < f.groups[g+1]; b++ {
		predicted += f.sym.predicted[b]
		if m := start[b+1] - start[b]; m > 1 {
			largest = max(largest, m)
		}
	}
	if err := s.begin(int(predicted)); err != nil {
		return err
	}
	e := newEliminator(f, v, s, largest)
	for b := f.groups[g]; b < f.groups[g+1]; b++ {
		lo, hi := start[b], start[b+1]
		var err error
		if hi-lo == 1 {
			err = f.single(v, lo)
		} else {
			err = e.block(ctx, lo, hi)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// single factors the block with one row at position k.
func (f *LU) single(v *values, k int) error {
	f.diag[k], f.rows[k], f.after[k] = v.val[f.sym.ptr[k]], f.sym.rows[k], int32(k)
	if f.diag[k] == 0 {
		return &SingularError{Rows: []int{int(f.rows[k])}, Columns: []int{int(f.sym.cols[k])}, Rank: k}
	}
	return nil
}
