package gen

import "math/bits"

// seed is the start of a stream of random numbers. at(i) depends only on the seed and i,
// not on the order of the calls.
type seed uint64

// newSeed hashes a small number to 64 bits.
func newSeed(n int64) seed { return seed(mix(uint64(n) + 0x9e3779b97f4a7c15)) }

// sub returns the seed of an independent stream.
func (s seed) sub(k uint64) seed { return seed(mix(uint64(s) ^ mix(k+0x9e3779b97f4a7c15))) }

// at returns 64 random bits for index i: the i-th number of SplitMix64.
func (s seed) at(i uint64) uint64 { return mix(uint64(s) + (i+1)*0x9e3779b97f4a7c15) }

// uniform returns a random number in [-1, 1), a multiple of 2^-52.
func (s seed) uniform(i uint64) float64 { return float64(s.at(i)>>11)*0x1p-52 - 1 }

// below returns a random number in [0, n) for n > 0.
func (s seed) below(i, n uint64) uint64 { return scaled(s.at(i), n) }

// scaled maps 64 random bits to [0, n): floor(h*n / 2^64).
func scaled(h, n uint64) uint64 {
	hi, _ := bits.Mul64(h, n)
	return hi
}

// threshold returns the threshold t such that 64 random bits are below t with probability p,
// for p in [0, 1).
func threshold(p float64) uint64 { return uint64(p * 0x1p64) }

// mix is the finaliser of SplitMix64 (Steele, Lea, Flood 2014).
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
