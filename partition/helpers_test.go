package partition

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/cases"
)

func TestMain(m *testing.M) { cases.Main(m, "3000") }

// pointers draws a random pointer array: without majors, with mostly empty majors, with
// runs of equal majors, or with long ones.
func pointers() *rapid.Generator[[]int64] {
	size := rapid.OneOf(
		rapid.Just(int64(0)),
		rapid.Int64Range(0, 3),
		rapid.Int64Range(0, 12),
		rapid.Int64Range(40, 200),
	)
	sizes := rapid.OneOf(
		rapid.SliceOfN(size, 0, 40),
		rapid.SliceOfN(rapid.Just(int64(0)), 0, 10),
		rapid.SliceOfN(rapid.Int64Range(0, 1), 0, 60),
		rapid.SliceOfN(rapid.Int64Range(1, 3), 1, 20),
	)
	return rapid.Custom(func(t *rapid.T) []int64 {
		ptr := []int64{0}
		for _, n := range sizes.Draw(t, "sizes") {
			ptr = append(ptr, ptr[len(ptr)-1]+n)
		}
		return ptr
	})
}

// expand returns the major of each entry, which is the sorted index of the matrix in COO.
func expand(ptr []int64) []int32 {
	var idx []int32
	for r := range len(ptr) - 1 {
		for range ptr[r+1] - ptr[r] {
			idx = append(idx, int32(r))
		}
	}
	return idx
}

// rules are the rules for both compressed matrices and COO.
var rules = []Rule{RuleNNZ, RuleMergePath, RuleMajor}

// ptrRules are the rules for compressed matrices.
var ptrRules = append([]Rule{RuleAuto, RuleWhole}, rules...)

// drawRows draws random short and empty rows. It returns their pointers and the row of
// each entry.
func drawRows(t *rapid.T) (ptr []int64, idx []int32) {
	ptr = []int64{0}
	for r, n := range rapid.SliceOfN(rapid.SampledFrom([]int{0, 0, 0, 1, 2, 3, 50}), 0, 40).Draw(t, "row lengths") {
		ptr = append(ptr, ptr[r]+int64(n))
		for range n {
			idx = append(idx, int32(r))
		}
	}
	return ptr, idx
}
