package triangular

import (
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

func sizeOf[V sparse.Value]() int { return int(mem.Size[V]()) }

// loop is the kernels in plain Go.
func (t *Triangle[V]) loop(s *segment, alpha V, b, x []V) {
	switch s.kind {
	case bare:
		first := min(t.row(s.first), t.row(s.first+s.rows-1))
		for i, f := range t.store.scale[s.scale:][:s.rows] {
			x[first+i] = alpha * f * b[first+i]
		}
	case single, listed:
		t.singleLoop(s, alpha, b, x)
	case runs:
		t.runsLoop(s, alpha, b, x)
	case blocks:
		t.blocksLoop(s, alpha, b, x)
	}
}

// singleLoop computes rows of single entries, and listed rows.
func (t *Triangle[V]) singleLoop(s *segment, alpha V, b, x []V) {
	scale, count := t.store.scale[s.scale:][:s.rows], t.store.count[s.count:][:s.rows]
	idx, val := t.store.idx[s.idx:], t.store.val[s.val:]
	row, step := t.row(s.first), 1
	if t.upper {
		step = -1
	}
	for i, f := range scale {
		n := count[i]
		if s.kind == listed {
			row, idx = int(idx[0]), idx[1:]
		}
		sum := alpha * f * b[row]
		cols := idx[:n]
		vals := val[:len(cols)]
		idx, val = idx[n:], val[n:]
		// The newest elements of x come last, after the sums of four.
		if n >= 8 {
			var s1, s2, s3 V
			for ; len(cols) >= 8; cols, vals = cols[4:], vals[4:] {
				sum += vals[0] * x[cols[0]]
				s1 += vals[1] * x[cols[1]]
				s2 += vals[2] * x[cols[2]]
				s3 += vals[3] * x[cols[3]]
			}
			sum += (s1 + s2) + s3
		}
		for k, c := range cols {
			sum += vals[k] * x[c]
		}
		x[row] = sum
		row += step
	}
}

// runsLoop computes rows of runs.
func (t *Triangle[V]) runsLoop(s *segment, alpha V, b, x []V) {
	scale, count := t.store.scale[s.scale:][:s.rows], t.store.count[s.count:][:3*s.rows]
	idx, val := t.store.idx[s.idx:], t.store.val[s.val:]
	row, step := t.row(s.first), 1
	if t.upper {
		step = -1
	}
	for i, f := range scale {
		long, short, alone := count[3*i], count[3*i+1], count[3*i+2]
		sum := V(0)
		for range long {
			sum += dot8(val, x[idx[0]:])
			idx, val = idx[1:], val[8:]
		}
		for range short {
			from := x[idx[0]:][:4]
			for j, u := range from {
				sum += val[j] * u
			}
			idx, val = idx[1:], val[4:]
		}
		sum += alpha * f * b[row]
		for k := range alone {
			sum += val[k] * x[idx[k]]
		}
		idx, val = idx[alone:], val[alone:]
		x[row] = sum
		row += step
	}
}

func dot8[V sparse.Value](a, b []V) V {
	a, b = a[:8], b[:8]
	return ((a[0]*b[0] + a[4]*b[4]) + (a[1]*b[1] + a[5]*b[5])) + ((a[2]*b[2] + a[6]*b[6]) + (a[3]*b[3] + a[7]*b[7]))
}

// blocksLoop computes groups of 8 rows.
func (t *Triangle[V]) blocksLoop(s *segment, alpha V, b, x []V) {
	scale, count := t.store.scale[s.scale:][:s.rows], t.store.count[s.count:][:2*(s.rows/group)]
	idx, val, mask := t.store.idx[s.idx:], t.store.val[s.val:], t.store.mask[s.mask:]
	for g := range s.rows / group {
		first := min(t.row(s.first+g*group), t.row(s.first+g*group+group-1))
		var acc [group]V
		for lane := range acc {
			acc[lane] = alpha * scale[g*group+lane] * b[first+lane]
		}
		own, used := mask[:group], group
		for range count[2*g] {
			u := x[idx[0]]
			for lane := range acc {
				acc[lane] += val[lane] * u
			}
			idx, val = idx[1:], val[group:]
		}
		ownVal := val[:group*group]
		val, mask = val[group*group:], mask[group:]
		used = 0
		for range count[2*g+1] {
			u, m := x[idx[0]], mask[0]
			for lane := range acc {
				if m>>lane&1 != 0 {
					acc[lane] += val[used] * u
					used++
				}
			}
			idx, mask = idx[1:], mask[1:]
		}
		val = val[(used+group-1)/group*group:]
		for i := range group {
			j := i
			if t.upper {
				j = group - 1 - i
			}
			for lane := range acc {
				if own[j]>>lane&1 != 0 {
					acc[lane] += ownVal[j*group+lane] * acc[j]
				}
			}
		}
		copy(x[first:], acc[:])
	}
}

// solve solves for one vector.
func (d *divided[V]) solve(upper bool, alpha V, b, x []V) {
	n := len(d.diag)
	for place := range n {
		row := place
		if upper {
			row = n - 1 - place
		}
		sum := alpha * b[row]
		for k := d.ptr[row]; k < d.ptr[row+1]; k++ {
			sum -= d.val[k] * x[d.idx[k]]
		}
		x[row] = sum / d.diag[row]
	}
}
