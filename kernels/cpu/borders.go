package cpu

import "github.com/msrep-go/msrep/partition"

// ownStretches cuts y among workers that add to it and each have a vector of their own for the
// rest: worker i has y between elements i and i+1 of what it gives. It is as borders says,
// but all of y is the first of two workers' where entries lie anywhere: it then needs no vector,
// which would have to be added to y and cleared. The stretch of the other is empty. More
// workers would wait for the one that multiplies all of y by beta, for less.
func ownStretches(parts []partition.Part, minors []int32, base int64, rows int) []int {
	out := borders(parts, minors, base, rows)
	if len(parts) == 2 && anywhere(parts, out, minors, base) {
		out[1] = rows
	}
	return out
}

// borders cuts y into the stretches of the workers: at the mean of the indices
// around the cut between two pieces, which for a matrix with a diagonal is where
// the entries of both meet.
func borders(parts []partition.Part, minors []int32, base int64, rows int) []int {
	const sample = 64 // entries on each side
	out := make([]int, len(parts)+1)
	for i := 1; i < len(parts); i++ {
		k := parts[i].StartIdx - base
		near := minors[max(k-sample, 0):min(k+sample, int64(len(minors)))]
		sum := int64(0)
		for _, m := range near {
			sum += int64(m)
		}
		out[i] = min(max(int(sum/int64(max(len(near), 1))), out[i-1]), rows)
	}
	out[len(parts)] = rows
	return out
}

// Entries lie anywhere where at least one of outsideShare lies in another worker's stretch,
// and any of these one of outsideReach of y beyond its own worker's.
const (
	outsideShare = 64
	outsideReach = 8
)

// anywhere reports, by a sample, whether entries lie anywhere.
func anywhere(parts []partition.Part, border []int, minors []int32, base int64) bool {
	const (
		most = 256  // entries of the sample
		each = 4096 // at least so many entries for each of them
	)
	count := min(int64(len(minors))/each, most)
	outside, reach, p := 0, 0, 0
	for i := range count {
		k := base + i*int64(len(minors))/count
		for k > parts[p].EndIdx && p+1 < len(parts) {
			p++
		}
		m := int(minors[k-base])
		if beyond := max(border[p]-m, m+1-border[p+1]); beyond > 0 {
			outside, reach = outside+1, max(reach, beyond)
		}
	}
	return outsideShare*outside >= int(count) && outsideReach*reach > border[len(parts)]
}
