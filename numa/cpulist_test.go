package numa_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/numa"
)

func TestCPUListsAreRead(t *testing.T) {
	for text, want := range map[string][]int{
		"":             {},
		"\n":           {},
		"0":            {0},
		"0-3,8,10-11 ": {0, 1, 2, 3, 8, 10, 11},
		"7-7":          {7},
		"65535":        {numa.MaxCPU},
	} {
		got, err := numa.ParseCPUList(text)
		require.NoError(t, err, "%q", text)
		require.Equal(t, want, got, "%q", text)
	}
}

func TestMalformedCPUListsAreRefusedWithTheReason(t *testing.T) {
	for text, want := range map[string]string{
		"a":              "not a CPU number",
		"0x3":            "not a CPU number",
		"-1":             "a CPU number is missing",
		"0,":             "a CPU number is missing",
		",0":             "a CPU number is missing",
		"3-":             "a CPU number is missing",
		"1-2-3":          "not a CPU number",
		"1 2":            "not a CPU number",
		"+1":             "not a CPU number",
		"0-7:2":          "not a CPU number",
		"3-1":            "decreases",
		"0-3,3":          "must increase",
		"4,2":            "must increase",
		"65536":          "beyond 65535",
		"0-4000000000":   "beyond 65535",
		"99999999999999": "beyond 65535",
	} {
		_, err := numa.ParseCPUList(text)
		require.ErrorContains(t, err, want, "%q", text)
	}
}

func FuzzParseCPUList(f *testing.F) {
	for _, s := range []string{"", "0", "0-3,8,10-11\n", "3-1", "0-65535", "1,,2", "0-4000000000"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		cpus, err := numa.ParseCPUList(s)
		if err != nil {
			return
		}
		if !slices.IsSorted(cpus) || len(slices.Compact(slices.Clone(cpus))) != len(cpus) {
			t.Fatalf("%q gives %v, which does not rise", s, cpus)
		}
		again, err := numa.ParseCPUList(numa.FormatCPUList(cpus))
		if err != nil || !slices.Equal(again, cpus) {
			t.Fatalf("%q gives %v, written %q, read again as %v, %v", s, cpus, numa.FormatCPUList(cpus), again, err)
		}
	})
}

func ExampleFormatCPUList() {
	fmt.Println(numa.FormatCPUList([]int{0, 1, 2, 3, 8, 10, 11}))
	// Output: 0-3,8,10-11
}
