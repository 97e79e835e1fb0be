package scatter

import "github.com/msrep-go/msrep/partition"

// Stretches cuts y among workers that add to it: worker i owns elements out[i] to out[i+1]-1 and has a vector of
// its own for the others. The cuts are those of borders, with one exception: of two workers whose entries lie
// anywhere, the first owns all of y. It then needs no vector, which would have to be added to y and cleared. With
// more workers this does not pay, as all others would wait for the one that multiplies all of y by beta.
func Stretches(parts []partition.Part, minors []int32, base int64, rows int) []int {
	out := Borders(parts, minors, base, rows)
	if len(parts) == 2 && anywhere(parts, out, minors, base) {
		out[1] = rows
	}
	return out
}

// Borders cuts y into the stretches of the workers, at the mean of the indices around the cut between two pieces. For
// a matrix with a diagonal this is where the entries of both pieces lie.
func Borders(parts []partition.Part, minors []int32, base int64, rows int) []int {
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

// Entries lie anywhere if at least 1/outsideShare of them lie in another worker's stretch, and one of these at least
// 1/outsideReach of y away from its own worker's stretch.
const (
	outsideShare = 64
	outsideReach = 8
)

// anywhere reports whether entries lie anywhere, judged by a sample.
func anywhere(parts []partition.Part, border []int, minors []int32, base int64) bool {
	const (
		most = 256  // entries of the sample
		each = 4096 // entries of the part for each entry of the sample, at least
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
