package partition

// Part is a range of entries of a matrix whose entries are stored major by major: rows
// for CSR and row-sorted COO, columns for CSC and column-sorted COO.
//
// The zero value is an empty part that owns nothing.
type Part struct {
	// StartIdx and EndIdx are the first and the last entry, both inclusive.
	// EndIdx is StartIdx-1 when the part holds no entries.
	StartIdx, EndIdx int64
	// StartMajor and EndMajor are the majors that hold StartIdx and EndIdx. When
	// the part holds no entries they are OwnFirst and OwnFirst-1.
	StartMajor, EndMajor int
	// StartFlag is set if StartMajor began in an earlier part, which owns it: this part
	// adds a partial sum to that major.
	StartFlag bool
	// OwnFirst and OwnEnd bound the majors [OwnFirst, OwnEnd) that this part owns.
	OwnFirst, OwnEnd int
}

// NNZ returns the number of entries in the part.
func (p Part) NNZ() int64 { return p.EndIdx - p.StartIdx + 1 }

// Empty reports whether the part holds no entries. It may still own majors.
func (p Part) Empty() bool { return p.EndIdx < p.StartIdx }

// First returns the first major that the part covers: StartMajor if an earlier part owns
// that, else OwnFirst.
func (p Part) First() int {
	if p.StartFlag {
		return p.StartMajor
	}
	return p.OwnFirst
}

// End returns the last major that the part covers, plus one.
func (p Part) End() int { return p.OwnEnd }

// Majors returns the number of majors that the part covers, End - First: the majors that
// it owns, plus one if StartFlag is set.
func (p Part) Majors() int { return p.End() - p.First() }

// Shift returns the part in the indices of a window of the matrix, which begins at the
// given major and entry. A device with local pointers uses p.Shift(p.First(),
// p.StartIdx). A device that reads the pointers of the whole matrix from row p.First() on
// uses p.Shift(p.First(), 0).
func (p Part) Shift(majors int, entries int64) Part {
	p.StartIdx -= entries
	p.EndIdx -= entries
	p.StartMajor -= majors
	p.EndMajor -= majors
	p.OwnFirst -= majors
	p.OwnEnd -= majors
	return p
}

// Imbalance returns the largest number of entries in a part over the mean number. It is 1
// for equal parts and for a matrix without entries.
func Imbalance(parts []Part) float64 {
	var most, all int64
	for _, p := range parts {
		most = max(most, p.NNZ())
		all += p.NNZ()
	}
	if all == 0 {
		return 1
	}
	return float64(most) * float64(len(parts)) / float64(all)
}
