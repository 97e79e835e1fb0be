package space

// random fills v, which begins at element first of the whole vector, with numbers between -1 and 1. Each depends on its
// index and the seed only. The generator is SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
// generators", OOPSLA 2014), with the index as its state.
func random(v []float64, seed uint64, first int) {
	for i := range v {
		z := (seed<<48 + uint64(first+i) + 1) * 0x9e3779b97f4a7c15
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		v[i] = float64(int64(z^z>>31)) * 0x1p-63
	}
}
