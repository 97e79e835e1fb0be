package msrep

// Check says what is wrong with a block of vectors of n elements: a *sparse.InputError
// about name.
func (b Block[V]) Check(name string, n int) error { return b.check(name, n) }

// Get copies vector j, 0 to Count-1, to dst, of the length of the vectors.
func (b Block[V]) Get(j int, dst []V) {
	if b.ByColumn {
		copy(dst, b.Val[min(j*b.Stride, len(b.Val)):])
		return
	}
	for i := range dst {
		dst[i] = b.Val[i*b.Stride+j]
	}
}

// Set copies src, of the length of the vectors, to vector j, 0 to Count-1.
func (b Block[V]) Set(j int, src []V) {
	if b.ByColumn {
		copy(b.Val[min(j*b.Stride, len(b.Val)):], src)
		return
	}
	for i, v := range src {
		b.Val[i*b.Stride+j] = v
	}
}
